"""Python and the command line give the same bytes."""

import json

import pytest

import forebay

from conftest import ROOT

#: What is set to keep scenarios short.
SHORT = {
    "examples/storage-incast.toml": {"duration": "3ms"},
    "examples/three-tier-failure.toml": {"duration": "3ms"},
    "compare.toml": {"duration": "2ms", "policy.kind": "abm", "policy.alpha": 0.5},
    "compare-fb.toml": {"duration": "22ms"},
    "compare-ranks.toml": {"duration": "2ms"},
    "compare-thresholds.toml": {"duration": "2ms"},
}

#: Every bundled example and comparison.
SCENARIOS = ROOT / "scenarios"
CASES = {
    str(path.relative_to(SCENARIOS)): SHORT.get(str(path.relative_to(SCENARIOS)), {})
    for path in sorted([*SCENARIOS.glob("examples/*.toml"), *SCENARIOS.glob("compare*.toml")])
}


def test_what_is_shortened_is_there():
    assert SHORT.keys() <= CASES.keys()


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "summary.json"}


def summary(directory):
    data = json.loads((directory / "summary.json").read_text())
    del data["cost"]
    return data


@pytest.mark.parametrize("name", CASES)
def test_a_run(name, forebay_command, tmp_path):
    path, sets = ROOT / "scenarios" / name, CASES[name]
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    forebay_command("run", path, *arguments, "--seed", 5, "--csv", "--quiet", "--out", tmp_path / "shell")
    forebay.Scenario.load(path, sets).run(seed=5).save(tmp_path / "python", csv=True)
    builds = {summary(tmp_path / side)["run"]["build"] for side in ("shell", "python")}
    assert len(builds) == 1, "the command line and the package are not built from the same sources"
    shell, python = files(tmp_path / "shell"), files(tmp_path / "python")
    assert sorted(shell) == sorted(python) and len(shell) > 10
    for file in shell:
        assert shell[file] == python[file], file
    assert summary(tmp_path / "shell") == summary(tmp_path / "python")


def test_a_sweep(forebay_command, tmp_path):
    path = ROOT / "scenarios/examples/storage-incast.toml"
    arguments = ["--set", "duration=1ms", "--grid", "switch.buffer_per_port_per_gbps=5KB,3KB", "--seeds", "1-2"]
    text = forebay_command("sweep", path, *arguments, "--quiet", "--out", tmp_path / "shell")
    scenario = forebay.Scenario.load(path, duration="1ms")
    grid = {"switch.buffer_per_port_per_gbps": ["5KB", "3KB"]}
    kept = forebay.sweep(scenario, grid=grid, seeds=2, out=tmp_path / "python")
    forgotten = forebay.sweep(scenario, grid=grid, seeds=[1, 2], jobs=1)
    for name in ("sweep.parquet", "sweep.csv"):
        assert (tmp_path / "shell" / name).read_bytes() == (tmp_path / "python" / name).read_bytes()
    points = sorted(path.name for path in (tmp_path / "shell").iterdir() if path.is_dir())
    assert len(points) == 8
    for point in points:
        for seed in ("seed1", "seed2"):
            assert files(tmp_path / "shell" / point / seed) == files(tmp_path / "python" / point / seed)
    assert text.startswith(str(kept)) and str(kept) == str(forgotten)
    assert kept.table.to_pydict() == forgotten.table.to_pydict()


def test_a_comparison(forebay_command, tmp_path):
    path = ROOT / "scenarios/examples/storage-incast.toml"
    scenario = forebay.Scenario.load(path, duration="1ms")
    scenario.run().save(tmp_path / "a")
    scenario.override({"policy.kind": "pushout"}).run().save(tmp_path / "b")
    told = forebay.compare(tmp_path / "a", tmp_path / "b")
    assert str(told) == forebay_command("compare", tmp_path / "a", tmp_path / "b")
