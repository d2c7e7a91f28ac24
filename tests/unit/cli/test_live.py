"""Output about a run while it is active and after its end."""

import io
import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from tests.plans import DATABASES, naming, plan_of, with_axes
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import bucket_of, ended, failed, measured, planned, with_values
from tidemark.cli.live import Place, ahead, follow, is_printed, place, show_result, thinned
from tidemark.cli.target import Target
from tidemark.client.runs import Run
from tidemark.figures.verdicts.sequential_run import SequentialRun, after
from tidemark.model.outcome import LevelAlarm
from tidemark.report.blocks import Details, Report, Row, Section, Table
from tidemark.report.files import dump
from tidemark.report.run_report.versions import ALL_DIGITS
from tidemark.report.terminal import print_blocks
from tidemark.store import keys
from tidemark.store.keys import BLOCKS

PLAN = planned(["9.0.0"], repetitions=2)
TWO = planned(["9.0.0"], repetitions=2, name="r")
UNTIL = planned(["9.0.0", "9.8.4"], until="decided", repetitions=5)


@pytest.mark.parametrize(
    ("known", "test", "where"),
    [
        ([], None, "trial 1 of 2  9.0.0"),
        ([1], "ingest", "trial 2 of 2  9.0.0  ingest"),
        ([1, 2], None, "report"),
    ],
)
def test_the_place_of_a_run_is_its_test_or_its_report_after_the_last_trial(known, test, where):
    client = SimpleNamespace(current_test=lambda *_: test)

    assert place(client, None, PLAN, ahead(None, PLAN, known)) == where


def test_the_place_of_a_run_is_asked_for_at_most_every_two_seconds():
    tests = iter(["ingest", "compaction"])
    client = SimpleNamespace(current_test=lambda *_: next(tests))
    where, left = Place(client, None), ahead(None, PLAN, [])

    shown = [where.text(PLAN, left, now) for now in (0.0, 0.5, 1.9, 2.0, 3.9)]
    assert [text.split()[-1] for text in shown] == [*3 * ["ingest"], *2 * ["compaction"]]


def standings(pairs, plan=UNTIL):
    """Return the bucket of a run until decided with these d of ingest, and no d of compaction."""
    standing = SequentialRun()
    trials = {trial.trial: trial for trial in measured(plan)}
    for planned_trial in plan.trials[: 2 * len(pairs)]:
        d = pairs[planned_trial.repetition - 1] if planned_trial.version == "9.8.4" else 0
        trial = with_values(trials[planned_trial.trial], "ingest", [1000 * math.exp(d)])
        standing = after(standing, plan, trial, excluded=False)
    return FakeBucket({keys.standing(plan.run_id): standing.model_dump_json().encode()})


def test_the_progress_of_a_run_until_decided_has_its_verdicts_and_about_what_is_left():
    same = [0.01, -0.01, 0.005, -0.005]
    nothing, four, all_five = (standings(pairs) for pairs in ([], same, [*same, 0.0]))

    assert ahead(nothing, UNTIL, []).trials == 2 * 5
    left = ahead(four, UNTIL, range(1, 9))
    assert (left.trial.trial, left.trials, left.decided, left.open) == (9, 2, (), 2)
    client = SimpleNamespace(current_test=lambda *_: None)
    where = place(client, None, UNTIL, left)
    assert where == f"trial 9 in repetition 5  {left.trial.version}  2 verdicts open"
    left = ahead(all_five, UNTIL, range(1, 11))
    assert (left.trial, left.trials, left.open) == (None, 0, 0)
    assert left.decided[0] == "decided     9.8.4  ingest_rate same after 5 pairs"
    assert ahead(nothing, UNTIL, [1]).trial is None


def test_what_is_left_has_the_trials_of_every_combination_and_of_the_canary():
    fields = {"versions": ["9.0.0", "9.8.4"], "until": "decided", "repetitions": 5, "tasks": 1}
    suite = with_axes(DATABASES).model_copy(update={"canary": "8.8.1"})

    assert ahead(FakeBucket(), plan_of(fields, suite=suite), []).trials == 3 * 2 * 5


def test_the_progress_of_a_search_goes_on_to_the_trials_of_its_next_comparison():
    bisect = {"base": "9.0.0", "new": "9.8.4", "metric": "ingest_rate"}
    plan = plan_of({"bisect": bisect, "repetitions": 8, "tasks": 1})
    slower = standings([-0.5, -0.51, -0.5, -0.49, -0.5] * 2 + [-0.5] * 2, plan)

    left = ahead(slower, plan, range(1, 25))

    assert (left.trial.trial, left.trial.repetition) == (25, 13)
    assert left.trial.version in ("9.0.0", "9.7.3")
    assert left.decided == ("decided     9.8.4  ingest_rate slower after 6 new pairs",)


def test_an_alarm_is_not_told_before_new_pairs_confirm_it():
    plan = planned(["9.0.0", "9.8.4"], until="decided", repetitions=6)
    left = ahead(standings([-0.5, -0.51, -0.5, -0.49, -0.5, -0.5], plan), plan, range(1, 13))

    assert left.trial.repetition == 7
    assert not any("ingest_rate" in line for line in left.decided)


def result(bucket, status=("SUCCEEDED", None), *, state=Path(), width=None, **wishes):
    """Return the exit code and the output of a run that has ended."""
    client = SimpleNamespace(await_end=lambda _: True, status=lambda _: status, bucket=bucket)
    console = Console(file=io.StringIO(), width=width)
    code = show_result(client, Run("r", "arn"), Target(state, None), console, **wishes)
    return code, console.file.getvalue()


@pytest.mark.parametrize(
    ("reason", "options"),
    [("budget_usd: 1 USD of 1 USD are spent", " --budget-usd USD"), ("trial 2 failed", "")],
)
def test_the_hint_after_a_spent_budget_has_a_new_budget(reason, options):
    bucket = bucket_of(TWO, measured(TWO)[:1])

    code, printed = result(bucket, ("FAILED", reason))

    assert code == 1
    assert f"resume it with `tidemark run --resume r{options}`." in printed


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        # Somebody stopped the run after its last trial.
        (("ABORTED", "by hand"), 0, ""),
        (("FAILED", "the topic refused"), 1, "The run did not complete: the topic refused\n"),
    ],
)
def test_a_stored_outcome_makes_a_stopped_run_complete_and_no_failed_one(status, code, told):
    bucket = bucket_of(outcome=ended("r", "complete"))

    assert result(bucket, status) == (code, told)


@pytest.mark.parametrize("status", ["aborted", "incomplete", "failed"])
def test_a_run_that_was_stopped_before_its_last_trial_fails_with_its_reason(status):
    bucket = bucket_of(TWO, measured(TWO)[:1], ended("r", status, "stopped by a user"))

    code, printed = result(bucket, ("ABORTED", "by hand"))

    assert code == 1
    assert printed.startswith("The run did not complete: stopped by a user\n")


def test_a_complete_run_prints_the_paths_of_its_report_and_its_comparisons(tmp_path):
    comparison = "9.8.4-against-9.0.0.md"
    files = {"report.md": b"# RocksDB", comparison: b"# RocksDB: 9.8.4 against 9.0.0"}
    bucket = bucket_of(planned(name="r"), files=files)

    code, printed = result(bucket, state=tmp_path)

    folder = tmp_path / "reports" / "rocksdb" / "r"
    assert code == 0
    assert printed.splitlines() == [
        f"Report: {folder / 'report.md'}", f"Comparison: {folder / comparison}",
    ]  # fmt: skip
    assert (folder / comparison).read_bytes() == files[comparison]


def test_a_search_prints_its_end_and_leaves_its_path_beside_the_report(tmp_path):
    end = "By ingest_rate 9.8.4 is not slower than 8.8.1."
    files = {"report.html": b"<html>", "search.json": json.dumps({"sentence": end}).encode()}
    bucket = bucket_of(planned(name="r"), files=files)

    _, printed = result(bucket, state=tmp_path)

    folder = tmp_path / "reports" / "rocksdb" / "r"
    assert printed.splitlines() == [end, *(f"Report: {folder / name}" for name in files)]
    assert (folder / "search.json").read_bytes() == files["search.json"]


def test_a_run_prints_what_to_measure_for_a_missing_verdict(tmp_path):
    sentence = "Measure again, with about 27 repetitions: tidemark run rocksdb"
    files = {"advice.json": json.dumps({"sentence": sentence}).encode()}
    bucket = bucket_of(planned(name="r"), files=files)

    _, printed = result(bucket, state=tmp_path)

    assert printed == f"{sentence}\n"


def test_the_commands_that_go_on_from_a_run_keep_its_wishes(tmp_path):
    command = "tidemark run rocksdb --until decided; tidemark run kiwi"
    told = {"sentence": f"These would: {command}. It takes 3 s.", "command": command}
    bucket = bucket_of(planned(name="r"), files={"advice.json": json.dumps(told).encode()})

    _, printed = result(bucket, state=tmp_path, width=200, options=" --fail-on slower")

    assert printed == (
        "These would: tidemark run rocksdb --until decided --fail-on slower; "
        "tidemark run kiwi --fail-on slower. It takes 3 s.\n"
    )


def test_a_run_prints_the_changes_of_level_that_its_message_tells():
    change = LevelAlarm(
        test="ingest", metric="ingest_rate", name="ingest_rate", run_id="20260926T030511Z-0a1b2c",
        version="9.8.4", version_before="9.0.0", verdict="slower", change=-0.104, told_by="r",
    )  # fmt: skip
    bucket = bucket_of(outcome=ended("r", "complete", level_changes=(change,)))

    _, printed = result(bucket)

    assert printed == (
        "ingest_rate has been 10.40 % slower since run 20260926T030511Z-0a1b2c "
        "(9.8.4 after 9.0.0).\n"
    )


@pytest.mark.parametrize(("exact", "told"), [(False, "734 k 22 k"), (True, "734,306.6 22,316.3")])
def test_a_run_prints_the_table_of_its_report_with_all_digits_on_request(tmp_path, exact, told):
    shown, whole = (
        Table(name, ("Metric", "Rate"), (Row(("latency", figures)),))
        for name, figures in ((ALL_DIGITS, "734 k 22 k"), (ALL_DIGITS, "734,306.6 22,316.3"))
    )
    results = Section("Results", (shown, Details(ALL_DIGITS, (whole,))))
    files = {f"report.{BLOCKS}": dump(Report("x", (), (results,))).encode()}
    bucket = bucket_of(planned(name="r"), files=files)

    _, printed = result(bucket, state=tmp_path, exact=exact)

    (line,) = (line.split() for line in printed.splitlines() if "latency" in line)
    assert " ".join(line[1:]) == told


class Recording:
    """A run whose plan and trials are recorded one after the other, each after a look at it."""

    poll_seconds = 0

    def __init__(self, plan, trials):
        self.bucket, self._writes = FakeBucket(), [
            (keys.plan(plan.run_id), plan),
            *((keys.trial(plan.run_id, each.trial), each) for each in trials),
        ]  # fmt: skip

    def active(self, _run):
        if not self._writes:
            return False
        key, content = self._writes.pop(0)
        self.bucket.write(key, content.model_dump_json().encode())
        return True

    def current_test(self, _run, _plan, trial):
        return f"test of trial {trial}"


def test_a_run_that_is_followed_has_a_line_for_each_trial_with_its_first_rates(tmp_path):
    plan = planned(["9.0.0", "9.8.4"], repetitions=1, name="r", profile=True)
    first, second = measured(plan)
    (ingest, _) = second.tests
    rates = [ingest.rates[0].model_copy(update={"metric": f"m{n}", "value": n}) for n in range(7)]
    wide = second.model_copy(update={"tests": (ingest.model_copy(update={"rates": tuple(rates)}),)})
    noted = ingest.model_copy(update={"artefact_notes": ("it kept no file",)})
    profiled = [
        first.model_copy(update={**each.model_dump(), "tests": (test,)})
        for each, test in zip(plan.profiled, [ingest, noted, *8 * [ingest]], strict=True)
    ]
    console = Console(file=io.StringIO(), width=60)
    recording = Recording(plan, [failed(first), wide, *profiled])

    follow(recording, Run("r", "arn:x"), Target(tmp_path, None), console)

    # Every second of twelve trials has a line, and so has each that failed.
    assert console.file.getvalue().splitlines() == [
        "One trial in 2 has a line here, and each that fails.",
        "trial 1 of 2     9.0.0  failed: ingest: its container ended with exit code 1",
        "trial 2 of 2     9.8.4  m0 0.0 records/s  m1 1.000 records/s  m2 2.000 records/s  "
        "m3 3.000 records/s  m4 4.000 records/s  m5 5.000 records/s  and 1 more",
        "profile 2 of 10     9.8.4  ingest: it kept no file",
        "profile 4 of 10     9.0.0  kept",
        "profile 6 of 10     9.0.0  kept",
        "profile 8 of 10     9.0.0  kept",
        "profile 10 of 10     9.8.4  kept",
    ]


def test_a_long_run_prints_ten_of_its_trials_and_each_that_failed():
    plan = planned(["9.0.0", "9.8.4"], repetitions=50)
    trials = measured(plan)

    printed = [trial.trial for trial in trials if is_printed(trial, plan)]

    assert printed == list(range(10, 101, 10))
    assert thinned(plan) == "One trial in 10 has a line here, and each that fails.\n"
    assert thinned(PLAN) == ""
    assert is_printed(failed(trials[0]), plan)
    assert all(is_printed(each, PLAN) for each in measured(PLAN))


def test_a_run_prints_its_answer_and_the_first_rows_of_many_rates(tmp_path):
    rows = tuple(Row((f"latency {number}",)) for number in range(30))
    report = Report("x", ("▼ 30 slower.",), (Section("Results", (Table("R", ("Metric",), rows),)),))
    files = {f"report.{BLOCKS}": dump(report).encode()}
    bucket = bucket_of(planned(name="r"), files=files)

    _, printed = result(bucket, state=tmp_path)

    lines = printed.splitlines()
    assert lines[0] == "▼ 30 slower."
    assert sum("latency" in line for line in lines) == 16
    assert lines[-1] == "`tidemark show r` prints 14 more rows."


@pytest.mark.parametrize(
    ("word", "mark", "color"),
    [
        ("slower", "▼", "\x1b[1;31m"), ("faster", "▲", "\x1b[1;32m"), ("same", "=", ""),
        ("cannot tell", "?", "\x1b[33m"),
    ],
)  # fmt: skip
def test_each_verdict_has_a_mark_and_on_a_terminal_a_colour(monkeypatch, word, mark, color):
    monkeypatch.delenv("NO_COLOR", raising=False)
    printed = io.StringIO()
    console = Console(file=printed, width=120, force_terminal=True, color_system="standard")

    print_blocks([f"{mark} 3 {word}", f"{mark} {word}"], console)

    assert printed.getvalue().count(color) >= 2
    assert f"{color}{mark} 3 {word}" in printed.getvalue()


def test_a_run_of_unknown_order_says_how_its_versions_are_compared(tmp_path):
    versions = ["topic", "main"]
    plan = plan_of({"versions": versions}, suite=naming(versions), name="r")
    bucket = bucket_of(plan)

    _, printed = result(bucket, state=tmp_path, width=200)

    assert printed == (
        "The order of topic, main is not known: each is compared with the one named before it.\n"
    )
