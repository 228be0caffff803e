"""Plots."""

import builtins

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pytest  # noqa: E402

import forebay  # noqa: E402

from conftest import SMALL  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_plots_of_a_run(small):
    result = small.run()
    ax = result.plot.fct()
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert sorted(lines) == ["reads", "rebuild"]
    reads = [value / 1e6 for name, value in zip(result.flows["workload"], result.flows["fct_ps"]) if name == "reads"]
    assert list(lines["reads"].get_xdata()) == sorted(reads)
    assert lines["reads"].get_ydata()[-1] == 1
    assert len(result.plot.queries(slowdown=True).get_lines()) == 1
    over_time = result.plot.buffer()
    assert list(over_time.get_lines()[0].get_ydata()) == [used / 1e3 for used in result.timeline["used_bytes"]]
    own = plt.subplots()[1]
    assert result.plot.fct(ax=own, slowdown=True) is own


def test_buffers_without_a_timeline():
    result = forebay.Scenario.from_toml(SMALL.split("[measure]")[0]).run()
    ax = result.plot.buffer()
    assert len(ax.patches) == 3 * len(result.summary.buffers)
    assert ax.patches[1].get_height() == pytest.approx(100 * result.summary.buffers[0].occupancy_p99)


def test_plots_of_a_sweep(small):
    swept = forebay.sweep(small, grid={"policy.kind": ["dt", "cs"]}, seeds=2)
    for ax in (swept.plot.fct(), swept.plot.queries(stat="mean"), swept.plot.buffer()):
        assert len(ax.patches) == 2
        # No interval goes below what is possible.
        assert ax.get_ylim()[0] == 0
        assert [text.get_text() for text in ax.get_xticklabels()] == ["kind=dt", "kind=cs"]
    qct = [run.summary.queries[0].qct_us.mean for run in swept["kind=dt"]]
    assert swept.plot.queries(stat="mean").patches[0].get_height() == pytest.approx(sum(qct) / 2)


def test_what_is_not_there_cannot_be_drawn():
    alone = SMALL.split("[[workload]]")
    without_queries = forebay.Scenario.from_toml(alone[0] + "[[workload]]" + alone[2])
    with pytest.raises(forebay.Error, match="there are no queries to draw"):
        without_queries.run().plot.queries()


def test_without_matplotlib(small, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    result = small.run()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        result.plot.fct()
