"""The reports of a load: a server under a number of users, or under more and more of them."""

from datetime import UTC, datetime

import pytest

from tests.unit.drawn_runs import engines
from tests.unit.load_results import BASE, CRASH, NEW, crashed, load_run
from tests.unit.measured_runs import charts, measured, planned, row
from tidemark.model.load import HeldLevel, Load, LoadCourse
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.steps import Step
from tidemark.report.comparison.by_labels import supported_users
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.report.run_report.versions import contenders
from tidemark.report.setup import unlike_work
from tidemark.store.stored_run import StoredRun

LATER = "20261127T124455Z-fedcba"
GRAPHS = [
    "active_users", "latency_mean", "latency_p99", "service_mean", "service_p99",
    "database_mean", "database_p99", "requests", "failed_requests",
    "CPU [vCPU] of server", "Memory [MiB] of server",
    "Network, in and out [MB/s] of server",
]  # fmt: skip


def compared(run):
    return comparison(sides((run, BASE), (run, NEW)))


def dies(trial, result):
    lost = trial.version == NEW and trial.axes["database"] == "mariadb"
    return crashed(result) if lost and result.test == "bounded" else result


@pytest.fixture(scope="module")
def whole():
    return compared(load_run())


@pytest.fixture(scope="module")
def lost():
    return load_run(change=dies)


@pytest.mark.parametrize("test", ["bounded", "unbounded"])
@pytest.mark.parametrize("database", ["postgresql", "mariadb"])
def test_the_graphs_of_a_test_overlay_both_versions_to_the_end_of_the_longer(whole, test, database):
    name = f"{test} {{database: {database}}}"
    drawn = [chart for chart in charts(whole) if f" of {name}" in chart.caption]

    for graph in GRAPHS:
        (chart,) = [each for each in drawn if each.caption.startswith(f"{graph} of {name}")]
        points = [point for layer in chart.spec["layer"] for point in layer["data"]["values"]]
        last = {
            version: max(point["second"] for point in points if point["version"] == version)
            for version in (BASE, NEW)
        }
        assert last[BASE] < last[NEW]
        assert chart.spec["encoding"]["x"]["scale"]["domain"] == [0, last[NEW]]


def test_the_graphs_over_time_come_before_the_figures_of_the_trials(whole):
    (section,) = [s for s in whole.sections if s.heading == "Graphs: bounded {database: mariadb}"]
    captions = [block.caption for block in section.blocks if not isinstance(block, str)]

    assert [caption.split(" of ")[0] for caption in captions][:9] == GRAPHS[:9]
    assert captions[-1].startswith("load_late {database: mariadb} of each trial, by version. ")
    assert "was logged" not in "".join(block for block in section.blocks if isinstance(block, str))


def test_charts_stand_beside_each_other_on_a_page(whole):
    text = page(whole)
    rows = [part.split("</figure>\n</div>")[0] for part in text.split('<div class="charts">')[1:]]

    assert max(part.count("<figure>") for part in rows) > len(GRAPHS)


def test_supported_users_have_the_changes_that_mattermost_published(whole):
    table = markdown(whole).partition("**Supported users")[2].partition("</details>")[0]

    # A level with 2 % more users hit the limit.
    assert row(table, "unbounded {database: mariadb}")[1:] == [
        "8,552 (8,552 to 8,723)", "9,994 (9,994 to 10,194)", "+16.86 %",
    ]  # fmt: skip
    assert row(table, "unbounded {database: postgresql}")[1:] == [
        "8,682 (8,682 to 8,856)", "10,045 (10,045 to 10,246)", "+15.70 %",
    ]  # fmt: skip


def test_supported_users_are_bracketed_by_what_all_searches_held_and_what_each_failed():
    def lower(trial, result):
        """Return the second search with its last levels a little lower."""
        if trial.repetition == 1 or not result.load:
            return result
        *held, failed = result.load.held
        held[2] = held[2].model_copy(update={"users": held[2].users - 50})
        failed = failed.model_copy(update={"users": failed.users - 50})
        course = result.load.model_copy(update={"held": (*held, failed)})
        return result.model_copy(update={"load": course})

    run = load_run(2, lower, databases=["postgresql"])
    ((cells, _),) = next(supported_users(sides((run, BASE), (run, NEW)))).rows

    assert cells[1:3] == ("8,682 (8,632 to 8,856)", "10,045 (9,995 to 10,246)")


def test_a_figure_has_one_form_on_a_page_but_for_the_table_of_all_digits(whole):
    text = markdown(whole).replace(",", "")
    exact = text.partition("All digits spreads and trials")[2].partition("</details>")[0]

    assert "10045" in text
    assert "10045.0" not in text.replace(exact, "")
    assert "10.04 k" not in text


def test_many_metrics_without_a_verdict_for_one_reason_are_one_sentence(whole):
    (section,) = (each for each in whole.sections if each.heading == "Comments")
    heading, bullets = section.blocks[:2]

    assert heading == "Undecided:"
    (sentence,) = bullets.items
    assert sentence.startswith("62 metrics: 1 of the 5 pairs that a verdict needs (latency ")
    assert sentence.endswith(" and 59 more).")


def test_databases_stand_beside_each_other_without_small_differences_of_operations(whole):
    beside = markdown(whole).partition("**The values of database")[2].partition("**Worsened")[0]

    name, values = "supported_users \\[users\\]", "mariadb against postgresql"
    assert row(beside, "unbounded", name, BASE, values)[5] == "−1.50 %"
    assert row(beside, "unbounded", name, NEW, values)[5] == "−0.51 %"
    assert "operation: " not in beside
    assert "Left out of the values of database: 40 differences under labels, below " in beside


def test_the_set_up_names_the_tool_the_data_the_services_and_the_stored_configuration(whole):
    text = markdown(whole)

    for setting, value in (
        ("Parameter users", "10 users"),
        ("Parameter duration", "60 s"),
        ("Load tool", "Locust 2.47.0"),
        ("Database", "MariaDB 11.4.5"),
        ("Data set mariadb", "0a1b2c3d"),
        ("Service server", "2 vCPU, 4 GiB memory, 21 GiB disk"),
        ("Configuration of suite and run", "runs/20261120T124455Z-abcdef/plan.json"),
    ):
        assert row(text, setting)[1:] == [value, value]


def test_sides_whose_services_differ_in_size_are_not_measured_alike():
    new = load_run(databases=["postgresql"])
    suite = new.plan.suite
    server = suite.services["server"]
    larger = server.model_copy(update={"task": server.task.model_copy(update={"cpu": 4096})})
    services = {**suite.services, "server": larger}
    changed = {"suite": suite.model_copy(update={"services": services}), "run_id": LATER}
    base = new._replace(plan=new.plan.model_copy(update=changed))

    (words,) = unlike_work(sides((base, BASE), (new, NEW)))

    assert words.startswith(
        f"Service server is 4 vCPU, 4 GiB memory, 21 GiB disk for {BASE} and 2 "
    )


def test_a_report_of_a_run_has_the_data_set_of_each_version():
    text = markdown(report(measured_run(load_run())))

    assert [line.split("|")[-2].strip() for line in text.splitlines() if "kiwitcms==" in line] == [
        "0a1b2c3d", "0a1b2c3d",
    ]  # fmt: skip


def test_a_server_that_died_has_failed_with_its_last_lines_and_has_no_figure(lost):
    text = markdown(report(measured_run(lost)))

    assert f"failed: bounded: {CRASH}" in text
    for line in markdown(compared(lost)).splitlines():
        if line.startswith("| bounded: latency {database: mariadb"):
            assert line.endswith("| missing |")


def test_the_users_of_a_server_that_died_are_drawn_as_they_drop(lost):
    for contents in (compared(lost), report(measured_run(lost))):
        name = "active_users of bounded {database: mariadb}"
        (chart,) = charts(contents, name)
        points = [point for layer in chart.spec["layer"] for point in layer["data"]["values"]]
        users = [point["value"] for point in points if point["version"] == NEW]

        assert users[0] > 0
        assert users[3:] == [0.0] * 6


def test_the_other_database_of_a_server_that_died_has_its_figures(lost):
    table = markdown(compared(lost)).partition("**Supported users")[2].partition("</details>")[0]

    assert row(table, "unbounded {database: postgresql}")[3] == "+15.70 %"


def slower(trial, result):
    """Return a result in which one operation is called often, and another one takes long."""
    factors = {"TestRun.filter": (1.0, 3), "TestRun.create": (2.0, 1)}
    rates = tuple(
        rate.model_copy(update={"value": rate.value * factor, "samples": rate.samples * times})
        for rate in result.rates
        for factor, times in [factors.get(rate.labels.get("operation"), (1.0, 1))]
    )
    return result.model_copy(update={"rates": rates}) if trial.version == NEW else result


def test_operations_are_ranked_by_their_calls_times_their_mean_time():
    (section,) = contenders(measured_run(load_run(2, slower, databases=("mariadb",))))

    latency = section.blocks[1]
    assert (
        latency.caption == "latency {database: mariadb} of bounded [ms], by the share of all time"
    )
    ranked = [(row.cells[0], row.cells[4], row.cells[6]) for row in latency.rows]
    assert ranked[:2] == [("TestRun.filter", "54", "42.4 %"), ("TestRun.create", "18", "32.4 %")]
    for column in (3, 6):
        shares = [float(row.cells[column].removesuffix(" %")) for row in latency.rows]
        assert abs(sum(shares) - 100) < 0.3


def test_a_run_without_operations_has_no_such_section():

    assert not list(contenders(measured_run(engines())))


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
