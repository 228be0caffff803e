"""Sweeps on a Ray cluster."""

from __future__ import annotations

from typing import Any, Callable, Optional, Type

from . import _forebay, _schemes
from ._errors import refused

#: How often a run is made again whose worker or node has died.
_RETRIES = 5
#: Tasks that wait in the cluster beside those that run: enough to keep it busy, few enough to be stopped soon.
_WAITING = 64

Job = tuple[str, list[tuple[str, str]], str]


def _task(
    file: tuple[str, str], job: Job, out: Optional[str], csv: bool, force: bool, build: str, schemes: list[Type[Any]]
) -> str:
    """One run, in a worker."""
    if _forebay.build() != build:
        own = _forebay.build()
        raise refused("on", f"a node has another build of forebay: {own}, not {build}", "install the same on all nodes")
    for scheme in schemes:
        _schemes.register(scheme)
    return _forebay.run_job(*file, job, out, csv, force)


def run(
    plan: _forebay.SweepPlan,
    file: tuple[str, str],
    out: Optional[str],
    csv: bool,
    force: bool,
    address: Optional[str],
    progress: Optional[Callable[[int, int], None]],
) -> list[Optional[str]]:
    """Makes all runs of a plan as tasks of a cluster. The texts of `summary.json`, in the order of the plan."""
    try:
        import ray
    except ImportError:
        raise refused("on", "Ray is not installed", "pip install ray") from None
    own = not ray.is_initialized()
    if not own and address is not None:
        raise refused("address", "this process is connected to Ray already", "leave address out, or call ray.shutdown()")
    if own:
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError) as error:
            text = str(error).splitlines()[0]
            raise refused("address", f"cannot reach a Ray cluster: {text}", "give the address of ray start") from None
    try:
        return _run(ray, plan, file, out, csv, force, progress)
    finally:
        if own:
            ray.shutdown()


def _run(
    ray: Any,
    plan: _forebay.SweepPlan,
    file: tuple[str, str],
    out: Optional[str],
    csv: bool,
    force: bool,
    progress: Optional[Callable[[int, int], None]],
) -> list[Optional[str]]:
    # What went wrong in a scenario goes wrong again: only what died with its worker is tried again.
    task = ray.remote(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)(_task)
    shared = ray.put(file)
    build = _forebay.build()
    jobs = list(enumerate(plan.jobs()))[::-1]
    # What no run names stays here: its module need not be there on the nodes.
    schemes = _schemes.named_in([file[1], *{value for _, (_, sets, _) in jobs for _, value in sets}])
    results: list[Optional[str]] = [None] * len(jobs)
    running: dict[Any, int] = {}
    total = len(jobs)
    try:
        while jobs or running:
            most = int(ray.cluster_resources().get("CPU", 1)) + _WAITING
            while jobs and len(running) < most:
                number, job = jobs.pop()
                running[task.remote(shared, job, out, csv, force, build, schemes)] = number
            # A short wait, so that Ctrl-C and the bar need not wait for a long run.
            ready, _ = ray.wait(list(running), num_returns=len(running), timeout=0.2)
            for reference in ready:
                results[running.pop(reference)] = _result(ray, reference)
            if progress is not None:
                progress(total - len(jobs) - len(running), total)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
    return results


def _result(ray: Any, reference: Any) -> str:
    try:
        text: str = ray.get(reference)
        return text
    except ray.exceptions.RayTaskError as error:
        # The exception as it was in the worker.
        cause = getattr(error, "cause", None)
        raise (cause if isinstance(cause, Exception) else error) from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        problem = f"a run has lost its worker {_RETRIES + 1} times: {str(error).splitlines()[0]}"
        raise refused("on", problem, "look at Ray's logs; has a node enough memory?") from None
