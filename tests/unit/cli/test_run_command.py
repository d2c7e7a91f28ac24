"""Inputs that `tidemark run` gives to an execution, and the gate of `--fail-on slower`."""

import re
from contextlib import contextmanager
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from tests.plans import DATABASES, with_axes
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import bucket_of, measured, planned
from tests.unit.report.test_pipelines import SAME, SLOWER, UNTOLD
from tidemark.cli import attended_run, chosen_suite, forecast, run
from tidemark.cli.forecast import Pace
from tidemark.cli.run import gate
from tidemark.cli.target import Target
from tidemark.client.deployed import Stack
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.subject import Subject
from tidemark.model.suite import Defaults
from tidemark.model.suite_asset import copy_digest, programs_digest
from tidemark.model.suite_files import read_suites


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Return a function that runs the command and returns its output and the input of the run."""
    inputs = []

    def keep(execution_input):
        inputs.append(execution_input)
        raise SystemExit(0)

    @contextmanager
    def deployed(_target, **_):
        yield SimpleNamespace(runs=SimpleNamespace(start=keep), stack=Stack("", {"Suites": ""}))

    monkeypatch.setattr(attended_run, "deployed", deployed)
    monkeypatch.setattr(attended_run, "prepare", lambda *_: None)
    monkeypatch.setattr(attended_run, "_whereabouts", lambda *_: "")
    monkeypatch.setattr(forecast, "slowness", lambda *_: 1.0)
    monkeypatch.setenv("TIDEMARK_STATE", str(tmp_path / "state"))

    def start(*arguments):
        return CliRunner().invoke(run.command, arguments).stdout, *inputs

    return start


@pytest.mark.parametrize(
    "arguments",
    [
        ["--versions", "9.0.0", "9.8.4"],
        ["--versions", "9.0.0,", "9.8.4"],
        ["rocksdb", "--versions", "9.0.0", "9.8.4"],
        ["rocksdb", "--versions", "9.0.0 9.8.4"],
    ],
)
def test_versions_without_commas_between_are_refused_with_the_commas(arguments):
    error = CliRunner().invoke(run.command, arguments).exception

    assert isinstance(error, Refused)
    sentence = "--versions: expected commas between versions: --versions 9.0.0,9.8.4"
    assert str(error) == sentence


@pytest.mark.parametrize("arguments", [["rocksdb", "9.0.0", "9.8.4"], ["9.0.0,9.8.4"]])
def test_versions_without_their_option_are_refused_with_the_option(arguments):
    error = CliRunner().invoke(run.command, arguments).exception

    sentence = "--versions: expected the versions behind this option: --versions 9.0.0,9.8.4"
    assert str(error) == sentence


def test_a_misspelt_word_for_a_version_is_refused_with_the_word():
    error = CliRunner().invoke(run.command, ["--versions", "newst"]).exception

    assert str(error).endswith("; did you mean 'newest'?")


def test_a_refusal_of_profiles_has_the_name_of_the_option():
    error = CliRunner().invoke(run.command, ["--profile", "0"]).exception

    assert str(error) == "--profile: 0 is not accepted; expected 1 or more"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rocksdb", "--set", "rows", "100"], "--set: expected = before the value: --set rows=100"),
        (["--set", "rows", "100"], "--set: expected = before the value: --set rows=100"),
        (["kiwi", "--axis", "database", "mariadb"],
         "--axis: expected = before the value: --axis database=mariadb"),
    ],
)  # fmt: skip
def test_a_value_behind_a_space_is_refused_with_the_option(arguments, expected):
    assert str(CliRunner().invoke(run.command, arguments).exception) == expected


def test_a_second_suite_is_refused():
    result = CliRunner().invoke(run.command, ["rocksdb", "kiwi"])

    assert (result.exit_code, "unexpected extra argument (kiwi)" in result.stderr) == (2, True)


def test_a_first_run_says_that_it_is_the_first(start):
    output, _ = start()

    assert "tasks 1; about 3 min 29 s (the first run here), on AWS" in output


def test_the_time_of_a_suite_that_declares_none_is_told_by_its_first_trial(start, monkeypatch):
    suite = read_suites()["rocksdb"]
    tests = [test.model_copy(update={"seconds": None, "per": {}}) for test in suite.tests]
    unsaid = suite.model_copy(update={"tests": tuple(tests)})
    monkeypatch.setattr(run, "written_suite", lambda _: unsaid)
    output, _ = start("--repetitions", "5")

    assert "; its first trial tells how long, at most " in output


def test_the_time_of_a_run_is_that_of_earlier_runs(start, monkeypatch):
    pace = Pace(tests=2.0, beside=1.0, before=3.0, after=4.0)
    monkeypatch.setattr(forecast, "_earlier", lambda *_: [pace])

    output, _ = start("--repetitions", "10")

    # 20 trials of twice 7.185 s and 1 s, 7 s before and after them, and 13 s until they start.
    assert "tasks 1; about 5 min 27 s, on AWS" in output


def test_newest_and_previous_are_resolved_on_this_machine(start):
    output, execution_input = start("--versions", "newest, previous")

    assert output.startswith("RocksDB 9.8.4, 9.7.3: ")
    assert execution_input["versions"] == ["9.8.4", "9.7.3"]


def test_a_version_beside_itself_is_left_to_the_pipeline_as_it_was_named(start):
    _, execution_input = start("--versions", "9.8.4,9.8.4")

    assert execution_input["versions"] == ["9.8.4", "9.8.4"]


@pytest.mark.parametrize(
    ("versions", "warned"),
    [("9.8.4,9.0.0", True), ("9.0.0,9.8.4", False), ("newest,previous", False)],
)
def test_versions_that_are_named_against_their_order_are_told(versions, warned):
    arguments = ["--versions", versions, "--dry-run"]

    assert ("warning: order: " in CliRunner().invoke(run.command, arguments).stderr) == warned


def test_newest_and_previous_are_left_to_the_pipeline_of_an_account(start):
    output, execution_input = start("--versions", "newest,previous", "--aws")

    assert output.startswith("RocksDB newest, previous: ")
    assert execution_input["versions"] == ["newest", "previous"]


def test_the_versions_of_the_suite_are_printed_by_default(start):
    output, execution_input = start()

    assert output.startswith("RocksDB 8.8.1, 9.8.4: ")
    assert "versions" not in execution_input


def test_a_named_suite_runs_where_no_suite_goes_without_saying(start, monkeypatch):
    monkeypatch.setattr(chosen_suite, "written_suites", lambda: ["deltalake", "clickhouse"])

    output, execution_input = start("clickhouse")

    assert output.startswith("ClickHouse ")
    assert execution_input["suite"] == "clickhouse"


def test_the_axes_of_a_run_are_printed_and_narrowed(start, monkeypatch):
    monkeypatch.setattr(chosen_suite, "suites", lambda: {"rocksdb": with_axes(DATABASES)})

    whole, _ = start("--repetitions", "5")
    half, _, execution_input = start("--repetitions", "5", "--axis", "database=mariadb")

    assert ": 5 repetitions for each database (postgresql, mariadb), 20 trials of " in whole
    assert ": 5 repetitions for each database (mariadb), 10 trials of " in half
    assert execution_input["axes"] == {"database": ["mariadb"]}


def test_a_resume_leaves_a_folder_without_results_unchanged(tmp_path):
    arguments = ["--resume", "20261120T124455Z-0a1b2c", "--state", str(tmp_path / "mistyped")]

    refused = CliRunner().invoke(run.command, arguments).exception

    assert str(refused).startswith(f"--state: {tmp_path / 'mistyped'} holds no results; ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("recorded", "sentence"),
    [
        (3, "--resume: {} has no missing trial; every trial is recorded"),
        (None, "--resume: {} is not stored; `tidemark runs` lists the runs"),
    ],
)
def test_a_run_that_cannot_be_resumed_is_refused_before_a_cloud_starts(
    monkeypatch, recorded, sentence
):
    plan = planned(["9.8.4"])
    bucket = bucket_of(plan, measured(plan)[:recorded]) if recorded else FakeBucket()

    @contextmanager
    def stored(_):
        yield SimpleNamespace(bucket=bucket)

    monkeypatch.setattr(run, "stored", stored)
    refused = CliRunner().invoke(run.command, ["--resume", plan.run_id]).exception

    assert str(refused) == sentence.format(plan.run_id)


def test_a_resumed_run_of_one_version_cannot_fail_on_slower(monkeypatch):
    plan = planned(["9.8.4"])
    runs = SimpleNamespace(bucket=bucket_of(plan, measured(plan)[:1]), find=lambda _: None)

    @contextmanager
    def cloud(*_):
        yield SimpleNamespace(runs=runs)

    monkeypatch.setattr(run, "cloud_at", cloud)
    arguments = ["--resume", plan.run_id, "--fail-on", "slower", "--aws"]
    refused = CliRunner().invoke(run.command, arguments).exception

    expected = "--fail-on: one version has nothing to be compared with; name two or more"
    assert str(refused) == expected


@pytest.mark.parametrize(
    ("edited", "warning"),
    [
        (
            (True, False),
            "the stack's copy of rocksdb differs from this checkout in its suite or its log queries"
            "; the run measures the stack's copy, and `make deploy` deploys this checkout",
        ),
        (
            (False, True),
            "the stack's copy of rocksdb differs from this checkout in its programs or the harness"
            "; the run measures the stack's copy, and `make deploy` deploys this checkout",
        ),
        ((False, False), ""),
    ],
)
def test_a_stack_with_another_copy_of_a_suite_is_told(monkeypatch, capsys, edited, warning):
    suite = read_suites()["rocksdb"]
    digests = copy_digest(suite, ROOT), programs_digest(suite, ROOT)
    copied = ".".join("0" if each else d for each, d in zip(edited, digests, strict=False))
    stack = Stack("arn:x", {"Suites": f"rocksdb={copied}"})

    @contextmanager
    def deployed(_target, **_):
        yield SimpleNamespace(stack=stack)

    monkeypatch.setattr(attended_run, "deployed", deployed)
    monkeypatch.setattr(attended_run, "_whereabouts", lambda *_: "")
    target = SimpleNamespace(stack="Tidemark")
    with attended_run.cloud_at(target, Console(quiet=True), suite):
        pass

    assert capsys.readouterr().err == (warning and f"warning: {warning}\n")


def test_a_gate_without_a_baseline_needs_versions_of_known_order(start, monkeypatch):
    subject = Subject(prepare=("sh", "prepare.sh"), form=".+", versions=["main", "deadbee", "1.0"])
    suite = with_axes({}).model_copy(update={"subject": subject})
    monkeypatch.setattr(chosen_suite, "suites", lambda: {"rocksdb": suite})
    arguments = ["--versions", "main,deadbee", "--fail-on", "slower"]

    refused = CliRunner().invoke(run.command, arguments).exception
    _, execution_input = start(*arguments, "--baseline", "main")

    assert str(refused) == (
        "--fail-on: the order of main, deadbee is not known, so that none is the version before "
        "another; give --baseline"
    )
    assert execution_input["baseline"] == "main"


def test_the_id_of_an_instance_is_printed_and_its_version_left_to_the_instance(start, monkeypatch):
    places = {"objects": ["s3://kiwi/{instance}/x"], "version": "kiwi.version"}
    subject = Subject(instance=places, form=r"\d+\.\d+")
    defaults = Defaults(versions=("deployed",), repetitions=3)
    suite = with_axes({}).model_copy(update={"subject": subject, "defaults": defaults})
    monkeypatch.setattr(chosen_suite, "suites", lambda: {"rocksdb": suite})

    output, execution_input = start("--instance", "my-id")

    assert output.startswith("RocksDB deployed: 3 repetitions, 3 trials of ingest and compaction ")
    assert " with instance my-id, records 200,000, tasks 1; " in output
    assert execution_input["instance"] == "my-id"
    assert "versions" not in execution_input


def test_a_dry_run_says_what_how_long_and_how_much_and_starts_and_writes_nothing(start, tmp_path):
    output, *started = start("--repetitions", "5", "--dry-run")

    intention, end = output.splitlines()
    assert intention.startswith("RocksDB 8.8.1, 9.8.4: 5 repetitions, 10 trials of ingest and ")
    assert re.search(r"; about .* \(the first run here\), on AWS about 0\.\d\d USD\.$", intention)
    assert end == "Nothing was started; the same command without --dry-run measures it."
    assert (started, [*tmp_path.iterdir()]) == ([], [])


def test_the_time_of_a_run_counts_the_slices_that_its_rounds_will_have(tmp_path, monkeypatch):
    suite = read_suites()["rocksdb"]
    request = resolve_request({"suite": "rocksdb"}, {"rocksdb": suite})
    seen = []
    monkeypatch.setattr(attended_run, "time_to_end", lambda _, suite, *__: seen.append(suite))

    for stack in (None, "Tidemark"):
        attended_run.intention("8.8.1, 9.8.4", request, suite, Target(tmp_path, stack))

    assert [[test.jobs for test in each.tests] for each in seen] == [[15, 16], [30, 30]]


def test_a_dry_run_refuses_what_has_to_be_built(tmp_path):
    arguments = ["rocksdb", "--versions", f"8.8.1,{tmp_path}", "--dry-run"]

    refused = CliRunner().invoke(run.command, arguments).exception

    assert str(refused).startswith("--dry-run: ")
    assert str(refused).endswith(" has to be built first; expected releases or wheels")


def test_a_dry_run_of_a_resume_says_what_is_missing(monkeypatch):
    plan = planned(["9.8.4"])

    @contextmanager
    def stored(_):
        yield SimpleNamespace(bucket=bucket_of(plan, measured(plan)[:1]))

    monkeypatch.setattr(run, "stored", stored)
    done = CliRunner().invoke(run.command, ["--resume", plan.run_id, "--dry-run"])

    assert done.stdout.startswith("Missing: 2 of 3 trials; on AWS ")
    assert (done.exit_code, "Nothing was started" in done.stdout) == (0, True)


def test_a_comment_that_fails_is_a_warning_and_the_verdicts_decide_the_exit_code(
    monkeypatch, capsys
):
    def refuse(*_):
        raise click.ClickException("the comment is not written: answers 403")

    monkeypatch.setattr(run, "measure", lambda *_, **__: 0)
    monkeypatch.setattr(run, "comment_on_run", refuse)
    monkeypatch.setattr(run, "find_plan", lambda *_: planned())
    monkeypatch.setattr(run, "gate", lambda *_: 3)
    cloud, end = SimpleNamespace(runs=None, bucket=None), run._End(True, False, True)

    assert run._follow(cloud, SimpleNamespace(run_id="r"), None, Console(), end) == 3
    assert capsys.readouterr().err == "warning: the comment is not written: answers 403\n"


def test_a_further_run_is_asked_for_the_same_exit_code_but_outside_a_job_for_no_comment():
    assert run._End(gated=True, exact=True, commented=True).options == " --fail-on slower"
    assert run._End(gated=False, exact=True, commented=True).options == ""


VERSIONS = ["9.8.4", "8.8.1", "9.0.0"]


class Store:
    """The stored comparisons of a run; it notes which were asked for."""

    def __init__(self, *documents):
        self.documents, self.asked = list(documents), []
        self.publisher = self.bucket = self

    def comparison(self, _suite, base, new):
        self.asked.append((base.split("/")[1], new.split("/")[1]))
        return {"json": str(len(self.asked) - 1)}

    def read(self, key):
        return self.documents[int(key)].model_dump_json().encode()


@pytest.mark.parametrize(
    ("more", "compared"),
    [
        ({}, [("8.8.1", "9.0.0"), ("9.0.0", "9.8.4")]),
        ({"baseline": "9.0.0"}, [("9.0.0", "8.8.1"), ("9.0.0", "9.8.4")]),
    ],
)
def test_versions_are_compared_with_the_baseline_or_the_version_before(more, compared, capsys):
    store = Store(SAME, SLOWER)

    assert gate(store, planned(VERSIONS, **more), Console(width=200)) == 3
    assert store.asked == compared
    assert "ingest_rate: slower (no new pairs confirm it), 9.8.4" in capsys.readouterr().out


def test_a_run_that_cannot_tell_has_an_exit_code_of_its_own():
    plan = planned(["9.0.0", "9.8.4"])

    assert gate(Store(UNTOLD), plan, Console(quiet=True)) == 4
    assert gate(Store(SAME), plan, Console(quiet=True)) == 0


def test_a_run_without_a_metric_that_decides_says_so(capsys):
    metrics = (metric.model_copy(update={"decides": False}) for metric in SLOWER.metrics)
    labelled = SLOWER.model_copy(update={"metrics": tuple(metrics)})

    assert gate(Store(labelled), planned(["9.0.0", "9.8.4"]), Console(width=200)) == 4
    assert capsys.readouterr().out.endswith(
        "\nNo metric of the suite decides; give one `decides: true`.\n"
    )
