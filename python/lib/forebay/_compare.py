"""Results side by side."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Union

from . import _forebay, _html
from ._errors import refused
from ._result import Result, load
from ._sweep import Sweep, SweepRun

#: A result, the results of several seeds, or the directory of either.
Side = Union[Result, SweepRun, str, "os.PathLike[str]", Iterable[Union[Result, SweepRun]]]


@dataclass(frozen=True)
class Measure:
    """A measure of all sides."""

    name: str
    unit: str
    #: Mean and half of the 95% confidence interval of each side.
    sides: list[tuple[Optional[float], Optional[float]]]
    #: The same of the difference of each other side to the first, and whether it is apart from zero, if that is known.
    differences: list[tuple[Optional[float], Optional[float], Optional[bool]]]


class Comparison:
    """Results side by side; the first is what the others are compared with."""

    def __init__(self, names: list[str], text: str, data: dict[str, Any]) -> None:
        #: What the sides are called.
        self.names = names
        self._text = text
        #: All measures.
        self.measures = [_measure(item) for item in data["measures"]]

    def __getitem__(self, name: str) -> Measure:
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(f"there is no measure {name!r}; they are {', '.join(own.name for own in self.measures)}")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<forebay.Comparison of {', '.join(self.names)}: {len(self.measures)} measures>"

    def _repr_html_(self) -> str:
        def cell(side: tuple[Optional[float], Optional[float]]) -> str:
            mean, half = side
            return _html.cell_text(mean) + ("" if half is None else f" ± {_html.cell_text(half)}")

        rows = [[own.name, own.unit, *(cell(side) for side in own.sides)] for own in self.measures]
        return _html.table(["", "unit", *self.names], rows)


def _measure(item: dict[str, Any]) -> Measure:
    sides = [(side["mean"], side["ci95"]) if side else (None, None) for side in item["sides"]]
    differences = [
        (own["mean"], own["ci95"], own.get("apart")) if own else (None, None, None) for own in item["differences"]
    ]
    return Measure(item["name"], item["unit"], sides, differences)


def _texts(side: Any, name: str) -> list[str]:
    """The summaries of a side."""
    if isinstance(side, Result):
        return [side._run.summary_json()]
    if isinstance(side, SweepRun):
        return [side._json]
    if isinstance(side, (str, os.PathLike)):
        return [result._run.summary_json() for result in _in_directory(os.fspath(side))]
    if isinstance(side, Sweep) or not hasattr(side, "__iter__"):
        remedy = "give results, lists of results of several seeds, or directories"
        raise refused(name, f"a {type(side).__name__} is not a side", remedy)
    texts = [text for own in side for text in _texts(own, name)]
    if not texts:
        raise refused(name, "there are no results", "give at least one")
    return texts


def _in_directory(path: str) -> list[Result]:
    """The run of a directory, or the runs of the seeds of a point."""
    if not os.path.isfile(os.path.join(path, "summary.json")) and os.path.isdir(path):
        numbers = (re.fullmatch(r"seed(\d+)", name) for name in os.listdir(path))
        seeds = sorted(int(found[1]) for found in numbers if found)
        if seeds:
            return [load(os.path.join(path, f"seed{seed}")) for seed in seeds]
    return [load(path)]


def compare(*sides: Side, **named: Side) -> Comparison:
    """Puts results side by side: `compare(dt=a, abm=b)`. A side is a result, a list of results of several seeds, the
    runs of a point of a sweep (`sweep["abm"]`), or a directory. Equal seeds are compared pair by pair."""
    names = [f"side {at + 1}" for at in range(len(sides))] + list(named)
    all_sides = [*sides, *named.values()]
    if len(all_sides) < 2:
        raise refused("compare", f"{len(all_sides)} results cannot be compared", "give two or more")
    for at, side in enumerate(sides):
        if isinstance(side, (str, os.PathLike)):
            names[at] = os.fspath(side)
    texts = [_texts(side, name) for side, name in zip(all_sides, names)]
    text, data = _forebay.compare(names, texts)
    return Comparison(names, text, json.loads(data))
