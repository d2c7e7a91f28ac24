"""Change points of histories."""

import csv
import random
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

from tidemark.figures.history.change_points import FEWEST, ChangePoint, change_points

SAP = Path(__file__).parent / "sap_hana_small"


def rows(name):
    with (SAP / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sap_series():
    return {
        series: [float(row["median"]) for row in medians]
        for series, medians in groupby(rows("medians.csv"), key=itemgetter("series"))
    }


def level(chance, count, middle=100.0, scatter=1.0):
    return [chance.gauss(middle, scatter) for _ in range(count)]


def autoregressive(chance, count, correlation=0.6):
    value, series = chance.gauss(0, 1.25), []
    for _ in range(count):
        value = correlation * value + chance.gauss(0, 1)
        series.append(100 + value)
    return series


def test_the_regressions_that_people_saw_are_found_and_nothing_else():
    seen = {row["series"]: int(row["change"]) if row["change"] else None
            for row in rows("changes.csv")}  # fmt: skip

    found = {
        series: [point.index for point in change_points(values)]
        for series, values in sap_series().items()
    }

    assert found == {series: [] if change is None else [change] for series, change in seen.items()}


def test_the_first_run_on_a_new_level_is_the_same_with_more_runs():
    chance = random.Random(3)
    values = level(chance, 30) + level(chance, 40, 95)

    found = [change_points(values[:end]) for end in range(36, 71)]

    assert {point.index for points in found for point in points} == {30}
    assert [bool(points) for points in found].index(True) < 3


def test_a_change_has_the_places_where_it_may_have_been():
    (clear,) = change_points(level(random.Random(2), 30) + level(random.Random(1), 20, 90))
    chance = random.Random(1)
    (vague,) = change_points([*level(chance, 30), 95.0, 95.0, *level(chance, 20, 90)])

    assert (clear.earliest, clear.index, clear.latest) == (30, 30, 30)
    assert (vague.earliest, vague.latest) == (30, 32)


@pytest.mark.parametrize(("count", "series"), [(30, 200), (100, 100), (300, 40)])
def test_series_whose_points_resemble_the_point_before_seldom_alarm(count, series):
    chance = random.Random(1)

    alarms = [bool(change_points(autoregressive(chance, count))) for _ in range(series)]

    assert sum(alarms) / series <= 0.03


def test_a_single_spike_is_no_change_of_level():
    chance = random.Random(1)
    for _ in range(50):
        series = level(chance, 60)
        series[chance.randrange(60)] += 6

        assert change_points(series) == []


@pytest.mark.parametrize("step", [-5, 5])
def test_a_step_is_found_where_it_is_with_both_levels(step):
    chance = random.Random(1)

    (point,) = change_points(level(chance, 40) + level(chance, 20, 100 + step))

    assert point.index == 40
    assert point.before == pytest.approx(100, abs=0.5)
    assert point.after == pytest.approx(100 + step, abs=0.5)


def test_two_steps_are_two_changes():
    chance = random.Random(1)
    series = level(chance, 30) + level(chance, 30, 110) + level(chance, 30, 120)

    assert [point.index for point in change_points(series)] == [30, 60]


def test_a_new_level_is_found_at_its_third_point_and_lasts_from_the_eighth_on():
    chance = random.Random(1)
    before, after = level(chance, 30), level(chance, 8, 90)

    assert change_points(before + after[:2]) == []
    (new,), (lasting,) = (change_points(before + after[:count]) for count in (3, 8))
    assert (new.index, new.lasts) == (30, False)
    assert (lasting.index, lasting.lasts) == (30, True)


@pytest.mark.parametrize("length", [3, 6, 10])
def test_a_short_hump_has_two_boundaries(length):
    chance = random.Random(1)
    values = level(chance, 30) + level(chance, length, 120) + level(chance, 30)

    assert [point.index for point in change_points(values)] == [30, 30 + length]


def test_a_change_is_found_whatever_lies_before_it():
    """Scatter and level of one part of a history mask no change in another."""
    chance = random.Random(1)
    for _ in range(100):
        own = level(chance, 30) + level(chance, 20, chance.choice([90, 112]))
        past = [
            value
            for _ in range(chance.randrange(1, 5))
            for middle in [100 * 10 ** chance.uniform(-1, 1)]
            for value in level(chance, chance.randrange(3, 40), middle, 0.1 * middle)
        ]

        assert len(past) + 30 in {point.index for point in change_points(past + own)}


def test_short_and_constant_histories_have_no_change():
    assert change_points([]) == []
    assert change_points([1.0] * (FEWEST - 1)) == []
    assert change_points([1.0] * 100) == []


def test_exact_levels_without_any_scatter_are_told_apart():
    (point,) = change_points([100.0] * 20 + [90.0] * 20)

    assert (point.index, point.before, point.after) == (20, 100, 90)


def test_a_changed_scatter_is_no_change_of_level():
    chance = random.Random(1)

    assert change_points(level(chance, 50) + level(chance, 50, scatter=4)) == []


def test_the_windows_of_a_long_history_are_searched_once():
    chance = random.Random(1)
    values = level(chance, 150) + level(chance, 150, 70) + level(chance, 100, 140)
    known = {}

    found = change_points(values, known)
    searched = dict(known)

    assert [point.index for point in found] == [150, 300]
    assert found == change_points(values)
    assert change_points(values, known) == found
    assert known == searched
    # The five windows before the last one are complete.
    assert len(known) == 5


@pytest.mark.parametrize("place", [32, 63, 64, 65, 95, 96, 97, 127, 128, 160, 191, 192, 255])
def test_a_change_is_found_once_wherever_windows_meet(place):
    chance = random.Random(place)
    values = level(chance, place) + level(chance, 300 - place, 70)

    assert [point.index for point in change_points(values)] == [place]


def test_a_known_window_is_not_searched_again():
    values = level(random.Random(1), 300)
    known = {}
    change_points(values, known)
    for digest in known:
        known[digest] = [ChangePoint(64, 1.0, 2.0, lasts=True, earliest=64, latest=64)]

    assert [point.index for point in change_points(values, known)] == [64, 128, 192]
