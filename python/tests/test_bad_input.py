"""What is wrong is refused with an exception that names it and what would be right."""

import os

import numpy as np
import pyarrow as pa
import pytest

import forebay

from conftest import SMALL
from test_replay import SWITCH

GOOD = {"time_ps": [0, 1], "bytes": [64, 64], "port": [0, 1], "queue": [0, 0]}


def scenario(overrides=None, **keywords):
    return forebay.Scenario.from_toml(SMALL, overrides, **keywords)


def arrivals(**columns):
    return forebay.replay(SWITCH, {**GOOD, **columns})


def tm():
    return forebay.Tm(SWITCH)


def cyclic():
    data = {}
    data["policy"] = data
    return data


#: What is done, the key that the exception names, and a part of its text.
CASES = {
    "threads of a run": (lambda: scenario().run(threads=0), "threads", "0 is not a number of threads"),
    "no such place": (lambda: forebay.sweep(scenario(), on="dask"), "on", "is not a place to run at"),
    "an address without Ray": (lambda: forebay.sweep(scenario(), address="auto"), "address", "this is for Ray"),
    "jobs for Ray": (lambda: forebay.sweep(scenario(), on="ray", jobs=2), "jobs", "leave jobs out"),
    "a scheme that is none": (lambda: forebay.register(dict), "register", "is not a scheme"),
    "a scheme that decides nothing": (
        lambda: forebay.register(type("Nothing", (forebay.Policy,), {})),
        "register",
        "Nothing decides nothing",
    ),
    "no such file": (lambda: forebay.Scenario.load("/nowhere/x.toml"), None, "No such file"),
    "a directory": (lambda: forebay.Scenario.load(os.sep), None, "cannot read it"),
    "not a path": (lambda: forebay.Scenario.load(7), "path", "a int is not a path"),
    "an empty text": (lambda: forebay.Scenario.from_toml(""), None, "the file is empty"),
    "bytes as a text": (lambda: forebay.Scenario.from_toml(b"x"), "from_toml", "a bytes is not a text"),
    "not TOML": (lambda: forebay.Scenario.from_toml("a = = 1"), None, "scenario:1"),
    "a list as a dictionary": (lambda: forebay.Scenario.from_dict([1]), "from_dict", "a list is not a dictionary"),
    "a key that is no text": (lambda: forebay.Scenario.from_dict({1: 2}), "1", "the key 1 is not a text"),
    "an object as a setting": (lambda: forebay.Scenario.from_dict({"seed": object()}), "seed", "is not a setting"),
    "none as a setting": (lambda: forebay.Scenario.from_dict({"seed": None}), "seed", "leave the key out"),
    "a dictionary in itself": (lambda: forebay.Scenario.from_dict(cyclic()), "policy.policy.policy", "nested"),
    "an unknown key": (lambda: scenario(polcy=1), "polcy", "did you mean policy?"),
    "an unknown policy": (lambda: scenario({"policy.kind": "abn"}), "policy.kind", 'did you mean "abm"?'),
    "a policy of another type": (lambda: scenario({"policy.kind": 3}), "policy.kind", "policy.kind"),
    "alpha below zero": (lambda: scenario({"policy.alpha": -1}), "policy.alpha", "cannot be negative"),
    "alpha not a number": (lambda: scenario({"policy.alpha": float("nan")}), "policy.alpha", "policy.alpha"),
    "no such workload": (lambda: scenario({"workload.9.load": 1}), "workload.9", "give 0 to 1"),
    "an empty key": (lambda: scenario({"policy..alpha": 1}), None, "is not a key"),
    "an override that is no dictionary": (lambda: scenario([("a", 1)]), "overrides", "a list is not a dictionary"),
    "a broken text": (lambda: scenario(name="\ud800"), "name", "is not UTF-8"),
    "a seed below zero": (lambda: scenario().run(seed=-1), "seed", "-1 is not a seed"),
    "a seed that is a text": (lambda: scenario().run(seed="1"), "seed", "give a whole number"),
    "progress that is a text": (lambda: scenario().run(progress="yes"), "progress", "neither yes, no nor a function"),
    "a duration without sense": (lambda: scenario(duration="tomorrow"), "duration", "tomorrow"),
    "too many flows": (lambda: scenario({"workload.0.rate": 1e15}), "workload.0.rate", "workload.0.rate"),
    "a grid that is a list": (lambda: forebay.sweep(scenario(), grid=["a"]), "grid", "a list is not a dictionary"),
    "a value instead of values": (lambda: forebay.sweep(scenario(), grid={"seed": 1}), 'grid["seed"]', "give a list"),
    "seeds in the grid": (lambda: forebay.sweep(scenario(), grid={"seed": [1]}), 'grid["seed"]', "seeds="),
    "a value twice": (
        lambda: forebay.sweep(scenario(), grid={"policy.alpha": [1, 1]}),
        'grid["policy.alpha"]',
        "1 is there twice",
    ),
    "no values": (lambda: forebay.sweep(scenario(), grid={"policy.alpha": []}), 'grid["policy.alpha"]', "at least one"),
    "a bad value in the grid": (
        lambda: forebay.sweep(scenario(), grid={"policy.alpha": [1, -2]}),
        "policy.alpha",
        '"policy.alpha=-2"',
    ),
    "grid and override": (
        lambda: forebay.sweep(scenario({"policy.alpha": 1}), grid={"policy.alpha": [1, 2]}),
        'grid["policy.alpha"]',
        "an override gives policy.alpha",
    ),
    "a seed twice": (lambda: forebay.sweep(scenario(), seeds=[1, 2, 1]), "seeds", "seed 1 is there twice"),
    "no seeds": (lambda: forebay.sweep(scenario(), seeds=[]), "seeds", "at least one"),
    "seeds that are none": (lambda: forebay.sweep(scenario(), seeds="5-1"), "seeds 5-1", "write 1-5"),
    "no jobs": (lambda: forebay.sweep(scenario(), jobs=0), "jobs", "give 1 to 4096"),
    "no such scale": (lambda: forebay.sweep(scenario(), scale="huge"), "scale", "there is no [scale.huge]"),
    "too many runs": (
        lambda: forebay.sweep(scenario(), grid={"policy.alpha": np.arange(1, 1_000) / 7}, seeds=5_000),
        None,
        "at most 100000 runs",
    ),
    "one side": (lambda: forebay.compare(scenario().run()), "compare", "give two or more"),
    "a side that is none": (lambda: forebay.compare(1, 2), "side 1", "a int is not a side"),
    "a directory that is no result": (lambda: forebay.load(os.sep), None, "it has no summary.json"),
    "an unknown key of a switch": (lambda: forebay.Switch.from_dict({**SWITCH, "port": 1}), "port", "did you mean"),
    "a switch without ports": (lambda: forebay.Tm({**SWITCH, "ports": 0}), "ports", "ports"),
    "a column too few": (lambda: forebay.replay(SWITCH, {"bytes": [1]}), 'arrivals["time_ps"]', "is missing"),
    "an unknown column": (lambda: arrivals(prt=[0, 1]), "arrivals", "did you mean port?"),
    "columns of two lengths": (lambda: arrivals(flow=[1]), 'arrivals["flow"]', "of one length"),
    "a port too high": (lambda: arrivals(port=[0, 2]), 'arrivals["port"][1]', "ports 0 to 1"),
    "a value below zero": (lambda: arrivals(bytes=np.array([-5, 1])), 'arrivals["bytes"]', "-5 is below zero"),
    "a list with a value below zero": (lambda: arrivals(bytes=[-5, 1]), 'arrivals["bytes"]', "below zero"),
    "bytes that are no numbers": (lambda: arrivals(bytes=np.array([0.5, 1])), 'arrivals["bytes"]', "float64"),
    "an array of two dimensions": (lambda: arrivals(bytes=np.ones((2, 2), int)), 'arrivals["bytes"]', "2 dimensions"),
    "times out of order": (lambda: arrivals(time_ps=[5, 4]), 'arrivals["time_ps"][1]', "sort the arrivals"),
    "a packet without bytes": (lambda: arrivals(bytes=[1, 0]), 'arrivals["bytes"][1]', "at least one byte"),
    "neither yes nor no": (lambda: arrivals(ect=[0, 2]), 'arrivals["ect"][1]', "neither 0 nor 1"),
    "the end of time": (lambda: arrivals(time_ps=[0, 2**64 - 2]), "arrivals", "after the end of time"),
    "an absent value in Arrow": (
        lambda: forebay.replay(SWITCH, pa.table({**GOOD, "flow": pa.array([1, None])})),
        'arrivals["flow"]',
        "no value in row 1",
    ),
    "texts in Arrow": (lambda: forebay.replay(SWITCH, pa.table({"bytes": ["a"]})), 'arrivals["bytes"]', "Utf8"),
    "arrivals that are none": (lambda: forebay.replay(SWITCH, 5), "arrivals", "a int has no arrivals"),
    "a file of arrivals that is not there": (lambda: forebay.replay(SWITCH, "/nowhere.csv"), None, "cannot read it"),
    "back in time": (lambda: (own := tm()).advance(9) or own.offer(8, 64), "now", "time never goes back"),
    "no such port": (lambda: tm().dequeue(0, 2), "port", "ports 0 to 1"),
    "no such queue": (lambda: tm().queue_bytes(0, 5), "queue", "queues 0 to 1"),
    "a packet of a negative length": (lambda: tm().offer(0, -1), "bytes", "-1 is not a whole number"),
    "a packet that is too long": (lambda: tm().offer(0, 2**31), "bytes", "too long"),
    "a packet to no queue": (lambda: tm().explain(0, 64, queue=9), "queue", "there is no queue 9"),
    "a property that packets lack": (lambda: tm().offer(0, 64, colour=1), "colour", "no such property"),
    "an unknown percentile": (lambda: forebay.sweep(scenario()).plot.fct(stat="p98"), "stat", "p99"),
    "a rank that has no rate": (lambda: forebay.analysis.aifo.quantile([1.0], 5), "rank", "there is no rank 5"),
}


@pytest.mark.parametrize("name", CASES)
def test_is_refused(name):
    act, key, text = CASES[name]
    with pytest.raises(forebay.Error) as caught:
        act()
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.key == key, str(error)
    assert text in str(error), str(error)
    assert error.problem and (error.remedy or "give" in str(error)), str(error)
    assert "--" not in str(error) and "panick" not in str(error), str(error)


def test_there_are_forty():
    assert len(CASES) >= 40


def test_file_line_and_key_are_told(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(SMALL.replace("alpha = 0.5", 'alpha = "much"'))
    with pytest.raises(forebay.Error) as caught:
        forebay.Scenario.load(path)
    error = caught.value
    line = path.read_text().splitlines().index('alpha = "much"') + 1
    assert (error.file, error.line, error.key) == (str(path), line, "policy.alpha")
    assert str(error).startswith(f"{path}:{line}: policy.alpha: ") and "^^^" in str(error)


def test_the_text_is_that_of_the_command(tmp_path, forebay_command):
    import subprocess

    from conftest import binary

    path = tmp_path / "bad.toml"
    path.write_text(SMALL.replace('kind = "dt"', 'kind = "td"'))
    shown = subprocess.run([binary(), "check", path], capture_output=True, text=True)
    with pytest.raises(forebay.Error) as caught:
        forebay.Scenario.load(path)
    assert shown.returncode == 2 and shown.stderr == f"error: {caught.value}\n"


def test_not_utf_8(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b"name = 'x'\n\xff\n")
    with pytest.raises(forebay.Error, match="line 2 is not UTF-8") as caught:
        forebay.Scenario.load(path)
    assert caught.value.file == str(path)


def test_nothing_of_others_is_overwritten(tmp_path, small):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(forebay.Error, match="something else in this directory") as caught:
        small.run().save(tmp_path / "mine")
    assert "force=True" in caught.value.remedy and [p.name for p in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    path = tmp_path / "own/scenario.toml"
    path.parent.mkdir()
    path.write_text(SMALL)
    with pytest.raises(forebay.Error, match="would be overwritten"):
        forebay.Scenario.load(path).run().save(tmp_path / "own", force=True)
    assert path.read_text() == SMALL
    small.run().save(tmp_path / "run")
    with pytest.raises(forebay.Error, match="another scenario"):
        small.run(seed=2).save(tmp_path / "run")
    small.run(seed=2).save(tmp_path / "run", force=True)
    assert forebay.load(tmp_path / "run").summary.run.seed == 2


def test_wrong_types_are_type_errors(small):
    with pytest.raises(TypeError):
        small.run(seeds=1)
    with pytest.raises(TypeError):
        forebay.analysis.dt.free("much", [])
    with pytest.raises(KeyError, match="the columns are flow"):
        small.run().flows["fct"]


def test_a_panic_is_an_exception():
    from forebay._forebay import panic_for_tests

    with pytest.raises(forebay.InternalError, match="on purpose"):
        panic_for_tests()
