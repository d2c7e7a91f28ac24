"""The charts of series in reports and comparisons."""

from datetime import timedelta

from tests.unit.measured_runs import charts, measured, planned
from tidemark.model.exclusions import NONE
from tidemark.model.results import MeasuredSeries, Point
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.run_report.contents import report
from tidemark.report.run_report.measured import measured_run
from tidemark.store.columns import timestamp
from tidemark.store.stored_run import StoredRun


def run_of(points=3, unknown="", **more):
    plan = planned(["9.0.0", "9.8.4"], repetitions=1, **more)
    return StoredRun(plan, [_with_users(t, points, unknown) for t in measured(plan)], NONE, [])


def _with_users(trial, points, unknown):
    ingest, compaction = trial.tests
    times = [ingest.begun_at + timedelta(seconds=10 * number - 1) for number in range(points)]
    users = MeasuredSeries(
        name="users", unit="users", unknown=unknown,
        points=tuple(Point(at=timestamp(t), value=10.0 * n) for n, t in enumerate(times)),
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


def test_a_comparison_draws_the_series_of_both_sides():
    run = run_of()

    points = drawn(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    assert {point["version"] for point in points} == {"9.0.0", "9.8.4"}


def test_a_series_that_is_not_known_has_its_reason_instead_of_a_chart():
    text = markdown(report(measured_run(run_of(points=0, unknown="the query ended as Timeout"))))

    assert "No value of users was logged." in text
    assert "users is not known for trial 1: the query ended as Timeout." in text


def test_a_test_without_series_has_no_words_on_them():
    assert "series" not in markdown(report(measured_run(StoredRun(
        planned(), measured(planned()), NONE, [])))).lower()  # fmt: skip
