"""Sweeps and comparisons."""

import pyarrow as pa
import pytest

import forebay

from conftest import SMALL


@pytest.fixture(scope="module")
def swept():
    return forebay.sweep(forebay.Scenario.from_toml(SMALL), grid={"policy.kind": ["dt", "cs"]}, seeds="1-3")


def test_points_seeds_and_intervals(swept):
    assert swept.points == ["kind=dt", "kind=cs"] and len(swept.runs) == 6 and len(swept) == 2
    assert [run.seed for run in swept["kind=cs"]] == [1, 2, 3]
    table = pa.table(swept)
    assert table["point"].to_pylist() == swept.points and table["seeds"].to_pylist() == [3, 3]
    mean = sum(run.summary.queries[0].qct_us.mean for run in swept["kind=dt"]) / 3
    assert table["qct_mean_us"][0].as_py() == pytest.approx(mean, rel=1e-12)
    assert table["qct_mean_us_ci95"][0].as_py() > 0
    assert swept.to_pandas().shape[0] == 2
    with pytest.raises(KeyError, match="the points are kind=dt"):
        swept["kind=abm"]


def test_a_run_of_a_sweep_is_a_run(swept, small):
    alone = small.override({"policy.kind": "cs"}).run(seed=2).summary
    own = swept["kind=cs"][1].summary
    assert (own.flows, own.queries, own.buffers) == (alone.flows, alone.queries, alone.buffers)


def test_jobs_change_nothing(swept):
    again = forebay.sweep(
        forebay.Scenario.from_toml(SMALL), grid={"policy.kind": ["dt", "cs"]}, seeds=[1, 2, 3], jobs=1, progress=False
    )
    assert again.table.to_pydict() == swept.table.to_pydict()


def test_a_sweep_goes_on_where_it_was_stopped(small, tmp_path):
    calls = dict(grid={"policy.kind": ["dt", "cs"]}, seeds=2, out=tmp_path / "out")
    first = forebay.sweep(small, **calls)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("summary.json")}
    assert len(times) == 4
    victim = next(iter(times))
    victim.unlink()
    again = forebay.sweep(small, **calls)
    assert again.table.to_pydict() == first.table.to_pydict()
    changed = [path for path, time in times.items() if path.stat().st_mtime_ns != time]
    assert changed == [victim]
    other = small.override(duration="500us")
    with pytest.raises(forebay.Error, match="another scenario") as caught:
        forebay.sweep(other, **calls)
    assert "force=True" in str(caught.value)


def test_progress_of_a_sweep(small):
    seen = []
    long = small.override(duration="40ms")
    forebay.sweep(long, seeds=4, jobs=2, progress=lambda share, text: seen.append(text))
    assert seen and seen[0].endswith("of 4 runs")


def test_sides_are_compared(swept, small, tmp_path):
    told = forebay.compare(dt=swept["kind=dt"], cs=swept["kind=cs"])
    assert told.names == ["dt", "cs"] and told.measures
    measure = told.measures[0]
    assert told[measure.name] is measure and len(measure.sides) == 2 and len(measure.differences) == 1
    assert "<table>" in told._repr_html_() and measure.name in str(told)
    a, b = small.run(seed=1), small.run(seed=2)
    assert forebay.compare(a, b).names == ["side 1", "side 2"]
    forebay.sweep(small, seeds=2, out=tmp_path / "s")
    point = tmp_path / "s" / "all"
    assert len(forebay.compare(point, [a, b]).measures) == len(forebay.compare([a, b], [a, b]).measures)
    with pytest.raises(KeyError, match="there is no measure"):
        told["nothing"]


def test_representations(swept):
    assert repr(swept) == "<forebay.Sweep: 2 points, 6 runs>"
    html = swept._repr_html_()
    assert "±" in html and "kind=dt" in html and "kind=dt" in str(swept)
