"""Verdicts on pairs by the rule."""

import math

import pytest

from tidemark.figures.verdicts.intervals import MIXTURE_T, PAIRED_T, equally, holm
from tidemark.figures.verdicts.pairs import Pairs, differences
from tidemark.figures.verdicts.rule import ALARM, Criteria, Margins, judge

METHODS = pytest.mark.parametrize("method", [PAIRED_T, MIXTURE_T], ids=lambda method: method.name)


def pairs(change, scatter, count=10):
    """Pairs with exactly this mean and standard deviation of d; the count is even."""
    step = scatter * math.sqrt((count - 1) / count)
    return Pairs.of([math.log1p(change) + step, math.log1p(change) - step] * (count // 2))


def criteria(method=PAIRED_T, direction="higher", **more):
    return Criteria(direction, method, Margins(), **more)


@METHODS
@pytest.mark.parametrize(
    ("change", "scatter", "word"),
    [
        (0.0, 0.02, "same"),
        (-0.10, 0.02, "slower"),
        (0.10, 0.02, "faster"),
        (-0.10, 0.30, "cannot tell"),
        (-0.028, 0.001, "same"),
        (-0.032, 0.001, "slower"),
    ],
)
def test_a_verdict_needs_certainty_and_a_change_that_matters(method, change, scatter, word):
    assert judge(pairs(change, scatter), criteria(method)).word == word


@METHODS
def test_a_rise_is_slower_where_less_is_better(method):
    assert judge(pairs(0.1, 0.02), criteria(method, "lower")).word == "slower"


@METHODS
def test_fewer_than_five_pairs_cannot_tell_however_alike_they_are(method):
    judgement = judge(Pairs.of([math.log(1.1)] * 4), criteria(method))

    assert (judgement.word, judgement.reason) == (
        "cannot tell",
        "4 of the 5 pairs that a verdict needs",
    )
    assert judge(Pairs(), criteria(method)).effect is None


def test_a_certain_change_below_the_margin_is_neither_slower_nor_too_scattered():
    narrow = Criteria("higher", PAIRED_T, Margins(alarm=0.03, same=0.01))

    judgement = judge(pairs(-0.02, 0.01), narrow)

    assert judgement.word == "cannot tell"
    assert judgement.reason == "the change is certain, but below the margin of 3 %"


def test_the_interval_is_that_of_the_change_of_the_geometric_mean():
    judgement = judge(pairs(-0.10, 0.05, 10), criteria())

    half = 2.262 * 0.05 / math.sqrt(10)
    assert judgement.effect == pytest.approx(-0.1)
    assert judgement.low == pytest.approx(0.9 * math.exp(-half) - 1, abs=1e-4)
    assert judgement.high == pytest.approx(0.9 * math.exp(half) - 1, abs=1e-4)


@METHODS
def test_the_p_value_is_alpha_at_the_edge_of_the_interval(method):
    for count in (6, 20, 60):
        some = pairs(0.1, 0.07, count).estimate
        edge = method.alarming(some, 0.01)
        at_edge = pairs(math.expm1(edge), 0.07, count)
        assert method.p_value(at_edge.estimate) == pytest.approx(0.01)


@METHODS
def test_more_metrics_that_decide_need_more_certainty(method):
    some = pairs(-0.10, 0.055)
    p_value = method.p_value(some.estimate)

    assert judge(some, criteria(method, share=1.01 * p_value / ALARM)).word == "slower"
    assert judge(some, criteria(method, share=0.99 * p_value / ALARM)).word == "cannot tell"


@pytest.mark.parametrize(("change", "word"), [(-0.04, "slower"), (0.0, "same")])
def test_the_last_pair_of_a_run_decides_as_a_plan_does_at_half_of_each_level(change, word):
    some = pairs(change, 0.09, 60) if change else pairs(change, 0.14, 60)
    more, last = criteria(MIXTURE_T, most=61), criteria(MIXTURE_T, most=60)

    assert judge(some, more).word == "cannot tell"
    judgement = judge(some, last)
    assert (judgement.word, judgement.method) == (word, "mixture t")
    assert last.at(60).p_value(some.estimate) == min(1, 2 * PAIRED_T.p_value(some.estimate))
    half = PAIRED_T.shown(some.estimate, 0.025)
    assert judgement.high == pytest.approx(math.expm1(some.estimate.mean + half))


def test_only_repetitions_with_both_trials_are_pairs():
    base, new = {1: 100.0, 2: 100.0, 4: 100.0}, {2: 90.0, 3: 80.0, 4: 95.0}

    assert differences(base, new) == pytest.approx({2: math.log(0.9), 4: math.log(0.95)})


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_a_rate_of_zero_or_less_has_no_pair(rate):
    for base, new in ((100.0, rate), (rate, 100.0), (rate, rate)):
        with pytest.raises(ValueError, match="math domain error"):
            differences({1: base}, {1: new})


def test_equal_shares_do_not_depend_on_the_other_series():
    assert equally([0.01, 0.5, 0.9]) == pytest.approx([0.03, 1, 1])


def test_holm_adjusts_by_rank_and_keeps_the_order():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
