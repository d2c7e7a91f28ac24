"""Checks before a run on imaginary machines, and the turns of the runs of this one."""

import os
import secrets
import socket
from dataclasses import replace

import pytest

from onebox.cloud.cgroups import NotWritableError
from tidemark.cli import preflight
from tidemark.cli.preflight import (
    Machine,
    check_sizes,
    check_writes,
    other_order,
    turn,
    warnings,
)
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.services import Service
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites

GIB = 1 << 30
LARGE = Machine(cores=4, load=0.1, memory_bytes=64 * GIB, disk_bytes=500 * GIB)
SUITES = read_suites()
ROCKSDB = SUITES["rocksdb"]


def test_a_state_folder_that_keeps_programs_from_their_folder_is_refused(tmp_path):
    task = ROCKSDB.task.model_copy(update={"writes": str(tmp_path / "scratch")})
    suite = ROCKSDB.model_copy(update={"task": task})

    for state in (tmp_path / "state", tmp_path / "a" / "state"):
        with pytest.raises(Refused, match=rf"^--state: {state} lies in {tmp_path}, where RocksDB "):
            check_writes(suite, state)
    check_writes(suite, tmp_path.parent / "state")
    check_writes(ROCKSDB, tmp_path / "state")


def request_for(*versions):
    return resolve_request({"suite": "rocksdb", "versions": list(versions)}, SUITES)


def sentences(machine, **fields):
    request = resolve_request({"suite": "rocksdb", **fields}, SUITES)
    return list(warnings(request, ROCKSDB, machine))


def test_a_machine_that_can_hold_the_run_gets_no_warning():
    assert sentences(LARGE, records=10_000_000, tasks=4) == []


def test_versions_that_are_older_than_those_named_before_them_are_named_in_their_order():
    assert other_order(request_for("9.8.4", "9.0.0"), ROCKSDB.subject) == (
        "order: the run compares 9.0.0, 9.8.4, the oldest first, and not in the order 9.8.4, "
        "9.0.0; --baseline names the version that the others are compared with"
    )
    assert other_order(request_for("9.0.0", "9.8.4"), ROCKSDB.subject) == ""


def test_the_warning_of_little_disk_has_the_available_and_the_needed_amount():
    assert sentences(replace(LARGE, disk_bytes=4 * GIB), records=1_000_000, tasks=2) == [
        "disk: 4.0 GiB are free, tests with records 1,000,000, tasks 2 may need 10.0 GiB; "
        "the run fails when the disk is full"
    ]


def test_the_warning_of_little_memory_is_for_all_tasks_side_by_side():
    assert sentences(replace(LARGE, memory_bytes=GIB), records=1_000_000, tasks=2) == [
        "memory: 1.0 GiB are available, tests with records 1,000,000, tasks 2 may need 1.6 GiB; "
        "tasks may be killed, or slowed down by swapping"
    ]


def test_a_task_with_one_record_needs_some_memory():
    assert sentences(replace(LARGE, memory_bytes=GIB), records=1, tasks=4) == []
    assert len(sentences(replace(LARGE, memory_bytes=GIB), records=1, tasks=5)) == 1


@pytest.mark.parametrize(("load", "warned"), [(2.0, False), (2.1, True)])
def test_a_machine_is_busy_above_half_of_its_cores(load, warned):
    assert bool(sentences(replace(LARGE, load=load))) == warned


def test_the_warning_of_a_busy_machine_has_its_load():
    assert sentences(replace(LARGE, load=3.25)) == [
        "load: 3.2 on 4 cores over the last minute; other programs are busy, so rates will "
        "scatter and be too low, and the run will take longer"
    ]


def test_a_kernel_that_cannot_confine_tasks_gets_a_warning():
    assert sentences(replace(LARGE, confines=False)) == [
        "kernel: Landlock is missing or off, Linux 5.13 or later has it; the system under test can "
        "read and change the files of all results"
    ]


def test_a_kernel_that_only_keeps_tasks_from_contents_gets_another_warning():
    assert sentences(replace(LARGE, covers=False)) == [
        "kernel: this user may not make a mount namespace; the system under test can change the "
        "modes and times of all results' files, though not read or write them"
    ]


def test_this_machine_has_cores_memory_and_disk_for_a_new_folder(tmp_path):
    machine = Machine.here(tmp_path / "not" / "there")

    assert machine.cores > 0
    assert machine.memory_bytes > 0
    assert machine.disk_bytes > 0


@pytest.fixture
def prepares(tmp_path, monkeypatch):
    """Return a function that replaces the program that prepares versions by a script."""
    (tmp_path / "rocksdb").mkdir()

    def prepares(script):
        monkeypatch.setattr(preflight, "PREPARATION", ("python", "-S", "-c", script))

    return prepares


def test_each_version_is_prepared_in_the_folder_of_its_workload(prepares, tmp_path):
    prepares(
        "import os; open(os.environ['TIDEMARK_VERSION'], 'w').write(os.environ['TIDEMARK_PACKAGE'])"
    )

    preflight.prepare(request_for("9.0.0", "9.8.4"), ROCKSDB, tmp_path)

    made = {path.name: path.read_text() for path in (tmp_path / "rocksdb").iterdir()}
    assert made == {"9.0.0": "rocksdict==0.3.23", "9.8.4": "rocksdict==0.3.29"}


def test_the_programs_of_services_are_prepared_too(prepares, tmp_path):
    fields = {**ROCKSDB.task.model_dump(), "workload": "server"}
    service = Service.model_validate({"task": fields, "ready": {"port": 8080}})
    prepares("import os; open(os.environ['TIDEMARK_VERSION'], 'w')")
    (tmp_path / "server").mkdir()

    suite = ROCKSDB.model_copy(update={"services": {"server": service}})
    preflight.prepare(request_for("9.0.0"), suite, tmp_path)

    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert made == ["rocksdb/9.0.0", "server/9.0.0"]


def test_a_version_that_cannot_be_prepared_is_refused_with_the_reason(prepares, tmp_path):
    prepares(
        "import os, sys\nif '29' in os.environ['TIDEMARK_PACKAGE']:\n"
        "    print('[main] rocksdb.Preparation ERROR  - No such package.'); sys.exit(2)"
    )

    with pytest.raises(
        Refused, match=r"^versions: 9\.8\.4 cannot be prepared here: No such package\.$"
    ):
        preflight.prepare(request_for("9.0.0", "9.8.4"), ROCKSDB, tmp_path)


UNRESOLVED = (
    "x==1 could not be installed: error: No solution found when resolving dependencies cause: "
    "Because x==1 has no usable wheels and you require x==1, we can conclude that your "
    "requirements are unsatisfiable. hint: building from source is disabled (with `--no-build`)"
)


def test_a_version_without_a_wheel_is_refused_with_the_cause_and_a_remedy(prepares, tmp_path):
    prepares(f"import sys; print('[main] x ERROR  - ' + {UNRESOLVED!r}); sys.exit(2)")

    with pytest.raises(Refused) as refused:
        preflight.prepare(request_for("9.8.4"), ROCKSDB, tmp_path)

    assert str(refused.value) == (
        "versions: 9.8.4 cannot be prepared here: x==1 has no usable wheels; expected a version "
        "with a wheel for this Python and machine, or the path of a wheel such as ./dist/x.whl"
    )


def test_a_version_whose_jars_nobody_built_is_refused_with_the_way_to_get_them(tmp_path):
    subject = Subject(folder=str(tmp_path), advice="build the tag", form=r"\d\.\d\.\d")
    suite = ROCKSDB.model_copy(update={"subject": subject})

    with pytest.raises(Refused) as refused:
        preflight.prepare(request_for("9.8.4"), suite, ROOT / "workloads")

    assert str(refused.value) == (
        f"versions: 9.8.4 cannot be prepared here: {tmp_path}/9.8.4 has no file *.jar: "
        "build the tag"
    )


KIWI = SUITES["kiwi"]


def sized(*sizes, cores=4, place=lambda controller: controller):
    fields = {"suite": "kiwi", "repetitions": 1, "axes": {"size": list(sizes)}}
    check_sizes(resolve_request(fields, SUITES), KIWI, cores, place)


def test_sizes_that_this_machine_has_and_limits_are_accepted():
    sized("half", "one", "two")
    sized("half", "one", cores=1)


def test_a_size_that_leaves_no_core_for_the_load_is_refused_by_name():
    with pytest.raises(Refused) as refused:
        sized("half", "two", cores=2)

    assert str(refused.value) == (
        "axes.size: two is 2 vCPU and 4,096 MiB; expected at most 1 vCPU, which this "
        "machine has beside the load"
    )


def test_a_size_is_refused_where_nobody_may_limit_it():
    def place(controller):
        if controller == "memory":
            raise NotWritableError("/cg/memory/app: not writable")

    with pytest.raises(Refused) as refused:
        sized("one", place=place)

    assert str(refused.value) == (
        "axes.size: one is 1 vCPU and 2,048 MiB, and this process may not limit memory "
        "(/cg/memory/app: not writable); expected root, or a user who owns its control group"
    )


@pytest.fixture
def name(monkeypatch):
    monkeypatch.delenv("TIDEMARK_BESIDE_OTHERS")
    return f"\0tidemark.test.{secrets.token_hex(8)}"


def test_a_run_waits_for_the_end_of_another_one_and_names_its_process(name, monkeypatch):
    told, first = [], turn(print, name)
    first.__enter__()
    monkeypatch.setattr(preflight.time, "sleep", lambda _: first.__exit__(None, None, None))

    with turn(told.append, name):
        assert len(told) == 1
    assert told[0].startswith(f"Waiting for the run of process {os.getpid()} on this machine")


def test_a_run_alone_and_one_after_another_wait_for_nothing(name):
    for _ in range(2):
        with turn(pytest.fail, name):
            pass


def test_a_variable_lets_a_run_measure_beside_others(name, monkeypatch):
    monkeypatch.setenv("TIDEMARK_BESIDE_OTHERS", "1")
    with turn(pytest.fail, name), turn(pytest.fail, name):
        pass


def test_another_user_of_the_machine_keeps_no_run_waiting(name, monkeypatch):
    told, stranger = [], os.getuid() + 1
    with turn(pytest.fail, name):
        monkeypatch.setattr(preflight.os, "getuid", lambda: stranger)
        with turn(told.append, name):
            pass

    sentence = f"warning: process {os.getpid()} of another user measures on this machine, too."
    assert told == [sentence]


def test_a_name_that_somebody_holds_without_an_answer_keeps_no_run_waiting(name, monkeypatch):
    monkeypatch.setattr(preflight.time, "sleep", lambda _: None)
    told = []
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(name)
        with turn(told.append, name):
            pass

    assert told == ["warning: a process of another user measures on this machine, too."]
