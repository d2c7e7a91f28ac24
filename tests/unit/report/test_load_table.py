"""The levels of a load in reports."""

from datetime import UTC, datetime

from tests.unit.measured_runs import charts, measured, planned, row
from tidemark.model.load import HeldLevel, Load, LoadCourse
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.steps import Step
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def level(users, mean_ms, *hit):
    return HeldLevel(
        users=users, connected=users, values={"mean_ms": mean_ms}, hit=hit, ended_at=NOON,
        decision=f"{users} users are decided", cpu={"server": 0.75},
    )  # fmt: skip


COURSE = LoadCourse(
    level=3, users={}, settle_seconds=5, hold_seconds=10, started_at=NOON, begun_at=NOON,
    held=(level(1_200, 34.5), level(2_400, 512.0, "mean_ms")), over=True, found=(1_800.0,),
    end="found", reason="1,800 users are supported",
)  # fmt: skip


def report_of(load, limits=None):
    plan = planned(["9.0.0"], repetitions=1)
    if limits:
        test, other = plan.suite.tests
        tests = (test.model_copy(update={"steps": (searching(limits),)}), other)
        plan = plan.model_copy(update={"suite": plan.suite.model_copy(update={"tests": tests})})
    (trial,) = measured(plan)
    ingest, compaction = trial.tests
    tests = (ingest.model_copy(update={"load": load}), compaction)
    trials = [trial.model_copy(update={"tests": tests})]
    return report(measured_run(StoredRun(plan, trials, NO_EXCLUSIONS, [])))


def searching(limits):
    load = Load.model_validate({
        "agents": ["agent"], "query": "level", "limits": limits,
        "bounds": {"users": 100, "seconds": 600},
    })  # fmt: skip
    return Step(name="search", load=load)


def test_a_limited_value_is_drawn_over_the_users_with_its_limit_and_the_levels_over_it():
    again = level(2_400, 700.0, "mean_ms")
    once = level(1_200, 100.5, "mean_ms")
    load = COURSE.model_copy(update={"held": (*COURSE.held, again, once)})

    (chart,) = charts(report_of(load, {"mean_ms": 100.0}), "mean_ms of ingest over users")

    assert [row.cells for row in chart.table.rows] == [
        ("9.0.0", "1,200", "67.50", "2", "1"), ("9.0.0", "2,400", "606", "2", "2"),
    ]  # fmt: skip
    drawn = {each["name"]: each["data"]["values"] for each in chart.spec["layer"]}
    assert [point["value"] for point in drawn["line_1"]] == [67.5, 606.0]
    assert [point["users"] for point in drawn["held_1"]] == [1_200]
    assert [point["users"] for point in drawn["failed_1"]] == [2_400]
    assert drawn["limit"] == [{"value": 100.0}]
    assert chart.caption.endswith("the limit is 100.")


def test_levels_that_hit_a_limit_are_crosses_in_the_chart_of_users():
    (chart,) = charts(report_of(COURSE), "Users of the levels in ingest")

    (failed,) = [each for each in chart.spec["layer"] if each["name"] == "failed_1"]
    assert [point["value"] for point in failed["data"]["values"]] == [2_400]
    assert chart.legend[-1].words == "a limit was hit"


def test_the_report_has_every_level_with_the_limits_that_it_hit_and_the_end():
    text = markdown(report_of(COURSE))

    end = "1,800 users are supported; the limit lies between 1,200 and 2,400."
    assert f"- trial 1 (9.0.0): {end}" in text
    assert row(text, "9.0.0", "1", "1")[3:] == [
        "1,200", "1,200", "34.50", "0.7500", "none", "1200 users are decided",
    ]  # fmt: skip
    assert row(text, "9.0.0", "1", "2")[3:] == [
        "2,400", "2,400", "512", "0.7500", "mean_ms", "2400 users are decided",
    ]  # fmt: skip
    assert "CPU of server" in text
    assert "Users of the levels in ingest, by trial" in text


def test_a_report_without_a_load_has_no_words_on_users():
    assert "users" not in markdown(report_of(None))


def test_the_set_up_has_the_load_and_the_programs_beside_the_system():
    plan = planned(["9.0.0"], repetitions=1)
    step = searching({"mean_ms": 100.0})
    test, other = plan.suite.tests
    suite = plan.suite.model_copy(
        update={"tests": (test.model_copy(update={"steps": (step,)}), other)}
    )
    (trial,) = measured(plan)
    ingest, compaction = trial.tests
    (machine,) = ingest.environments
    programs = {"load_tool": "Locust 2", "database": "SQLite 3.45"}
    logged = ingest.model_copy(update={"environments": ({**machine, **programs},)})
    trials = [trial.model_copy(update={"tests": (logged, compaction)})]
    run = measured_run(
        StoredRun(plan.model_copy(update={"suite": suite}), trials, NO_EXCLUSIONS, [])
    )

    text = markdown(report(run))

    assert row(text, "Load of ingest")[1] == step.load.text
    assert row(text, "Load tool") == ["Load tool", "Locust 2"]
    assert row(text, "Database") == ["Database", "SQLite 3.45"]
    assert "load_tool" not in text
    assert "Machine 2" not in text
