"""Trials of a run that goes on until it is decided, chosen one after another."""

import math
import random
from collections import Counter
from datetime import timedelta

import pytest

from tests.plans import DATABASES, RUN, plan_of, with_axes
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import left_out, row
from tidemark.figures.verdicts.sequential_metric import HOPELESS, TOO_SHORT, WITHOUT_PAIR
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    awaited,
    closed,
    finding,
    standing_of,
    time_for,
)
from tidemark.figures.verdicts.version_verdicts import verdicts
from tidemark.model.results import NO_EXCLUSIONS, TestResult, TrialResult, no_rate
from tidemark.model.suite_files import read_suites
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.run.choose_trial import ChooseTrialEvent, choose
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run, read_standing

BASE, NEW, OTHER = "8.8.1", "9.0.0", "9.8.4"


def in_batch(choice):
    """Return the trials of a batch, in order."""
    return [number for each in choice.rounds for number in each.trials]


class Measuring:
    """A run until decided whose trials are recorded as soon as they are chosen."""

    def __init__(self, losses, scatter=0.02, seed=1, suite=None, name=RUN, bucket=None, **request):
        fields = {"repetitions": 20, **request}
        if "bisect" not in request:
            fields = {"versions": [BASE, *losses], "until": "decided", **fields}
        self.plan = plan_of(fields, suite=suite, name=name)
        self.bucket, self.name = bucket or FakeBucket(), name
        self.bucket.write(keys.plan(name), self.plan.model_dump_json().encode())
        self.losses, self.scatter, self.chance = losses, scatter, random.Random(seed)
        self.failing, self.reads, self.spent, self.failures = set(), Counter(), None, None
        read = self.bucket.read

        def counted(key):
            self.reads[key] += 1
            return read(key)

        self.bucket.read = counted

    @property
    def stored(self):
        return read_run(self.bucket, self.plan)

    def choose(self, budget_usd=None):
        event = ChooseTrialEvent(
            run_id=self.name,
            execution_arn="arn:x",
            budget_usd=budget_usd,
            spent=self.spent,
            failures=self.failures,
        )
        choice = choose(self.bucket, event)
        self.spent, self.failures = choice.spent, choice.failures
        if self.plan.request.bisect:
            self.plan = read_plan(self.bucket, self.name)
        return choice

    def record(self, number):
        planned = next(trial for trial in self.plan.trials if trial.trial == number)
        is_ok = not self.failing & {planned.version, planned.name}
        loss = self.losses.get(planned.version, 0)
        tests = tuple(
            TestResult(
                test=test.name,
                status="ok" if is_ok else "failed",
                ended_at=self.plan.started_at + timedelta(seconds=10 * number),
                rates=tuple(
                    no_rate(metric, metric.statistics[0], planned.axes).model_copy(
                        update={"value": self.value(loss) if is_ok else None}
                    )
                    for metric in test.metrics
                ),
            )
            for test in self.plan.suite.tests
        )
        trial = TrialResult(
            run_id=self.name, **planned.model_dump(), status=tests[0].status, reason="", tests=tests
        )
        self.bucket.write(keys.trial(self.name, number), trial.model_dump_json().encode())

    def value(self, loss):
        return 1000 * (1 - loss) * math.exp(self.chance.gauss(0, self.scatter / math.sqrt(2)))

    def go_on(self, most=1000, budget_usd=None):
        """Measure trials until none is chosen, ``most`` at most; return the last choice."""
        choice = self.choose(budget_usd)
        while choice.rounds and most > 0:
            for number in in_batch(choice):
                self.record(number)
            choice, most = self.choose(budget_usd), most - 1
        return choice

    def repetitions(self):
        """Return the versions that each repetition measured."""
        measured = {}
        for trial in self.stored.trials:
            measured.setdefault(trial.repetition, set()).add(trial.version)
        return list(measured.values())

    def verdicts(self, version, base=BASE):
        return list(verdicts(self.stored, base, version))

    def words(self, version):
        return {(v.judgement.word, v.stage) for v in self.verdicts(version)}

    def outcome(self):
        run = self.stored
        return planned_outcome(run.plan, run.trials, (), "arn:x", run.plan.started_at)


def test_a_run_ends_when_every_metric_is_decided():
    run = Measuring({NEW: 0})

    choice = run.go_on()

    assert (choice.rounds, choice.cut_short) == ((), None)
    assert run.words(NEW) == {("same", "first")}
    table = markdown(report(measured_run(run.stored))).partition("Verdicts against 8.8.1")[2]
    assert row(table, NEW, "ingest_rate")[3:] == ["none", "same"]
    assert 10 <= choice.done <= 40
    assert run.outcome().status == "complete"
    assert run.outcome().trials_planned == choice.done


@pytest.mark.parametrize(("within", "repetitions"), [(10, 5), (100, 5), (150, 8)])
def test_a_run_begins_no_repetition_after_its_time_but_five_in_any_case(within, repetitions):
    run = Measuring({NEW: 0.04}, scatter=0.2, within_seconds=within, repetitions=None)

    assert run.go_on().rounds == ()
    assert run.repetitions() == repetitions * [{BASE, NEW}]
    assert run.outcome().status == "complete"
    assert {word for word, _ in run.words(NEW)} == {"cannot tell"}


def test_a_run_ends_before_its_time_if_that_is_too_short_for_a_verdict():
    run = Measuring({NEW: 0.06}, scatter=0.2, within_seconds=300, repetitions=None)

    assert run.go_on().rounds == ()
    assert len(run.repetitions()) < 15
    assert {verdict.judgement.reason for verdict in run.verdicts(NEW)} == {TOO_SHORT}
    # A run with more time may tell.
    assert any(verdict.more_pairs for verdict in run.verdicts(NEW))
    assert run.outcome().status == "complete"


@pytest.mark.parametrize(
    ("seconds", "repetition", "at_once", "repetitions"),
    [
        (70, 7, None, 18),
        (60, 8, 12, 36),  # within the first batch, and at its end
        (60, 12, 12, 36),
        (170, 24, 12, 36),
        (20, 1, None, 9),
        (400, 5, None, 5),
    ],
)
def test_a_run_has_time_for_the_repetitions_that_its_pace_gives(
    seconds, repetition, at_once, repetitions
):
    plan = plan_of({"versions": [BASE, NEW], "until": "decided", "within_seconds": 180})
    request = plan.request.model_copy(update={"parallel": at_once})
    ended_at = plan.started_at + timedelta(seconds=seconds)
    standing = SequentialRun(repetition=repetition, ended_at=ended_at)

    assert time_for(standing, plan.model_copy(update={"request": request})) == repetitions


def test_the_last_look_of_a_run_whose_time_is_over_tells_what_the_looks_before_it_did_not():
    run = Measuring({NEW: 0}, scatter=0.03, seed=2, within_seconds=140, repetitions=None)

    assert run.go_on().rounds == ()
    assert run.words(NEW) == {("same", "first")}
    standing = closed(read_standing(run.bucket, RUN), run.plan)
    assert {finding(standing, run.plan, NEW, each) for each in awaited(run.plan)} == {None}


def test_a_version_without_rates_under_one_combination_leaves_the_run_incomplete():
    run = Measuring({NEW: 0}, suite=with_axes(DATABASES))
    run.failing = {f"{NEW} {{database: postgresql}}"}

    run.go_on()

    assert run.outcome().status == "incomplete"


def test_a_decided_version_is_dropped_after_a_whole_repetition_and_the_baseline_is_kept():
    run = Measuring({NEW: 0.1, OTHER: 0})

    run.go_on()

    measured = run.repetitions()
    assert measured[:5] == [{BASE, NEW, OTHER}] * 5
    assert all(BASE in versions for versions in measured)
    assert measured[-1] != {BASE, NEW, OTHER}
    assert sorted(measured, key=len, reverse=True) == measured
    assert run.words(OTHER) == {("same", "first")}


def test_every_repetition_measures_the_canary():
    suite = read_suites()["rocksdb"].model_copy(update={"canary": OTHER})
    run = Measuring({NEW: 0}, suite=suite)

    run.go_on()

    assert set(map(frozenset, run.repetitions())) == {frozenset({BASE, NEW, OTHER})}


def test_a_slower_version_is_told_only_after_new_pairs_confirm_it():
    run = Measuring({NEW: 0.2})
    run.go_on(most=12)
    first = run.verdicts(NEW)[0]
    assert (first.judgement.word, first.stage) == ("cannot tell", "confirmed")
    assert first.judgement.reason == "slower at first, not confirmed by 0 new pairs"
    assert first.first.word == "slower"

    run.go_on()

    assert run.words(NEW) == {("slower", "confirmed")}
    text = markdown(report(measured_run(run.stored)))
    table = text.partition("Verdicts against 8.8.1")[2]
    stages = row(table, NEW, "ingest_rate")[2:]
    assert stages[0].startswith("slower after 6 pairs: −")
    assert stages[1].startswith("slower after 5 pairs: −")
    assert stages[2] == "slower"
    assert "slower, confirmed by 5 new pairs" in text
    assert "All 22 trials gave rates." in text
    again = run.verdicts(NEW)[0]
    assert again.first.pairs + again.judgement.pairs == len(run.repetitions()) == 11


def test_a_change_between_two_other_versions_is_not_confirmed():
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on()

    assert run.words(OTHER) == {("slower", "confirmed")}
    (verdict, _) = run.verdicts(OTHER, base=NEW)
    assert verdict.judgement.reason.startswith("slower at first, not confirmed: ")


def test_a_run_whose_pairs_scatter_too_much_ends_early_and_says_so():
    run = Measuring({NEW: 0}, scatter=0.9, repetitions=30)

    choice = run.go_on()

    assert choice.done < 60
    assert {v.judgement.reason for v in run.verdicts(NEW)} == {HOPELESS}
    assert run.outcome().status == "complete"


def test_no_trial_is_read_twice_even_with_a_budget():
    run = Measuring({NEW: 0})

    run.go_on(budget_usd=1000)

    of_trials = [count for key, count in run.reads.items() if "/trials/" in key]
    assert set(of_trials) == {1}


def test_a_budget_ends_a_run_before_its_verdicts():
    run = Measuring({NEW: 0.03}, scatter=0.07)
    run.go_on(most=11)

    choice = run.choose(budget_usd=0.001)

    assert choice.rounds == ()
    assert "are spent by 11 of at most 160 trials, and the next" in choice.cut_short
    outcome = run.outcome()
    assert (outcome.status, outcome.trials_done, outcome.trials_planned) == ("incomplete", 11, 12)


@pytest.mark.parametrize("seed", range(3))
def test_the_running_sums_are_those_of_the_stored_trials(seed):
    """Also after a kill, which loses the sums, and an exclusion in the midst of a repetition."""
    run = Measuring({NEW: 0.05, OTHER: 0}, scatter=0.05, seed=seed)
    run.go_on(most=13 + 4 * seed)
    run.bucket.delete(keys.work(RUN))
    run.go_on(most=2)
    key = keys.exclusion(RUN, 4)
    (exclusion,) = left_out(4, "busy")._decisions.values()
    run.bucket.write(key, exclusion.model_dump_json().encode())

    run.go_on()

    assert read_standing(run.bucket, RUN).excluded == (4,)
    stored = run.stored
    whole = standing_of(stored.plan, stored.trials, stored.exclusions)
    assert closed(read_standing(run.bucket, RUN), run.plan) == closed(whole, run.plan)
    assert all(verdict.more_pairs is None for verdict in run.verdicts(NEW))
    straight = standing_of(run.plan, stored.trials, NO_EXCLUSIONS)
    assert closed(straight, run.plan) != closed(whole, run.plan)


def test_an_exclusion_may_make_a_decided_run_go_on():
    run = Measuring({NEW: 0.2})
    done = run.go_on().done
    (exclusion,) = left_out(1, "busy")._decisions.values()
    run.bucket.write(keys.exclusion(RUN, 1), exclusion.model_dump_json().encode())

    assert run.outcome().status == "incomplete"
    run.go_on()

    assert (len(run.stored.trials), run.outcome().status) == (done + 2, "complete")


def test_a_version_that_always_fails_is_given_up():
    run = Measuring({NEW: 0, OTHER: 0}, scatter=0.1, keep_going=True)
    run.failing.add(NEW)

    run.go_on()

    assert [NEW in versions for versions in run.repetitions()].count(True) == 5
    assert {v.judgement.reason for v in run.verdicts(NEW)} == {f"5 {WITHOUT_PAIR}"}
    assert run.outcome().status == "incomplete"


def test_each_combination_of_axes_is_decided_by_itself():
    run = Measuring({NEW: 0}, suite=with_axes(DATABASES))

    choice = run.go_on()

    words = {(v.quantity.labels, v.judgement.word) for v in run.verdicts(NEW)}
    assert words == {('{"database": "mariadb"}', "same"), ('{"database": "postgresql"}', "same")}
    assert (choice.done % 4, run.outcome().status) == (0, "complete")
    assert run.verdicts(NEW)[0].family == 4


def test_a_lost_trial_drops_its_pair_and_the_run_goes_on():
    run = Measuring({NEW: 0})
    run.failing.add(NEW)
    run.go_on(most=2)
    run.failing.clear()

    run.go_on()

    most = max(verdict.judgement.pairs for verdict in run.verdicts(NEW))
    assert most == len(run.repetitions()) - 1
    assert run.outcome().status == "complete"
