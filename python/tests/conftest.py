"""What the tests have in common."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: One switch, an incast and a long flow: a few thousand packets.
SMALL = """
name = "small"
duration = "1ms"

[topology]
kind = "single"
hosts = 5
rate = "10Gbps"
delay = "1us"

[switch]
buffer = "60KB"

[policy]
kind = "dt"
alpha = 0.5

[ecn]
kind = "step"
threshold = "30KB"

[transport.dctcp]
initial_window = 10
rto_min = "1ms"

[[workload]]
name = "reads"
kind = "incast"
request = "80KB"
fan_in = 4
rate = 8000
transport = "dctcp"

[[workload]]
name = "rebuild"
kind = "poisson"
sizes = "100KB"
load = 0.2
transport = "dctcp"

[measure]
timeline = "all"
"""


def binary() -> str:
    """The command line: FOREBAY_BIN, or what was built in target/ last."""
    given = os.environ.get("FOREBAY_BIN")
    if given:
        return given
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / "release/forebay", target / "debug/forebay") if path.exists()]
    if not built:
        pytest.skip("the command line is not built: set FOREBAY_BIN, or run python/test")
    return str(max(built, key=lambda path: path.stat().st_mtime))


@pytest.fixture(scope="session")
def forebay_command():
    """Runs the command line."""
    program = binary()

    def run(*arguments: object) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def small():
    """A scenario of milliseconds."""
    import forebay

    return forebay.Scenario.from_toml(SMALL)
