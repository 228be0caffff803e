"""Schemes written in Python: buffer policies, rank functions and congestion controls.

A class gives its settings as annotated attributes with defaults, and is made known by `register`. Files and overrides
then choose it by its name. It runs slowly, but in the same places as the built-in ones: replays, `Tm` and the simulator.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Optional, Type, TypeVar, get_type_hints

from . import _forebay
from ._errors import refused
from ._forebay import Ack, ArrivingPacket, BufferView, FlowLimits, RankedPacket


class Policy:
    """A buffer policy: a subclass has `threshold`, or decides itself in `admit`.

    There is one object for each buffer. Its settings are set before `check` and `start` are called.
    """

    #: Its name in files; without one, that of the class in small letters.
    name: str = ""
    #: The time between two calls of `update`, in picoseconds; None if there are none.
    interval: Optional[int] = None

    def check(self) -> None:
        """Raises ValueError if the settings cannot be."""

    def start(self, ports: int, queues: int, buffer: int) -> None:
        """A switch starts, with so many ports, queues of each and bytes of buffer."""

    def threshold(self, port: int, queue: int, buffer: BufferView) -> Optional[float]:
        """The bytes up to which a queue may grow: a packet is admitted if it fits the buffer and its queue, with it, is not
        longer."""
        return None

    def admit(self, packet: ArrivingPacket, buffer: BufferView) -> bool:
        """Whether a packet may join its queue; one that does not fit the buffer is dropped in any case."""
        raise NotImplementedError

    def enqueued(self, port: int, queue: int, before: int, after: int) -> None:
        """A queue has grown."""

    def dequeued(self, port: int, queue: int, before: int, after: int, sent: int) -> None:
        """A queue has shrunk."""

    def update(self, buffer: BufferView) -> None:
        """The periodic update."""


class RankFunction:
    """A rank function: what a rank scheduler (PIFO, SP-PIFO, PIEO, AIFO) sorts by. Smaller is more important.

    There is one object for each switch. Its settings are set before `check` and `start` are called.
    """

    #: Its name in files; without one, that of the class in small letters.
    name: str = ""

    def check(self) -> None:
        """Raises ValueError if the settings cannot be."""

    def start(self, ports: int, queues: int) -> None:
        """A switch starts, with so many ports and queues of each."""

    def rank(self, now: int, packet: RankedPacket) -> int:
        """The rank of a packet that arrives now, in picoseconds. The packet may be dropped after all, and `explain` asks, too: nothing
        is to be changed here, but in `joined`."""
        raise NotImplementedError

    def joined(self, packet: RankedPacket, rank: int) -> None:
        """The packet has joined its queue with this rank."""

    def picked(self, port: int, rank: int, empty: bool) -> None:
        """A packet of this rank was picked at a port; `empty` if none is left there."""


class CongestionControl:
    """A congestion control: TCP with a window, or a rate, of its own. There is one object for each flow."""

    #: Its name in files; without one, that of the class in small letters.
    name: str = ""
    #: Whether its packets are ECN-capable, unless a scenario says otherwise.
    ecn: bool = False
    #: Packets that may be in flight. It is looked at after each event.
    window: float = 1
    #: Picoseconds between full packets; None if they are not paced. It is looked at after each event.
    gap: Optional[float] = None

    def start(self, limits: FlowLimits) -> None:
        """A flow starts."""
        self.window = limits.initial_window

    def on_ack(self, ack: Ack) -> None:
        """An ACK has come in."""

    def on_congestion(self) -> None:
        """A loss has been found, the first since the window was last cut for one."""

    def on_timeout(self, again: bool) -> None:
        """The retransmission timer has run out; `again` if no new data was acknowledged since it last did."""


S = TypeVar("S", bound=Type[Any])

#: What a scheme may be, and how it is made known.
_KINDS: dict[Type[Any], Callable[..., bool]] = {
    Policy: _forebay.register_policy,
    RankFunction: _forebay.register_rank,
    CongestionControl: _forebay.register_control,
}

#: What was registered, by name, to be told to other processes.
_registered: dict[str, Type[Any]] = {}


def name_of(scheme: Type[Any]) -> str:
    """What a class is called in files."""
    name = scheme.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", scheme.__name__).lower()
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", name):
        remedy = 'write small letters, digits and dashes, such as name = "my-policy"'
        raise refused("register", f"{name!r} is not a name of a scheme", remedy)
    return name


def _settings(scheme: Type[Any], base: Type[Any]) -> list[tuple[str, str, Any]]:
    """The annotated attributes of a class, with their defaults."""
    settings = []
    for key in get_type_hints(scheme):
        if hasattr(base, key) or key.startswith("_"):
            continue
        if not hasattr(scheme, key):
            raise refused(f"{scheme.__name__}.{key}", "this setting has no default", f"write {key}: float = 1.0")
        value = getattr(scheme, key)
        if isinstance(value, bool) or (isinstance(value, int) and value >= 0) or isinstance(value, float):
            settings.append((key, f"`{key}` of {scheme.__name__}.", value))
            continue
        remedy = "settings are real numbers, whole numbers from 0, or True and False"
        raise refused(f"{scheme.__name__}.{key}", f"{value!r} cannot be a setting", remedy)
    return settings


def register(scheme: S) -> S:
    """Makes a policy, a rank function or a congestion control known by its name; to be used as a decorator. A class of the
    same name that was registered before is replaced."""
    base = next((base for base in _KINDS if isinstance(scheme, type) and issubclass(scheme, base)), None)
    if base is None or scheme is base:
        remedy = "give a subclass of forebay.Policy, forebay.RankFunction or forebay.CongestionControl"
        raise refused("register", f"{scheme!r} is not a scheme", remedy)
    if base is Policy and scheme.threshold is Policy.threshold and scheme.admit is Policy.admit:
        raise refused("register", f"{scheme.__name__} decides nothing", "write threshold, or admit")
    if base is RankFunction and scheme.rank is RankFunction.rank:
        raise refused("register", f"{scheme.__name__} ranks nothing", "write rank")
    name = name_of(scheme)
    known = _registered.get(name)
    if known is not None and not issubclass(known, base):
        raise refused("register", f"{name} is a scheme of another kind", "give another name")
    about = " ".join((scheme.__doc__ or f"{scheme.__name__}, written in Python.").split("\n\n")[0].split())
    if not _KINDS[base](scheme, name, about, _settings(scheme, base)):
        raise refused("register", f"Forebay has a scheme called {name}", "give another name")
    _registered[name] = scheme
    return scheme


def named_in(texts: Iterable[str]) -> list[Type[Any]]:
    """Those that some text of a scenario, or a value that is set, may name."""
    whole = "\n".join(texts)
    return [scheme for name, scheme in _registered.items() if name in whole]
