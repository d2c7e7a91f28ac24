"""The handlers in the order in which the state machines call them, over fakes."""

import gzip
import json
import re
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import permutations

import pytest
from botocore.exceptions import ClientError

from lambdas import (
    check_condition,
    choose_trial,
    classify_stop,
    clean_up_trial,
    collect_rates,
    plan_run,
    prepare_trial,
    publish_report,
    record_outcome,
    record_rates,
    record_trial,
)
from tests.plans import RUN, plan_of
from tidemark.model.refusal import Refused
from tidemark.model.steps import Invoke, RunCommand, RunTasks, Step, WaitUntil
from tidemark.model.subject import Subject
from tidemark.model.task import Artefact
from tidemark.run.ports import QueryFailed, TooManyRows
from tidemark.store import keys

EXECUTION = {
    "execution_arn": "arn:aws:states:eu-west-2:1:execution:Run:by-hand",
    "execution_name": "by-hand",
    "started_at": "2026-11-20T12:44:55.123Z",
}
TRIAL = {"run_id": RUN, "trial": 1}
FAILURE = {"Error": "States.TaskFailed", "Cause": "no reason"}
LOST = {"trial": 1, "failure": FAILURE}


def tasks(*statuses):
    return [
        {
            "index": n,
            "status": status,
            "task_arn": f"arn:task/c/t{n}",
            "exit_code": 0,
            "reason": "" if status == "ok" else "its container ended",
        }
        for n, status in enumerate(statuses)
    ]


USAGE = "/aws/ecs/containerinsights/Tidemark/performance"


def collect(
    world,
    test="ingest",
    statuses=("ok", "ok"),
    now="2026-11-20T12:46:00.000Z",
    attempt=1,
    bytes_scanned=0,
    **more,
):
    return world.call(
        collect_rates,
        {
            **TRIAL,
            "test": test,
            "tasks": tasks(*statuses),
            "started_at": "2026-11-20T12:45:00.000Z",
            "ended_at": "2026-11-20T12:46:00.000Z",
            "now": now,
            "attempt": attempt,
            "lines": 0,
            "artefacts": "",
            "bytes_scanned": bytes_scanned,
            **more,
        },
    )


def measured(world):
    """Return the stored result of the test ``ingest``."""
    return world.json(keys.measured(RUN, 1, "ingest"))


def log(world, *, words="to S3", rates=("100.0", "200.0"), jobs=1):
    """Make each task log its rate ``jobs`` times."""
    streams = [f"rocksdb/rocksdb/t{n}" for n in range(len(rates))]
    stats = [
        {"@logStream": stream, "value": rate, "n": str(jobs)}
        for stream, rate in zip(streams, rates, strict=True)
    ]
    lines = [
        {"@logStream": s, "@timestamp": "2026-11-20 12:45:59.000", "value": rate, "records": "1000"}
        for s, rate in zip(streams, rates, strict=True)
        for _ in range(jobs)
    ]
    environment = '{"cpu_model": "Epyc", "arch": "x86_64"}'
    noun = {"to S3": "ingest", "compaction read": "compaction"}[words]
    world.logs.answers = {
        f"# Every rate {'that an' if noun == 'ingest' else 'at which a'} {noun}": lines,
        "stats avg": stats,
        "ERROR": [
            {"@logStream": streams[-1], "failure": "The store holds 9 records."},
        ],
        "CpuUtilized": [
            {"TaskId": "t0", "@timestamp": "2026-11-20 12:45:59.000", "CpuUtilized": "1536"},
            {"TaskId": "other", "@timestamp": "2026-11-20 12:45:59.000", "CpuUtilized": "1"},
        ],
        "Environment": [{"@logStream": stream, "environment": environment} for stream in streams],
    }


def choose(world, lost=()):
    event = {"run_id": RUN, "execution_arn": EXECUTION["execution_arn"], "lost": list(lost)}
    return world.call(choose_trial, event)


def measure(world, trial=1):
    """Run a whole trial successfully."""
    measure_tests(world, trial)
    return world.call(record_trial, {"run_id": RUN, "trial": trial, "failure": None})


def measure_tests(world, trial=1):
    """Run the tests of a trial successfully."""
    for test, words, jobs in (("ingest", "to S3", 1), ("compaction", "compaction read", 4)):
        log(world, words=words, jobs=jobs)
        assert collect(world, test, trial=trial)["status"] == "ok"


@pytest.mark.usefixtures("packed")
def test_plan_run_writes_the_plan_and_names_the_run(world):
    answer = world.call(plan_run, {**EXECUTION, "input": {"suite": "rocksdb", "repetitions": 2}})

    assert (answer["suite"], answer["trials"], answer["budget_usd"]) == ("rocksdb", 4, None)
    stored = world.json(f"runs/{answer['run_id']}/plan.json")
    assert len(stored["trials"]) == 4
    assert stored["estimate"] == answer["estimate"]
    assert stored["execution_arn"] == EXECUTION["execution_arn"]


@pytest.mark.usefixtures("packed")
def test_a_repeated_plan_run_names_the_same_run_and_writes_the_same_plan(world):
    event = {**EXECUTION, "input": {"suite": "rocksdb"}}
    first = world.call(plan_run, event)
    world.executions.add(EXECUTION["execution_arn"])
    before = dict(world.bucket.objects)

    assert world.call(plan_run, event) == first
    assert world.bucket.objects == before


@pytest.mark.usefixtures("packed")
def test_plan_run_refuses_a_bad_input_and_writes_nothing(world):
    before = dict(world.bucket.objects)

    with pytest.raises(
        Refused,
        match=r"^suite: 'x' is not known; there are clickhouse, deltalake, kiwi, "
        r"rocksdb, rocksdbjni, sleeper$",
    ):
        world.call(plan_run, {**EXECUTION, "input": {"suite": "x"}})
    assert world.bucket.objects == before


def test_choose_trial_gives_each_trial_in_turn_and_then_none(world):
    def boundless(*batch, done):
        failures = {"batch": [*batch], "is_first": not done, "latest": {}, "stopped": {}}
        return {"done": done, "spent": None, "failures": failures, "cut_short": None}

    first = {"trial": 1, "trials": [1], "name": f"{RUN}-1-56850a", "wait_seconds": 0}
    assert choose(world) == {"rounds": [first], **boundless(1, done=0)}
    measure(world, 1)
    second = {**first, "trial": 2, "trials": [2], "name": f"{RUN}-2-56850a"}
    assert choose(world) == {"rounds": [second], **boundless(2, done=1)}
    measure(world, 2)
    assert choose(world) == {"rounds": [], **boundless(done=2)}


def test_a_lost_trial_is_recorded_as_failed_and_not_chosen_again(world):
    answer = choose(world, lost=[LOST])

    stored = world.json(f"runs/{RUN}/trials/001.json")
    assert (answer["rounds"][0]["trial"], answer["done"]) == (2, 1)
    assert stored["status"] == "failed"
    assert stored["reason"] == "the trial's execution ended with States.TaskFailed: no reason"


def test_a_lost_trial_keeps_its_measurements_and_loses_its_data(world):
    log(world)
    collect(world)
    world.bucket.write(f"work/data/{RUN}/001/a", b"")

    choose(world, lost=[LOST])

    stored = world.json(f"runs/{RUN}/trials/001.json")
    assert [(test["test"], test["status"]) for test in stored["tests"]] == [
        ("ingest", "ok"),
        ("compaction", "skipped"),
    ]
    assert not list(world.bucket.keys(f"work/data/{RUN}/001/"))


def test_a_trial_that_was_recorded_before_it_was_lost_keeps_its_result(world):
    measure(world, 1)
    before = world.bucket.objects[f"runs/{RUN}/trials/001.json"]

    choose(world, lost=[LOST])

    assert world.bucket.objects[f"runs/{RUN}/trials/001.json"] == before


def test_prepare_trial_gives_each_test_its_tasks_and_their_environment(world, plan):
    prepared = world.call(prepare_trial, TRIAL)

    ingest, compaction = prepared["tests"]
    environment = {entry["Name"]: entry["Value"] for entry in compaction["environment"]}
    assert prepared["system"]["task_definition"] == "arn:task:7"
    assert (ingest["name"], ingest["steps"]) == ("ingest", [prepared_step(["ingest"], 0, 1)])
    data = environment.pop("TIDEMARK_DATA")
    assert re.fullmatch(rf"s3://results/{keys.data(RUN, 1)}[0-9a-f]{{32}}", data)
    place = data.removeprefix("s3://results/")
    assert fnmatchcase(f"{place}/", keys.BELOW_A_SECRET)
    assert not fnmatchcase(place, keys.BELOW_A_SECRET)
    assert environment == {
        "TIDEMARK_VERSION": plan.trials[0].version,
        "TIDEMARK_PACKAGE": plan.trials[0].package,
        "TIDEMARK_RECORDS": "1000",
        "TIDEMARK_TASKS": "2",
        "TIDEMARK_JOBS": str(plan.suite.test("compaction").jobs),
        "TIDEMARK_SEED": str(plan.seed),
    }


@pytest.mark.parametrize("plan", [plan_of({"versions": ["9.8.4"], "slowed": [0]})])
def test_a_version_beside_itself_in_trials_is_its_release_by_another_name(world, plan):
    releases = [
        {each["Name"]: each["Value"] for each in test["environment"]}["TIDEMARK_VERSION"]
        for trial in plan.trials[:2]
        for test in world.call(prepare_trial, {**TRIAL, "trial": trial.trial})["tests"]
    ]

    assert {trial.version for trial in plan.trials} == {"9.8.4", "9.8.4+slow.0"}
    assert releases == ["9.8.4"] * 4


def prepared_step(command, first, last, seconds=3600):
    return {
        "container": "rocksdb",
        "command": command,
        "first": first,
        "groups": [{"wait_seconds": 0, "first": first, "last": last}],
        "deadline_seconds": seconds,
        "timeout_seconds": seconds + 300,
    }


STEPS = (
    Step(name="load", run_tasks=RunTasks(count=3, timeout_seconds=60)),
    Step(name="compact", run_tasks=RunTasks(command=("compact", "--all"))),
    Step(name="check", run_command=RunCommand(command=("check",))),
)

WAIT = Step(
    name="loaded",
    wait_until=WaitUntil(query="ingest_rate", every_seconds=10, within_seconds=30),
)


def in_steps(world, plan, *steps, **metric):
    """Store the plan with steps of the first test, whose metric has more fields."""
    metrics = (plan.suite.tests[0].metrics[0].model_copy(update=metric),)
    world.store(plan, {"steps": steps, "metrics": metrics})


def test_prepare_trial_numbers_the_tasks_of_all_steps_of_a_test(world, plan):
    in_steps(world, plan, *STEPS)

    ingest, compaction = world.call(prepare_trial, TRIAL)["tests"]

    assert ingest["steps"] == [
        prepared_step(["load"], 0, 2, seconds=60),
        prepared_step(["compact", "--all"], 3, 4),
        prepared_step(["check"], 5, 5),
    ]
    assert compaction["steps"] == [prepared_step(["compaction"], 0, 1)]


def test_prepare_trial_gives_the_call_of_a_function_as_the_suite_has_it(world, plan):
    call = Invoke(function="kiwi-reset", payload={"hosts": ["a"], "{% 1 %}": None})
    in_steps(world, plan, Step(name="reset", invoke=call), STEPS[0])

    ingest, _ = world.call(prepare_trial, TRIAL)["tests"]

    assert ingest["steps"] == [
        {"name": "reset", **call.model_dump(), "timeout_seconds": 60},
        prepared_step(["load"], 0, 2, seconds=60),
    ]


def test_prepare_trial_gives_the_query_of_a_wait_without_tasks(world, plan):
    in_steps(world, plan, STEPS[0], WAIT, STEPS[1])

    ingest, _ = world.call(prepare_trial, TRIAL)["tests"]

    assert ingest["steps"] == [
        prepared_step(["load"], 0, 2, seconds=60),
        {"name": "loaded", "awaited": "ingest_rate"},
        prepared_step(["compact", "--all"], 3, 4),
    ]


def check(world, *, after, statuses=("ok", "ok")):
    """Ask whether the wait is over some seconds after its begin."""
    return world.call(
        check_condition,
        {
            **TRIAL,
            "test": "ingest",
            "step": "loaded",
            "tasks": tasks(*statuses),
            "started_at": "2026-11-20T12:45:00.000Z",
            "waiting_since": "2026-11-20T12:46:00.000Z",
            "now": f"2026-11-20T12:46:{after:06.3f}Z",
            "services": [],
            "artefacts": "",
            "awaited": "failures",
            "bytes_scanned": 500,
        },
    )


def test_a_wait_is_over_when_its_query_has_a_row_of_a_task_before(world, plan):
    in_steps(world, plan, STEPS[0], WAIT)
    log(world)

    over = {"over": True, "wait_seconds": 0, "stopped_by": None, "bytes_scanned": 1500}
    assert check(world, after=0) == {**over, "environment": [], "holds": 0}
    # Rows of other streams than those of the tasks do not count.
    assert check(world, after=0, statuses=[])["over"] is False
    query, group, start, end = world.logs.asked[0]
    assert "stats avg" in query
    assert (group, end - start) == ("/Tidemark/rocksdb", pytest.approx(60 + 120))


def test_a_wait_goes_on_until_its_time_is_over_and_then_fails_the_test_by_name(world, plan):
    in_steps(world, plan, STEPS[0], WAIT)
    world.logs.answers = {"stats avg": []}

    answers = [check(world, after=seconds) for seconds in (0, 20, 27.5, 30)]

    assert [(each["over"], each["wait_seconds"]) for each in answers] == [
        (False, 10), (False, 10), (False, 3), (True, 0)
    ]  # fmt: skip
    assert [each["stopped_by"] for each in answers] == [
        None, None, None, "step loaded: no row of query ingest_rate within 30 s"
    ]  # fmt: skip


def test_a_query_with_more_rows_than_one_answer_holds_ends_a_wait(world, plan, monkeypatch):
    in_steps(world, plan, STEPS[0], WAIT)

    def run(*_):
        raise TooManyRows("10000 rows or more")

    monkeypatch.setattr(world.logs, "run", run)

    assert check(world, after=0)["over"] is True


def test_a_failed_call_fails_its_test_although_no_task_ran(world, plan):
    call = Invoke(function="kiwi-reset")
    in_steps(world, plan, Step(name="reset", invoke=call), STEPS[0])
    log(world)
    why = "step reset: the function kiwi-reset failed with KeyError: host"

    answer = collect(world, statuses=[], stopped_by=why)

    assert (answer["complete"], answer["status"]) == (True, "failed")
    result = measured(world)
    assert (result["reason"], result["tasks"]) == (why, [])


def test_a_metric_of_a_step_is_expected_of_the_tasks_of_that_step_alone(world, plan):
    load, compact, check = STEPS
    one = load.model_copy(update={"run_tasks": RunTasks(count=1)})
    in_steps(world, plan, one, compact, check, step="compact")
    log(world, rates=("7.0", "100.0", "200.0", "9.0"))

    assert collect(world, statuses=["ok"] * 4)["status"] == "ok"

    result = measured(world)
    assert [task["step"] for task in result["tasks"]] == ["load", "compact", "compact", "check"]
    (rate,) = result["rates"]
    assert (rate["value"], rate["samples"], rate["expected"]) == (150.0, 2, 2)


def test_every_step_that_runs_tasks_logs_a_metric_without_a_step(world, plan):
    load, _, check = STEPS
    in_steps(world, plan, load, check)
    log(world, rates=("100.0", "200.0", "300.0", "9.0"))

    assert collect(world, statuses=["ok"] * 4)["status"] == "ok"

    (rate,) = measured(world)["rates"]
    assert (rate["value"], rate["samples"]) == (200.0, 3)


def test_a_failed_command_fails_its_test_by_the_name_of_the_step(world, plan):
    load, _, check = STEPS
    in_steps(world, plan, load, check)
    log(world, rates=("100.0", "200.0", "300.0", "9.0"))

    assert collect(world, statuses=["ok", "ok", "ok", "failed"])["status"] == "failed"

    result = measured(world)
    assert result["reason"] == "step check: its container ended: The store holds 9 records."
    assert {rate["value"] for rate in result["rates"]} == {None}


def test_a_test_that_ended_at_its_first_step_misses_no_value_of_the_next(world, plan):
    load, compact, _ = STEPS
    in_steps(world, plan, load, compact, step="compact")
    log(world, rates=("1.0", "2.0", "3.0"))

    answer = collect(world, statuses=["ok", "ok", "failed"])

    assert (answer["complete"], answer["status"]) == (True, "failed")
    assert measured(world)["reason"].startswith("step load: ")


def test_tasks_get_the_axes_of_their_trial(world, plan):
    trial = plan.trials[0].model_copy(update={"axes": {"database": "mariadb"}})
    world.store(plan, trials=(trial, *plan.trials[1:]))

    for test in world.call(prepare_trial, TRIAL)["tests"]:
        assert {"Name": "TIDEMARK_DATABASE", "Value": "mariadb"} in test["environment"]


def test_a_trial_of_an_image_runs_a_definition_with_the_image_of_its_version(world, plan):
    subject = Subject(image="x/rocksdb:{version}", form=".*")
    trials = [
        trial.model_copy(update={"package": subject.requirement(trial.version)})
        for trial in plan.trials
    ]
    world.store(plan, of_suite={"subject": subject}, trials=tuple(trials))

    prepared = world.call(prepare_trial, TRIAL)

    image = f"x/rocksdb:{plan.trials[0].version}"
    assert prepared["system"]["task_definition"] == f"arn:task:7 with {image} in rocksdb"


def test_a_file_that_a_task_left_is_kept_with_the_result_of_its_test(world, plan):
    artefact = Artefact(file="*.folded", required=True)
    world.store(plan, {"artefacts": (artefact,)})
    place = world.call(prepare_trial, TRIAL)["tests"][0]["artefacts"]
    world.bucket.write(f"{place.removeprefix('s3://results/')}1/a.folded", b"main 1")
    log(world)

    collect(world, artefacts=place)

    result = measured(world)
    assert [(file["task"], file["name"]) for file in result["artefacts"]] == [(1, "a.folded")]
    assert (result["status"], result["reason"]) == (
        "incomplete",
        "task 0: no file *.folded was kept",
    )
    assert {rate["value"] for rate in result["rates"]} == {None}
    assert world.bucket.read(keys.artefact(RUN, 1, "ingest", 1, "a.folded")) == b"main 1"


def variables_of_trial(world, name):
    """Return the values of a variable in the tests of a trial that is prepared anew."""
    return {
        entry["Value"]
        for test in world.call(prepare_trial, TRIAL)["tests"]
        for entry in test["environment"]
        if entry["Name"] == name
    }


def test_the_tests_of_a_trial_share_a_place_for_data_that_no_other_trial_can_guess(world):
    (first,), (second,) = (variables_of_trial(world, "TIDEMARK_DATA") for _ in range(2))

    assert first != second


def test_the_tests_of_a_trial_share_names_for_what_they_make_that_no_other_trial_can_guess(
    world, plan
):
    suite = world.store(plan, of_suite={"owns": "kiwi-run"}).suite

    (first,), (second,) = (variables_of_trial(world, "TIDEMARK_OWN") for _ in range(2))

    assert first != second
    assert re.fullmatch("kiwi-run[0-9a-f]{16}", first)
    assert fnmatchcase(f"{first}-table", suite.owned)
    assert not fnmatchcase(first, suite.owned)


def test_classify_stop_accepts_a_cause_that_is_not_json(world):
    failure = {"Error": "ECS.AmazonECSException", "Cause": "{"}
    task = {"index": 3, "container": "rocksdb", "limit_seconds": 60}
    answer = world.call(classify_stop, task | {"failure": failure})

    assert (answer["index"], answer["status"]) == (3, "failed")


def test_a_task_that_ran_beside_those_of_the_test_fails_the_test_and_is_stopped(world):
    log(world)
    world.tasks.group_of["arn:task/c/stray"] = f"{RUN}-1"
    world.tasks.started_at["arn:task/c/stray"] = datetime(2026, 11, 20, 12, 45, 1, tzinfo=UTC)

    assert not collect(world)["complete"]  # until its end is known
    assert collect(world)["status"] == "failed"

    assert world.tasks.stopped.keys() == {"arn:task/c/stray"}
    stored = measured(world)
    assert stored["reason"].startswith("task 2: it ran beside the tasks of the test")
    assert stored["tasks"][2]["log_stream"] == "rocksdb/rocksdb/stray"
    assert [rate["value"] for rate in stored["rates"]] == [None]


def test_collect_rates_reads_only_the_streams_and_the_time_window_of_the_trial(world):
    log(world)

    answer = collect(world)

    assert answer == {
        "complete": True, "wait_seconds": 0, "status": "ok", "lines": 0, "bytes_scanned": 3000
    }  # fmt: skip
    stored = measured(world)
    assert stored["rates"][0]["value"] == 150.0
    assert stored["environments"] == [{"cpu_model": "Epyc", "arch": "x86_64"}]
    _, group, start, end = world.logs.asked[0]
    assert group == "/Tidemark/rocksdb"
    assert end - start == pytest.approx(60 + 120)


def test_collect_rates_keeps_the_log_stream_and_the_machine_of_each_task(world):
    log(world)

    collect(world)

    stored = measured(world)
    assert stored["log_group"] == "/Tidemark/rocksdb"
    assert [(t["log_stream"], t["cpu_model"], t["host"]) for t in stored["tasks"]] == [
        ("rocksdb/rocksdb/t0", "Epyc", None),
        ("rocksdb/rocksdb/t1", "Epyc", None),
    ]


def test_the_bytes_that_every_attempt_scanned_are_counted(world):
    log(world, rates=("100.0",))
    late = collect(world)
    log(world)

    collect(world, attempt=2, bytes_scanned=late["bytes_scanned"])

    assert late["bytes_scanned"] == 2000
    assert measured(world)["insights_bytes"] == 5000


def test_collect_rates_waits_longer_and_longer_for_late_logs(world):
    log(world, rates=("100.0",))

    waits = [collect(world, attempt=attempt)["wait_seconds"] for attempt in range(1, 7)]

    assert waits == [2, 4, 8, 16, 30, 30]
    assert not [key for key in world.bucket.objects if "measured" in key]


def test_the_last_wait_for_late_logs_ends_at_the_deadline(world):
    log(world, rates=("100.0",))

    assert collect(world, attempt=6, now="2026-11-20T12:50:50.500Z")["wait_seconds"] == 10


@pytest.mark.parametrize(
    ("logged", "minutes", "reason"),
    [
        (
            {"rates": ("100.0",)},
            51,
            "task 1 (t1) logged 0 of 1 lines of ingest_rate; "
            "searched from 2026-11-20 12:44:00 to 2026-11-20 12:52:00 UTC",
        ),
        (
            {"jobs": 2},
            46,
            "task 0 (t0) logged 2 lines of ingest_rate, not 1; "
            "task 1 (t1) logged 2 lines of ingest_rate, not 1",
        ),
        (
            {"rates": ("0.0", "200.0")},
            46,
            "task 0 (t0) logged 0 records/s of ingest_rate, which is not a rate",
        ),
    ],
)
def test_a_test_whose_lines_give_no_rate_is_incomplete_and_names_the_task(
    world, logged, minutes, reason
):
    log(world, **logged)

    assert collect(world, now=f"2026-11-20T12:{minutes}:00.000Z")["status"] == "incomplete"
    assert (measured(world)["reason"], measured(world)["rates"][0]["value"]) == (reason, None)


def test_a_reason_names_a_few_of_many_tasks_and_shortens_their_messages(world):
    log(world, rates=("100.0",) * 200)
    world.logs.answers["ERROR"] = [
        {"@logStream": f"rocksdb/rocksdb/t{n}", "failure": "x" * 100_000} for n in range(200)
    ]

    collect(world, statuses=("failed",) * 200)

    reason = measured(world)["reason"]
    assert reason.endswith("; and 195 more")
    assert len(reason) < 6000


def test_an_outcome_is_short_enough_for_the_cause_of_a_fail_state(world):
    ended = outcome(world, failure={"Error": "Broken", "Cause": "∞ " * 16_000})

    assert len(ended["reason"].encode()) <= 4000


def test_a_failed_task_fails_the_test_and_leaves_no_rate(world):
    log(world)

    assert collect(world, statuses=("ok", "failed"))["status"] == "failed"
    stored = measured(world)
    assert stored["rates"][0]["value"] is None
    assert stored["reason"] == "its container ended: The store holds 9 records."


def test_clean_up_trial_deletes_only_the_data_of_its_trial(world):
    data, kept = f"work/data/{RUN}", f"work/{RUN}/001/measured/ingest.json"
    for key in (f"{data}/001/a", f"{data}/001/b/c", kept, f"{data}/002/a"):
        world.bucket.write(key, b"")

    world.call(clean_up_trial, TRIAL)

    assert [key for key in world.bucket.objects if key.startswith("work/")] == [
        kept,
        f"{data}/002/a",
    ]


def test_a_trial_ends_though_an_object_of_its_tasks_cannot_be_deleted(world, caplog):
    strange = f"work/data/{RUN}/001/{'0' * 32}/a\0b"
    world.bucket.write(strange, b"")
    world.bucket.undeletable.add(strange)

    assert world.call(clean_up_trial, TRIAL) == {}
    choose(world, [{"trial": 1, "failure": {"Error": "Stopped", "Cause": "in CleanUpTrial"}}])

    assert world.json(f"runs/{RUN}/trials/001.json")["status"] == "failed"
    assert [record.getMessage() for record in caplog.records] == [
        f"{strange!r} was not deleted"
    ] * 2


def test_record_trial_sends_each_rate_to_cloudwatch_once(world, capsys):
    measure(world)
    world.call(record_trial, {**TRIAL, "failure": None})

    metrics = [
        json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line
    ]
    assert [(m["suite"], m["test"]) for m in metrics] == [
        ("rocksdb", "ingest"),
        ("rocksdb", "compaction"),
    ]
    (directive,) = metrics[0]["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Tidemark"
    assert sorted(directive["Dimensions"][0]) == ["stack", "suite", "test", "version"]
    assert metrics[0]["stack"] == "Tidemark"
    assert metrics[0]["ingest_rate"] == [150.0]


def test_a_test_after_a_failed_test_is_skipped_and_names_it(world):
    log(world)
    collect(world, statuses=("ok", "failed"))

    answer = world.call(record_trial, {**TRIAL, "failure": None})

    stored = world.json(f"runs/{RUN}/trials/001.json")
    assert answer["status"] == stored["status"] == "failed"
    assert [(test["test"], test["status"]) for test in stored["tests"]] == [
        ("ingest", "failed"),
        ("compaction", "skipped"),
    ]
    assert stored["tests"][1]["reason"] == "ingest failed"


def test_a_trial_that_is_lost_after_its_tests_keeps_its_rates_and_is_ok(world):
    measure_tests(world)

    choose(world, [{"trial": 1, "failure": {"Error": "Stopped", "Cause": "in CleanUpTrial"}}])

    stored = world.json(f"runs/{RUN}/trials/001.json")
    assert (stored["status"], [test["status"] for test in stored["tests"]]) == ("ok", ["ok", "ok"])
    assert stored["reason"].endswith("in CleanUpTrial")


def rows(world, table):
    (key,) = [key for key in world.bucket.objects if key.startswith(f"tables/{table}/")]
    assert key == f"tables/{table}/suite=rocksdb/year=2026/{RUN}.jsonl.gz"
    text = gzip.decompress(world.bucket.objects[key]).decode()
    return [json.loads(line) for line in text.splitlines()]


def test_record_rates_folds_the_trials_and_a_second_call_changes_nothing(world):
    measure(world, 1)
    measure(world, 2)

    answer = world.call(record_rates, {"run_id": RUN})
    before = dict(world.bucket.objects)

    assert answer == {"rates": 4, "samples": 2 * (2 + 8)}
    assert [(row["trial"], row["metric"], row["value"]) for row in rows(world, "rates")] == [
        (1, "ingest_rate", 150.0),
        (1, "compaction_rate", 150.0),
        (2, "ingest_rate", 150.0),
        (2, "compaction_rate", 150.0),
    ]
    assert rows(world, "rates")[0]["cpu_model"] == "Epyc"
    assert len(rows(world, "task_rates")) == answer["samples"]
    assert world.call(record_rates, {"run_id": RUN}) == answer
    assert world.bucket.objects == before


def record_runs(world, *runs):
    """Record each run with the trials of the first; return the keys of latest_rates."""
    for run in runs:
        for key in list(world.bucket.keys(f"runs/{RUN}/")):
            body = world.bucket.read(key).replace(RUN.encode(), run.encode())
            world.bucket.write(key.replace(RUN, run), body)
        world.call(record_rates, {"run_id": run})
    return list(world.bucket.keys("tables/latest_rates/"))


EARLIER, LATER = "20251231T235959Z-ffffff", "20270101T000000Z-000000"


def latest(run):
    return f"tables/latest_rates/suite=rocksdb/year={run[:4]}/{run}.jsonl.gz"


@pytest.mark.parametrize("runs", list(permutations([EARLIER, RUN, LATER])))
def test_the_newest_run_is_the_latest_in_any_order_of_recording(world, runs):
    measure(world, 1)

    assert record_runs(world, *runs) == [latest(LATER)]


def test_recording_again_changes_latest_rates_only_for_the_newest_run(world):
    measure(world, 1)
    record_runs(world, EARLIER, LATER)
    exclusion = b'{"excluded": true, "reason": "noisy", "at": "2027-01-02T00:00:00Z"}'
    for run in (EARLIER, LATER):
        world.bucket.write(f"runs/{run}/exclusions/run.json", exclusion)

    assert record_runs(world, EARLIER) == [latest(LATER)]
    before = world.bucket.read(latest(LATER))
    assert record_runs(world, LATER) == [latest(LATER)]
    assert world.bucket.read(latest(LATER)) != before


def test_a_run_without_measurements_keeps_the_latest_rates_of_the_run_before(world):
    measure(world, 1)
    record_runs(world, RUN)
    world.bucket.write(f"runs/{LATER}/plan.json", world.bucket.read(f"runs/{RUN}/plan.json"))

    world.call(record_rates, {"run_id": LATER})

    assert list(world.bucket.keys("tables/latest_rates/")) == [latest(RUN)]


def test_a_trial_without_rates_still_has_its_rows(world):
    world.call(record_trial, {**TRIAL, "failure": FAILURE})

    world.call(record_rates, {"run_id": RUN})

    assert [(row["metric"], row["value"], row["status"]) for row in rows(world, "rates")] == [
        ("ingest_rate", None, "skipped"),
        ("compaction_rate", None, "skipped"),
    ]


def test_publish_report_gives_rates_in_version_order_with_the_change(world):
    measure(world, 1)
    measure(world, 2)

    keys = world.call(publish_report, {"run_id": RUN})

    report = world.bucket.objects[keys["report.md"]].decode()
    told = "? cannot tell (1 of the 5 pairs that a verdict needs)"
    assert f"| 9.8.4 | 150 |  | 0.00 % | none | {told} |" in report
    assert "| cpu_model | Epyc |" in report


def outcome(world, *, run_id=RUN, failure=None, request=None):
    return world.call(
        record_outcome,
        {
            **EXECUTION,
            "run_id": run_id,
            "now": "2026-11-20T13:00:00.000Z",
            "input": request or {"suite": "rocksdb"},
            "failure": failure,
        },
    )


def test_a_run_whose_trials_all_gave_rates_is_complete(world):
    measure(world, 1)
    measure(world, 2)

    assert outcome(world)["status"] == "complete"
    (row,) = rows(world, "runs")
    assert (row["status"], row["trials_done"], row["ended_at"]) == (
        "complete",
        2,
        "2026-11-20 13:00:00.000",
    )


def test_a_run_with_a_failed_trial_is_incomplete_and_gives_the_reason(world):
    measure(world, 1)
    world.call(record_trial, {"run_id": RUN, "trial": 2, "failure": FAILURE})

    ended = outcome(world)

    assert ended["status"] == "incomplete"
    assert "1 of 2 trials did not give all rates; the first is trial 2" in ended["reason"]


def test_a_run_whose_execution_failed_is_failed_with_the_functions_message(world):
    measure(world, 1)
    failure = {"Error": "QueryFailed", "Cause": json.dumps({"errorMessage": "the query ended"})}

    ended = outcome(world, failure=failure)

    assert (ended["status"], ended["reason"]) == ("failed", "QueryFailed: the query ended")


def test_a_refused_input_is_rejected_with_only_the_sentence(world):
    known = "clickhouse, deltalake, kiwi, rocksdb, rocksdbjni, sleeper"
    sentence = f"suite: 'x' is not known; there are {known}"
    refusal = {
        "Error": "Refused",
        "Cause": json.dumps({"errorMessage": sentence, "errorType": "Refused"}),
    }

    ended = outcome(world, run_id=None, failure=refusal, request={"suite": "x"})

    assert (ended["status"], ended["reason"], ended["suite"]) == ("rejected", sentence, "x")
    assert world.json(f"runs/{ended['run_id']}/outcome.json") == ended


def test_an_input_that_is_too_large_for_the_states_is_rejected_and_left_out(world):
    refusal = {"Error": "Refused", "Cause": "input: it has more than 60000 characters"}
    event = {**EXECUTION, "run_id": None, "now": "2026-11-20T13:00:00Z", "input": None}

    ended = world.call(record_outcome, {**event, "failure": refusal})

    assert (ended["status"], ended["suite"]) == ("rejected", "")
    assert ended["reason"] == "input: it has more than 60000 characters"


def with_insights(world):
    world.systems["rocksdb"]["usage_log_group"] = USAGE


def test_the_usage_of_the_trials_tasks_is_kept_if_container_insights_are_on(world):
    log(world)
    collect(world)
    assert measured(world)["usages"] == []
    with_insights(world)

    collect(world)

    (usage,) = measured(world)["usages"]
    assert (usage["task_id"], usage["cpu"], usage["memory"]) == ("t0", 1.5, None)
    (query,) = [query for query, group, _, _ in world.logs.asked if group == USAGE]
    assert query.startswith("filter TaskId in ['t0', 't1'] |\n#")


def test_the_usage_beside_services_is_also_that_of_the_local_cloud(world):
    with_insights(world)
    log(world)
    *loads, server = tasks("ok", "ok", "ok")

    collect(world, tasks=[*loads, {**server, "service": "server"}])

    (query,) = [query for query, group, _, _ in world.logs.asked if group == USAGE]
    assert query.startswith("filter TaskId in ['t0', 't1', 't2', 'local-cloud'] |\n#")


GONE = {"Error": {"Code": "ResourceNotFoundException", "Message": "no such group"}}


@pytest.mark.parametrize(
    "error",
    [
        TooManyRows("10000 rows or more"),
        QueryFailed("it ended as Timeout"),
        ClientError(GONE, "StartQuery"),
    ],
)
def test_usage_that_cannot_be_read_costs_no_measurement_and_has_a_reason(world, monkeypatch, error):
    with_insights(world)
    log(world)
    answer_queries = world.logs.run

    def run(query, log_group, *more):
        if log_group == USAGE:
            raise error
        return answer_queries(query, log_group, *more)

    monkeypatch.setattr(world.logs, "run", run)
    monkeypatch.setattr(world.logs, "faults", (ClientError,))

    assert collect(world)["status"] == "ok"
    stored = measured(world)
    assert (stored["usages"], stored["usages_unknown"]) == ([], str(error))
