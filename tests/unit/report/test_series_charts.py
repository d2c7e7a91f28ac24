"""The charts of series in reports and comparisons."""

from datetime import timedelta

import pytest
import vl_convert

from tests.unit.drawn_charts import plots
from tests.unit.load_results import load_run
from tests.unit.measured_runs import charts, measured, planned
from tidemark.model.results import NO_EXCLUSIONS, MeasuredSeries, Point
from tidemark.report.charts import LIMIT, Group, Line, lines, means_and_largest
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.columns import timestamp
from tidemark.store.stored_run import StoredRun


def run_of(points=3, unknown="", start=-1, values=None):
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)
    trials = [_with_users(t, points, unknown, start, values or {}) for t in measured(plan)]
    return StoredRun(plan, trials, NO_EXCLUSIONS, [])


def _with_users(trial, points, unknown, start, values):
    ingest, compaction = trial.tests
    times = [ingest.begun_at + timedelta(seconds=10 * n + start) for n in range(points)]
    users = MeasuredSeries(
        name="users", unit="users", unknown=unknown,
        points=tuple(
            Point(at=timestamp(t), value=values.get(n, 10.0 * n)) for n, t in enumerate(times)
        ),
    )  # fmt: skip
    with_users = ingest.model_copy(update={"series": (users,)})
    return trial.model_copy(update={"tests": (with_users, compaction)})


def drawn(contents):
    (chart,) = charts(contents, "users of ingest")
    return [point for layer in chart.spec["layer"] for point in layer["data"]["values"]]


def test_a_series_is_drawn_over_the_seconds_of_each_trial():
    points = drawn(report(measured_run(run_of())))

    assert [(p["second"], p["value"]) for p in points if p["version"] == "9.0.0"] == [
        (0.0, 0.0), (9.0, 10.0), (19.0, 20.0)
    ]  # fmt: skip


def test_a_long_series_is_drawn_to_its_end_with_few_points():
    points = drawn(report(measured_run(run_of(points=5000))))

    assert len(points) == 2 * 200
    assert max(point["second"] for point in points) == 49_989.0


@pytest.mark.parametrize("place", [0, 1, 777, 2500, 4998, 4999])
@pytest.mark.parametrize("value", [-70.0, 1e6])
def test_a_long_series_is_drawn_with_its_extremes(place, value):
    run = run_of(points=5000, values={place: value})

    assert value in [point["value"] for point in drawn(report(measured_run(run)))]


@pytest.mark.parametrize("second", [0, 1])
def test_a_series_of_one_value_is_a_point_at_its_figure(second):
    (chart,) = charts(
        report(measured_run(run_of(points=1, start=second, values={0: 42.0}))), "users of ingest"
    )

    (plot,) = plots(svg_of(chart.spec))

    versions = [plot.named(f"points_{number}") for number in (1, 2)]
    assert [len(points) for points in versions] == [1, 1]
    for (point,) in versions:
        assert 0 <= point.at.x <= plot.width
        assert plot.x.value(point.at.x) == pytest.approx(second, abs=plot.x.unit)
        assert plot.y.value(point.at.y) == pytest.approx(42.0, abs=plot.y.unit)


@pytest.mark.parametrize("without", ["9.0.0", "9.8.4"])
def test_the_legend_has_the_colour_of_each_line_also_if_a_version_has_none(without):
    stored = run_of()
    trials = [
        trial.model_copy(
            update={"tests": [t.model_copy(update={"series": ()}) for t in trial.tests]}
        )
        if trial.version == without
        else trial
        for trial in stored.trials
    ]

    run = measured_run(stored._replace(trials=trials))
    (chart,) = charts(report(run), "users of ingest")

    (line,) = chart.spec["layer"]
    (version,) = {point["version"] for point in line["data"]["values"]}
    assert version != without
    assert {mark.words: mark.color for mark in chart.legend}[version] == line["mark"]["color"]
    assert chart.caption.endswith(f" Without a line: {without}.")


def svg_of(spec):
    return vl_convert.vegalite_to_svg({**spec, "width": 600})


@pytest.mark.parametrize(("limit", "is_drawn"), [(30.0, True), (60.0, True), (61.0, False)])
def test_a_limit_is_a_line_unless_it_lies_far_above_all_values(limit, is_drawn):
    measured = [Line("9.0.0", 1, [(0.0, 10.0), (10.0, 30.0)])]
    table = means_and_largest("T", measured)

    chart = lines("L.", [Group("9.0.0", ())], measured, "ms", table, limit=limit)

    drawn = [each["data"]["values"] for each in chart.spec["layer"] if each["name"] == "limit"]
    assert drawn == ([[{"value": limit}]] if is_drawn else [])
    assert (LIMIT in chart.legend) == is_drawn
    far = "" if is_drawn else ", far above these values"
    assert chart.caption == f"L. The limit is {limit:g}{far}."
    (plot,) = plots(svg_of(chart.spec))
    at = [plot.y.value(line.at.y) for line in plot.named("limit")]
    assert at == ([pytest.approx(limit, abs=plot.y.unit)] if is_drawn else [])


def test_the_limit_of_a_series_is_that_of_its_suite():
    (chart, *_) = charts(report(measured_run(load_run())), "latency_p99 of bounded")

    assert chart.caption.endswith("The limit is 2,000, far above these values.")


def test_a_comparison_draws_the_series_of_both_sides():
    run = run_of()

    points = drawn(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    assert {point["version"] for point in points} == {"9.0.0", "9.8.4"}


def test_a_series_that_is_not_known_has_its_reason_instead_of_a_chart():
    text = markdown(report(measured_run(run_of(points=0, unknown="the query ended as Timeout"))))

    assert "There is no value of users to draw." in text
    assert "users is not known for trial 1: the query ended as Timeout." in text


def test_a_test_without_series_has_no_words_on_them():
    assert "series" not in markdown(report(measured_run(StoredRun(
        planned(), measured(planned()), NO_EXCLUSIONS, [])))).lower()  # fmt: skip
