"""The reports of a load: a server under so many users, and under more and more of them."""

import pytest

from tests.unit.load_results import BASE, CRASH, NEW, crashed, load_run
from tests.unit.measured_runs import charts, row
from tidemark.report.comparison.by_labels import supported_users
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.report.setup import unlike_work

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
