"""Plots with matplotlib, which is asked for only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence

from ._errors import refused
from ._forebay import interval

if TYPE_CHECKING:
    from ._result import Result
    from ._summary import Distribution, Summary
    from ._sweep import Sweep


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return plt.subplots(figsize=(6, 3.6), layout="constrained")[1]


def _distribution(ax: Any, groups: dict[str, list[float]], xlabel: str, what: str) -> Any:
    """The share of values up to x, a line for each group."""
    if not any(groups.values()):
        raise refused("plot", f"there are no {what} to draw", "run a scenario that has some that complete")
    ax = _axes(ax)
    for name, values in groups.items():
        if values:
            values = sorted(values)
            ax.plot(values, [(at + 1) / len(values) for at in range(len(values))], drawstyle="steps-post", label=name)
    ax.set(xscale="log", xlabel=xlabel, ylabel="share", ylim=(0, 1))
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


class RunPlots:
    """Plots of a run. Each takes and returns matplotlib axes."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def fct(self, *, slowdown: bool = False, ax: Any = None) -> Any:
        """The distribution of flow completion times, or of slowdowns, a line for each workload."""
        column = "slowdown" if slowdown else "fct_ps"
        return self._times(self._result.flows, column, "flow completion time", "flows", ax)

    def queries(self, *, slowdown: bool = False, ax: Any = None) -> Any:
        """The distribution of query completion times, or of slowdowns, a line for each workload."""
        column = "slowdown" if slowdown else "qct_ps"
        return self._times(self._result.queries, column, "query completion time", "queries", ax)

    def _times(self, table: Any, column: str, name: str, what: str, ax: Any) -> Any:
        scale, label = (1.0, "slowdown") if column == "slowdown" else (1e6, f"{name}, us")
        groups: dict[str, list[float]] = {}
        for workload, value in zip(table["workload"], table[column]):
            if value is not None:
                groups.setdefault(workload, []).append(value / scale)
        return _distribution(ax, groups, label, what)

    def buffer(self, *, ax: Any = None) -> Any:
        """Occupancy over time, a line for each buffer that `measure.timeline` names; without any, the occupancy of
        each tier."""
        timeline = self._result.timeline
        if len(timeline) == 0:
            return self._tiers(ax)
        lines: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
        columns = (timeline[name] for name in ("switch", "buffer", "at_ps", "used_bytes"))
        for switch, buffer, at, used in zip(*columns):
            xs, ys = lines.setdefault((switch, buffer), ([], []))
            xs.append(at / 1e9)
            ys.append(used / 1e3)
        ax = _axes(ax)
        for (switch, buffer), (xs, ys) in lines.items():
            ax.plot(xs, ys, label=switch if buffer == 0 else f"{switch}, buffer {buffer}")
        ax.set(xlabel="time, ms", ylabel="buffer, KB")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax

    def _tiers(self, ax: Any) -> Any:
        ax = _axes(ax)
        tiers = self._result.summary.buffers
        places = range(len(tiers))
        for shift, (name, value) in enumerate(
            [
                ("mean", [tier.occupancy_mean for tier in tiers]),
                ("p99", [tier.occupancy_p99 for tier in tiers]),
                ("max", [tier.occupancy_max for tier in tiers]),
            ]
        ):
            ax.bar([place + 0.27 * (shift - 1) for place in places], [100 * share for share in value], 0.25, label=name)
        ax.set(xticks=list(places), xticklabels=[tier.tier for tier in tiers], ylabel="buffer, % of its size")
        ax.legend()
        return ax


class SweepPlots:
    """Plots of a sweep: means over the seeds with 95% confidence intervals, a bar for each point."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def fct(self, *, stat: str = "p99", size: str = "all", slowdown: bool = False, ax: Any = None) -> Any:
        """Flow completion times, or slowdowns, of flows of a range of sizes ("all", "short <100KB", ">=1MB", ...)."""

        def value(summary: Summary) -> Optional[float]:
            flows = summary.flows_of(size=size)
            return _stat((flows.slowdown if slowdown else flows.fct_us) if flows else None, stat)

        measure = "slowdown" if slowdown else "FCT"
        return self._bars(value, f"{measure} {stat}, {size} flows{'' if slowdown else ', us'}", ax)

    def queries(self, *, stat: str = "p99", slowdown: bool = False, ax: Any = None) -> Any:
        """Query completion times, or slowdowns."""

        def value(summary: Summary) -> Optional[float]:
            queries = summary.queries[0] if summary.queries else None
            return _stat((queries.slowdown if slowdown else queries.qct_us) if queries else None, stat)

        return self._bars(value, f"slowdown of queries {stat}" if slowdown else f"QCT {stat}, us", ax)

    def buffer(self, *, ax: Any = None) -> Any:
        """The 99th percentile of occupancy, in the tier where it is largest."""
        return self._bars(
            lambda summary: max((100 * tier.occupancy_p99 for tier in summary.buffers), default=None),
            "buffer p99, % of its size",
            ax,
        )

    def _bars(self, value: Callable[[Summary], Optional[float]], label: str, ax: Any) -> Any:
        points: dict[str, list[float]] = {}
        for run in self._sweep.runs:
            number = value(run.summary)
            own = points.setdefault(run.point or "all", [])
            if number is not None:
                own.append(number)
        if not any(points.values()):
            raise refused("plot", f"no run has a {label}", "draw something that the scenario has")
        return bars(_axes(ax), points, label)


def _stat(distribution: Optional[Distribution], stat: str) -> Optional[float]:
    known = ("mean", "p50", "p95", "p99", "p999")
    if stat not in known:
        raise refused("stat", f"there is no {stat!r}", f"give one of: {', '.join(known)}")
    number: Optional[float] = getattr(distribution, stat, None)
    return number


def bars(ax: Any, points: Mapping[str, Sequence[float]], label: str) -> Any:
    """A bar for each point, with the interval of its mean, which ends at 0: nothing that is drawn here can be less."""
    names = list(points)
    means = [interval(list(values)) for values in points.values()]
    heights = [mean or 0.0 for mean, _ in means]
    above = [half or 0.0 for _, half in means]
    below = [min(half, height) for half, height in zip(above, heights)]
    ax.bar(range(len(names)), heights, yerr=[below, above], capsize=4)
    ax.set(ylabel=label)
    turned = {"rotation": 20, "ha": "right"} if len(names) > 3 else {}
    ax.set_xticks(range(len(names)), names, **turned)
    return ax
