import json
import re
from collections import defaultdict

from tidemark.model.checkout import ROOT
from tidemark.model.suite_asset import query_file, query_text
from tidemark.model.suite_files import read_suites


def body(template):
    (dashboard,) = template.find_resources("AWS::CloudWatch::Dashboard").values()
    _, parts = dashboard["Properties"]["DashboardBody"]["Fn::Join"]
    # A word stands for each reference to another resource.
    return json.loads("".join(part if isinstance(part, str) else "reference" for part in parts))


def widgets(template, kind):
    return [widget["properties"] for widget in body(template)["widgets"] if widget["type"] == kind]


def test_the_dashboard_has_the_name_of_its_stack_and_region_and_shows_a_quarter(everything):
    (dashboard,) = everything.find_resources("AWS::CloudWatch::Dashboard").values()

    assert dashboard["Properties"]["DashboardName"] == {
        "Fn::Join": ["", ["Tidemark-", {"Ref": "AWS::Region"}]]
    }
    assert body(everything)["start"] == "-P90D"


def test_each_metric_has_a_graph_that_finds_every_version(everything, suites_of_everything):
    graphs = {widget["title"]: widget for widget in widgets(everything, "metric")}

    for suite in suites_of_everything.values():
        for test in suite.tests:
            for metric in test.metrics:
                ((search,),) = graphs[f"{suite.title}: {metric.name} [{metric.unit}]"]["metrics"]
                assert search["expression"] == (
                    "SEARCH('{Tidemark,stack,suite,test,version} "
                    f'stack="Tidemark" suite="{suite.name}" '
                    f'test="{test.name}" MetricName="{metric.name}"\', \'Average\', 86400)'
                )
                assert search["label"] == "${PROP('Dim.version')}"


def test_the_dashboard_shows_how_runs_ended_and_every_alarm(everything, suites_of_everything):
    (runs, *_) = widgets(everything, "metric")
    metrics = [line[1] for line in runs["metrics"]]

    assert metrics == [
        "ExecutionsSucceeded", "ExecutionsFailed", "ExecutionsAborted", "ExecutionsTimedOut",
    ]  # fmt: skip
    assert [len(widget["alarms"]) for widget in widgets(everything, "alarm")] == [
        5 + len(suites_of_everything)
    ]


def _queries(suite):
    fixed = {"environment", "failures", *(("last_lines", "ready") if suite.services else ())}
    metrics = [metric for test in suite.tests for metric in test.metrics]
    of_metrics = [each.queries for each in metrics]
    of_series = [[series.query for series in test.series] for test in suite.tests]
    of_loads = [[load.query for load in suite.loads]]
    queries = (query for each in (*of_metrics, *of_series, *of_loads) for query in each)
    return fixed | {query for query in queries if query}


def test_each_log_query_is_saved_once_for_the_suites_that_it_reads(template):
    queries = {
        resource["Properties"]["Name"]: resource["Properties"]
        for resource in template.find_resources("AWS::Logs::QueryDefinition").values()
    }

    usage = queries.pop("Tidemark/task_usage")
    assert usage["QueryString"] == (ROOT / "queries" / "logs" / "task_usage.cwli").read_text()
    # CloudFormation refuses a log group that does not exist yet.
    assert "LogGroupNames" not in usage
    readers = defaultdict(set)
    texts = {}
    for suite in read_suites().values():
        for query in _queries(suite):
            file = query_file(suite.name, query)
            readers[file].add(suite.name)
            # Tidemark writes the queries of a metric that is given by its line.
            texts[file] = file.read_text() if file.exists() else query_text(suite, query)
    own = {file: f"{file.parent.name}/" for file in readers if file.parent.name != "logs"}
    names = {f"Tidemark/{own.get(file, '')}{file.stem}": file for file in readers}
    assert queries.keys() == names.keys()
    for name, file in names.items():
        assert queries[name]["QueryString"] == texts[file]
        references = [each["Ref"] for each in queries[name]["LogGroupNames"]]
        found = {re.match(r"SystemTests(\w+?)Logs", each)[1] for each in references}
        assert found == {suite.capitalize() for suite in readers[file]}


def test_the_log_query_that_a_step_waits_for_is_saved_too(everything):
    resources = everything.find_resources("AWS::Logs::QueryDefinition").values()
    groups = {
        each["Properties"]["Name"]: each["Properties"].get("LogGroupNames") for each in resources
    }

    assert any(each["Ref"].startswith("SystemTestsPlumLogs") for each in groups["Tidemark/ready"])
