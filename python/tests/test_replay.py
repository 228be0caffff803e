"""Replays, and the traffic manager packet by packet."""

import csv

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import forebay

from conftest import ROOT

SWITCH = {
    "ports": 2,
    "rate": "10Gbps",
    "queues": 2,
    "buffer": "30KB",
    "policy": {"kind": "dt", "alpha": 0.5},
    "scheduler": {"kind": "rr"},
    "ecn": {"kind": "step", "threshold": "5KB"},
}


def arrivals(packets=4_000, seed=1):
    random = np.random.default_rng(seed)
    return {
        "time_ps": np.cumsum(random.integers(0, 550_000, packets)),
        "bytes": random.integers(64, 1_500, packets).astype(np.uint16),
        "port": random.integers(0, 2, packets).astype(np.int8),
        "queue": random.integers(0, 2, packets),
        "ect": random.integers(0, 2, packets).astype(bool),
    }


def write(directory, columns):
    with open(directory / "arrivals.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*([int(value) for value in column] for column in columns.values())))
    (directory / "switch.toml").write_text(forebay.Switch.from_dict(SWITCH).toml)


def test_what_comes_out_is_what_the_command_says(tmp_path, forebay_command):
    columns = arrivals()
    write(tmp_path, columns)
    text = forebay_command("replay", tmp_path / "switch.toml", tmp_path / "arrivals.csv", "--quiet")
    rows = list(csv.DictReader(text.splitlines()))
    verdicts = forebay.replay(tmp_path / "switch.toml", columns).verdicts.to_pydict()
    assert len(rows) == len(verdicts["packet"]) == 4_000
    as_text = {
        "packet": [str(value) for value in verdicts["packet"]],
        "verdict": verdicts["verdict"],
        "reason": [value or "" for value in verdicts["reason"]],
        "marked": [str(int(value)) for value in verdicts["marked"]],
        "start_ps": ["" if value is None else str(value) for value in verdicts["start_ps"]],
        "end_ps": ["" if value is None else str(value) for value in verdicts["end_ps"]],
    }
    for name, values in as_text.items():
        assert values == [row[name] for row in rows], name
    assert {"sent", "dropped"} <= set(verdicts["verdict"]) and any(verdicts["marked"])


def test_arrays_lists_arrow_and_files_are_the_same(tmp_path):
    columns = arrivals(500)
    write(tmp_path, columns)
    lists = {name: [int(value) for value in column] for name, column in columns.items()}
    table = pa.table(columns)
    ways = [columns, lists, table, pl.DataFrame(columns), tmp_path / "arrivals.csv", table.to_reader()]
    results = [forebay.replay(SWITCH, way).verdicts.to_pydict() for way in ways]
    assert all(result == results[0] for result in results)
    chunked = pa.concat_tables([table.slice(0, 100), table.slice(100)])
    assert forebay.replay(forebay.Switch.from_dict(SWITCH), chunked).verdicts.to_pydict() == results[0]


def test_counters_add_up():
    done = forebay.replay(SWITCH, arrivals())
    counters = done.counters.to_pydict()
    assert counters["port"][-1] is None and len(counters["port"]) == 5
    for name in ("offered_packets", "sent_packets", "dropped_packets", "marked_packets"):
        assert sum(counters[name][:-1]) == counters[name][-1], name
    assert done.offered == 4_000 == done.sent + done.dropped and done.dropped > 0
    assert done.dropped == sum(counters[name][-1] for name in counters if name.startswith("dropped_")) - done.dropped
    assert done.buffer == 30_000 and done.memory_read_for_transmission > 0 == done.memory_read_for_expulsion
    assert repr(done).startswith("<forebay.Replay: 4000 packets") and "<table>" in done._repr_html_()


def test_the_vectors_of_the_specification():
    """Every vector gets its verdicts."""
    vectors = sorted((ROOT / "tests/vectors").glob("*/switch.toml"))
    assert len(vectors) >= 5
    for switch in vectors:
        expected = list(csv.DictReader((switch.parent / "verdicts.csv").read_text().splitlines()))
        verdicts = forebay.replay(switch, switch.parent / "arrivals.csv").verdicts
        assert verdicts["verdict"] == [row["verdict"] for row in expected], switch


def test_packet_by_packet_is_the_replay():
    """The wires of a replay, driven by hand."""
    columns = arrivals(1_500)
    tm = forebay.Tm(SWITCH)
    free = [0, 0]
    fates = {}

    def send_until(now):
        while True:
            ready = [own for own in (0, 1) if free[own] <= now and tm.queue_packets(own, 0) + tm.queue_packets(own, 1)]
            if not ready:
                return
            port = min(ready, key=lambda own: (free[own], own))
            at = max(free[port], tm.now)
            departure = tm.dequeue(at, port)
            fates[departure.id] = (at, at + tm.transmission_time(port, departure.bytes))
            free[port] = fates[departure.id][1]

    for at, size, port, queue, ect in zip(*(columns[name].tolist() for name in columns)):
        send_until(at)
        outcome = tm.offer(at, size, port=port, queue=queue, ect=ect, wire_idle=free[port] <= at)
        if outcome.verdict == "sent":
            number = tm.counters()["offered_packets"][-1] - 1
            fates[number] = (at, at + tm.transmission_time(port, size))
            free[port] = fates[number][1]
        elif outcome.verdict == "dropped":
            fates[tm.counters()["offered_packets"][-1] - 1] = (None, None)
    send_until(1 << 60)
    verdicts = forebay.replay(SWITCH, columns).verdicts
    seen = [fates[number] for number in range(1_500)]
    assert seen == list(zip(verdicts["start_ps"], verdicts["end_ps"]))
    assert tm.used == 0 and tm.evictions() == []


def test_explain_changes_nothing_and_says_why():
    tm = forebay.Tm(SWITCH)
    assert tm.offer(0, 1_000, wire_idle=True).verdict == "sent"
    for _ in range(9):
        tm.offer(0, 1_000)
    before = (tm.used, tm.counters().to_pydict())
    why = tm.explain(0, 1_500)
    assert (why.verdict, why.length, why.charge, why.total, why.buffer) == ("queued", 9_000, 1_500, 9_000, 30_000)
    # DT: alpha times what is free.
    assert why.threshold == 0.5 * (30_000 - 9_000) and why.terms == {"alpha": 0.5, "remaining": 21_000}
    assert tm.threshold(0, 0) == why.threshold
    assert (tm.used, tm.counters().to_pydict()) == before
    while tm.offer(1, 1_500).verdict == "queued":
        pass
    why = tm.explain(2, 1_500)
    assert (why.verdict, why.reason) == ("dropped", "threshold") and why.holders[0][:2] == (0, 0)
    assert "threshold" in repr(why) and repr(tm).startswith("<forebay.Tm: 2 ports")


def test_evictions_reconfiguration_and_ids():
    tm = forebay.Tm({**SWITCH, "policy": {"kind": "pushout"}})
    for number in range(30):
        assert tm.offer(0, 1_000, id=100 + number).verdict == "queued"
    assert tm.offer(0, 1_000, port=1, id=7).verdict == "queued"
    (evicted,) = tm.evictions()
    assert (evicted.reason, evicted.port, evicted.queue, evicted.bytes) == ("pushed-out", 0, 0, 1_000)
    assert 100 <= evicted.id < 130
    assert tm.dequeue(5, 1).id == 7 and tm.dequeue(5, 1) is None
    tm.reconfigure({**SWITCH, "policy": {"kind": "cs"}})
    tm.advance(1_000)
    assert tm.now == 1_000 and tm.offer(1_000, 60, ect=True).verdict == "queued"
    with pytest.raises(forebay.Error):
        tm.reconfigure({**SWITCH, "ports": 3})
    assert tm.ports == 2 and tm.queues == 2 and tm.buffer == 30_000
