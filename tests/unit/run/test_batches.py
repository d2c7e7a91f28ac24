"""Batches of rounds, which are measured at once: chosen, paid for, lost and resumed."""

import pytest

from tests.plans import DATABASES, RUN
from tests.unit.run.test_choose_trial import BASE, NEW, OTHER, Measuring, in_batch
from tidemark.model.suite_files import read_suites
from tidemark.run.choose_trial import ChooseTrialEvent, choose
from tidemark.store import keys

ROUNDS = read_suites()["rocksdb"]


def measuring(losses, **fields):
    return Measuring(losses, suite=ROUNDS, **fields)


def firsts(choice):
    return [each.trial for each in choice.rounds]


def test_a_batch_has_as_many_rounds_as_are_measured_at_once_and_the_last_one_the_rest():
    run = measuring({NEW: 0}, until=None, repetitions=5, parallel=3)

    first = run.choose()
    assert [each.trials for each in first.rounds] == [(1, 2), (3, 4), (5, 6)]
    assert len({each.name for each in first.rounds}) == 3
    for number in in_batch(first):
        run.record(number)

    assert [each.trials for each in run.choose().rounds] == [(7, 8), (9, 10)]
    assert run.go_on().done == 10


def test_a_run_until_decided_looks_after_each_batch():
    run = measuring({NEW: 0.02, OTHER: 0.2}, parallel=3)

    choice = run.go_on()

    measured = run.repetitions()
    batches = [measured[first : first + 3] for first in range(0, len(measured), 3)]
    assert all(batch == [batch[0]] * 3 for batch in batches)
    assert batches[0][0] == {BASE, NEW, OTHER}
    assert len(batches[-1][0]) == 2  # a version that is decided is left out of the next batch
    assert choice.rounds == ()


def test_the_rounds_of_every_combination_of_axes_are_measured_at_once():
    suite = ROUNDS.model_copy(update={"axes": DATABASES})
    run = Measuring({NEW: 0}, suite=suite, parallel=4)

    numbers = [each.trials for each in run.choose().rounds]

    assert numbers == [(1, 2), (3, 4), (5, 6), (7, 8)]


def test_the_rounds_of_a_batch_start_no_more_tasks_in_a_second_than_ecs_accepts():
    run = measuring({NEW: 0}, parallel=12, tasks=5)

    assert [each.wait_seconds for each in run.choose().rounds] == 4 * [0] + 4 * [2] + 4 * [4]


def test_a_budget_cuts_a_batch_to_the_rounds_that_it_pays_for():
    run = measuring({NEW: 0}, until=None, repetitions=12, parallel=12)
    of_trial = run.plan.estimate.measuring_usd / 24

    assert firsts(run.choose(budget_usd=of_trial * 7)) == [1, 3, 5]
    over = run.choose(budget_usd=of_trial * 1.5)
    assert over.rounds == ()
    assert over.cut_short.startswith("budget_usd: 0.0000 USD of ")


@pytest.mark.parametrize("until", [None, "decided"])
def test_a_resumed_run_measures_the_rounds_that_an_ended_batch_lacks_and_counts_each_once(until):
    run = measuring({NEW: 0.2}, until=until, repetitions=20, parallel=4)
    for number in (1, 2, 5, 6):  # the round of 3 and 4, and that of 7 and 8, were stopped
        run.record(number)

    resumed = run.choose(budget_usd=1000)
    assert [each.trials for each in resumed.rounds][:2] == [(3, 4), (7, 8)]
    assert resumed.spent.trials == (1, 2, 5, 6)
    for number in in_batch(resumed):
        run.record(number)
    run.go_on(budget_usd=1000)

    assert sorted(run.spent.trials) == [trial.trial for trial in run.stored.trials]
    # The verdict is that of a run that was never stopped.
    whole = measuring({NEW: 0.2}, until=until, repetitions=20, parallel=4)
    whole.go_on()
    assert run.words(NEW) == whole.words(NEW)


def test_all_rounds_that_a_batch_lost_are_recorded_as_failed_and_not_chosen_again():
    run = measuring({NEW: 0}, until=None, repetitions=6, parallel=3)
    run.choose()
    run.record(3)
    run.record(4)
    failure = {"Error": "States.Timeout", "Cause": ""}
    lost = [{"trial": n, "trials": [n, n + 1], "failure": failure} for n in (1, 5)]

    event = ChooseTrialEvent(run_id=RUN, execution_arn="arn:x", lost=lost)
    assert firsts(choose(run.bucket, event)) == [7, 9, 11]

    statuses = {trial.trial: trial.status for trial in run.stored.trials}
    assert statuses == {1: "failed", 2: "failed", 3: "ok", 4: "ok", 5: "failed", 6: "failed"}


def test_a_run_without_profiled_trials_lists_none_which_its_function_may_not():
    run = measuring({NEW: 0}, parallel=6)
    listed, keys_of = [], run.bucket.keys

    def noted(prefix, **more):
        listed.append(prefix)
        return keys_of(prefix, **more)

    run.bucket.keys = noted
    for number in in_batch(run.choose(budget_usd=1000)):
        run.record(number)
    run.choose(budget_usd=1000)

    assert keys.trials(RUN) in listed
    assert keys.profiled_trials(RUN) not in listed


def test_a_choice_reads_no_trial_twice_for_its_batch():
    run = measuring({NEW: 0}, until=None, repetitions=12, parallel=6)

    run.go_on(budget_usd=1000)

    assert {run.reads[keys.trial(RUN, number)] for number in range(1, 25)} == {1}
