"""Forebay: the traffic manager of a datacenter switch, in simulated networks, in replays and packet by packet.

    import forebay

    scenario = forebay.Scenario.load("compare.toml", {"policy.kind": "abm"})
    result = scenario.run(seed=1)
    result.flows          # a table for pyarrow, polars, pandas and DuckDB
    result.summary        # typed numbers
    result.plot.fct()     # with matplotlib

Times are whole picoseconds, lengths are bytes. `docs/python.md` has the rest.
"""

from . import analysis
from ._compare import Comparison, Measure, compare
from ._forebay import (
    Ack,
    ArrivingPacket,
    BufferView,
    Departure,
    Error,
    Eviction,
    Explanation,
    FlowLimits,
    InternalError,
    Outcome,
    RankedPacket,
    Table,
    __version__,
)
from ._replay import Replay, Switch, Tm, replay
from ._result import Result, load
from ._scenario import Check, Scenario
from ._schemes import CongestionControl, Policy, RankFunction, register
from ._summary import (
    BufferGroup,
    Cost,
    Distribution,
    DropCount,
    Engine,
    FlowGroup,
    LinkGroup,
    Load,
    QueryGroup,
    RunInfo,
    Summary,
)
from ._sweep import Sweep, SweepRun, sweep

__all__ = [
    "Ack",
    "ArrivingPacket",
    "BufferGroup",
    "BufferView",
    "Check",
    "Comparison",
    "CongestionControl",
    "Cost",
    "Departure",
    "Distribution",
    "DropCount",
    "Engine",
    "Error",
    "Eviction",
    "Explanation",
    "FlowGroup",
    "FlowLimits",
    "InternalError",
    "LinkGroup",
    "Load",
    "Measure",
    "Outcome",
    "Policy",
    "QueryGroup",
    "RankFunction",
    "RankedPacket",
    "Replay",
    "Result",
    "RunInfo",
    "Scenario",
    "Summary",
    "Sweep",
    "SweepRun",
    "Switch",
    "Table",
    "Tm",
    "__version__",
    "analysis",
    "compare",
    "load",
    "register",
    "replay",
    "sweep",
]
