"""The package as a whole: its types, its documentation, the notebook, the analysis."""

import base64
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import forebay

from conftest import ROOT

PYTHON = ROOT / "python"


def test_the_package_and_its_users_are_typed(tmp_path):
    user = tmp_path / "user.py"
    user.write_text(
        """import forebay

scenario = forebay.Scenario.load("x.toml", {"policy.kind": "abm"}, seed=1)
result: forebay.Result = scenario.run(seed=2, progress=False)
flows = result.summary.flows_of()
p99: float = flows.fct_us.p99 if flows and flows.fct_us else 0.0
names: list[str] = result.flows.column_names
sweep: forebay.Sweep = forebay.sweep(scenario, grid={"policy.alpha": [0.5, 1]}, seeds=range(3))
tm = forebay.Tm({"ports": 1})
verdict: str = tm.offer(0, 1500, port=0, wire_idle=True).verdict
length: float = forebay.analysis.dt.threshold(1e6, 1.0, [(1.0, 4)])
reveal_type(tm.dequeue(0, 0))
"""
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", user],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    assert "Departure | None" in done.stdout
    stubs = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "forebay._forebay", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert stubs.returncode == 0, stubs.stdout


def test_everything_public_is_documented():
    missing = []
    for name in forebay.__all__:
        thing = getattr(forebay, name)
        if inspect.isclass(thing) or callable(thing):
            if not inspect.getdoc(thing):
                missing.append(name)
            for inner, member in inspect.getmembers(thing):
                own = inner in vars(thing) if inspect.isclass(thing) else False
                if own and not inner.startswith("_") and (callable(member) or isinstance(member, property)):
                    if not inspect.getdoc(member):
                        missing.append(f"{name}.{inner}")
    assert missing == []
    page = (ROOT / "docs/python.md").read_text()
    for name in ("Scenario", "Result", "Sweep", "Switch", "Tm", "compare", "replay", "sweep", "load", "analysis",
    "Error"):
        assert name in page, name


@pytest.mark.parametrize("page", ["docs/python.md", "docs/tutorial/python.md", "docs/howto/read-results.md"])
def test_the_examples_of_the_pages_run(page, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(ROOT)
    blocks = (ROOT / page).read_text().split("```python\n")[1:]
    assert len(blocks) > 2
    names = {"tmp": tmp_path}
    for block in blocks:
        exec(compile(block.split("```")[0], page, "exec"), names)


@pytest.mark.parametrize("name, images", [("first_hour", 3), ("figure_of_a_paper", 1), ("own_policy", 1)])
def test_a_notebook_runs(name, images):
    import nbformat
    from nbclient import NotebookClient

    path = PYTHON / f"notebooks/{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "clear its outputs"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == images
    if os.environ.get("FOREBAY_PICTURES"):
        for number, picture in enumerate(pictures):
            (Path(os.environ["FOREBAY_PICTURES"]) / f"{name}-{number}.png").write_bytes(base64.b64decode(picture))
    printed = "".join(output.get("text", "") for output in outputs)
    if name == "figure_of_a_paper":
        # The paper's number, to a few percent.
        assert 45 < float(re.search(r"(\d+)% more", printed)[1]) < 70
    else:
        assert any("text/html" in output.get("data", {}) for output in outputs)


def test_fifteen_lines_from_nothing_to_a_plot():
    page = (ROOT / "docs/python.md").read_text()
    first = page.split("```python\n")[1].split("```")[0]
    assert "plot.fct" in first and len(first.strip().splitlines()) <= 15


def test_the_analysis_is_that_of_the_papers():
    dt, abm, fb = forebay.analysis.dt, forebay.analysis.abm, forebay.analysis.fb
    occamy, aifo, steady = forebay.analysis.occamy, forebay.analysis.aifo, forebay.analysis.steady
    # Four queues with alpha 1 leave a fifth of the buffer free.
    assert dt.free(1e6, [(1.0, 4)]) == pytest.approx(2e5) == dt.threshold(1e6, 1.0, [(1.0, 4)])
    assert dt.occupancy(1e6, [(1.0, 4)]) == pytest.approx(8e5)
    assert occamy.free(1e6, 8.0, 1) == pytest.approx(1e6 / 9)
    assert steady.threshold(90.0, 0.5, [0.5, 0.5, 1.0]) == pytest.approx(15.0)
    assert abm.maximum(3e6, 0.5) == pytest.approx(1e6)
    assert abm.minimum(4e6, 1.0, [1.0, 2.0]) == pytest.approx(1e6)
    assert fb.alpha_low_for(0.25e6, 1e6, 2.0) == pytest.approx(1.0)
    assert fb.alpha_high(1e3, 1e9, 1.0, 1e12, 1.0) is None
    assert aifo.departures_by_rank([4.0, 4.0, 4.0], 6.0) == [4.0, 2.0, 0.0]
    assert aifo.margin([1.0], 2.0) is None
    burst = forebay.analysis.Transient(1e6, [(1.0, 1.0, 1e9)], (1, 1.0, 1e10, 1e9))
    rate, regime = burst.growth()
    assert regime == "lagging" and rate > 0 and burst.zero_loss_time() > 0
    assert burst.tolerance() == pytest.approx((1e10 - 1e9) / 8 * burst.zero_loss_time())


def test_the_library_takes_no_dependencies():
    text = (PYTHON / "pyproject.toml").read_text()
    assert "\ndependencies" not in text
    imported = {
        line.split()[1].split(".")[0]
        for path in Path(forebay.__file__).parent.glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("import ", "from ")) and not line.startswith("from .")
    }
    assert imported <= set(sys.stdlib_module_names) if hasattr(sys, "stdlib_module_names") else imported
