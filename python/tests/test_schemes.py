"""Schemes written in Python."""

import os

import numpy as np
import pytest

import forebay

from conftest import SMALL

SWITCH = {"ports": 2, "rate": "10Gbps", "queues": 2, "buffer": "30KB", "scheduler": {"kind": "rr"}}
PACKETS = 4_000
ARRIVALS = {
    "time_ps": np.arange(PACKETS) * 200_000,
    "bytes": 200 + (np.arange(PACKETS) * 7919) % 1_300,
    "port": np.arange(PACKETS) % 2,
    "queue": (np.arange(PACKETS) // 3) % 2,
}


@forebay.register
class PythonDt(forebay.Policy):
    """DT, written in Python."""

    alpha: float = 1.0

    def check(self):
        if not self.alpha > 0:
            raise ValueError("alpha must be above 0")

    def threshold(self, port, queue, buffer):
        return self.alpha * buffer.remaining


@forebay.register
class DecidesItself(forebay.Policy):
    """The same by `admit`, with lengths that it keeps itself."""

    alpha: float = 1.0

    def start(self, ports, queues, buffer):
        self.queues = queues
        self.lengths = [0] * (ports * queues)

    def admit(self, packet, buffer):
        assert buffer.lengths == self.lengths and packet.index == packet.port * self.queues + packet.queue
        return self.lengths[packet.index] + packet.charge <= self.alpha * buffer.remaining

    def enqueued(self, port, queue, before, after):
        self.lengths[port * self.queues + queue] += after - before

    def dequeued(self, port, queue, before, after, sent):
        self.lengths[port * self.queues + queue] += after - before


@forebay.register
class Reno(forebay.CongestionControl):
    """Slow start, and half of the window at a loss."""

    name = "python-reno"
    keep: float = 0.5

    def start(self, limits):
        self.window, self.most, self.slow = limits.initial_window, limits.max_window, True

    def on_ack(self, ack):
        if not ack.recovering and ack.limited:
            self.window = min(self.window + (ack.acked if self.slow else ack.acked / self.window), self.most)

    def on_congestion(self):
        self.slow, self.window = False, max(1, self.window * self.keep)

    def on_timeout(self, again):
        self.slow, self.window = True, 1


@forebay.register
class PythonStfq(forebay.RankFunction):
    """Start-time fair queueing, written in Python."""

    weight: int = 1

    def check(self):
        if not self.weight:
            raise ValueError("a flow without weight is never sent")

    def start(self, ports, queues):
        self.virtual = [0] * ports
        self.finish = [{} for _ in range(ports)]

    def rank(self, now, packet):
        return max(self.virtual[packet.port], self.finish[packet.port].get(packet.flow, 0))

    def joined(self, packet, rank):
        self.finish[packet.port][packet.flow] = rank + (packet.bytes << 20) // self.weight

    def picked(self, port, rank, empty):
        self.virtual[port] = rank


@forebay.register
class PythonLstf(forebay.RankFunction):
    """Least slack time first, without a state."""

    def rank(self, now, packet):
        return now + packet.rank


def policy(kind, **settings):
    return {**SWITCH, "policy": {"kind": kind, **settings}}


@pytest.mark.parametrize("kind", ["python-dt", "decides-itself"])
def test_dt_in_python_gives_the_verdicts_of_dt(kind):
    own = forebay.replay(policy(kind, alpha=0.5), ARRIVALS)
    built_in = forebay.replay(policy("dt", alpha=0.5), ARRIVALS)
    assert 0 < own.dropped < own.offered
    assert own.verdicts.to_pydict() == built_in.verdicts.to_pydict()
    assert own.counters.to_pydict() == built_in.counters.to_pydict()


@pytest.fixture
def files(small, tmp_path):
    """The files of a run, but for those that name the scheme."""

    def run(kind, overrides, without=()):
        small.override(overrides, duration="2ms").run(seed=3).save(tmp_path / kind)
        read = {path.name: path.read_bytes() for path in (tmp_path / kind).iterdir()}
        return {name: data for name, data in read.items() if name not in ("summary.json", "scenario.toml", *without)}

    return run


def test_dt_in_python_gives_the_bytes_of_dt_in_the_simulator(files):
    built_in = files("dt", {"policy.kind": "dt"})
    assert len(built_in["flows.parquet"]) > 1_000 and built_in == files("python-dt", {"policy.kind": "python-dt"})
    # Without a threshold, the timeline has none.
    del built_in["timeline.parquet"]
    assert built_in == files("decides-itself", {"policy.kind": "decides-itself"}, ["timeline.parquet"])


def test_a_rank_function_in_python_gives_the_bytes_of_the_built_in_one(files):
    def run(rank):
        return files(rank, {"scheduler": {"kind": "pifo", "rank": rank}})

    fair = run("stfq")
    assert len(fair["flows.parquet"]) > 1_000 and fair == run("python-stfq")
    assert fair != run("python-lstf")


PIFO = {"kind": "pifo", "capacity": 64}
SP_PIFO = {"kind": "sp-pifo", "queues": 4, "capacity": 16}
AIFO = {"kind": "aifo", "capacity": 16, "headroom": 0.1, "window": 8}


def ranked(scheduler, rank, **settings):
    """A switch with one queue a port and a rank scheduler."""
    return {**policy("cs"), "queues": 1, "scheduler": {**scheduler, "rank": rank, **settings}}


@pytest.mark.parametrize("scheduler", [PIFO, SP_PIFO, AIFO], ids=lambda scheduler: scheduler["kind"])
@pytest.mark.parametrize("rank", ["stfq", "lstf"])
def test_ranks_in_python_give_the_verdicts_of_the_built_in_ones(scheduler, rank):
    packets = np.arange(PACKETS)
    arrivals = {**ARRIVALS, "queue": packets * 0, "flow": packets % 7, "rank": (packets * 2_654_435_761) % 5_000_000}

    def replay(rank):
        return forebay.replay(ranked(scheduler, rank), arrivals).verdicts.to_pydict()

    own = replay(f"python-{rank}")
    assert own == replay(rank) != replay("given")


def test_a_rank_function_is_stepped_and_explained():
    own, built_in = (forebay.Tm(ranked(PIFO, rank)) for rank in ("python-stfq", "stfq"))
    left = []
    for tm in (own, built_in):
        for number in range(8):
            assert tm.explain(0, 1_000, flow=number // 4).verdict == "queued"
            tm.offer(0, 1_000, flow=number // 4, id=number)
        left.append([tm.dequeue(0, 0).id for _ in range(8)])
    # Two flows take turns, though the first had come with all its packets before.
    assert left[0] == left[1] == [0, 4, 1, 5, 2, 6, 3, 7]


def test_an_impossible_rank_is_the_exception_of_the_run():
    @forebay.register
    class Negative(forebay.RankFunction):
        def rank(self, now, packet):
            return -1

    with pytest.raises(ValueError, match="rank: -1 is not a whole number from 0 to 18446744073709551615"):
        forebay.replay(ranked(PIFO, "negative"), {**ARRIVALS, "queue": ARRIVALS["queue"] * 0})
    with pytest.raises(forebay.Error, match="a flow without weight is never sent"):
        forebay.Tm(ranked(PIFO, "python-stfq", weight=0))


def test_it_is_stepped_and_explained():
    own, built_in = (forebay.Tm(policy(kind, alpha=0.5)) for kind in ("python-dt", "dt"))
    for _ in range(30):
        assert own.offer(0, 1_000, port=1).verdict == built_in.offer(0, 1_000, port=1).verdict
    assert own.threshold(1, 0) == built_in.threshold(1, 0)
    why = own.explain(0, 1_000, port=1)
    assert why.verdict == "dropped" and why.threshold == built_in.explain(0, 1_000, port=1).threshold


def test_a_congestion_control_in_python(small):
    runs = {}
    for kind in ("python-reno", "reno"):
        text = SMALL.replace("dctcp", kind)
        runs[kind] = forebay.Scenario.from_toml(text).run(seed=2)
    own = runs["python-reno"].summary.flows_of()
    assert own.flows == own.complete > 20
    other = SMALL.replace("[transport.dctcp]", "[transport.python-reno]\nkeep = 0.9").replace('"dctcp"', '"python-reno"')
    assert forebay.Scenario.from_toml(other).run(seed=2).flows.to_pydict() != runs["python-reno"].flows.to_pydict()


def test_sweeps_have_it(small):
    swept = forebay.sweep(small, grid={"policy.kind": ["dt", "python-dt"]}, seeds=2, jobs=2)
    for own, other in zip(swept["kind=python-dt"], swept["kind=dt"]):
        assert own.summary.flows == other.summary.flows and own.summary.buffers == other.summary.buffers


def test_results_are_not_kept_under_names_without_the_code(small, tmp_path):
    with pytest.raises(forebay.Error, match="python-dt is written in Python"):
        forebay.sweep(small.override({"policy.kind": "python-dt"}), seeds=2, out=tmp_path / "out")
    assert not os.path.exists(tmp_path / "out")


def test_a_class_is_replaced(small):
    def make(factor):
        @forebay.register
        class Replaced(forebay.Policy):
            alpha: float = 1.0

            def threshold(self, port, queue, buffer):
                return factor * self.alpha * buffer.remaining

        return forebay.replay(policy("replaced"), ARRIVALS).dropped

    assert make(4.0) != make(0.1)


class Broken(forebay.Policy):
    def threshold(self, port, queue, buffer):
        if buffer.used > 5_000:
            raise LookupError("my own mistake")
        return 1e9


def test_an_exception_in_a_policy_is_that_of_the_run(small):
    forebay.register(Broken)
    with pytest.raises(LookupError, match="my own mistake") as caught:
        forebay.replay(policy("broken"), ARRIVALS)
    assert any("threshold" in str(entry.name) for entry in caught.traceback)
    scenario = small.override({"policy.kind": "broken"})
    with pytest.raises(LookupError, match="my own mistake"):
        scenario.run()
    with pytest.raises(LookupError, match="my own mistake"):
        forebay.sweep(scenario, seeds=6, jobs=3)
    tm = forebay.Tm(policy("broken"))
    with pytest.raises(LookupError, match="my own mistake"):
        for _ in range(30):
            tm.offer(0, 1_000)
    # And all goes on.
    assert forebay.replay(policy("python-dt"), ARRIVALS).sent > 0


def test_an_exception_in_a_congestion_control_is_that_of_the_run():
    @forebay.register
    class Impossible(forebay.CongestionControl):
        def on_ack(self, ack):
            self.window = float("nan")

    with pytest.raises(ValueError, match="window: NaN is not a number of packets"):
        forebay.Scenario.from_toml(SMALL.replace("dctcp", "impossible")).run()


def no_default(name="x"):
    class NoDefault(forebay.Policy):
        alpha: float

        def threshold(self, port, queue, buffer):
            return 0.0

    return NoDefault


def wrong_default():
    class WrongDefault(forebay.Policy):
        alpha: str = "high"

        def threshold(self, port, queue, buffer):
            return 0.0

    return WrongDefault


def named(name):
    return type("Named", (PythonDt,), {"name": name})


@pytest.mark.parametrize(
    "scheme, says",
    [
        (7, "7 is not a scheme"),
        (forebay.Policy, "is not a scheme"),
        (type("Empty", (forebay.Policy,), {}), "Empty decides nothing"),
        (type("Unranked", (forebay.RankFunction,), {}), "Unranked ranks nothing"),
        (type("Stfq", (PythonLstf,), {}), "Forebay has a scheme called stfq"),
        (no_default(), "this setting has no default"),
        (wrong_default(), "'high' cannot be a setting"),
        (named("My Policy"), "'My Policy' is not a name"),
        (named("dt"), "Forebay has a scheme called dt"),
        (named("python-reno"), "python-reno is a scheme of another kind"),
        (type("Cubic", (forebay.CongestionControl,), {}), "Forebay has a scheme called cubic"),
    ],
)
def test_what_cannot_be_registered(scheme, says):
    with pytest.raises(forebay.Error, match=says) as caught:
        forebay.register(scheme)
    assert caught.value.remedy


def test_wrong_settings_are_told():
    with pytest.raises(forebay.Error, match="alpha must be above 0"):
        forebay.replay(policy("python-dt", alpha=-1.0), ARRIVALS)
    with pytest.raises(forebay.Error, match="beta"):
        forebay.replay(policy("python-dt", beta=1.0), ARRIVALS)
