"""Looks for a new release: their runs over a fake of the cloud, and their sentence."""

import re
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import in_trials
from tests.unit.fakes import FakeBucket
from tests.unit.report.test_grown_functions import stored as with_profiles
from tests.unit.report.test_pipelines import SLOWER
from tests.unit.run.test_choose_trial import Measuring
from tests.unit.run.test_profiled_trials import plan as profiled_plan
from tidemark.cli import forecast, watch
from tidemark.cli.watch import Chain
from tidemark.client.releases import Releases
from tidemark.model.refusal import Refused
from tidemark.money import budget
from tidemark.money.budget import Spent
from tidemark.one_machine.stored import InProcessPublisher
from tidemark.report.run_report.publishing import publish_report
from tidemark.store import keys

VERSIONS = ("8.8.1", "8.10.0", "9.0.0", "9.7.3", "9.8.4")
SUITE = in_trials().model_copy(update={"profiler": None})


class Cloud:
    """A cloud that measures each run as it starts; versions from ``slower`` on lose a fifth."""

    def __init__(self, slower=None):
        lost = VERSIONS[VERSIONS.index(slower) :] if slower else ()
        self.losses = dict.fromkeys(lost, 0.2)
        self.bucket, self.started, self.runs, self.fails = FakeBucket(), [], self, False
        self.publisher = InProcessPublisher(self.bucket)

    def start(self, fields):
        self.started.append(fields)
        name = f"20261120T1244{len(self.started):02d}Z-abcdef"
        given = {each: value for each, value in fields.items() if each not in {"suite", "trigger"}}
        run = Measuring(self.losses, suite=SUITE, name=name, bucket=self.bucket, **given)
        run.go_on()
        publish_report(self.bucket, name)
        outcome = run.outcome().model_copy(
            update={"ended_at": run.plan.started_at + timedelta(minutes=4)}
        )
        self.bucket.write(keys.outcome(name), outcome.model_dump_json().encode())
        return run.plan


@pytest.fixture
def look(monkeypatch, tmp_path):
    """Return a function that looks once in a cloud, and returns exit code and standard output."""
    monkeypatch.setattr(watch, "written_suite", lambda _: SUITE)
    monkeypatch.setattr(watch, "check_target", lambda *_: None)
    monkeypatch.setattr(watch, "preflight", lambda *_: None)
    monkeypatch.setattr(forecast, "slowness", lambda *_: 1.0)

    def look(cloud, *options, released=VERSIONS):
        @contextmanager
        def opened(*_):
            yield cloud

        monkeypatch.setattr(watch, "cloud_at", opened)
        monkeypatch.setattr(watch, "measure", lambda *_: int(cloud.fails))
        monkeypatch.setattr(watch, "releases", lambda *_: Releases(tuple(released), ()))
        done = CliRunner().invoke(watch.command, ["rocksdb", "--state", str(tmp_path), *options])
        if isinstance(done.exception, Refused):
            raise done.exception
        return done.exit_code, done.stdout

    return look


def test_a_slower_release_is_searched_for_among_those_since_the_last_look(look):
    cloud = Cloud(slower="9.7.3")

    code, told = look(cloud, "--since", "8.8.1", "--fail-on", "slower")

    assert told.startswith("RocksDB 9.8.4 is ")
    assert " slower in ingest_" in told
    assert " than 8.8.1, since 9.7.3; 8 min 0 s, 0.00 USD on AWS" in told
    assert code == 3
    assert [sorted(each.keys() & {"until", "bisect"}) for each in cloud.started] == [
        ["until"],
        ["bisect"],
    ]
    assert look(cloud, "--since", "8.8.1") == (0, "")
    assert len(cloud.started) == 2


def test_the_next_release_is_compared_with_the_one_that_was_watched_before(look):
    cloud = Cloud()

    assert look(cloud, released=VERSIONS[:3])[0] == 0
    code, told = look(cloud)

    assert told.startswith("RocksDB 9.8.4 is not found slower than 9.0.0: ")
    assert (code, [each["versions"] for each in cloud.started]) == (
        0, [["8.10.0", "9.0.0"], ["9.0.0", "9.8.4"]]
    )  # fmt: skip


@pytest.mark.parametrize(
    "given", ["https://u:p@index.example/simple", "own=https://u:p@index.example/simple"]
)
def test_the_index_may_have_a_name_as_in_the_variables_of_uv(monkeypatch, tmp_path, given):
    asked = []
    monkeypatch.setenv("UV_DEFAULT_INDEX", given)
    monkeypatch.setattr(
        watch, "releases", lambda _, index: asked.append(index) or Releases(("8.8.1", "9.8.4"), ())
    )
    monkeypatch.setattr(watch, "cloud_at", pytest.fail)
    (tmp_path / "watched" / "rocksdb").mkdir(parents=True)
    monkeypatch.setattr(watch, "_known", lambda _: {"8.8.1", "9.8.4"})
    CliRunner().invoke(watch.command, ["rocksdb", "--state", str(tmp_path)])

    assert asked == ["https://u:p@index.example/simple"]


def test_a_new_release_older_than_a_watched_one_is_measured_once(look):
    cloud = Cloud()
    look(cloud, released=("8.8.1", "8.10.0", "9.0.0", "9.8.4"))

    _, told = look(cloud)

    assert told.startswith("RocksDB 9.7.3 is not found slower than 9.0.0: ")
    assert look(cloud) == (0, "")
    assert [each["versions"] for each in cloud.started] == [
        ["9.0.0", "9.8.4"], ["9.0.0", "9.7.3"]
    ]  # fmt: skip


def test_the_budget_of_a_look_goes_to_the_newest_release_first(look, monkeypatch):
    cloud = Cloud()
    look(cloud, released=("8.8.1", "9.0.0"))
    monkeypatch.setattr(watch, "counted", lambda *_: Spent(usd=2.5))

    told = [look(cloud, "--budget-usd", "2")[1] for _ in range(3)]

    assert [each[:14] for each in told] == ["RocksDB 9.8.4 ", "RocksDB 8.10.0", ""]


def test_a_release_that_follows_the_last_one_needs_no_search(look):
    cloud = Cloud(slower="9.8.4")

    _, told = look(cloud)

    assert " than 9.7.3; 4 min 0 s, " in told
    assert len(cloud.started) == 1


def test_a_run_that_fails_is_measured_again_at_the_next_look(look):
    cloud = Cloud()
    cloud.fails = True

    assert look(cloud) == (1, "")
    cloud.fails = False
    assert look(cloud)[1].startswith("RocksDB 9.8.4 is not found slower than 9.7.3")


def test_a_search_that_the_budget_has_no_room_for_is_said(look, monkeypatch):
    cloud = Cloud(slower="9.7.3")
    monkeypatch.setattr(watch, "counted", lambda *_: Spent(usd=2.5))

    _, told = look(cloud, "--since", "8.8.1", "--budget-usd", "2")

    assert ", and no search tells since which release; 4 min 0 s, 2.50 USD on AWS" in told
    assert cloud.started[0]["budget_usd"] == 2


def test_trials_of_unknown_cost_count_with_their_expected_cost(look, monkeypatch):
    cloud = Cloud(slower="9.7.3")
    monkeypatch.setattr(budget, "run_cost", lambda *_: None)

    _, told = look(cloud, "--since", "8.8.1", "--budget-usd", "0.001")

    assert ", and no search tells since which release; 4 min 0 s, " in told
    assert "0.00 USD on AWS" not in told


def test_a_run_without_an_outcome_has_spent_its_budget(monkeypatch):
    cloud = Cloud()
    chain = Chain(cloud, SUITE, None, watch.Console(quiet=True), None, 2.0)
    monkeypatch.setattr(watch, "preflight", lambda *_: None)
    monkeypatch.setattr(watch, "measure", lambda *_: 0)
    monkeypatch.setattr(watch, "find_outcome", lambda *_: None)
    monkeypatch.setattr(watch, "intention", lambda *_: "")

    chain._measured(versions=["8.8.1", "9.8.4"], until="decided")

    assert chain.usd == 2.0
    assert chain._measured(versions=["8.8.1", "9.8.4"], until="decided") is None
    assert len(cloud.started) == 1


@pytest.mark.parametrize("option", [["--within", "0"], ["--within", "9"], ["--budget-usd", "0"]])
def test_a_limit_that_no_run_can_have_is_refused_before_the_look(look, option):
    cloud = Cloud()

    assert look(cloud, *option)[0] == 2
    assert cloud.started == []


@pytest.mark.parametrize(
    ("options", "released", "sentence"),
    [
        (["--since", "9.8.4"], VERSIONS, "--since: 9.8.4 is not a release; there are 8.8.1, "),
        ([], VERSIONS[:1], "SUITE: 8.8.1 is the only release; expected two or more to compare"),
        ([], (), "SUITE: there is no release; expected two or more to compare"),
    ],
)
def test_a_look_without_a_base_is_refused(look, options, released, sentence):
    with pytest.raises(Refused, match=f"^{sentence}"):
        look(Cloud(), *options, released=released)


@pytest.mark.parametrize(
    ("slower", "versions", "sentence"),
    [
        (1.5, ("8.8.1", "9.8.4"), "; `db::Next` takes 5. % more CPU time"),
        (1.0, ("8.8.1", "9.8.4"), ""),
        (0.0, ("9.8.4", "8.8.1"), "; `db::Next` is new and takes 40 % of the CPU time"),
    ],
)
def test_the_function_that_takes_more_time_is_named(slower, versions, sentence):
    plan, cloud = profiled_plan(), Cloud()
    cloud.bucket = with_profiles(plan, slower=slower)
    chain = Chain(cloud, plan.suite, None, None, None, None)
    chain._measured = lambda **_: plan

    assert re.fullmatch(sentence, chain._function(versions, SLOWER.metrics[0]))


def test_new_functions_are_named_by_their_share_the_largest_first():
    shares = {"small": 0.2, "large": 0.4, "unnoticed": 0.001}
    come = [SimpleNamespace(function=name, own=own) for name, own in shares.items()]

    assert list(watch._grown(SimpleNamespace(changes=[], come=come))) == [
        "; `large` is new and takes 40 % of the CPU time",
        "; `small` is new and takes 20 % of the CPU time",
    ]


def test_a_watch_goes_on_after_a_look_that_is_refused(look, monkeypatch):
    errors = [Refused("the index does not answer"), OSError(28, "No space left"), None]
    looks, pauses = iter(errors), []

    def look_again(*_):
        if refused := next(looks):
            raise refused

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "_look", look_again)
    monkeypatch.setattr(watch.time, "sleep", pause)

    assert look(None, "--every", "3600") == (1, "")
    assert pauses == [3600, 3600, 3600]


def test_a_release_without_a_version_is_a_warning_that_steers_no_terminal():
    assert watch._unlisted(SUITE, "0.3.30\x1b[2J") == (
        "'0.3.30\\x1b[2J' is released, and suite.yaml of rocksdb has no version of it; add it "
        "below subject.versions"
    )


@pytest.mark.parametrize("content", ["{", "[]", '{"version": "9.0.0"}', '{"known": 3}'])
def test_a_damaged_sentence_of_a_look_is_refused_by_its_file(tmp_path, content):
    (tmp_path / "9.0.0.json").write_text(content)

    with pytest.raises(Refused, match="does not tell which releases were known; delete it"):
        watch._known(tmp_path)
