"""The omissions of a history: right answers of small invented histories."""

import random

import pytest

from tests.unit.figures.history.test_change_points import level
from tests.unit.figures.history.test_changes import INGEST, run_id, runs_of
from tidemark.figures.history.changes import judged
from tidemark.figures.history.untold import Untold, change_of

RELEASES = [f"1.{number}.0" for number in range(60)]


def told(values, versions=RELEASES, **more):
    """Return the changes of a history as texts, and what it does not tell."""
    runs = runs_of(values, version=lambda index: versions[index], **more)
    changes, untold = judged(runs)
    found = [f"{change.word} at {change.versions[1]}" for change in changes]
    return found, [each.sentence for each in untold if each.sentence]


def normal(count, mean=100.0, scatter=1.0):
    return level(random.Random(count), count, mean, scatter)


@pytest.mark.parametrize("count", [1, 5])
def test_a_short_history_says_how_many_runs_it_takes(count):
    found, (sentence,) = told(normal(count))

    assert (found, sentence) == ([], f"cannot tell yet: {count} of about 6 runs.")


def test_a_spike_of_the_run_before_is_said_to_be_gone():
    found, (sentence,) = told([*normal(20), 70.0, 100.0])

    assert found == []
    assert sentence == (
        "1.20.0 alone was 30.16 % slower, 70.00 instead of 100.2 records/s; 1.21.0 is not."
    )


def test_a_change_from_zero_has_no_percentage():
    failures = INGEST._replace(metric="failures", direction="lower")
    runs = runs_of([0.0] * 15 + [5.0] * 15, version=lambda n: RELEASES[n], series=failures)

    (change,), untold = judged(runs)

    assert (change.word, change.versions[1], change.before, change.after) == (
        "slower", "1.15.0", 0, 5,
    )  # fmt: skip
    assert (change.change, change.alarms, untold) == (None, True, [Untold(failures, "")])


def test_a_change_beyond_all_numbers_has_no_size():
    assert change_of(1e-300, 1e300) is None
    assert change_of(4.0, 5.0) == 0.25


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_a_change_is_found_at_any_scale(scale):
    values = [scale * value for value in normal(15) + normal(15, 80)]

    found, _ = told(values)

    assert found == ["slower at 1.15.0"]


def test_runs_of_an_older_version_are_counted_and_named():
    found, sentences = told(normal(35), [*RELEASES[5:34], "1.0.0", *RELEASES[:5]])

    assert (found, sentences[0]) == (
        [],
        "The changes of level leave out 6 of 35 runs, because an earlier run measured a newer "
        "version: 1.0.0, 1.1.0, 1.2.0, 1.3.0, 1.4.0.",
    )


def test_a_metric_that_ends_is_said():
    runs = runs_of(normal(20), version=lambda index: RELEASES[index])
    latency = INGEST._replace(metric="latency")
    second = runs_of(normal(16), version=lambda index: RELEASES[index], series=latency)
    both = [
        run.model_copy(update={"medians": run.medians + other.medians})
        for run, other in zip(runs, second, strict=False)
    ]

    _, untold = judged(both + runs[16:])

    assert [each.sentence for each in untold if each.series == latency][-1] == (
        f"not measured since run {run_id(15)} (1.15.0); there are 4 later runs."
    )
    assert not any("since run" in each.sentence and "later" in each.sentence
                   for each in untold if each.series == INGEST)  # fmt: skip


def test_runs_without_a_trial_of_the_canary_are_counted():
    canaries = [100.0] * 16 + [None] * 3
    _, sentences = told(normal(19), canaries=canaries)

    assert sentences[0] == (
        "the changes of level leave out 3 runs, because no trial of the canary counts."
    )


def test_runs_of_the_canary_alone_and_runs_without_a_trial_are_counted():
    runs = runs_of(normal(18), version=lambda index: RELEASES[index], canaries=[100.0] * 18)
    alone = runs[2].model_copy(update={"version": "8.8.1"})
    empty = runs[3].model_copy(update={"medians": ()})

    _, untold = judged([*runs[:2], alone, empty, *runs[4:]])

    assert [each.sentence for each in untold if each.series is None] == [
        "The changes of level leave out 1 of 18 runs, because they measured no version but the "
        "canary: 8.8.1.",
        "The changes of level leave out 1 of 18 runs, because no trial of their newest version "
        "counts: 1.3.0.",
    ]


def test_a_metric_that_is_measured_at_another_size_has_not_ended():
    canaries = [100.0] * 20
    runs = runs_of(normal(20), version=lambda index: RELEASES[index], canaries=canaries)
    later = [run.model_copy(update={"parameters": {"tasks": 2}}) for run in runs[16:]]

    _, untold = judged([*runs[:16], *later])

    assert not any(each.sentence.startswith("not measured") for each in untold)
