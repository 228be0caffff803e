"""Progress bars: by tqdm where it is installed, else plain text on standard error."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union

from ._errors import refused

#: None: a bar in terminals and notebooks; True: a bar anywhere; False: none; a function: called with the share that is
#: done (0 to 1) and a text.
Progress = Union[None, bool, Callable[[float, str], Any]]


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A bar, or nothing."""

    def __init__(self, progress: Progress, what: str) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            remedy = "give True, False, or a function of the share that is done and a text"
            raise refused("progress", f"{progress!r} is neither yes, no nor a function", remedy)
        shown = progress is True or (progress is None and (sys.stderr.isatty() or _in_notebook()))
        self._call = progress if callable(progress) else None
        self._what = what
        self._bar: Any = None
        self._plain = False
        self._drawn = 0.0
        if shown:
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

                form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining} {postfix}"
                self._bar = tqdm(total=1.0, desc=what, bar_format=form, leave=False)
            except ImportError:
                self._plain = True

    @property
    def wanted(self) -> bool:
        """Whether somebody looks."""
        return self._call is not None or self._bar is not None or self._plain

    def show(self, share: float, text: str) -> None:
        """So much is done."""
        if self._call is not None:
            self._call(share, text)
        elif self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(max(0.0, share - self._bar.n))
        elif self._plain and time.monotonic() - self._drawn > 0.2:
            self._drawn = time.monotonic()
            print(f"\r{self._what}: {100 * share:3.0f}%  {text}\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._plain and self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def of_run(bar: Bar) -> Optional[Callable[[int, int, int, int], None]]:
    """What a run calls."""

    def show(now: int, duration: int, events: int, unfinished: int) -> None:
        rest = f", {unfinished} flows to finish" if now >= duration else ""
        bar.show(min(1.0, now / max(1, duration)), f"{now / 1e9:.3f} ms simulated, {events} events{rest}")

    return show if bar.wanted else None


def of_sweep(bar: Bar) -> Optional[Callable[[int, int], None]]:
    """What a sweep calls."""

    def show(finished: int, total: int) -> None:
        bar.show(finished / max(1, total), f"{finished} of {total} runs")

    return show if bar.wanted else None


def of_replay(bar: Bar, packets: Optional[int]) -> Optional[Callable[[int], None]]:
    """What a replay calls."""

    def show(count: int) -> None:
        bar.show(count / packets if packets else 0.0, f"{count} packets")

    return show if bar.wanted else None
