"""Scenarios, runs and their results."""

import numpy as np
import pytest

import forebay

from conftest import ROOT, SMALL

EXAMPLE = ROOT / "scenarios/examples/storage-incast.toml"


def test_a_file_a_text_and_a_dictionary_are_one_scenario(tmp_path, small):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    data = {
        "name": "small",
        "duration": "1ms",
        "topology": {"kind": "single", "hosts": 5, "rate": "10Gbps", "delay": "1us"},
        "switch": {"buffer": "60KB"},
        "policy": {"kind": "dt", "alpha": np.float64(0.5)},
        "ecn": {"kind": "step", "threshold": "30KB"},
        "transport": {"dctcp": {"initial_window": np.int32(10), "rto_min": "1ms"}},
        "workload": [
            {"name": "reads", "kind": "incast", "request": "80KB", "fan_in": 4, "rate": 8000, "transport": "dctcp"},
            {"name": "rebuild", "kind": "poisson", "sizes": "100KB", "load": 0.2, "transport": "dctcp"},
        ],
        "measure": {"timeline": "all"},
    }
    assert forebay.Scenario.load(path).toml == small.toml
    assert forebay.Scenario.load(str(path)).toml == small.toml
    assert forebay.Scenario.from_dict(data).toml == small.toml


def test_overrides_by_dictionary_and_keyword(small):
    changed = small.override({"policy.kind": "abm", "workload.0.fan_in": 3}, seed=7, name="other")
    assert (changed.name, changed.seed, small.seed) == ("other", 7, 1)
    assert 'kind = "abm"' in changed.toml and "fan_in = 3" in changed.toml
    assert forebay.Scenario.load(EXAMPLE, **{"policy.kind": "pushout"}, seed=2).seed == 2
    whole = small.override(policy={"kind": "cs"})
    assert "alpha" not in whole.toml.split("[policy]")[1].split("[")[0]


def test_a_seed_decides_everything(small):
    first, again, other = small.run(seed=3), small.run(seed=3), small.run(seed=4)
    assert first.flows.to_pydict() == again.flows.to_pydict()
    assert first.flows.to_pydict() != other.flows.to_pydict()
    assert (first.summary.run.seed, other.summary.run.seed) == (3, 4)
    assert small.run().summary.run.seed == 1


def test_the_number_of_threads_changes_nothing(small):
    racks = {"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 2, "rate": "10Gbps", "delay": "1us"}
    racks = small.override({"topology": racks})
    one, three, default = racks.run(threads=1), racks.run(threads=3), racks.run()
    assert one.flows.to_pydict() == three.flows.to_pydict() == default.flows.to_pydict()
    assert one.summary.engine.events == three.summary.engine.events


def test_check_says_what_the_command_says(forebay_command):
    told = forebay.Scenario.load(EXAMPLE).check()
    assert told.text == forebay_command("check", EXAMPLE)
    assert told.warnings == []
    tight = forebay.Scenario.from_toml(SMALL, {"policy.alpha": 0.001}).check()
    assert tight.warnings and "drops every full packet" in tight.warnings[0]
    assert "<pre>" in tight._repr_html_()


def test_the_summary_is_typed(small):
    summary = small.run().summary
    flows = summary.flows_of()
    assert flows is not None and flows.flows == flows.complete > 0
    assert flows.fct_us is not None and flows.fct_us.p50 <= flows.fct_us.p99
    assert summary.flows_of(size="none") is None
    assert summary.queries[0].workload == "reads"
    assert summary.buffers[0].size == 60_000
    assert summary.offered > summary.dropped >= 0
    assert sum(drop.packets for tier in summary.buffers for drop in tier.drops) == summary.dropped
    assert summary.engine.hops > 0 and summary.run.build


def test_progress_is_told_and_can_stop_a_run():
    long = forebay.Scenario.load(EXAMPLE, duration="200ms")
    seen = []
    with pytest.raises(RuntimeError, match="enough"):

        def look(share, text):
            seen.append((share, text))
            if len(seen) == 3:
                raise RuntimeError("enough")

        long.run(progress=look)
    assert len(seen) == 3 and all(0 <= share <= 1 for share, _ in seen)
    assert "ms simulated" in seen[0][1]


def test_plain_and_tqdm_bars(small, capsys, monkeypatch):
    import builtins

    small.run(progress=True)
    real = builtins.__import__

    def without_tqdm(name, *rest, **more):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_tqdm)
    from forebay._progress import Bar

    with Bar(True, "work") as bar:
        bar.show(0.5, "half")
    assert "work:  50%  half" in capsys.readouterr().err


def test_representations(small):
    result = small.run()
    assert repr(small) == "<forebay.Scenario 'small', seed 1>"
    assert repr(result) == "<forebay.Result 'small', seed 1>"
    assert str(result).startswith("small, seed 1, forebay ")
    for html in (small._repr_html_(), result._repr_html_(), result.flows._repr_html_()):
        assert html.count("<t") == html.count("</t") and ("small" in html or "rows" in html)
    evil = small.override(name="<script>alert(1)</script>")
    assert "<script>" not in evil._repr_html_() + evil.run()._repr_html_()
