"""Sweeps on a real Ray cluster of several nodes on this machine."""

import os
import signal
import threading
import time

import pytest

import forebay

from conftest import SMALL

ray = pytest.importorskip("ray")

#: Milliseconds a run.
TINY = SMALL.replace('"1ms"', '"100us"', 1)
GRID = {"policy.alpha": [0.25, 1, 4]}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def kill_a_worker(done):
    """Kills the first process that makes a run, once some are made."""
    while done[0] < 20:
        time.sleep(0.01)
    while True:
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if name.isdigit() and file.read().startswith(b"ray::_task"):
                        os.kill(int(name), signal.SIGKILL)
                        done.append(int(name))
                        return
            except OSError:
                pass


def test_a_cluster_makes_the_table_of_one_process(cluster, tmp_path):
    scenario = forebay.Scenario.from_toml(TINY)
    seeds = int(os.environ.get("FOREBAY_RAY_SEEDS", "40"))
    local = forebay.sweep(scenario, grid=GRID, seeds=seeds, progress=False)
    done = [0]
    killer = threading.Thread(target=kill_a_worker, args=(done,), daemon=True)
    killer.start()
    shown = []

    def progress(share, text):
        done[0] = round(share * 3 * seeds)
        shown.append(text)

    begun = time.monotonic()
    far = forebay.sweep(scenario, grid=GRID, seeds=seeds, on="ray", progress=progress)
    print(f"{3 * seeds} runs on Ray: {time.monotonic() - begun:.1f} s")
    killer.join(10)
    assert len(done) == 2, "no worker was killed"
    assert str(far) == str(local) and far.table.to_pydict() == local.table.to_pydict()
    assert [run.seed for run in far.runs] == [run.seed for run in local.runs]
    assert shown[-1] == f"{3 * seeds} of {3 * seeds} runs"


def test_results_in_a_shared_directory_and_a_node_that_dies(cluster, tmp_path):
    scenario = forebay.Scenario.from_toml(TINY)
    calls = dict(grid=GRID, seeds=10, out=tmp_path / "far", on="ray")
    dying = cluster.add_node(num_cpus=2)
    removed = threading.Timer(0.3, lambda: cluster.remove_node(dying, allow_graceful=False))
    removed.start()
    far = forebay.sweep(scenario, progress=False, **calls)
    removed.join()
    local = forebay.sweep(scenario, grid=GRID, seeds=10, out=tmp_path / "local", progress=False)
    for name in ("sweep.parquet", "sweep.csv"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "far").rglob("summary.json")}
    assert len(times) == 30 and str(far) == str(local)
    # The same again runs nothing.
    forebay.sweep(scenario, progress=False, **calls)
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "far").rglob("summary.json")}
    assert (tmp_path / "far" / "alpha=1" / "seed3" / "flows.parquet").exists()


def test_schemes_and_exceptions_cross_the_cluster(cluster):
    @forebay.register
    class FarAway(forebay.Policy):
        alpha: float = 1.0

        def threshold(self, port, queue, buffer):
            if self.alpha > 100:
                raise LookupError("far away")
            return self.alpha * buffer.remaining

    scenario = forebay.Scenario.from_toml(TINY)
    swept = forebay.sweep(scenario, grid={"policy.kind": ["dt", "far-away"]}, seeds=2, on="ray", progress=False)
    for own, other in zip(swept["kind=far-away"], swept["kind=dt"]):
        assert own.summary.flows == other.summary.flows
    broken = scenario.override({"policy.kind": "far-away", "policy.alpha": 200.0})
    with pytest.raises(LookupError, match="far away"):
        forebay.sweep(broken, seeds=2, on="ray", progress=False)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(on="dask"), "'dask' is not a place to run at"),
        (dict(address="auto"), "this is for Ray"),
        (dict(on="ray", jobs=2), "Ray decides how many"),
        (dict(on="ray", address="10.0.0.1:6379"), "connected to Ray already"),
    ],
)
def test_wrong_arguments(cluster, arguments, says):
    with pytest.raises(forebay.Error, match=says) as caught:
        forebay.sweep(forebay.Scenario.from_toml(TINY), **arguments)
    assert caught.value.remedy
