"""The examples of docs/results.md, run as they stand there."""

import re
from pathlib import Path

import pytest

import forebay

PAGE = Path(__file__).parents[2] / "docs/results.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    from conftest import SMALL

    place = tmp_path_factory.mktemp("examples")
    text = SMALL if "[measure]" in SMALL else SMALL + "\n[measure]\n"
    text = text.replace("[measure]", '[measure]\nbreakdown = true\ndrops = "all"', 1)
    forebay.Scenario.from_toml(text).run().save(place / "out")
    return place


def test_there_are_some():
    assert len(EXAMPLES) == 3
    for library in ("duckdb", "polars", "pandas"):
        assert any(f"import {library}" in example for example in EXAMPLES), library


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example(example, results, monkeypatch, capsys):
    monkeypatch.chdir(results)
    exec(compile(example, "docs/results.md", "exec"), {})
    assert capsys.readouterr().out.strip(), "it prints something"


def test_the_parts_of_a_flow_are_its_completion_time(results):
    run = forebay.load(results / "out")
    fct = dict(zip(run.flows["flow"], run.flows["fct_ps"]))
    parts = run.breakdown.to_pydict()
    flows = parts.pop("flow")
    sums = [sum(values) for values in zip(*parts.values())]
    assert flows and sums == [fct[flow] for flow in flows]
