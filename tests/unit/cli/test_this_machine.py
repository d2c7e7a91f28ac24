"""Errors that keep a command from a cloud on this machine."""

import os
import resource
import shutil
from types import SimpleNamespace

import click
import psutil
import pytest
from botocore.exceptions import EndpointConnectionError

from onebox.cloud.cloud_note import Presence
from onebox.cloud.endpoint import Endpoint
from onebox.store.index import FolderInUse
from tidemark.cli import this_machine
from tidemark.cli.this_machine import (
    CloudLost,
    _first_of,
    check_cloud,
    check_processes,
    check_room,
    on_this_machine,
)
from tidemark.client.deployed import Stack
from tidemark.model.checkout import ROOT, context_digest
from tidemark.model.refusal import Refused
from tidemark.model.suite_asset import copy_digest
from tidemark.model.suite_files import read_suites


@pytest.mark.parametrize(
    ("place", "reason"),
    [("", "File exists"), ("folder", "Not a directory")],
)
def test_the_error_of_an_unusable_state_folder_is_one_sentence(tmp_path, place, reason):
    file = tmp_path / "file"
    file.touch()

    with (
        pytest.raises(click.ClickException, match=rf"^--state: .* cannot be used: {reason}$"),
        on_this_machine(file / place, shared=True),
    ):
        pass


@pytest.mark.parametrize("name", ["", "mistyped"])
def test_a_reading_command_leaves_a_folder_without_results_unchanged(tmp_path, name):
    folder = tmp_path / name

    with (
        pytest.raises(Refused) as refused,
        on_this_machine(folder, flags=f" --state {folder}"),
    ):
        pass

    assert str(refused.value) == (
        f"--state: {folder} holds no results; expected the state folder of a run "
        f"(`tidemark run --state {folder}` makes one)"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "refused"), [((64 << 20) - 1, True), (64 << 20, False)])
def test_a_cloud_needs_room_on_the_disk_before_it_starts(tmp_path, monkeypatch, free, refused):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    if not refused:
        check_room(tmp_path / "new")
        return
    with pytest.raises(Refused, match=r"^--state: 63 MiB are free .*; expected at least 64 MiB$"):
        check_room(tmp_path / "new")


DIGESTS = f"rocksdb={copy_digest(read_suites()['rocksdb'], ROOT)}.programs kiwi=1.2"


@pytest.mark.parametrize(
    ("differing", "sentence"),
    [
        ({"systems": "/x"}, f"--state: {{}} with the suites of /x, not of {ROOT}; "),
        ({"context": "0"}, "--state: {}, which read cdk.json before its last edit; "),
        (
            {"stack": Stack("", {"Suites": DIGESTS.replace("=", "=0")})},
            "suite: {}, which copied rocksdb and its log queries before their last edit; ",
        ),
        (
            {"stack": Stack("", {"Suites": "kiwi=1.2"})},
            "suite: {}, which copied rocksdb and its log queries before their last edit; ",
        ),
        ({}, ""),
    ],
)
def test_a_cloud_with_another_copy_of_suite_or_settings_is_refused(
    tmp_path, monkeypatch, differing, sentence
):
    about = {"systems": str(ROOT), "context": context_digest()}
    stack = differing.get("stack", Stack("", {"Suites": DIGESTS}))
    cloud = Presence(Endpoint(1, "key"), stack, 7, {**about, **differing})
    monkeypatch.setattr(this_machine, "find_cloud", lambda _: cloud)
    suite = read_suites()["rocksdb"]

    if not sentence:
        check_cloud(tmp_path, suite)
        return
    with pytest.raises(Refused) as error:
        check_cloud(tmp_path, suite)
    assert str(error.value) == (
        sentence.format(f"process 7 runs the cloud of {tmp_path}")
        + "give this command another --state, or wait for the end of that process"
    )


@pytest.fixture
def lost(tmp_path, monkeypatch):
    """Return the error of a command whose cloud of a process stops answering it."""

    def lost(pid, afterwards=None):
        answers = iter([Presence(Endpoint(1, "key"), Stack("", {}), pid, {}), afterwards])
        monkeypatch.setattr(this_machine, "find_cloud", lambda _: next(answers))
        monkeypatch.setattr(this_machine, "check_state", lambda *_: None)
        monkeypatch.setattr(this_machine, "_here", lambda *_: None)
        errors = (CloudLost, EndpointConnectionError)
        with pytest.raises(errors) as error, on_this_machine(tmp_path, flags=" --state x"):
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
        return error.value

    return lost


def test_a_cloud_is_gone_only_if_its_process_has_ended(lost):
    died = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, died, os.WEXITED | os.WNOWAIT)

    try:
        assert str(lost(died)) == (
            f"the cloud at http://127.0.0.1:1 is gone: process {died} has ended. "
            "Finished trials are kept; `tidemark runs --state x` shows how each run ended."
        )
    finally:
        os.waitpid(died, 0)


def test_a_cloud_without_an_answer_whose_process_runs_is_not_called_gone(lost):
    error = lost(os.getpid())

    assert isinstance(error, CloudLost)
    assert str(error) == (
        f"the cloud at http://127.0.0.1:1 does not answer: process {os.getpid()} is ending it, or "
        "has too much to do; `tidemark runs --state x` shows whether each run has ended."
    )


def test_an_error_of_a_cloud_that_answers_is_no_lost_cloud(lost):
    of_another_stack = Presence(
        Endpoint(1, "key"), Stack("deployed meanwhile", {}), os.getpid(), {}
    )

    assert isinstance(lost(os.getpid(), of_another_stack), EndpointConnectionError)


@pytest.mark.parametrize(("user", "hard", "refused"), [(0, 30, False), (1, 30, True), (1, 999, 0)])
def test_a_cloud_needs_room_for_processes_before_it_starts(monkeypatch, user, hard, refused):
    threads = SimpleNamespace(info={"uids": SimpleNamespace(real=user), "num_threads": 7})
    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(psutil, "process_iter", lambda _: [threads])
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20, hard))
    raised = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))

    if refused:
        with pytest.raises(Refused, match=r"^ulimit -u: this user may have 30 .*, and 7 run; exp"):
            check_processes()
    else:
        check_processes()
    assert raised == [(hard, hard)]


def test_a_folder_whose_files_another_process_reads_is_waited_for(tmp_path):
    in_use = [FolderInUse("it is in use."), FolderInUse("it is in use.")]

    def opening():
        if in_use:
            raise in_use.pop()
        return "opened"

    assert _first_of(tmp_path, opening, poll_seconds=0) == "opened"
