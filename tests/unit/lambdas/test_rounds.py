"""A round: the versions of a repetition take turns in one task, and each has its own trial."""

import json
import re
from datetime import UTC, datetime

import pytest

from lambdas import choose_trial, collect_rates, end_run, prepare_trial, record_trial
from tests.plans import EXECUTION, RUN, plan_of
from tidemark.model.suite_files import read_suites
from tidemark.run.ports import Answer
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

SLICES, STREAM = 5, "rocksdb/rocksdb/t0"
ROUND = {"run_id": RUN, "trial": 1, "trials": [1, 2]}
TASK = {
    "index": 0,
    "status": "ok",
    "task_arn": "arn:task/c/t0",
    "exit_code": 0,
    "started_at": "2026-11-20T12:45:00.000Z",
    "stopped_at": "2026-11-20T12:46:30.000Z",
}


class RoundLogs:
    """The log of one task, in which each version has logged some slices, and perhaps a failure."""

    faults = ()

    def __init__(self):
        self.slices, self.failures = {"8.8.1": SLICES, "9.8.4": SLICES}, {}

    def run(self, query, *_, **__):
        if not (match := re.match(r"filter @message like /\^\\\[(\S+)\\\] / \|\n", query)):
            return Answer([], 1000)
        version = match[1].replace("\\", "")
        return Answer(list(self._rows(query, version)), 1000)

    def _rows(self, query, version):
        # The first slice alone uploads. It is the last one to arrive in the answer.
        slices = 1 if re.search("Wrote|Uploaded", query) else self.slices[version]
        values = [self.first(version) + number for number in range(slices)][::-1]
        if "stats avg" in query:
            mean = sum(values) / len(values)
            yield {"@logStream": STREAM, "value": str(mean), "n": str(len(values))}
        elif "Environment: " in query:
            environment = json.dumps({"engine_version": version})
            yield {"@logStream": STREAM, "environment": environment}
        elif " ERROR " in query:
            for failure in self.failures.get(version, ()):
                yield {"@logStream": STREAM, "failure": failure}
        else:
            for at, value in zip(range(len(values), 0, -1), values, strict=True):
                time = f"2026-11-20 12:45:{at:02}.000"
                yield {"@logStream": STREAM, "@timestamp": time, "value": str(float(value))}

    @staticmethod
    def first(version):
        return {"8.8.1": 100, "9.8.4": 200}[version]


@pytest.fixture
def plan():
    """Return the plan of two rounds of the shipped suite, for ``world``."""
    request = {"versions": ["8.8.1", "9.8.4"], "repetitions": 2}
    return plan_of(request, suite=read_suites()["rocksdb"])


@pytest.fixture
def logs(world):
    world.logs = RoundLogs()
    return world.logs


def collect(world, test="ingest", **more):
    times = {"started_at": TASK["started_at"], "ended_at": TASK["stopped_at"]}
    event = {
        **ROUND, "test": test, "tasks": [TASK], **times, "now": TASK["stopped_at"], "attempt": 1,
        "lines": 0, "artefacts": "", "bytes_scanned": 0, **more,
    }  # fmt: skip
    return world.call(collect_rates, event)


def measure(world):
    for test in ("ingest", "compaction"):
        assert collect(world, test)["status"] == "ok"
    return world.call(record_trial, {**ROUND, "failure": None})


def recorded(world, trial):
    return world.json(keys.trial(RUN, trial))


def engine_rate(world, trial):
    """Return the rate of ingest that each slice logs; that of an upload is logged once."""
    rates = {rate["metric"]: rate for rate in recorded(world, trial)["tests"][0]["rates"]}
    return rates["ingest_engine_rate"]


def test_the_next_choice_is_a_whole_round(world, logs):
    event = {"run_id": RUN, "execution_arn": EXECUTION}

    (chosen,) = world.call(choose_trial, event)["rounds"]
    assert chosen["trials"] == [1, 2]
    measure(world)
    answer = world.call(choose_trial, event)
    (chosen,) = answer["rounds"]
    assert (chosen["trial"], chosen["trials"], answer["done"]) == (3, [3, 4], 2)


def test_a_lost_round_fails_the_trials_of_all_its_versions(world):
    lost = {"trial": 1, "trials": [1, 2], "failure": {"Error": "States.Timeout", "Cause": ""}}
    answer = world.call(choose_trial, {"run_id": RUN, "execution_arn": EXECUTION, "lost": [lost]})

    assert [each["trials"] for each in answer["rounds"]] == [[3, 4]]
    assert [recorded(world, trial)["status"] for trial in (1, 2)] == ["failed", "failed"]


@pytest.mark.parametrize(
    "reason",
    [
        "task 0: the host under it failed or was taken away: host is failing; resume the run",
        "task 0: its memory ran out: OutOfMemoryError: it holds no two versions",
    ],
)
def test_a_task_that_dies_in_a_round_fails_all_its_versions_and_pairs_no_slice(world, logs, reason):
    logs.slices = {"8.8.1": SLICES, "9.8.4": SLICES - 1}
    died = {**TASK, "status": "failed", "exit_code": None, "reason": reason}

    assert collect(world, tasks=[died])["status"] == "failed"
    world.call(record_trial, {**ROUND, "failure": None})

    for trial in (1, 2):
        ingest, compaction = recorded(world, trial)["tests"]
        assert (ingest["status"], compaction["status"]) == ("failed", "skipped")
        assert reason in ingest["reason"]
        assert {rate["value"] for rate in ingest["rates"]} == {None}
    (chosen,) = world.call(choose_trial, {"run_id": RUN, "execution_arn": EXECUTION})["rounds"]
    assert chosen["trials"] == [3, 4]


def test_a_version_that_is_ten_times_as_slow_is_measured_beside_the_other(world, logs):
    logs.first = {"8.8.1": 1000, "9.8.4": 100}.get

    measure(world)

    means = [engine_rate(world, trial)["value"] for trial in (1, 2)]
    assert [recorded(world, trial)["status"] for trial in (1, 2)] == ["ok", "ok"]
    assert sorted(means) == [102, 1002]


class Killed(BaseException):
    """The end of a function without a word."""


def test_a_round_whose_execution_died_while_it_was_recorded_is_not_measured_again(world, logs):
    write_once = world.bucket.write_once

    def first_alone(key, body):
        if key == keys.trial(RUN, 2):
            raise Killed
        return write_once(key, body)

    world.bucket.write_once = first_alone
    with pytest.raises(Killed):
        measure(world)
    world.bucket.write_once = write_once
    claimed = Claim(
        run_id=RUN, execution_arn=EXECUTION, claimed_at=datetime(2020, 11, 20, tzinfo=UTC)
    )
    claims.take(world.bucket, "rocksdb", claimed)
    world.executions.add(EXECUTION, "ABORTED", cause="enough")

    died = {"executionArn": EXECUTION, "status": "ABORTED", "cause": "enough"}
    world.call(end_run, {"detail": died})

    tasks = [recorded(world, n)["tests"][0]["tasks"][0]["task_arn"] for n in (1, 2)]
    assert tasks == [TASK["task_arn"]] * 2
    assert len(engine_rate(world, 2)["slices"]) == SLICES
    (chosen,) = world.call(choose_trial, {"run_id": RUN, "execution_arn": EXECUTION})["rounds"]
    assert chosen["trials"] == [3, 4]


def test_one_task_gets_all_versions_in_the_order_of_their_trials(world, plan):
    prepared = world.call(prepare_trial, ROUND)

    environment = {each["Name"]: each["Value"] for each in prepared["tests"][0]["environment"]}
    given = json.loads(environment["TIDEMARK_ROUND"])
    assert (given["repetition"], given["slices"]) == (1, SLICES)
    assert [(one["name"], one["package"]) for one in given["versions"]] == [
        (trial.version, trial.package) for trial in plan.trials[:2]
    ]


@pytest.mark.usefixtures("logs")
def test_each_version_has_a_trial_with_its_own_slices_in_the_order_of_the_blocks(world, plan):
    measure(world)

    for trial in plan.trials[:2]:
        result = recorded(world, trial.trial)
        first = RoundLogs.first(trial.version)
        rates = {one["metric"]: one for one in result["tests"][0]["rates"]}
        rate, once = rates["ingest_engine_rate"], rates["ingest_rate"]
        assert (result["version"], result["status"]) == (trial.version, "ok")
        assert (once["value"], once["slices"], once["samples"], once["expected"]) == (
            first, [first], 1, 1,
        )  # fmt: skip
        assert rate["slices"] == [first + number for number in range(SLICES)]
        assert rate["value"] == first + (SLICES - 1) / 2
        assert rate["samples"] == rate["expected"] == SLICES


@pytest.mark.usefixtures("logs")
def test_the_versions_of_a_round_share_the_cost_of_its_task(world):
    scanned = collect(world)["bytes_scanned"]
    measure(world)

    tests = [recorded(world, trial)["tests"][0] for trial in (1, 2)]
    assert [test["tasks"][0]["shared"] for test in tests] == [2, 2]
    assert [test["insights_bytes"] for test in tests] == [scanned // 2] * 2


def test_a_version_that_drops_out_fails_alone_with_its_own_words(world, logs, plan):
    logs.slices["9.8.4"], logs.failures["9.8.4"] = 2, ["The store holds 9 records."]

    answer = collect(world)
    assert (answer["complete"], answer["status"]) == (True, "ok")
    collect(world, "compaction")
    world.call(record_trial, {**ROUND, "failure": None})

    results = {trial.version: recorded(world, trial.trial) for trial in plan.trials[:2]}
    assert results["8.8.1"]["status"] == "ok"
    assert results["9.8.4"]["status"] == "failed"
    assert results["9.8.4"]["reason"] == (
        "ingest: task 0: the version dropped out of the round: The store holds 9 records."
    )


def test_the_lines_of_every_version_are_awaited(world, logs):
    logs.slices["9.8.4"] = SLICES - 1

    assert collect(world)["complete"] is False
    logs.slices["9.8.4"] = SLICES
    assert collect(world, attempt=2)["complete"] is True
