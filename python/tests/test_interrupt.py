"""Ctrl-C stops whatever runs, and other threads go on meanwhile."""

import signal
import subprocess
import sys
import threading
import time

import pytest

import forebay

from conftest import SMALL
from test_replay import SWITCH

WORK = {
    "run": "scenario.run(progress=False)",
    "sweep": "forebay.sweep(scenario, seeds=3, jobs=2, progress=False)",
}


@pytest.mark.parametrize("what", WORK)
def test_ctrl_c(what, tmp_path):
    scenario = f"forebay.Scenario.from_toml({SMALL!r}, duration='20s')"
    program = f"""
import forebay, sys
scenario = {scenario}
print("begins", flush=True)
try:
    {WORK[what]}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, _ = child.communicate(timeout=30)
        assert out == "stopped\n" and time.monotonic() - began < 5
    finally:
        child.kill()


def test_the_interpreter_lock_is_released():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        began = time.monotonic()
        forebay.Scenario.from_toml(SMALL, duration="100ms").run(progress=False)
        took = time.monotonic() - began
    finally:
        stop.set()
        thread.join()
    assert counted[0] > 100 * took, (counted, took)


def test_runs_in_threads(small):
    results = []
    threads = [threading.Thread(target=lambda: results.append(small.run(progress=False))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len({str(result.flows.to_pydict()) for result in results}) == 1


def test_an_exception_stops_a_replay():
    numpy = pytest.importorskip("numpy")
    packets = 3_000_000
    columns = {name: numpy.zeros(packets, "u8") for name in ("port", "queue")}
    columns["time_ps"], columns["bytes"] = numpy.arange(packets) * 60_000, numpy.full(packets, 64)

    def stop(share, text):
        raise LookupError("seen")

    with pytest.raises(LookupError, match="seen"):
        forebay.replay(SWITCH, columns, progress=stop)
