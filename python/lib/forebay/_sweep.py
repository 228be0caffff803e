"""Sweeps."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, Iterable, Mapping, Optional, Union

from . import _forebay, _html, _progress, _ray, _summary, _toml
from ._errors import refused
from ._forebay import Table
from ._plot import SweepPlots
from ._scenario import Scenario, seed_of
from ._summary import Summary

Path = Union[str, "os.PathLike[str]"]
Seeds = Union[None, int, str, Iterable[int]]


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep."""

    #: The label of its point.
    point: str
    seed: int
    summary: Summary
    _json: str


class Sweep:
    """The runs of a sweep. It is a table itself: a row for each point, with means over the seeds and, in the columns
    that end in `_ci95`, half of their 95% confidence intervals."""

    def __init__(self, table: Table, text: str, runs: list[SweepRun]) -> None:
        #: A row for each point.
        self.table = table
        #: All runs.
        self.runs = runs
        self._text = text

    @property
    def points(self) -> list[str]:
        """The labels of the points."""
        return list(dict.fromkeys(run.point for run in self.runs))

    @property
    def plot(self) -> SweepPlots:
        """Plots, with matplotlib."""
        return SweepPlots(self)

    def __getitem__(self, point: str) -> list[SweepRun]:
        """The runs of a point, by its label."""
        runs = [run for run in self.runs if run.point == point]
        if not runs:
            raise KeyError(f"there is no point {point!r}; the points are {', '.join(self.points)}")
        return runs

    def to_pandas(self) -> Any:
        """The table for pandas; needs pyarrow and pandas."""
        return self.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.table)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<forebay.Sweep: {len(self.points)} points, {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        columns = self.table.to_pydict()
        names = [name for name in columns if not name.endswith("_ci95") and any(v is not None for v in columns[name])]

        def cell(name: str, row: int) -> str:
            value, half = columns[name][row], columns.get(f"{name}_ci95", [None] * len(self))[row]
            text = _html.cell_text(value)
            return text if half is None else f"{text} ± {_html.cell_text(half)}"

        rows = [[cell(name, row) for name in names] for row in range(len(self))]
        return f"{_html.table(names, rows)}<pre>{escape(_notes(self._text))}</pre>"


def _notes(text: str) -> str:
    """What the text says after its table."""
    return text.split("\n\n", 1)[1] if "\n\n" in text else ""


def _grid(grid: Optional[Mapping[str, Iterable[Any]]]) -> list[tuple[str, list[str]]]:
    if grid is None:
        return []
    if not isinstance(grid, Mapping):
        remedy = 'write {"policy.kind": ["dt", "abm"]}'
        raise refused("grid", f"a {type(grid).__name__} is not a dictionary", remedy)
    pairs = []
    for key, values in grid.items():
        where = f'grid["{key}"]'
        if not isinstance(key, str):
            raise refused("grid", f"the key {key!r} is not a text", 'write keys such as "policy.alpha"')
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
            raise refused(where, f"{values!r} is not a list of values", "give a list, such as [0.5, 1, 2]")
        texts = [_toml.literal(value, where) for value in values]
        if not texts:
            raise refused(where, "there are no values", "give at least one")
        pairs.append((key, texts))
    return pairs


def _seeds(seeds: Seeds) -> Optional[list[int]]:
    if seeds is None:
        return None
    if isinstance(seeds, str):
        return _forebay.parse_seeds(seeds)
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        if not 1 <= seeds <= 10_000:
            raise refused("seeds", f"{seeds} is not a number of seeds", "give 1 to 10000, or a list of seeds")
        return list(range(1, seeds + 1))
    if isinstance(seeds, (bytes, Mapping, bool)) or not hasattr(seeds, "__iter__"):
        raise refused("seeds", f"{seeds!r} are not seeds", 'give a number of seeds, a list of them, or "1-5"')
    numbers = [seed_of(seed) for seed in seeds]
    if not numbers:
        raise refused("seeds", "there are no seeds", "give at least one")
    twice = next((seed for seed in numbers if numbers.count(seed) > 1), None) if len(numbers) <= 10_000 else None
    if len(numbers) > 10_000:
        raise refused("seeds", "these are too many seeds", "give at most 10000")
    if twice is not None:
        raise refused("seeds", f"seed {twice} is there twice", "name each seed once")
    return numbers


def sweep(
    scenario: Union[Scenario, Path],
    *,
    grid: Optional[Mapping[str, Iterable[Any]]] = None,
    seeds: Seeds = None,
    jobs: Optional[int] = None,
    scale: Optional[str] = None,
    out: Optional[Path] = None,
    csv: bool = False,
    force: bool = False,
    on: Optional[str] = None,
    address: Optional[str] = None,
    progress: _progress.Progress = None,
) -> Sweep:
    """Runs every point of a grid with every seed, on `jobs` threads (all cores unless it says otherwise).

    The grid is combined with the `[sweep]` of the scenario, if it has one. Seeds are a number (5: seeds 1 to 5), a
    list, or a text such as "1-5"; without any, those of the scenario. With `out`, the results of all runs are kept in
    that directory, as `forebay sweep --out` does it; runs that are finished there are not run again, so that the same
    call goes on where it was stopped.

    `on="ray"` makes the runs on a Ray cluster: the one at `address`, the one that this process is connected to, or, with
    neither, one on this machine. Runs whose worker or node dies are made again. Results come back through Ray; with `out`
    they are kept in that directory, which all nodes must share.
    """
    if on not in (None, "ray"):
        raise refused("on", f"{on!r} is not a place to run at", 'give "ray", or leave it out for this process')
    if on is None and address is not None:
        raise refused("address", "this is for Ray", 'give on="ray", too')
    if on is not None and jobs is not None:
        raise refused("jobs", "Ray decides how many runs there are at the same time", "leave jobs out")
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if jobs is None:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not 1 <= jobs <= 4096:
        raise refused("jobs", f"{jobs!r} is not a number of threads", "give 1 to 4096")
    numbers = _seeds(seeds)
    sets = scenario._sets
    if numbers is not None and any(key == "seed" for key, _ in sets):
        raise refused("seeds", "an override gives the seed, too", "leave one of the two out")
    place = None if out is None else os.path.abspath(os.fspath(out))
    with _progress.Bar(progress, scenario.name) as bar:
        file = (scenario._name, scenario._text)
        plan = _forebay.plan_sweep(*file, sets, _grid(grid), numbers, scale, place, force)
        if on == "ray":
            # Workers start in directories of their own.
            file = (os.path.abspath(scenario._name), scenario._text)
            done = _ray.run(plan, file, place, csv, force, address, _progress.of_sweep(bar))
        else:
            done = plan.run(jobs, csv, _progress.of_sweep(bar))
        table, text, runs = plan.finish(done)
    return Sweep(table, text, [SweepRun(point, seed, _summary.read(json), json) for point, seed, json in runs])
