"""Replays, and the traffic manager packet by packet."""

from __future__ import annotations

import os
from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Any, Mapping, Union

from . import _forebay, _html, _progress, _toml
from ._errors import refused
from ._files import read_text
from ._forebay import Table

if TYPE_CHECKING:
    from typing_extensions import Self

Path = Union[str, "os.PathLike[str]"]


class Switch:
    """The settings of one switch; docs/switch.md has them."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        _forebay.check_switch(name, text)

    @classmethod
    def load(cls, path: Path) -> Switch:
        """Reads a switch file."""
        return cls(*read_text(path))

    @classmethod
    def from_toml(cls, text: str) -> Switch:
        """Reads the text of a switch file."""
        if not isinstance(text, str):
            raise refused("from_toml", f"a {type(text).__name__} is not a text", "give the text of a switch file")
        return cls("switch", text)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Switch:
        """Makes a switch from a dictionary with the keys of a switch file."""
        if not isinstance(data, Mapping):
            raise refused("from_dict", f"a {type(data).__name__} is not a dictionary", "give tables as dictionaries")
        return cls("switch", _toml.document(data))

    @property
    def toml(self) -> str:
        """The text of the switch file."""
        return self._text

    def __repr__(self) -> str:
        return f"<forebay.Switch {self._name!r}>"


#: A switch, its settings as a dictionary, or the name of its file.
SwitchLike = Union[Switch, Mapping[str, Any], Path]


def _switch(switch: SwitchLike) -> Switch:
    if isinstance(switch, Switch):
        return switch
    if isinstance(switch, Mapping):
        return Switch.from_dict(switch)
    return Switch.load(switch)


class Replay:
    """What became of the packets of a replay."""

    def __init__(self, replay: _forebay.Replay) -> None:
        self._replay = replay

    @cached_property
    def verdicts(self) -> Table:
        """One row for each packet, in the order of arrival: packet, verdict, reason, marked, start_ps, end_ps."""
        return self._replay.verdicts()

    @cached_property
    def counters(self) -> Table:
        """One row for each queue that saw a packet, and one, without a port, for all of the switch."""
        return self._replay.counters()

    @property
    def buffer(self) -> int:
        """Bytes of the buffer."""
        return self._replay.memory()[0]

    @property
    def memory_read_for_transmission(self) -> int:
        """Bytes read from the buffer's memory to be sent."""
        return self._replay.memory()[1]

    @property
    def memory_read_for_expulsion(self) -> int:
        """Bytes read from the buffer's memory for packets that were pushed out or expelled."""
        return self._replay.memory()[2]

    def _total(self, column: str) -> int:
        number: int = self.counters[column][-1]
        return number

    @property
    def offered(self) -> int:
        """Packets that arrived."""
        return self._total("offered_packets")

    @property
    def sent(self) -> int:
        """Packets sent whole."""
        return self._total("sent_packets")

    @property
    def dropped(self) -> int:
        """Packets dropped, pushed out or expelled."""
        return self._total("dropped_packets")

    def __repr__(self) -> str:
        return f"<forebay.Replay: {self.offered} packets, {self.sent} sent, {self.dropped} dropped>"

    def _repr_html_(self) -> str:
        columns = {name: values for name, values in self.counters.to_pydict().items() if any(values)}
        return _html.table(list(columns), zip(*columns.values()))


def _bytes(name: str, values: Any) -> bytes:
    """A column as 64-bit numbers."""
    where = f'arrivals["{name}"]'
    remedy = "give whole numbers from 0 to 2^64 - 1"
    dtype = getattr(values, "dtype", None)
    if dtype is not None and hasattr(values, "astype") and hasattr(dtype, "kind"):
        if getattr(values, "ndim", 1) != 1:
            raise refused(where, f"this has {values.ndim} dimensions", "give one")
        if dtype.kind == "i" and len(values) and values.min() < 0:
            raise refused(where, f"{values.min()} is below zero", remedy)
        if dtype.kind not in "iub":
            raise refused(where, f"its values are {dtype}", remedy)
        data: bytes = values.astype("uint64", copy=False).tobytes()
        return data
    try:
        return array("Q", values).tobytes()
    except OverflowError:
        raise refused(where, "a value is below zero or too large", remedy) from None
    except TypeError:
        raise refused(where, "these are not whole numbers", remedy) from None


def replay(
    switch: SwitchLike,
    arrivals: Any,
    *,
    progress: _progress.Progress = None,
) -> Replay:
    """Sends packets through a switch, with no network and no transport, until nothing waits.

    Arrivals are columns (a dictionary of NumPy arrays or lists, or anything with `__arrow_c_stream__`, such as a table
    of pyarrow or a frame of polars) or the name of a file (CSV, pcap or pcapng). The columns are time_ps, bytes, port
    and queue, and, if wanted, flow, rank, class, unscheduled, ect and eligible_ps.
    """
    own = _switch(switch)
    with _progress.Bar(progress, "replay") as bar:
        if isinstance(arrivals, (str, os.PathLike)):
            return Replay(_forebay.replay_file(own._name, own._text, arrivals, _progress.of_replay(bar, None)))
        if hasattr(arrivals, "__arrow_c_stream__"):
            packets = len(arrivals) if hasattr(arrivals, "__len__") else None
            return Replay(_forebay.replay_stream(own._name, own._text, arrivals, _progress.of_replay(bar, packets)))
        if not isinstance(arrivals, Mapping):
            remedy = "give a dictionary of columns, a table of Arrow, or the name of a file"
            raise refused("arrivals", f"a {type(arrivals).__name__} has no arrivals", remedy)
        columns = [(str(name), _bytes(str(name), values)) for name, values in arrivals.items()]
        packets = len(columns[0][1]) // 8 if columns else 0
        return Replay(_forebay.replay_columns(own._name, own._text, columns, _progress.of_replay(bar, packets)))


class Tm(_forebay.Tm):
    """The traffic manager of one switch, packet by packet.

    Times are whole picoseconds and never go back. Nothing happens on its own: the caller brings arrivals with `offer`,
    asks an idle port for its packet with `next`, and knows how long that takes by `transmission_time`.
    """

    def __new__(cls, switch: SwitchLike) -> Self:
        own = _switch(switch)
        return super().__new__(cls, own._name, own._text)

    def reconfigure(self, switch: SwitchLike) -> None:
        """Changes to other settings, with the packets that wait, or not at all."""
        own = _switch(switch)
        self._reconfigure(own._name, own._text)

    def __repr__(self) -> str:
        return f"<forebay.Tm: {self.ports} ports, {self.used} of {self.buffer} B, at {self.now} ps>"
