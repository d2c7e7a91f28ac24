"""Metrics in a run that goes on until it is decided."""

import random
from itertools import cycle, islice, pairwise

import pytest

from tests.unit.figures.verdicts.test_rule import criteria
from tidemark.figures.verdicts.intervals import MIXTURE_T
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.sequential_metric import HOPELESS, TOO_SHORT, SequentialMetric
from tidemark.model.run_spec import CONFIRMATION

RULE = criteria(MIXTURE_T, most=30)
LOSS, GAIN, NOTHING = (-0.11, -0.09), (0.11, 0.09), (-0.01, 0.01)
ALARM = (*LOSS, *LOSS, LOSS[0])


def follow(*pairs, most=30):
    course = SequentialMetric()
    for pair in pairs:
        assert not course.is_decided
        course = course.after(pair, RULE._replace(most=most))
    return course


def until_decided(pattern, most=30):
    course, count = SequentialMetric(), 0
    while not course.is_decided:
        course, count = (
            course.after(pattern[count % len(pattern)], RULE._replace(most=most)),
            count + 1,
        )
    return course, count


def test_the_same_is_decided_by_the_first_stage():
    course, _ = until_decided(NOTHING)

    assert (course.judgement(RULE).word, course.stage) == ("same", "first")


@pytest.mark.parametrize(("pattern", "word"), [(LOSS, "slower"), (GAIN, "faster")])
def test_a_change_is_decided_only_by_new_pairs(pattern, word):
    first = follow(*pattern, *pattern, pattern[0])
    assert first.again == Pairs()
    judgement = first.judgement(RULE)
    reason = f"{word} at first, not confirmed by 0 new pairs"
    assert (judgement.word, judgement.reason) == ("cannot tell", reason)

    course, count = until_decided(pattern)

    assert (course.judgement(RULE).word, course.stage) == (word, "confirmed")
    assert (course.first.count, course.again.count) == (5, count - 5)


@pytest.mark.parametrize(("pattern", "opposite"), [(LOSS, GAIN), (GAIN, LOSS)])
def test_new_pairs_of_the_opposite_change_confirm_nothing(pattern, opposite):
    course = follow(*pattern, *pattern, pattern[0], *2 * opposite, opposite[0])

    assert course.is_decided
    assert course.judgement(RULE).word == "cannot tell"


def test_the_interval_of_a_confirmed_change_leaves_zero_out():
    chance = random.Random(1)
    for _ in range(200):
        course = SequentialMetric()
        while not course.is_decided:
            course = course.after(chance.gauss(-0.08, 0.08), RULE)
        judgement = course.judgement(RULE)

        assert judgement.word != "slower" or judgement.high < 0


def test_a_first_stage_that_new_pairs_do_not_repeat_cannot_tell():
    course = follow(*ALARM)
    for pair in 3 * NOTHING:
        course = course.after(pair, RULE)

    assert course.is_decided
    judgement = course.judgement(RULE)
    reason = "slower at first, not confirmed by 6 new pairs"
    assert (judgement.word, judgement.reason) == ("cannot tell", reason)


def test_a_confirmation_has_its_own_number_of_pairs():
    course = follow(*ALARM, most=6)

    assert not course.is_decided
    scattered = Pairs.of(islice(cycle((-0.3, 0.2)), CONFIRMATION - 1))
    assert SequentialMetric(course.first, scattered).after(0.1, RULE).is_decided


def test_pairs_that_scatter_too_much_end_before_the_last_one():
    course, count = until_decided((-0.5, 0.5))

    assert count < 30
    assert course.judgement(RULE).reason == HOPELESS


def test_pairs_that_scatter_too_much_for_the_time_end_early_and_say_so():
    scattered, course = cycle((-0.12, 0.06)), SequentialMetric()
    while not course.is_decided:
        course = course.after(next(scattered), RULE._replace(most=100, time_for=12))

    assert course.first.count < 12
    assert course.judgement(RULE).reason == TOO_SHORT
    assert not follow(*islice(cycle((-0.12, 0.06)), course.first.count), most=100).is_decided


def test_a_run_with_time_for_few_pairs_begins_its_confirmation_sooner():
    slower = [-0.12, -0.08, -0.115, -0.085, -0.1]
    course, timed = SequentialMetric(), SequentialMetric()
    for pair in slower:
        course = course.after(pair, RULE)
        timed = timed.after(pair, RULE._replace(time_for=12))

    assert (course.again, timed.again) == (None, Pairs())
    assert timed.first_judgement(RULE).word == "slower"
    assert timed.judgement(RULE).reason == "slower at first, not confirmed by 0 new pairs"
    # Time for many pairs is time for many looks.
    assert RULE._replace(time_for=91).first_stage.share == RULE.first_stage.share == RULE.share


def test_the_last_look_of_a_run_whose_time_is_over_confirms_what_the_looks_before_it_do_not():
    course = follow(*ALARM)
    for pair in (-0.17, -0.02, -0.14, -0.04, -0.18, -0.05):
        course = course.after(pair, RULE._replace(time_for=11))

    assert not course.is_decided
    assert course.judgement(RULE).word == "cannot tell"
    assert course.judgement(RULE._replace(is_over=True)).word == "slower"


def test_an_alarm_of_the_last_look_has_no_new_pairs_and_tells_nothing():
    course = follow(-0.12, -0.08, -0.115, -0.085, -0.1)

    judgement = course.judgement(RULE._replace(is_over=True))
    reason = "slower at first, not confirmed: the time of the run is over"
    assert (course.again, judgement.word, judgement.reason) == (None, "cannot tell", reason)


def test_the_last_look_leaves_too_few_new_pairs_unconfirmed():
    course = follow(*ALARM, *LOSS, *LOSS)

    judgement = course.judgement(RULE._replace(is_over=True))
    reason = "slower at first, not confirmed by 4 new pairs"
    assert (judgement.word, judgement.reason) == ("cannot tell", reason)


def test_the_sums_never_shrink():
    courses = [SequentialMetric()]
    for pair in 6 * LOSS:
        courses.append(courses[-1].after(pair, RULE))

    counts = [course.first.count + (course.again or Pairs()).count for course in courses]
    assert all(after == before + 1 for before, after in pairwise(counts))


def test_a_change_that_new_pairs_do_not_confirm_is_the_same_if_all_pairs_show_so():
    course = follow(*[-0.037, -0.035, -0.036, -0.037, -0.035])
    assert course.again == Pairs()
    course = course.after(0.03, RULE)
    for pair in islice(cycle([-0.02, 0.012]), 12):
        course = course if course.is_decided else course.after(pair, RULE)

    judgement = course.judgement(RULE)
    assert (course.is_decided, judgement.word, judgement.pairs) == (True, "same", 10)
    assert (course.joined.stage, course.joined.pairs.count) == ("first", 10)


def test_the_first_pairs_tell_that_a_new_pair_lies_far_from_all_others():
    course = follow(*ALARM)
    for pair in (*LOSS, 0.7, *LOSS, *LOSS):
        course = course.after(pair, RULE)

    assert course.pairs.outliers == [2]
    assert Pairs(course.pairs.differences).outliers == []
    assert (course.judgement(RULE).word, course.stage) == ("slower", "confirmed")


def test_a_change_below_the_margin_is_what_new_pairs_show():
    course = follow(*[-0.037, -0.035, -0.036, -0.037, -0.035])
    for pair in islice(cycle([-0.022, -0.016, -0.019]), 20):
        course = course if course.is_decided else course.after(pair, RULE)

    judgement = course.judgement(RULE)
    assert (judgement.word, judgement.pairs) == ("same", course.pairs.count)


def test_one_new_pair_is_counted_in_the_singular():
    course = follow(*ALARM).after(0.3, RULE)

    assert course.judgement(RULE).reason == "slower at first, not confirmed by 1 new pair"
