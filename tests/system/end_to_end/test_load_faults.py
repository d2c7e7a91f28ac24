"""Faults of a load: each trial of a run has another one, and the trials after it go on."""

import os
import signal
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from onebox.cloud.replacements import Replacements
from onebox.logs.store import LogStore
from tests.system.end_to_end.deployed import deploy
from tests.system.faults.checks import processes, task_processes
from tidemark.store import keys
from tidemark.store.run_objects import recorded_trials

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"
_LATE_SECONDS = 3
_HOUR_MS = 3_600_000
_SUSPENDED_SECONDS, _RUNNING_SECONDS = 0.8, 0.2


def killed(program):
    """Return the fault that a program of the trial is killed."""

    @contextmanager
    def fault(deployed, _):
        _send(signal.SIGKILL, deployed, program)
        yield

    return fault


def _send(number, deployed, program):
    for pid in processes(deployed.cloud.endpoint.url):
        with suppress(ProcessLookupError, FileNotFoundError):
            if program.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                os.kill(int(pid), number)


@contextmanager
def mostly_suspended_agent(deployed, _):
    over = Event()

    def suspend():
        while not over.is_set():
            _send(signal.SIGSTOP, deployed, "agent.py")
            over.wait(_SUSPENDED_SECONDS)
            _send(signal.SIGCONT, deployed, "agent.py")
            over.wait(_RUNNING_SECONDS)

    thread = Thread(target=suspend)
    thread.start()
    yield
    over.set()
    thread.join()


@contextmanager
def unreadable_level(deployed, level):
    s3 = deployed.cloud.endpoint.client("s3")
    s3.put_object(Bucket=deployed.stack.bucket, Key=level, Body=b"no level")
    yield


def lines_of_agents(deliver):
    """Return the fault that the lines of agents reach the log only as a function delivers them."""

    @contextmanager
    def fault(*_):
        replaced = Replacements()

        def append(store, group, stream, events, now):
            if "/agent/" in stream:
                deliver(lambda shift: appended(store, group, stream, _shifted(events, shift), now))
            else:
                appended(store, group, stream, events, now)

        appended = replaced.set(LogStore, "append", append)
        yield
        replaced.restore()

    return fault


def _shifted(events, milliseconds):
    return [(moment + milliseconds, text) for moment, text in events]


def _late(append):
    Timer(_LATE_SECONDS, append, (0,)).start()


ENDED = "service {}: it was killed (exit code 137)"
NOT_LOGGED = "unbounded: step search: 1 of 1 agents did not log level 1 within 20 s; searched from"
FAULTS = {
    "agent ends": (killed("agent.py"), ENDED.format("agent")),
    "server ends": (killed("serve.py"), ENDED.format("server")),
    "store ends": (killed("store.py"), ENDED.format("store")),
    "level unreadable": (unreadable_level, "ValueError: the level is not JSON"),
    "no lines": (lines_of_agents(lambda _: None), NOT_LOGGED),
    "clock behind": (lines_of_agents(lambda append: append(-_HOUR_MS)), NOT_LOGGED),
    "clock ahead": (lines_of_agents(lambda append: append(_HOUR_MS)), NOT_LOGGED),
    "agent late": (mostly_suspended_agent, "the agents are the limit, not the service: 8 users"),
    "lines late": (lines_of_agents(_late), ""),
}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Return the trials of a run, each with its fault."""
    folder = tmp_path_factory.mktemp("load")
    with deploy(folder / "state", folder / "calls", context={"systems": str(SYSTEM)}) as deployed:
        run = deployed.client.start({
            "suite": "crowd", "versions": ["1.0"], "repetitions": len(FAULTS)
        })  # fmt: skip
        for number, (fault, _) in enumerate(FAULTS.values(), start=1):
            level = _first_level(deployed, run, number)
            with fault(deployed, level):
                deployed.until(
                    lambda n=number: n in recorded_trials(deployed.client.bucket, run.run_id)
                )
            assert task_processes(deployed.cloud.endpoint.url) == []
        deployed.until(lambda: not deployed.client.active(run))
        yield {trial["trial"]: trial for trial in deployed.trials(run)}


def _first_level(deployed, run, number):
    """Return the key of the level of a trial, once its first level has begun."""
    s3, found = deployed.cloud.endpoint.client("s3"), []
    prefix = f"{keys.DATA}{run.run_id}/{number:03d}/"

    def begun():
        listed = s3.list_objects_v2(Bucket=deployed.stack.bucket, Prefix=prefix)
        found[:] = [each["Key"] for each in listed.get("Contents", []) if "/levels/" in each["Key"]]
        return found

    deployed.until(begun)
    return found[0]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_named_end_and_the_next_trial_goes_on(trials, name):
    number, (_, reason) = [*FAULTS].index(name) + 1, FAULTS[name]
    trial = trials[number]

    assert (trial["status"] == "ok") == (not reason), trial["reason"]
    assert reason in trial["reason"]
    values = [rate["value"] for test in trial["tests"] for rate in test["rates"]]
    assert (values != [] and None not in values) == (not reason)
