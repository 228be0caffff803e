"""Scenarios."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, Mapping, Optional, Union

from . import _forebay, _progress, _toml
from ._errors import refused
from ._files import read_text
from ._result import Result

Path = Union[str, "os.PathLike[str]"]


def seed_of(seed: Any) -> int:
    """A seed, checked."""
    if hasattr(seed, "item") and not isinstance(seed, int):
        seed = seed.item()
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise refused("seed", f"{seed!r} is not a seed", "give a whole number from 0 to 2^63 - 1")
    return seed


@dataclass(frozen=True)
class Check:
    """What a scenario is in numbers, before it runs."""

    #: The network, the base round trips, the traffic and the resolved scenario, as `forebay check` prints them.
    text: str
    #: Settings with which no packet can get through.
    warnings: list[str]

    def __str__(self) -> str:
        return "\n".join([self.text, *self.warnings])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Scenario:
    """A scenario: everything that a run depends on, read and checked. It never changes; `override` makes another
    one."""

    def __init__(self, name: str, text: str, sets: list[tuple[str, str]]) -> None:
        self._name, self._text, self._sets = name, text, sets
        self._prepared = _forebay.prepare(name, text, sets)

    @classmethod
    def load(cls, path: Path, overrides: Optional[Mapping[str, Any]] = None, /, **keywords: Any) -> Scenario:
        """Reads a scenario file. Overrides change settings, by dotted keys: `{"policy.kind": "abm"}`, `seed=3`."""
        return cls(*read_text(path), _toml.settings(overrides, keywords))

    @classmethod
    def from_toml(cls, text: str, overrides: Optional[Mapping[str, Any]] = None, /, **keywords: Any) -> Scenario:
        """Reads a scenario from the text of a file. Relative paths in it start at the working directory."""
        if not isinstance(text, str):
            raise refused("from_toml", f"a {type(text).__name__} is not a text", "give the text of a scenario file")
        return cls("scenario", text, _toml.settings(overrides, keywords))

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], overrides: Optional[Mapping[str, Any]] = None, /, **keywords: Any
    ) -> Scenario:
        """Makes a scenario from a dictionary with the keys of a scenario file."""
        if not isinstance(data, Mapping):
            raise refused("from_dict", f"a {type(data).__name__} is not a dictionary", "give tables as dictionaries")
        return cls("scenario", _toml.document(data), _toml.settings(overrides, keywords))

    def override(self, overrides: Optional[Mapping[str, Any]] = None, /, **keywords: Any) -> Scenario:
        """The scenario with some settings changed."""
        return Scenario(self._name, self._text, self._sets + _toml.settings(overrides, keywords))

    @property
    def name(self) -> str:
        """What it is called."""
        return self._prepared.name

    @property
    def seed(self) -> int:
        """Where its random draws start."""
        return self._prepared.seed

    @property
    def toml(self) -> str:
        """The resolved scenario: with overrides, and with all defaults written out."""
        return self._prepared.resolved

    def check(self) -> Check:
        """What the scenario is in numbers, and warnings; what `forebay check` prints."""
        text, warnings = self._prepared.check()
        return Check(text, warnings)

    def run(
        self, *, seed: Optional[int] = None, threads: Optional[int] = None, progress: _progress.Progress = None
    ) -> Result:
        """Runs the scenario. Ctrl-C stops it. `progress` is None (a bar in terminals and notebooks), True, False, or a
        function of the share that is done and a text. `threads` are as many as there are idle cores unless it says
        otherwise, or fewer where more would not make it faster; the results are the same for every number."""
        is_number = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (is_number and 1 <= threads <= 4096):
            raise refused("threads", f"{threads!r} is not a number of threads", "give 1 to 4096, or leave it out")
        prepared = self._prepared
        if seed is not None and seed_of(seed) != prepared.seed:
            prepared = self.override(seed=seed_of(seed))._prepared
        with _progress.Bar(progress, prepared.name) as bar:
            return Result(prepared.run(_progress.of_run(bar), threads))

    def __repr__(self) -> str:
        return f"<forebay.Scenario {self.name!r}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.name)}</b>, seed {self.seed}<pre>{escape(self.toml)}</pre>"
