"""Verdicts on the versions of a run."""

import pytest

from tests.unit.measured_runs import ingest_of, left_out, planned, with_ingest
from tidemark.figures.verdicts.version_verdicts import verdicts, version_pairs
from tidemark.model.plan import Resume
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.rule import left_out as left_out_pairs
from tidemark.store.stored_run import StoredRun

BOTH = ["9.0.0", "9.8.4"]
STEADY = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 1000.0]
SLOWER = [0.85 * rate * (1 + 0.002 * n) for n, rate in enumerate(STEADY)]


def judged(plan, trials, exclusions=NO_EXCLUSIONS, resumes=()):
    found = verdicts(StoredRun(plan, trials, exclusions, resumes), *BOTH)
    return next(verdict for verdict in found if verdict.quantity.test == "ingest")


def run(base=STEADY, new=SLOWER):
    plan = planned(BOTH, repetitions=len(base))
    return plan, ingest_of(plan, {"9.0.0": base, "9.8.4": new})


def test_a_verdict_has_its_evidence():
    verdict = judged(*run())

    assert verdict.judgement.word == "slower"
    assert verdict.judgement.method == "paired t"
    assert (verdict.judgement.pairs, verdict.more_pairs) == (6, None)
    assert (verdict.trials_base, verdict.trials_new) == (6, 6)
    assert verdict.change == pytest.approx(sum(SLOWER) / sum(STEADY) - 1)
    assert verdict.detectable == verdict.margins.alarm == 0.03
    assert verdict.family == 2


def test_the_direction_is_that_of_the_metric():
    plan, trials = run()

    assert judged(with_ingest(plan, direction="lower"), trials).judgement.word == "faster"


def test_a_metric_is_judged_by_its_own_margins():
    plan, trials = run()

    verdict = judged(with_ingest(plan, margin=0.2, same_within=0.25), trials)

    assert verdict.judgement.word == "same"
    assert (verdict.margins.alarm, verdict.margins.same) == (0.2, 0.25)


def test_an_open_verdict_names_the_pair_that_most_of_its_scatter_is_of():
    disturbed = [*STEADY[:2], STEADY[2] / 2, *STEADY[3:]]
    open_verdict = judged(*run(new=disturbed))

    assert (open_verdict.judgement.word, open_verdict.odd) == ("cannot tell", 3)
    assert left_out_pairs(open_verdict) == "the pair of repetition 3 lies farthest from the others"
    assert judged(*run()).odd is None


@pytest.mark.parametrize(("factor", "odd", "outliers"), [(1.05, 8, ()), (2, None, (8,))])
def test_the_pairs_of_a_confirmation_are_named_by_their_repetitions(factor, odd, outliers):
    plan = planned(BOTH, baseline="9.0.0", until="decided", repetitions=30)
    base = [1000.0 + place % 3 for place in range(len(plan.trials))]
    new = [0.93 * rate * (1 + 0.005 * (place * 7 % 5)) for place, rate in enumerate(base)]
    new[7] *= factor
    trials = ingest_of(plan, {"9.0.0": base, "9.8.4": new})

    verdict = judged(plan, [trial for trial in trials if trial.repetition <= 11])

    assert (verdict.stage, verdict.first.pairs, verdict.judgement.pairs) == ("confirmed", 6, 5)
    assert (verdict.judgement.word, verdict.odd, verdict.outliers) == ("cannot tell", odd, outliers)


def test_a_metric_that_decides_nothing_leaves_the_alarms_to_others():
    plan, trials = run()

    plan = with_ingest(plan, decides=False)
    found = verdicts(StoredRun(plan, trials, NO_EXCLUSIONS, []), *BOTH)

    words = {verdict.quantity.name: (verdict.judgement.word, verdict.family) for verdict in found}
    assert words["ingest_rate"] == ("slower", 1)
    assert words["compaction_rate"][1] == 1


def test_an_excluded_trial_drops_its_pair():
    plan, trials = run()

    verdict = judged(plan, trials, left_out(1, "the machine was busy"))

    assert verdict.judgement.pairs == 5
    assert sorted((verdict.trials_base, verdict.trials_new)) == [5, 6]


def test_a_lost_trial_drops_its_pair():
    plan, trials = run()

    assert judged(plan, trials[:-1]).judgement.pairs == 5


def test_a_resumed_run_is_judged_by_the_method_that_allows_looks():
    plan, trials = run()
    resume = Resume(execution_arn="arn:x", started_at=plan.started_at, trigger="cli", note="")

    assert judged(plan, trials, resumes=[resume]).judgement.method == "mixture t"


def test_too_few_pairs_say_how_many_are_missing():
    verdict = judged(*run([100.0, 100.0], [110.0, 110.0]))

    assert verdict.judgement.word == "cannot tell"
    assert verdict.judgement.reason == "2 of the 5 pairs that a verdict needs"
    assert verdict.change == pytest.approx(0.1)
    assert verdict.more_pairs == 3


@pytest.mark.parametrize("rate", [0.0, -5.0])
def test_a_rate_of_zero_or_below_has_no_verdict(rate):
    verdict = judged(*run(new=[rate, *SLOWER[1:]]))

    assert verdict.judgement.reason == "a rate is zero or below"


def failures(count):
    """Return a run without failures."""
    plan, trials = run([0.0] * count, [0.0] * count)
    return with_ingest(plan, direction="lower"), trials


def test_figures_that_are_all_zero_are_the_same():
    verdict = judged(*failures(6))

    assert (verdict.judgement.word, verdict.judgement.reason) == ("same", "")
    assert (verdict.judgement.effect, verdict.judgement.pairs) == (0.0, 6)
    assert (verdict.change, verdict.more_pairs) == (None, None)


def test_a_throughput_of_zero_in_every_trial_has_no_verdict():
    verdict = judged(*run([0.0] * 6, [0.0] * 6))

    assert verdict.judgement.reason == "a rate is zero or below"


def test_too_few_pairs_of_zeros_say_how_many_are_missing():
    verdict = judged(*failures(2))

    assert verdict.judgement.reason == "2 of the 5 pairs that a verdict needs"
    assert verdict.more_pairs == 3


def test_a_version_without_rates_has_no_change():
    plan, trials = run()

    verdict = judged(plan, [trial for trial in trials if trial.version == "9.0.0"])

    assert (verdict.change, verdict.judgement.word) == (None, "cannot tell")


def test_series_with_labels_are_a_family_of_their_own():
    plan, trials = run()
    labelled = [trial.model_copy(update={"tests": with_labels(trial.tests)}) for trial in trials]
    of_labels = with_ingest(plan, labels=("part",), most_labels=9)

    found = list(verdicts(StoredRun(of_labels, labelled, NO_EXCLUSIONS, []), *BOTH))

    families = {verdict.quantity.name: verdict.family for verdict in found}
    assert families == {"compaction_rate": 1} | {
        f"ingest_rate {{part: {number}}}": 9 for number in range(9)
    }
    words = [verdict.judgement.word for verdict in found if verdict.quantity.labels]
    assert words == ["slower"] * 9


def with_labels(tests):
    """Return the results of a trial whose first rate has nine labels."""
    first, *others = tests
    (rate,) = first.rates
    rates = tuple(rate.model_copy(update={"labels": {"part": str(n)}}) for n in range(9))
    return (first.model_copy(update={"rates": rates}), *others)


def test_each_version_is_compared_with_the_baseline_and_with_older_ones():
    versions = ["9.8.4", "8.8.1", "9.0.0"]

    assert version_pairs(planned(versions)) == [
        ("8.8.1", "9.0.0"), ("8.8.1", "9.8.4"), ("9.0.0", "9.8.4"),
    ]  # fmt: skip
    assert version_pairs(planned(versions, baseline="9.0.0")) == [
        ("9.0.0", "8.8.1"), ("9.0.0", "9.8.4"), ("8.8.1", "9.0.0"), ("8.8.1", "9.8.4"),
    ]  # fmt: skip
    assert version_pairs(planned(["9.0.0"])) == []


def with_slices(trials):
    """Return trials of rounds; one slice of each trial of the new version was paused."""
    return [_with_slices(trial) for trial in trials]


def _with_slices(trial):
    ingest, *others = trial.tests
    rates = [_paused(rate) if trial.version == BOTH[1] else _even(rate) for rate in ingest.rates]
    return trial.model_copy(
        update={"tests": (ingest.model_copy(update={"rates": tuple(rates)}), *others)}
    )


def _even(rate):
    return rate.model_copy(update={"slices": (rate.value,) * 6})


def _paused(rate):
    return rate.model_copy(
        update={"value": 0.85 * rate.value, "slices": (*(rate.value,) * 5, 0.1 * rate.value)}
    )


@pytest.mark.parametrize("until", [None, "decided"])
def test_the_difference_of_a_round_is_that_of_its_blocks_and_not_of_its_means(until):
    plan, trials = run(new=STEADY)
    request = plan.request.model_copy(update={"until": until, "baseline": BOTH[0]})
    plan = plan.model_copy(update={"request": request})

    verdict = judged(plan, with_slices(trials))

    assert verdict.judgement.effect == pytest.approx(0, abs=1e-9)
    assert verdict.judgement.word == "same"
    assert verdict.change == pytest.approx(-0.15)
