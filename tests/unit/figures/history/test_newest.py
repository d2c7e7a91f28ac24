"""The newest runs of a history, judged against the level before them."""

import random

import pytest

from tests.unit.figures.history.test_change_points import level
from tests.unit.figures.history.test_changes import INGEST, runs_of
from tests.unit.figures.history.test_untold import RELEASES
from tidemark.figures.history.changes import judged
from tidemark.figures.history.levels import RunFigure, judged_levels
from tidemark.figures.history.newest import discoveries


def states(values):
    runs = runs_of(values, version=lambda index: RELEASES[index])
    return [(change.versions[1], change.word, change.state) for change in judged(runs).changes]


def test_the_newest_release_is_suspected_confirmed_and_lasts():
    values = level(random.Random(1), 20) + level(random.Random(2), 8, 70)

    found = [states(values[:end]) for end in range(20, 29)]

    assert found[0] == []
    assert found[1] == [("1.20.0", "slower", "suspected")]
    assert found[2] == [("1.20.0", "slower", "confirmed")]
    assert found[3:7] == [[("1.20.0", "slower", "new")]] * 4
    assert found[-1] == [("1.20.0", "slower", "lasting")]


def test_a_suspicion_alarms_nobody():
    values = [*level(random.Random(1), 20), 70.0]
    (change,) = judged(runs_of(values, version=lambda index: RELEASES[index])).changes

    assert (change.state, change.alarms, change.accepted) == ("suspected", False, change.before)


@pytest.mark.parametrize(("earlier", "found"), [(4, []), (5, [("1.5.0", "slower", "suspected")])])
def test_five_earlier_runs_are_a_level(earlier, found):
    assert states([*[100.0, 101.0, 99.0, 100.0, 101.0][:earlier], 70.0]) == found


def test_a_release_within_the_scatter_of_its_level_is_not_suspected():
    chance = random.Random(1)

    suspected = [bool(states([*level(chance, 20, scatter=3), 93.0])) for _ in range(50)]

    assert sum(suspected) <= 2


def test_a_release_whose_trials_reach_the_level_is_not_suspected():
    before = [RunFigure(value) for value in level(random.Random(1), 20)]

    def found(quartiles):
        return [
            change.state
            for change in judged_levels([*before, RunFigure(70, None, None, quartiles)]).told
        ]

    assert found((68, 72)) == ["suspected"]
    assert found((50, 97)) == []


def test_a_mended_release_names_its_last_version_and_the_one_that_mended_it():
    values = (
        level(random.Random(1), 20) + level(random.Random(2), 6, 50) + level(random.Random(3), 8)
    )
    runs = runs_of(values, version=lambda index: RELEASES[index])

    slower, faster = judged(runs).changes

    assert (slower.versions[1], slower.last.version, slower.mended.version) == (
        "1.20.0", "1.25.0", "1.26.0",
    )  # fmt: skip
    assert (faster.word, slower.is_open, slower.alarms) == ("faster", False, False)


def test_one_suspected_run_mends_nothing():
    values = level(random.Random(1), 20) + level(random.Random(2), 8, 50) + [100.0]
    runs = runs_of(values, version=lambda index: RELEASES[index])

    slower, faster = judged(runs).changes

    assert (faster.word, faster.state) == ("faster", "suspected")
    assert (slower.last, slower.mended, slower.is_open) == (None, None, True)


def test_of_many_figures_fewer_are_suspected_by_chance():
    """A tenth of a family's suspicions are false at most, so each needs more evidence."""
    assert discoveries([0.02], 1) == 0.02
    assert discoveries([0.02], 100) == 0.0
    assert discoveries([0.0001, 0.001, 0.02], 100) == 0.001


def test_what_is_suspected_alone_may_be_chance_among_many_figures():
    before, many = level(random.Random(1), 20), range(60)
    single = runs_of([*before, 112.0], version=lambda index: RELEASES[index])
    together = [
        run.model_copy(
            update={
                "medians": tuple(
                    run.medians[0]._replace(
                        series=INGEST._replace(metric=f"query_{number}"),
                        value=run.medians[0].value if number == 0 else 100.0,
                    )
                    for number in many
                )
            }
        )
        for run in single
    ]

    assert [change.state for change in judged(single).changes] == ["suspected"]
    assert judged(together).changes == []


def test_the_end_of_a_level_that_did_not_last_is_no_open_regression():
    chance = random.Random(1)
    values = level(chance, 20) + level(chance, 6, 200) + level(chance, 12)
    runs = runs_of(values, version=lambda index: RELEASES[index])

    faster, slower = judged(runs).changes

    assert (faster.word, faster.mended.version) == ("faster", "1.26.0")
    assert (slower.word, slower.is_open, slower.alarms) == ("slower", False, False)
    assert slower.accepted == slower.after


def release(shares):
    """Return runs of 20 figures whose newest one has these shares of the level before."""
    before = level(random.Random(1), 20)
    runs = runs_of([*before, 100.0], version=lambda index: RELEASES[index])

    def medians(run):
        (median,) = run.medians
        shifted = shares if run is runs[-1] else [1.0] * len(shares)
        return tuple(
            median._replace(
                series=INGEST._replace(metric=f"query_{number}"), value=median.value * share
            )
            for number, share in enumerate(shifted)
        )

    return [run.model_copy(update={"medians": medians(run)}) for run in runs]


def test_many_figures_that_move_by_one_share_wait_for_the_next_run():
    """A machine that is slower for a day moves them so."""
    shares = [0.78, 0.8, 0.79, 0.81, 0.8, 0.8, 0.79, 0.8, 0.82, 0.2] + [1.0] * 10

    found = judged(release(shares))

    assert [change.series.metric for change in found.changes] == ["query_9"]
    assert found.untold[0].sentence.startswith(
        "9 of 20 figures are slower by about one share, 20.04 % of their speed, in run "
    )


def test_figures_that_move_by_their_own_shares_are_suspected_at_once():
    shares = [0.8, 0.3, 0.7, 0.5, 0.6, 0.1, 0.75, 0.4, 0.2] + [1.0] * 11

    assert len(judged(release(shares)).changes) == 9


def test_a_suspicion_that_chance_explains_is_not_told_as_gone():
    runs = release([0.88] + [1.0] * 19)
    later = runs[-1].model_copy(
        update={"run_id": f"{runs[-1].run_id}z", "medians": runs[-2].medians}
    )

    assert [each.sentence for each in judged([*runs, later]).untold if each.sentence] == []


def test_a_release_that_lies_apart_but_not_clearly_says_how_many_runs_can_tell():
    chance = random.Random(1)
    before = level(chance, 20, scatter=3)

    def sentences(newest):
        runs = runs_of([*before, newest], version=lambda index: RELEASES[index])
        return [each.sentence for each in judged(runs).untold if each.sentence]

    assert sentences(100.0) == []
    assert sentences(91.0) == [
        "1.20.0 lies apart from the level before, but not clearly: cannot tell yet, 1 of about 5 "
        "runs."
    ]
