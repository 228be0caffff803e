"""`summary.json` as typed objects. docs/results.md says what each number means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Distribution:
    """Mean and percentiles of a measure."""

    mean: float
    p50: float
    p95: float
    p99: float
    p999: float


@dataclass(frozen=True)
class RunInfo:
    """Which run, and how it ended."""

    name: str
    seed: int
    version: str
    build: Optional[str]
    schema: Optional[int]
    from_ps: Optional[int]
    end_ps: int
    interrupted: bool
    lost_to_failures: int
    dropped_at_hosts: int


@dataclass(frozen=True)
class FlowGroup:
    """The flows of one group ("all", a workload or a class) and one range of sizes."""

    by: str
    group: str
    size: str
    flows: int
    complete: int
    fct_us: Optional[Distribution]
    slowdown: Optional[Distribution]
    retransmissions: int
    timeouts: int


@dataclass(frozen=True)
class QueryGroup:
    """The queries of one workload."""

    workload: str
    queries: int
    complete: int
    qct_us: Optional[Distribution]
    slowdown: Optional[Distribution]
    without_drops: float
    drops: int
    trims: int
    timeouts: int


@dataclass(frozen=True)
class DropCount:
    """Packets dropped for one reason."""

    reason: str
    packets: int


@dataclass(frozen=True)
class BufferGroup:
    """The buffers of one tier of switches; occupancies are shares of the size."""

    tier: str
    buffers: int
    size: int
    occupancy_mean: float
    occupancy_p50: float
    occupancy_p99: float
    occupancy_p99_worst: float
    occupancy_max: float
    offered: int
    sent: int
    dropped: int
    drops: list[DropCount]
    expelled: int
    marked: int
    trimmed: int
    returned: int


@dataclass(frozen=True)
class LinkGroup:
    """The links from switches that lead one way."""

    to: str
    ports: int
    utilization_mean: float
    utilization_max: float


@dataclass(frozen=True)
class Load:
    """The load that a workload asks for and gets, as shares of the capacity of the links that it is defined on."""

    workload: str
    of: str
    offered_payload: Optional[float]
    offered_wire: Optional[float]
    achieved_payload: Optional[float]
    achieved_wire: Optional[float]


@dataclass(frozen=True)
class Engine:
    """How much the engine did."""

    events: int
    hops: int


@dataclass(frozen=True)
class Cost:
    """What the run cost: the only numbers that differ when it is repeated."""

    cpu_seconds: float
    hops_per_cpu_second: Optional[float]
    peak_memory: int


@dataclass(frozen=True)
class Summary:
    """A run in few numbers."""

    run: RunInfo
    flows: list[FlowGroup]
    endless_flows: int
    queries: list[QueryGroup]
    buffers: list[BufferGroup]
    links: list[LinkGroup]
    loads: list[Load]
    engine: Engine
    cost: Cost

    def flows_of(self, by: str = "all", group: str = "all", size: str = "all") -> Optional[FlowGroup]:
        """The flows of a group and a range of sizes; None if there are none."""
        return next((own for own in self.flows if (own.by, own.group, own.size) == (by, group, size)), None)

    @property
    def dropped(self) -> int:
        """Packets dropped in all buffers, pushed out and expelled ones included."""
        return sum(tier.dropped for tier in self.buffers)

    @property
    def offered(self) -> int:
        """Packets offered to all buffers."""
        return sum(tier.offered for tier in self.buffers)


def _record(cls: Any, data: dict[str, Any]) -> Any:
    """A record without lists, of those keys that it knows."""
    values: dict[str, Any] = {name: data.get(name) for name in cls.__dataclass_fields__}
    for name in ("fct_us", "slowdown", "qct_us"):
        if isinstance(values.get(name), dict):
            values[name] = Distribution(**values[name])
    if "drops" in values and isinstance(values["drops"], list):
        values["drops"] = [DropCount(**drop) for drop in values["drops"]]
    return cls(**values)


def read(text: str) -> Summary:
    """Reads the text of `summary.json`."""
    data = json.loads(text)
    return Summary(
        run=_record(RunInfo, data["run"]),
        flows=[_record(FlowGroup, item) for item in data["flows"]],
        endless_flows=data["endless_flows"],
        queries=[_record(QueryGroup, item) for item in data["queries"]],
        buffers=[_record(BufferGroup, item) for item in data["buffers"]],
        links=[_record(LinkGroup, item) for item in data["links"]],
        loads=[_record(Load, item) for item in data["loads"]],
        engine=_record(Engine, data["engine"]),
        cost=_record(Cost, data["cost"]),
    )
