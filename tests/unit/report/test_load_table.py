"""The levels of a load in reports."""

from datetime import UTC, datetime

from tests.unit.measured_runs import measured, planned, row
from tidemark.model.exclusions import NONE
from tidemark.model.load import HeldLevel, Load, LoadCourse
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


def report_of(load):
    plan = planned(["9.0.0"], repetitions=1)
    (trial,) = measured(plan)
    ingest, compaction = trial.tests
    tests = (ingest.model_copy(update={"load": load}), compaction)
    trials = [trial.model_copy(update={"tests": tests})]
    return markdown(report(measured_run(StoredRun(plan, trials, NONE, []))))


def test_the_report_has_every_level_with_the_limits_that_it_hit_and_the_end():
    text = report_of(COURSE)

    assert "- trial 1 (9.0.0): 1,800 users are supported." in text
    assert row(text, "9.0.0", "1", "1")[3:] == [
        "1,200", "1,200.0", "34.50", "0.7500", "none", "1200 users are decided",
    ]  # fmt: skip
    assert row(text, "9.0.0", "1", "2")[3:] == [
        "2,400", "2,400.0", "512.0", "0.7500", "mean_ms", "2400 users are decided",
    ]  # fmt: skip
    assert "CPU of server" in text
    assert "Users of the levels in ingest, by trial" in text


def test_a_report_without_a_load_has_no_words_on_users():
    assert "users" not in report_of(None)


def test_the_set_up_has_the_load_and_the_programs_beside_the_system():
    plan = planned(["9.0.0"], repetitions=1)
    load = Load.model_validate({
        "agents": ["agent"], "query": "level", "limits": {"mean_ms": 100.0},
        "bounds": {"users": 100, "seconds": 600},
    })  # fmt: skip
    step = Step(name="search", load=load)
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
    run = measured_run(StoredRun(plan.model_copy(update={"suite": suite}), trials, NONE, []))

    text = markdown(report(run))

    assert row(text, "Load of ingest")[1] == load.text
    assert row(text, "Load tool") == ["Load tool", "Locust 2"]
    assert row(text, "Database") == ["Database", "SQLite 3.45"]
    assert "load_tool" not in text
    assert "Machine 2" not in text
