"""Changes of level in the history of a suite, and alarms of them."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.last_seen import assert_last_seen
from tests.unit.figures.history.test_change_points import level
from tests.unit.figures.test_calibration import calibrated
from tests.unit.measured_runs import ingest_of, left_out, measured, on_machine, planned
from tidemark.figures.history.changes import NOTHING, Place, judged
from tidemark.figures.history.run_medians import Median, RunMedians, Series, run_medians
from tidemark.model.labels import canonical
from tidemark.model.outcome import Acknowledgement
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.subject import Subject
from tidemark.model.version_order import version_order

FIRST = datetime(2026, 1, 5, 3, tzinfo=UTC)
INGEST = Series("ingest", "ingest_rate", "mean", "", "records/s", "higher")
STEP = 30


def run_id(index):
    return f"{FIRST + timedelta(weeks=index):%Y%m%dT%H%M%SZ}-0a1b2c"


def runs_of(
    values,
    version=lambda index: "9.0.0" if index < STEP else "9.8.4",
    series=INGEST,
    canaries=None,
):
    """Return weekly runs with these medians."""
    return [
        RunMedians(
            run_id=run_id(index),
            started_at=FIRST + timedelta(weeks=index),
            version=version(index),
            version_order=version_order(version(index), packaged=False),
            parameters={"tasks": 1},
            environment="a",
            canary="8.8.1" if canaries else None,
            medians=(
                Median(
                    series=series,
                    margin=0.03,
                    value=value,
                    canary=canaries[index] if canaries else None,
                ),
            ),
        )
        for index, value in enumerate(values)
    ]


def stepped(factor=0.9, after=20):
    chance = random.Random(1)
    return level(chance, STEP) + level(chance, after, 100 * factor)


def acknowledged(index, until):
    decision = Acknowledgement(reason="safer", until=until, at=FIRST)
    return NOTHING._replace(acknowledged={Place("ingest", "ingest_rate", run_id(index)): decision})


def told(index, at, said=NOTHING):
    return said._replace(told={Place("ingest", "ingest_rate", run_id(index)): at})


def test_a_slower_level_names_its_run_its_versions_and_both_levels():
    (change,) = judged(runs_of(stepped())).changes

    assert (change.word, change.cause, change.alarms) == ("slower", "version", True)
    assert change.place == Place("ingest", "ingest_rate", run_id(STEP))
    assert change.versions == ("9.0.0", "9.8.4")
    assert change.change == pytest.approx(-0.1, abs=0.01)
    assert change.accepted == change.before


def test_the_direction_of_the_metric_decides_which_level_is_faster():
    latency = INGEST._replace(direction="lower")

    (change,) = judged(runs_of(stepped(), series=latency)).changes

    assert (change.word, change.accepted) == ("faster", change.after)


def test_a_change_below_the_margin_of_the_metric_is_none():
    chance = random.Random(1)
    small = level(chance, STEP, scatter=0.1) + level(chance, 20, 98, 0.1)

    assert judged(runs_of(small)).changes == []


def test_a_change_alarms_once():
    runs, later = runs_of(stepped()), FIRST + timedelta(weeks=40)

    assert not judged(runs, told(STEP, later)).changes[0].alarms
    assert judged(runs, told(STEP - 20, later)).changes[0].alarms


def test_what_is_said_of_a_clear_change_holds_for_its_run_alone():
    runs, until = runs_of(stepped()), FIRST.date() + timedelta(weeks=100)

    assert judged(runs, acknowledged(STEP, until)).changes[0].acknowledgement
    for other in (STEP - 1, STEP + 1):
        assert not judged(runs, acknowledged(other, until)).changes[0].acknowledgement
        assert judged(runs, told(other, runs[-1].started_at)).changes[0].alarms


def test_what_is_said_of_a_change_holds_wherever_the_change_may_have_been():
    chance = random.Random(1)
    runs = runs_of([*level(chance, STEP), 95.0, 95.0, *level(chance, 20, 90)])
    until = FIRST.date() + timedelta(weeks=100)

    covered = [
        index
        for index in range(STEP - 5, STEP + 8)
        if judged(runs, acknowledged(index, until)).changes[0].acknowledgement
    ]

    assert covered == [STEP, STEP + 1, STEP + 2]


def test_a_change_under_one_value_of_an_axis_silences_no_other_value():
    postgresql, mariadb = (
        INGEST._replace(labels=canonical({"database": database}))
        for database in ("postgresql", "mariadb")
    )
    known = Place("ingest", "ingest_rate {database: mariadb}", run_id(STEP))
    said = NOTHING._replace(told={known: FIRST + timedelta(weeks=40)})

    assert judged(runs_of(stepped(), series=postgresql), said).changes[0].alarms
    assert not judged(runs_of(stepped(), series=mariadb), said).changes[0].alarms


def test_an_acknowledged_level_is_accepted_until_its_day_and_then_alarms_once_more():
    runs = runs_of(stepped())
    newest = runs[-1].started_at.date()

    (accepted,) = judged(runs, acknowledged(STEP, newest)).changes
    assert (accepted.alarms, accepted.accepted) == (False, accepted.after)
    assert accepted.acknowledgement.reason == "safer"

    over = acknowledged(STEP, newest - timedelta(days=1))
    before = FIRST + timedelta(weeks=40)
    assert judged(runs, told(STEP, before, over)).changes[0].alarms
    (again,) = judged(runs, told(STEP, runs[-1].started_at, over)).changes
    assert (again.alarms, again.accepted) == (False, again.before)


def test_a_change_that_the_environment_explains_alarms_nobody():
    runs = [
        run.model_copy(update={"environment": "ab"[index >= STEP]})
        for index, run in enumerate(runs_of(stepped()))
    ]

    (change,) = judged(runs).changes

    assert (change.cause, change.alarms, change.accepted) == ("environment", False, change.after)


def test_with_a_canary_a_level_is_a_share_of_the_canarys():
    steady = level(random.Random(2), 50)

    (change,) = judged(runs_of(stepped(), canaries=steady)).changes

    assert (change.cause, change.alarms, change.series.unit) == ("version", True, "of 8.8.1")
    assert (change.before, change.after) == (
        pytest.approx(1, abs=0.02),
        pytest.approx(0.9, abs=0.02),
    )


def test_a_change_of_the_canary_is_the_environments_and_alarms_nobody():
    found = judged(runs_of(stepped(), canaries=stepped())).changes

    (change,) = [each for each in found if each.series.unit == "records/s"]
    assert (change.cause, change.alarms, change.versions) == (
        "environment", False, ("8.8.1", "8.8.1"),
    )  # fmt: skip
    assert not any(each.alarms for each in found)


def test_a_run_without_its_canary_is_no_point_and_another_canary_begins_a_new_history():
    steady = level(random.Random(2), 50)
    runs = runs_of(stepped(), canaries=[*steady[:40], None, *steady[41:]])

    assert [change.place.run_id for change in judged(runs).changes] == [run_id(STEP)]

    other = [
        run.model_copy(update={"canary": "9.0.0"}) if index >= STEP else run
        for index, run in enumerate(runs)
    ]
    assert judged(other).changes == []


def test_runs_of_older_versions_and_of_other_work_are_left_out():
    runs = runs_of(stepped())
    old, other = runs_of([500.0] * 51)[-1], runs_of([1.0] * 52)[-1]
    old = old.model_copy(update={"version": "8.8.1"})
    other = other.model_copy(update={"parameters": {"tasks": 2}})

    (change,) = judged([*runs, old, other]).changes

    assert change.run.run_id == run_id(STEP)


def test_runs_whose_trials_do_not_count_are_no_points():
    runs = runs_of(stepped())
    runs[10] = runs[10].model_copy(update={"medians": ()})

    assert [change.run.run_id for change in judged(runs).changes] == [run_id(STEP)]
    assert judged([]).changes == []


def test_a_build_is_as_new_as_the_release_in_its_name():
    runs = runs_of(stepped(), version=lambda index: f"9.8.4+g{index % 7:08x}")

    assert len(judged(runs).changes) == 1


def test_runs_of_commits_all_count_since_none_is_known_to_be_older():
    runs = runs_of(stepped(), version=lambda index: f"{(index * 7919) % 10007:06x}ab")

    (change,) = judged(runs).changes

    assert change.run.run_id == run_id(STEP)


def test_the_medians_of_a_run_are_those_of_its_newest_version():
    plan = planned(["9.8.4", "9.0.0"], repetitions=3)
    trials = ingest_of(plan, {"9.0.0": [1.0, 2.0, 9.0], "9.8.4": [5.0, 30.0, 7.0]})
    excluded = next(trial.trial for trial in trials if trial.version == "9.8.4")

    medians = run_medians(plan, trials, NO_EXCLUSIONS)
    without = run_medians(plan, trials, left_out(excluded, "noisy"))

    assert (medians.version, medians.medians[0].value) == ("9.8.4", 7.0)
    assert without.medians[0].value == 18.5
    assert [median.series.name for median in medians.medians] == ["ingest_rate", "compaction_rate"]
    assert run_medians(plan, [], NO_EXCLUSIONS).medians == ()


def test_the_medians_of_a_calibration_are_those_of_the_version_that_nobody_slowed():
    plan, trials = calibrated(scatter=0.0, rounds=3)

    medians = run_medians(plan, trials, NO_EXCLUSIONS)

    assert medians.version == plan.request.baseline
    assert {round(median.value, 6) for median in medians.medians} == {1000.0}


def test_the_environment_of_a_run_is_its_machine_and_not_its_host():
    plan = planned(["9.0.0"])
    trials = measured(plan)

    def environment(**differing):
        return run_medians(
            plan, [on_machine(t, **differing) for t in trials], NO_EXCLUSIONS
        ).environment

    assert environment() == environment(host="ip-10-0-0-8", memory=1)
    assert len({environment(), environment(cpu_model="Xeon"), environment(cores=4)}) == 3
    assert run_medians(plan, [], NO_EXCLUSIONS).environment is None
    newer = plan.model_copy(update={"tidemark_version": "9"})
    assert run_medians(newer, trials, NO_EXCLUSIONS).environment != environment()


def test_the_image_is_part_of_the_environment_unless_each_version_has_its_own():
    plan = planned(["9.0.0"])
    subject = Subject(image="x/rocksdb:{version}", form=".*")
    suite = plan.suite.model_copy(update={"subject": subject})
    of_images = plan.model_copy(update={"suite": suite})

    def environments(plan):
        both = measured(plan), [of_digest(trial, "sha256:ef56") for trial in measured(plan)]
        return {run_medians(plan, trials, NO_EXCLUSIONS).environment for trials in both}

    assert (len(environments(plan)), len(environments(of_images))) == (2, 1)


def of_digest(trial, digest):
    """Return a trial whose tasks ran an image with this digest."""
    tests = (
        test.model_copy(
            update={"tasks": tuple(replace(task, image_digest=digest) for task in test.tasks)}
        )
        for test in trial.tests
    )
    return trial.model_copy(update={"tests": tuple(tests)})


def test_the_canary_is_measured_beside_the_newest_version():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)
    plan = plan.model_copy(update={"request": plan.request.model_copy(update={"canary": "9.8.4"})})
    trials = ingest_of(plan, {"9.0.0": [1.0], "9.8.4": [5.0]})

    medians = run_medians(plan, trials, NO_EXCLUSIONS)

    assert (medians.version, medians.canary) == ("9.0.0", "9.8.4")
    assert (medians.medians[0].value, medians.medians[0].canary) == (1.0, 5.0)


def test_a_run_of_the_canary_alone_is_no_point():
    alone = runs_of(stepped(), version=lambda _: "8.8.1", canaries=level(random.Random(2), 50))

    assert judged(alone).changes == []


def shapes():
    """Return histories of every kind, each with the same noise on its own."""
    chance = random.Random(4)
    normal = level(chance, 14)
    return {
        "a level": normal,
        "a step": normal + level(chance, 9, 90),
        "a small step": normal + level(chance, 9, 97),
        "two steps": normal + level(chance, 8, 88) + level(chance, 8, 75),
        "a mended step": normal + level(chance, 6, 80) + level(chance, 9),
        "a spike": [*normal, 70.0, *level(chance, 4)],
        "a hump": normal + level(chance, 3, 130) + level(chance, 6),
        "an odd end of a level": [*normal, 103.0, 99.0, 91.0, *level(chance, 9, 90)],
        "a drift": [value * 0.988**at for at, value in enumerate(level(chance, 24, scatter=0.5))],
        "two levels in turns": [100.0 + 15 * (at // 2 % 2) + value / 50
                                for at, value in enumerate(level(chance, 20, 0))],
        "from zero": [0.0] * 10 + [5.0, 4.0, 6.0, 5.5],
        "suspected from zero": [0.0] * 10 + [5.0, 4.0],
        "near zero": level(chance, 12, 0.5) + level(chance, 6, 5),
        "exact": [5.0] * 12 + [5.5] * 4,
    }  # fmt: skip


@pytest.mark.parametrize("name", shapes())
def test_a_whole_history_is_the_history_last_seen(name):
    values = shapes()[name]
    canaries = [values[0] + at % 3 for at in range(len(values))]
    found = {
        f"{length} {direction} {bool(canary)}": repr(
            judged(
                runs_of(
                    values[:length],
                    version=lambda index: f"1.{index // 2}.0",
                    series=INGEST._replace(direction=direction),
                    canaries=canary,
                ),
                told(6, FIRST + timedelta(weeks=9), acknowledged(14, FIRST.date())),
            )
        )
        for length in range(len(values) - 3, len(values) + 1)
        for direction in ("higher", "lower")
        for canary in (None, canaries if min(canaries) > 0 else None)
    }

    text = "\n".join(f"{each}: {found[each]}" for each in found)
    assert_last_seen(Path(__file__).with_name("histories.json"), name, {"history": text})
