"""The extension module."""

import os
from typing_extensions import Self
from types import ModuleType
from typing import Any, Callable, Optional, Protocol, Union, final

_Path = Union[str, os.PathLike[str]]

__all__ = [
    "Ack",
    "ArrivingPacket",
    "BufferView",
    "Departure",
    "Error",
    "Explanation",
    "FlowLimits",
    "InternalError",
    "Eviction",
    "Outcome",
    "Prepared",
    "RankedPacket",
    "Replay",
    "Run",
    "SweepPlan",
    "Table",
    "Tm",
    "__version__",
    "abm",
    "aifo",
    "build",
    "check_switch",
    "compare",
    "dt",
    "fb",
    "interval",
    "load_run",
    "occamy",
    "panic_for_tests",
    "parse_seeds",
    "plan_sweep",
    "prepare",
    "register_control",
    "register_policy",
    "register_rank",
    "replay_columns",
    "replay_file",
    "replay_stream",
    "run_job",
    "steady",
    "transient",
]
__version__: str

class Error(ValueError):
    """Something that the caller can put right."""

    #: The file, if the mistake is in one.
    file: Optional[str]
    #: The line of that file, counted from 1.
    line: Optional[int]
    #: The key, the argument or the column.
    key: Optional[str]
    #: What is wrong.
    problem: str
    #: What would be right.
    remedy: str

class InternalError(RuntimeError):
    """A mistake in Forebay itself."""

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_arrow(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def write_parquet(self, path: _Path) -> None: ...
    def write_csv(self, path: _Path) -> None: ...
    @staticmethod
    def read_parquet(path: _Path) -> Table: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def _repr_html_(self) -> str: ...

@final
class Prepared:
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def resolved(self) -> str: ...
    def check(self) -> tuple[str, list[str]]: ...
    def run(
        self, progress: Optional[Callable[[int, int, int, int], object]], threads: Optional[int] = None
    ) -> Run: ...

@final
class Run:
    def summary_json(self) -> str: ...
    def summary_text(self) -> str: ...
    def resolved(self) -> str: ...
    def table(self, name: str) -> Table: ...
    def save(self, directory: _Path, csv: bool, force: bool) -> None: ...

@final
class Replay:
    def verdicts(self) -> Table: ...
    def counters(self) -> Table: ...
    def memory(self) -> tuple[int, int, int]: ...

@final
class Outcome:
    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> Optional[str]: ...
    @property
    def marked(self) -> bool: ...

@final
class Departure:
    @property
    def id(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def queue(self) -> Optional[int]: ...
    @property
    def is_header(self) -> bool: ...

@final
class Eviction:
    @property
    def id(self) -> int: ...
    @property
    def at(self) -> int: ...
    @property
    def port(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def reason(self) -> str: ...

@final
class Explanation:
    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> Optional[str]: ...
    @property
    def marked(self) -> bool: ...
    @property
    def charge(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def buffer(self) -> int: ...
    @property
    def threshold(self) -> Optional[float]: ...
    @property
    def terms(self) -> dict[str, float]: ...
    @property
    def rank_test(self) -> Optional[dict[str, float]]: ...
    @property
    def holders(self) -> list[tuple[int, int, int]]: ...

class Tm:
    def __new__(cls, name: str, text: str) -> Self: ...
    def offer(
        self,
        now: int,
        bytes: int,
        *,
        port: int = 0,
        queue: int = 0,
        class_: int = 0,
        flow: int = 0,
        rank: int = 0,
        eligible: int = 0,
        unscheduled: bool = False,
        ect: bool = False,
        id: int = ...,
        wire_idle: bool = False,
    ) -> Outcome: ...
    def explain(
        self,
        now: int,
        bytes: int,
        *,
        port: int = 0,
        queue: int = 0,
        class_: int = 0,
        flow: int = 0,
        rank: int = 0,
        eligible: int = 0,
        unscheduled: bool = False,
        ect: bool = False,
        id: int = ...,
        wire_idle: bool = False,
    ) -> Explanation: ...
    def dequeue(self, now: int, port: int) -> Optional[Departure]: ...
    def advance(self, now: int) -> None: ...
    def evictions(self) -> list[Eviction]: ...
    def transmission_time(self, port: int, bytes: int) -> int: ...
    def queue_bytes(self, port: int, queue: int) -> int: ...
    def queue_packets(self, port: int, queue: int) -> int: ...
    def threshold(self, port: int, queue: int) -> Optional[float]: ...
    def counters(self) -> Table: ...
    @property
    def used(self) -> int: ...
    @property
    def buffer(self) -> int: ...
    @property
    def ports(self) -> int: ...
    @property
    def queues(self) -> int: ...
    @property
    def now(self) -> int: ...
    def _reconfigure(self, name: str, text: str) -> None: ...

_Progress = Optional[Callable[[int], object]]

class _HasStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

def prepare(name: str, text: str, sets: list[tuple[str, str]]) -> Prepared: ...
def load_run(directory: _Path) -> Run: ...
def parse_seeds(text: str) -> list[int]: ...
def build() -> str: ...

_Job = tuple[str, list[tuple[str, str]], str]

@final
class SweepPlan:
    def __len__(self) -> int: ...
    def jobs(self) -> list[_Job]: ...
    def run(
        self, threads: int, csv: bool, progress: Optional[Callable[[int, int], object]]
    ) -> list[Optional[str]]: ...
    def finish(self, summaries: list[Optional[str]]) -> tuple[Table, str, list[tuple[str, int, str]]]: ...

def plan_sweep(
    name: str,
    text: str,
    sets: list[tuple[str, str]],
    grid: list[tuple[str, list[str]]],
    seeds: Optional[list[int]],
    scale: Optional[str],
    out: Optional[_Path],
    force: bool,
) -> SweepPlan: ...
def run_job(
    name: str, text: str, job: _Job, out: Optional[_Path], csv: bool, force: bool
) -> str: ...

_Settings = list[tuple[str, str, Any]]

def register_policy(class_: type, name: str, about: str, settings: _Settings, /) -> bool: ...
def register_rank(class_: type, name: str, about: str, settings: _Settings, /) -> bool: ...
def register_control(class_: type, name: str, about: str, settings: _Settings, /) -> bool: ...

@final
class BufferView:
    """What a policy can see of the buffer."""

    #: Bytes of the buffer.
    size: int
    #: Bytes in it.
    used: int
    #: Bytes that are free.
    remaining: int
    #: Bytes of each queue: those of port 0 first.
    lengths: list[int]

@final
class ArrivingPacket:
    """A packet that arrives, as a policy sees it."""

    #: The time in picoseconds.
    now: int
    #: Its length.
    bytes: int
    #: What it would take of the buffer.
    charge: int
    #: The port that it leaves by.
    port: int
    #: The number of its queue at that port.
    queue: int
    #: The index of that queue in `lengths`.
    index: int
    flow: int
    rank: int
    class_: int
    #: Sent in the first round trip.
    unscheduled: bool
    #: ECN-capable.
    ect: bool

@final
class RankedPacket:
    """A packet, as a rank function sees it."""

    #: Its length.
    bytes: int
    #: The port that it leaves by.
    port: int
    #: The number of its queue at that port.
    queue: int
    flow: int
    #: The rank that it carries.
    rank: int
    class_: int
    #: Sent in the first round trip.
    unscheduled: bool
    #: ECN-capable.
    ect: bool

@final
class Ack:
    """An ACK, as a congestion control sees it. Times are in picoseconds."""

    #: When it came in.
    now: int
    #: Packets that are now known to have arrived and were not before.
    acked: int
    #: The first packet that is not acknowledged.
    una: int
    #: The packet that will be sent next, if it is a new one.
    next: int
    #: The echo of congestion experienced.
    marked: bool
    #: A loss is being repaired, and the window has been cut for it.
    recovering: bool
    #: The window was in use, so that it may grow.
    limited: bool
    #: The round trip of the packet that asked for this ACK; None if it is not known.
    rtt: Optional[int]

@final
class FlowLimits:
    """What a congestion control knows of its flow from the start. Windows are in packets, times in picoseconds."""

    initial_window: int
    initial_threshold: Optional[int]
    max_window: int
    #: The round trip on the empty network.
    base_rtt: int
    #: Bits per second of the sender's link.
    rate: int
    #: Bytes of a full packet on the wire.
    wire: int

def compare(places: list[str], sides: list[list[str]]) -> tuple[str, str]: ...
def interval(values: list[float]) -> tuple[Optional[float], Optional[float]]: ...
def check_switch(name: str, text: str) -> None: ...
def replay_columns(name: str, text: str, columns: list[tuple[str, bytes]], progress: _Progress) -> Replay: ...
def replay_stream(name: str, text: str, source: _HasStream, progress: _Progress) -> Replay: ...
def replay_file(name: str, text: str, path: _Path, progress: _Progress) -> Replay: ...
def panic_for_tests() -> None: ...

_Burst = tuple[int, float, float, float]

class _Transient:
    def __init__(self, buffer: float, held: list[tuple[float, float, float]], burst: _Burst) -> None: ...
    def free_at_start(self) -> float: ...
    def growth(self) -> tuple[float, str]: ...
    def zero_loss_time(self) -> float: ...
    def tolerance(self) -> float: ...
    def volume(self) -> float: ...
    def fair_share(self) -> float: ...
    def tracking_rate(self) -> float: ...

class _TransientModule(ModuleType):
    Transient = _Transient

class _Steady(ModuleType):
    def free(self, buffer: float, omegas: list[float]) -> float: ...
    def occupancy(self, buffer: float, omegas: list[float]) -> float: ...
    def threshold(self, buffer: float, omega: float, omegas: list[float]) -> float: ...

class _Dt(ModuleType):
    def free(self, buffer: float, classes: list[tuple[float, int]]) -> float: ...
    def occupancy(self, buffer: float, classes: list[tuple[float, int]]) -> float: ...
    def threshold(self, buffer: float, alpha: float, classes: list[tuple[float, int]]) -> float: ...
    def burst(
        self, buffer: float, alpha: float, ports: int, per_port: int, port_rate: float, burst: _Burst
    ) -> _Transient: ...

class _Abm(ModuleType):
    def omega(self, alpha: float, congested: int, port_share: float) -> float: ...
    def minimum(self, buffer: float, alpha: float, all_alphas: list[float]) -> float: ...
    def maximum(self, buffer: float, alpha: float) -> float: ...
    def drain_time_bound(self, buffer: float, alpha: float, port_rate: float) -> float: ...
    def drain_time(
        self, buffer: float, alpha: float, congested: int, port_rate: float, omegas: list[float]
    ) -> float: ...
    def burst_tolerance_tracking(self, buffer: float, omega: float, alphas: list[float]) -> float: ...
    def burst_tolerance_lagging(self, buffer: float, alphas: list[float], drain: float, burst: _Burst) -> float: ...
    def burst_volume(self, rate: float, zero_loss_time: float) -> float: ...
    def burst(
        self, buffer: float, alpha: float, ports: int, per_port: int, port_rate: float, burst: _Burst
    ) -> _Transient: ...

class _Fb(ModuleType):
    def omega(self, alpha: float, queues: int, port_share: float) -> float: ...
    def occupancy_bound(self, buffer: float, largest_alphas: list[float]) -> float: ...
    def priority_bound(self, buffer: float, largest_alpha: float) -> float: ...
    def alpha_low_for(self, minimum: float, buffer: float, alpha_high: float) -> float: ...
    def minimum_of_low(self, buffer: float, alpha_low: float, alpha_high: float) -> float: ...
    def alpha_low_for_fair_share(self, rate: float, port_rate: float) -> float: ...
    def alpha_low_limit(self, buffer: float, port_rate: float, rate: float, duration: float) -> float: ...
    def alpha_high(
        self, buffer: float, port_rate: float, alpha_low: float, rate: float, duration: float
    ) -> Optional[float]: ...
    def alpha_high_as_printed(
        self, buffer: float, port_rate: float, alpha_low: float, rate: float, duration: float
    ) -> Optional[float]: ...
    def worst_case(
        self, buffer: float, port_rate: float, alpha_low: float, alpha_high: float, rate: float
    ) -> _Transient: ...

class _Occamy(ModuleType):
    def free(self, buffer: float, alpha: float, queues: int) -> float: ...
    def fair_rate(self, expulsion: float, alpha: float, bursts: int, over_allocated: int) -> float: ...
    def fair_alpha(self, speed: float, bursts: int, over_allocated: int) -> float: ...

class _Aifo(ModuleType):
    def margin(self, rates: list[float], drain: float) -> Optional[int]: ...
    def departures_by_rank(self, rates: list[float], drain: float) -> list[float]: ...
    def departures_of_fifo(self, rates: list[float], drain: float) -> list[float]: ...
    def gap_of_rates(self, p: list[float], a: list[float]) -> float: ...
    def quantile(self, rates: list[float], rank: int) -> float: ...
    def queue_length(self, capacity: float, headroom: float, quantile: float) -> float: ...

transient: _TransientModule
steady: _Steady
dt: _Dt
abm: _Abm
fb: _Fb
occamy: _Occamy
aifo: _Aifo
