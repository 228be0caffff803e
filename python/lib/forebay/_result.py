"""Results of runs."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from typing import Union

from . import _forebay, _html, _summary
from ._forebay import Table
from ._plot import RunPlots

Path = Union[str, "os.PathLike[str]"]


class Result:
    """What a run has measured. Tables are made when they are asked for; docs/results.md has their columns."""

    def __init__(self, run: _forebay.Run) -> None:
        self._run = run

    @cached_property
    def summary(self) -> _summary.Summary:
        """The run in few numbers."""
        return _summary.read(self._run.summary_json())

    @cached_property
    def flows(self) -> Table:
        """One row for each flow."""
        return self._run.table("flows")

    @cached_property
    def queries(self) -> Table:
        """One row for each query."""
        return self._run.table("queries")

    @cached_property
    def collectives(self) -> Table:
        """One row for each round of a collective (all-reduce, all-to-all)."""
        return self._run.table("collectives")

    @cached_property
    def breakdown(self) -> Table:
        """Where the completion time of every flow went, with `measure.breakdown`."""
        return self._run.table("breakdown")

    @cached_property
    def hops(self) -> Table:
        """The hops of the packets that completed flows, with `measure.breakdown`."""
        return self._run.table("hops")

    @cached_property
    def topology(self) -> Table:
        """One row for each port of each host and switch."""
        return self._run.table("topology")

    @cached_property
    def buffers(self) -> Table:
        """One row for each buffer."""
        return self._run.table("buffers")

    @cached_property
    def ports(self) -> Table:
        """One row for each port of a switch."""
        return self._run.table("ports")

    @cached_property
    def queues(self) -> Table:
        """One row for each queue."""
        return self._run.table("queues")

    @cached_property
    def timeline(self) -> Table:
        """Occupancy over time, of switches that `measure.timeline` names."""
        return self._run.table("timeline")

    @cached_property
    def queue_timeline(self) -> Table:
        """Queue lengths over time, of switches that `measure.queues` names."""
        return self._run.table("queue_timeline")

    @cached_property
    def progress(self) -> Table:
        """How far flows have come over time, of workloads that `measure.progress` names."""
        return self._run.table("progress")

    @cached_property
    def drops(self) -> Table:
        """Drops one by one, of switches that `measure.drops` names."""
        return self._run.table("drops")

    @cached_property
    def holders(self) -> Table:
        """Who held the buffers when packets were dropped."""
        return self._run.table("holders")

    @cached_property
    def losses(self) -> Table:
        """Packets lost on failed links or without a route, with `measure.drops` or `measure.breakdown`."""
        return self._run.table("losses")

    @cached_property
    def responses(self) -> Table:
        """The flows that `measure.trace_flows` names, over time."""
        return self._run.table("responses")

    @cached_property
    def chips(self) -> Table:
        """Counters of programmable chips."""
        return self._run.table("chips")

    @cached_property
    def controls(self) -> Table:
        """What the control planes of programmable chips did."""
        return self._run.table("controls")

    @cached_property
    def pauses(self) -> Table:
        """What priority groups asked for (priority flow control)."""
        return self._run.table("pauses")

    @cached_property
    def paused(self) -> Table:
        """The classes of ports and hosts that were paused."""
        return self._run.table("paused")

    @cached_property
    def storms(self) -> Table:
        """Storms that PFC watchdogs saw."""
        return self._run.table("storms")

    @cached_property
    def victims(self) -> Table:
        """Flows that waited for a pause that was for a queue that they do not go to."""
        return self._run.table("victims")

    @cached_property
    def deadlocks(self) -> Table:
        """Cycles of paused egress queues."""
        return self._run.table("deadlocks")

    @property
    def toml(self) -> str:
        """The resolved scenario."""
        return self._run.resolved()

    @property
    def plot(self) -> RunPlots:
        """Plots, with matplotlib."""
        return RunPlots(self)

    def save(self, directory: Path, *, csv: bool = False, force: bool = False) -> None:
        """Writes the directory that `forebay run --out` writes: the same files, byte for byte but for what the run
        cost. Something else that is there is replaced only with force=True."""
        self._run.save(directory, csv, force)

    def __str__(self) -> str:
        return self._run.summary_text()

    def __repr__(self) -> str:
        run = self.summary.run
        return f"<forebay.Result {run.name!r}, seed {run.seed}>"

    def _repr_html_(self) -> str:
        run = self.summary.run
        rows = []
        for own in self.summary.flows:
            fct, slow = own.fct_us, own.slowdown
            name = own.size if own.by == "all" else f"{own.group}, {own.size}"
            rows.append(
                [name, own.flows, own.complete, fct and fct.mean, fct and fct.p99, slow and slow.p50, slow and slow.p99]
            )
        head = ["flows", "number", "complete", "FCT mean, us", "FCT p99, us", "slowdown p50", "slowdown p99"]
        parts = [f"<b>{escape(run.name)}</b>, seed {run.seed}", _html.table(head, rows)]
        if self.summary.queries:
            queries = [
                [own.workload, own.queries, own.complete, own.qct_us and own.qct_us.mean, own.qct_us and own.qct_us.p99]
                for own in self.summary.queries
            ]
            parts.append(_html.table(["queries", "number", "complete", "QCT mean, us", "QCT p99, us"], queries))
        buffers = [
            [tier.tier, f"{tier.occupancy_mean:.1%}", f"{tier.occupancy_p99:.1%}", tier.offered, tier.dropped]
            for tier in self.summary.buffers
        ]
        parts.append(_html.table(["buffers", "mean", "p99", "offered", "dropped"], buffers))
        return "".join(parts)


def load(directory: Path) -> Result:
    """Opens the directory of a run that `Result.save`, `forebay run` or `forebay sweep` has written."""
    return Result(_forebay.load_run(directory))
