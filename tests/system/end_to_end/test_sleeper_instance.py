"""The suite of instances of Sleeper, against stand-ins of its generations."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import count
from statistics import fmean

import boto3
import pytest
import yaml

from onebox.app import ACCOUNT
from tests.system.end_to_end.command_line import TIDEMARK, up
from tests.system.end_to_end.deployed import deploy
from tests.system.end_to_end.sleeper.functions import BATCH, jobs_of
from tests.system.end_to_end.sleeper.generations import GENERATIONS, NEWER, OLDER
from tests.system.end_to_end.sleeper.instance import FOLDER, StandIn, Told
from tests.system.policies.proof import denied, narrowed, refused, unneeded
from tests.system.policies.reasons import INSTANCE_REASONS
from tests.system.policies.recording import read_recordings
from tidemark.model.checkout import ROOT
from tidemark.model.instance import is_of_instance, of_instance
from tidemark.store.run_ends import find_outcome

pytestmark = pytest.mark.systems
SUITE, IMPATIENT = "sleeper_instance", "sleeper_impatient"
PAGE = (ROOT / "docs" / "sleeper.md").read_text(encoding="utf-8")
INSTANCES = ROOT / "instances"
AWS_CLI = ROOT / ".aws-cli" / "bin"
ROWS = 200_000
WRITERS = 22  # of compaction performance, for two jobs of eleven files
TESTS = ("deploy_all", "compaction_performance")


def told(writers, first, rate):
    return Told(
        writers=[(ROWS, round(first + 0.037 * writer, 3)) for writer in range(writers)],
        rates=[rate + 1000 * job for job in range(max(1, writers // BATCH))],
    )


# Each test of a trial has other rates: a line that is counted for the wrong one would show.
TOLD = [told(11, 1.139, 3_656_137.5), told(WRITERS, 1.503, 3_000_000.5)]


def waiting_less(suite, within_seconds=120):
    """Return a suite whose steps look again after two seconds, 60 times at most."""
    for step in (step for test in suite["tests"] for step in test["steps"]):
        if "wait_until" in step:
            wait = {"every_seconds": 2, "within_seconds": within_seconds}
            step["wait_until"] = {**step["wait_until"], **wait}
    return suite


def whole_suite():
    file = INSTANCES / "suites" / SUITE / "suite.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def write_systems(folder):
    """Write the suite into a folder, one that waits for less, and the stand-in's programs."""
    for each in (
        waiting_less(whole_suite()),
        waiting_less(whole_suite(), 30) | {"name": IMPATIENT},
    ):
        place = folder / "suites" / each["name"]
        place.mkdir(parents=True)
        (place / "suite.yaml").write_text(json.dumps(each), encoding="utf-8")
    programs = (INSTANCES / "workloads" / SUITE, FOLDER / "workloads" / "sleeper_stand_in")
    for workload in programs:
        shutil.copytree(workload, folder / "workloads" / workload.name)
    return folder


@pytest.fixture(scope="module")
def cloud(tmp_path_factory, calls):
    """Yield a cloud with the deployed suites."""
    systems = write_systems(tmp_path_factory.mktemp("systems"))
    state, context = tmp_path_factory.mktemp("state"), {"systems": str(systems)}
    with deploy(state, calls / SUITE, context=context) as deployed:
        yield deployed


@pytest.fixture(scope="module")
def make(cloud):
    """Return a function that makes an instance of a generation with an id of its own."""
    numbers = count()

    def make(generation, mode="direct"):
        stand_in = StandIn(cloud.cloud.endpoint.client, generation, f"my-{next(numbers)}", mode)
        stand_in.deploy()
        stand_in.put_job()
        return stand_in

    return make


def asked(stand_in, *tests, suite=SUITE, writers=WRITERS):
    """Return the input of a run, by default of the suite's default test."""
    fields = {"suite": suite, "instance": stand_in.instance}
    fields |= {"parameters": {"compaction_writers": writers}}
    return fields | ({"tests": tests} if tests else {})


def measure(cloud, stand_in, *tests, **more):
    """Measure an instance; return its trial, or the cause of a run without one."""
    run, _, cause = cloud.run(asked(stand_in, *tests, **more))
    return (cloud.trials(run) or [cause])[0]


def averages(trial):
    """Return the mean of each metric of each test, with the number of its samples."""
    return {
        (test["test"], rate["metric"]): (rate["value"], rate["samples"])
        for test in trial["tests"]
        for rate in test["rates"]
        if rate["statistic"] == "mean"
    }


def spans(trial):
    """Return the seconds of each test's total rates, and the samples, by test and metric."""
    return {
        (test["test"], rate["metric"]): (len(told.writers) * ROWS / rate["value"], rate["samples"])
        for test, told in zip(trial["tests"], TOLD, strict=True)
        for rate in test["rates"]
        if rate["statistic"] == "per_second"
    }


def printed(generation, rows, seconds):
    """Return the rate that a writer of a generation prints."""
    return round(rows / (int(seconds) if generation is NEWER else seconds), 1)


def told_averages(generation, test, told):
    digits = 3 if generation is NEWER else 1  # of the seconds that a writer prints
    logged = [printed(generation, *writer) for writer in told.writers]
    recomputed = [rows / round(seconds, digits) for rows, seconds in told.writers]
    return {
        (test, "ingest_rate"): (fmean(logged), len(logged)),
        (test, "ingest_recomputed_rate"): (fmean(recomputed), len(logged)),
        (test, "compaction_rate"): (fmean(told.rates), len(told.rates)),
    }


def check(trial, generation, *tests):
    """Hold the averages of a trial against what the stand-in was told, by test."""
    assert (trial["status"], trial["reason"]) == ("ok", "")
    found = averages(trial)
    for name, told in tests:
        for metric, (mean, samples) in told_averages(generation, name, told).items():
            assert found[metric] == (pytest.approx(mean, rel=1e-9), samples), metric


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda each: each.version)
def test_both_tests_give_the_averages_that_the_instance_was_told(cloud, make, generation):
    stand_in = make(generation)
    stand_in.tell(*TOLD)

    trial = measure(cloud, stand_in, *TESTS)

    check(trial, generation, *zip(TESTS, TOLD, strict=True))
    for name, told in zip(TESTS, TOLD, strict=True):
        # Each writer sleeps for as long as it is told to have written.
        assert spans(trial)[name, "ingest_total_rate"][0] > max(told.writers)[1]
        assert spans(trial)[name, "compaction_total_rate"][1] == len(told.rates)
    assert stand_in.states() == {"ENABLED"}


def test_as_many_writers_as_upstream_has_leave_its_ten_jobs(cloud, make):
    stand_in, whole = make(NEWER), told(110, 1.139, 3_000_000.5)
    stand_in.tell(whole)

    trial = measure(cloud, stand_in, writers=110)

    assert len(whole.rates) == 10
    check(trial, NEWER, (TESTS[1], whole))


@pytest.mark.parametrize("writers", [11, 30])
def test_jobs_from_the_queue_are_ingested_before_compaction_jobs_are_created(cloud, make, writers):
    # 30 files leave two jobs of 11 and one of 8.
    stand_in, of_queue = make(OLDER, "queue"), told(writers, 1.139, 3_000_000.5)
    jobs = len(jobs_of([ROWS] * writers))
    of_queue = of_queue._replace(rates=[3_000_000.5 + job for job in range(jobs)])
    stand_in.tell(of_queue)

    trial = measure(cloud, stand_in, "compaction_queue", writers=writers)

    assert jobs == {11: 1, 30: 3}[writers]
    check(trial, OLDER, ("compaction_queue", of_queue))
    assert stand_in.states() == {"ENABLED"}


@pytest.mark.parametrize("text", ["Wrote ", "compaction read "])
def test_a_missing_line_makes_the_test_incomplete_and_is_named(cloud, make, text):
    stand_in = make(NEWER)
    stand_in.tell(TOLD[1], without=text)

    trial = measure(cloud, stand_in)

    assert trial["status"] == "incomplete"
    reasons = {
        "Wrote ": r"task \d+ \([0-9a-f]{32}\) logged 0 of 1 lines of ingest_rate",
        "compaction read ": r"job [0-9a-f-]{36} began and logged no compaction_rate",
    }
    assert re.search(reasons[text], trial["reason"]), trial["reason"]
    assert stand_in.states() == {"ENABLED"}


def test_a_job_that_no_task_could_begin_fails_the_test(cloud, make):
    stand_in = make(OLDER)
    stand_in.tell(TOLD[1])
    stand_in.lose_a_job()

    trial = measure(cloud, stand_in, suite=IMPATIENT)

    dead = f"{stand_in.instance}-CompactionJobDLQ"
    assert trial["reason"].endswith(f"step lost: queue {dead} has 1 message left after 30 s")


def test_a_task_that_fails_ends_its_test_by_its_index(cloud, make):
    stand_in = make(OLDER)
    stand_in.tell(TOLD[1], exit_code=1)

    trial = measure(cloud, stand_in)

    assert trial["status"] == "failed"
    assert re.search(r"task \d+: .*exit code 1", trial["reason"]), trial["reason"]
    assert stand_in.states() == {"ENABLED"}


def test_a_queue_that_never_empties_fails_the_test_with_what_is_left(cloud, make):
    stand_in = make(NEWER)
    stand_in.tell(TOLD[1])
    stand_in.break_tasks()

    trial = measure(cloud, stand_in, suite=IMPATIENT)

    assert trial["status"] == "failed"
    jobs = f"sleeper-{stand_in.instance}-CompactionJobQ"
    assert trial["reason"].endswith(f"step taken: queue {jobs} has 2 messages left after 30 s")
    assert stand_in.states() == {"ENABLED"}


def test_a_name_that_is_missing_is_refused_before_anything_starts(cloud, make):
    stand_in = make(OLDER)
    stand_in.tell(TOLD[1])
    cluster = f"sleeper-{stand_in.instance}-merge-compaction-cluster"
    cloud.cloud.endpoint.client("ecs").delete_cluster(cluster=cluster)

    cause = measure(cloud, stand_in)

    expected = f"{{compactors}} of {stand_in.instance} is not there; expected a cluster {cluster}"
    assert expected in cause
    assert stand_in.states() == {"ENABLED"}


STEPS = (
    "rest",
    "write",
    "create",
    "created",
    "start",
    "taken",
    "stopped",
    "compact",
    "lost",
)
BEGINS = {step: ("$next_step + 1", number) for number, step in enumerate(STEPS, 1)}
AFTER_ALL = ("$attempt", 1)  # the logs are collected


@pytest.mark.parametrize("begin", [*BEGINS.values(), AFTER_ALL], ids=[*STEPS, "after"])
def test_a_run_that_is_stopped_in_any_step_enables_the_rules_again(cloud, make, begin):
    stand_in = make(OLDER)  # it has one rule more
    stand_in.tell(TOLD[1])
    before = len(cloud.evaluations)

    def has_begun():
        return begin in ((name, value) for name, _, value in cloud.evaluations[before:])

    run = cloud.client.start(asked(stand_in))
    cloud.until(has_begun)
    # The first step disables one rule after the other.
    cloud.until(lambda: "DISABLED" in stand_in.states())
    cloud.client.stop(run, "by hand")

    cloud.until(lambda: find_outcome(cloud.client.bucket, run.run_id))
    cloud.until(lambda: stand_in.states() == {"ENABLED"})


def test_a_task_that_a_dead_run_left_is_stopped_in_the_cluster_of_the_instance(cloud, make):
    stand_in = make(OLDER)
    stand_in.tell(Told(writers=[(ROWS, 300.0)] * (WRITERS + 1), rates=TOLD[1].rates))
    run = cloud.client.start(asked(stand_in))
    cloud.until(lambda: "DISABLED" in stand_in.states())

    left = stand_in.run_writer(run.run_id)
    cloud.client.stop(run, "by hand")

    cloud.until(lambda: stand_in.stopped_because(left))
    assert stand_in.stopped_because(left) == "stopped: by hand"
    cloud.until(lambda: stand_in.states() == {"ENABLED"})


def own_calls(recording):
    """Return a recording without calls of the instances' roles; it knows what roles they pass."""
    deployment, calls = recording.deployment, recording.calls
    own = tuple(call for call in calls if call.role in deployment.logical_ids)
    passed = {
        definition: [f"arn:aws:iam::{ACCOUNT}:role/{StandIn.role_of(definition)}"]
        for call in own
        if (definition := call.parameters.get("taskDefinition")) and "SystemTest" in definition
    }
    deployment = replace(deployment, passed={**deployment.passed, **passed})
    return replace(recording, deployment=deployment, calls=own)


def test_the_policies_allow_what_the_runs_did(calls):
    recordings = [own_calls(each) for each in read_recordings(calls / SUITE)]

    assert denied(recordings) == []
    assert refused(recordings) == set()


def grants_on_instances(deployment):
    """Return the role and the narrow statement of each grant on what instances have."""
    subject = whole_suite()["subject"]["instance"]
    names = [form for name in subject["names"].values() for form in name.get("forms", [])]
    texts = [*names, *subject["log_groups"], *subject["roles"], *subject["objects"]]
    forms = [of_instance(text, "*") for text in texts if is_of_instance(text)]
    return {
        (deployment.logical_ids[role], narrow)
        for role, policies in deployment.policies.items()
        for policy, document in policies.items()
        for narrow in narrowed(document)
        if policy.startswith("Instances") or any(form in str(narrow) for form in forms)
    }


def test_each_grant_on_an_instance_is_needed_by_a_call_or_has_its_reason(calls):
    recordings = [own_calls(each) for each in read_recordings(calls / SUITE)]
    granted = grants_on_instances(recordings[0].deployment)
    spare = {(grant.role, narrow) for grant, narrow in unneeded(recordings).items()} & granted

    reasons = {
        (role, narrow): reason
        for role, narrow in spare
        for reason in INSTANCE_REASONS
        if reason.role in role and reason.covers(narrow)
    }
    assert {role.partition("ServiceRole")[0] for role, _ in granted} >= {
        f"WorkflowFunctions{state}"
        for state in ("PlanRun", "CollectRates", "CheckCondition", "FindTasks", "EndRun")
    }
    assert spare - reasons.keys() == set()
    assert {*reasons.values()} == {*INSTANCE_REASONS}


@pytest.fixture
def account(tmp_path):
    """Yield the variables of an empty account and its clients; the suite does not wait for long."""
    systems = write_systems(tmp_path)
    shell = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    shell |= {"TIDEMARK_SYSTEMS": str(systems), "TIDEMARK_STATE": str(tmp_path / "saved")}
    with up([TIDEMARK, "up", "--empty", "--state", tmp_path / "cloud"], env=shell) as output:
        printed = dict(re.findall(r"^export (\w+)=(\S+)$", output, re.MULTILINE))
        session = boto3.Session(
            region_name=printed["AWS_DEFAULT_REGION"],
            aws_access_key_id=printed["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=printed["AWS_SECRET_ACCESS_KEY"],
        )
        yield (
            {**shell, **printed, "PATH": f"{AWS_CLI}:{os.environ['PATH']}"},
            lambda name: session.client(name, endpoint_url=printed["AWS_ENDPOINT_URL"]),
        )


def test_the_page_leads_from_an_instance_to_its_first_rates_in_six_commands(account):
    environment, client = account
    section = PAGE.partition("## Measure an instance on AWS")[2]
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[:1]
    # This machine has no Docker and nobody who answers, and its suite does not wait for long.
    quicker = "-c images=*=none --require-approval never --no-notices"
    line = commands.replace("$PWD/instances", environment["TIDEMARK_SYSTEMS"])
    line = line.replace('ARGS="', f'ARGS="{quicker} ')
    stand_in = StandIn(client, NEWER, "my-id")
    stand_in.deploy()
    stand_in.tell(*TOLD)

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^\S", commands, re.MULTILINE)) <= 6
    shown = done.stdout.rpartition("Version")[2]
    assert re.search(r"0\.36\.1 .*", shown), done.stdout
