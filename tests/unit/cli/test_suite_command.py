"""``tidemark suite check``, in this process."""

import shutil

import pytest
import yaml
from click.testing import CliRunner

from tidemark.cli.suite import command
from tidemark.model.checkout import ROOT, written_context
from tidemark.model.refusal import Refused
from tidemark.model.suite_asset import FOLDER


@pytest.fixture
def suite(tmp_path):
    """Return the file of a copy of RocksDB's suite outside the repository."""
    shutil.copytree(FOLDER / "rocksdb", tmp_path / "suites" / "rocksdb")
    shutil.copytree(ROOT / "queries" / "logs", tmp_path / "suites" / "rocksdb", dirs_exist_ok=True)
    (tmp_path / "workloads" / "rocksdb").mkdir(parents=True)
    return tmp_path / "suites" / "rocksdb" / "suite.yaml"


def check(*files):
    return CliRunner().invoke(command, ["check", *map(str, files)])


def replace(file, original, replacement):
    text = file.read_text()
    assert original in text
    file.write_text(text.replace(original, replacement, 1))


def without_turns(suite):
    """Let no version take turns: a test with steps has none."""
    for line in ("  layout: rounds  # the versions take turns in one task, slice by slice\n",
                 "    slices: 5\n", "    slices: 5\n"):  # fmt: skip
        replace(suite, line, "")


def problems_of(*files):
    refused = check(*files).exception
    assert isinstance(refused, Refused)
    return str(refused).splitlines()


def test_the_images_that_a_deployment_builds_are_listed():
    listed = CliRunner().invoke(command, ["images", "--format", "csv"]).stdout.splitlines()

    assert listed[0] == "program,image,from"
    assert "rocksdb,built by Docker,workloads/harness/Dockerfile" in listed
    assert "kiwi/server,built by Docker,workloads/kiwi_server/Dockerfile" in listed


def test_images_that_exist_are_named_and_suites_that_are_not_deployed_are_left_out(monkeypatch):
    settings = {**written_context(), "suites": ["kiwi"], "images": {"kiwi": "ghcr.io/perf/load:1"}}
    monkeypatch.setattr("tidemark.cli.suite.written_context", lambda: settings)

    listed = CliRunner().invoke(command, ["images", "--format", "csv"]).stdout.splitlines()

    assert listed[1:] == [
        "kiwi,ghcr.io/perf/load:1,",
        "kiwi/server,built by Docker,workloads/kiwi_server/Dockerfile",
        "kiwi/agent,built by Docker,workloads/harness/Dockerfile",
    ]


def test_memory_that_fargate_does_not_have_is_refused(suite):
    replace(suite, "  memory: 8192\n", "  memory: 100000\n")

    assert problems_of(suite) == [
        "rocksdb/suite.yaml:31: task.memory: 100,000 MiB are not accepted for 2048 CPU units; "
        "Fargate has 4,096, 5,120 and so on up to 16,384 MiB"
    ]


def test_every_shipped_suite_is_accepted():
    done = check()

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{FOLDER}/clickhouse/suite.yaml: accepted, 2 tests, 6 metrics, 3 versions",
        f"{FOLDER}/deltalake/suite.yaml: accepted, 2 tests, 5 metrics, 3 versions",
        f"{FOLDER}/kiwi/suite.yaml: accepted, 3 tests, 20 metrics, 9 combinations, 5 versions",
        f"{FOLDER}/rocksdb/suite.yaml: accepted, 2 tests, 6 metrics, 11 versions",
        f"{FOLDER}/rocksdbjni/suite.yaml: accepted, 2 tests, 6 metrics, 3 versions",
        f"{FOLDER}/sleeper/suite.yaml: accepted, 2 tests, 5 metrics, 2 combinations, 2 versions",
        f"{FOLDER}/mattermost/published.yaml: accepted, 2 metrics",
        f"{FOLDER}/sleeper/published.yaml: accepted, 7 metrics",
    ]


def test_a_suite_may_be_given_by_its_name():
    assert check("rocksdb").stdout == check(f"{FOLDER}/rocksdb/suite.yaml").stdout

    refused = str(check("rocksb").exception)
    assert refused.startswith("FILE: 'rocksb' is neither a file nor a suite; there are ")
    assert refused.endswith("; did you mean 'rocksdb'?")


def test_a_mistake_in_published_figures_is_named_beside_those_of_suites(suite, monkeypatch):
    published = suite.parent.parent / "kiwi" / "published.yaml"
    published.parent.mkdir()
    published.write_text("title: Kiwi\nfigures: none\n")
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(suite.parents[2]))

    (sentence,) = problems_of()
    assert sentence.startswith("kiwi/published.yaml:2: figures: 'none' is not accepted; expected ")


def test_a_folder_without_suites_is_refused_by_the_variable_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))

    (sentence,) = problems_of()
    assert sentence.startswith("TIDEMARK_SYSTEMS: '/")
    assert sentence.endswith("' is not accepted: it has no folder suites")


def test_a_suite_without_listed_versions_has_any_version_of_its_form(suite):
    text = suite.read_text()
    document = yaml.safe_load(text)
    document["subject"].pop("versions")
    document["subject"]["form"] = "9[.]8[.][0-9]"
    document["defaults"]["versions"] = ["9.8.1", "9.8.4"]
    suite.write_text(yaml.safe_dump(document))

    assert check(suite).stdout.endswith(", any version of the form '9[.]8[.][0-9]'\n")


def test_the_suite_with_a_latency_and_a_size_is_accepted():
    kiwi = ROOT / "tests" / "system" / "end_to_end" / "system" / "suites" / "kiwi" / "suite.yaml"

    assert (
        check(kiwi).stdout == f"{kiwi}: accepted, 1 test, 2 metrics, 2 combinations, 2 versions\n"
    )


def test_a_suite_outside_the_repository_is_accepted(suite):
    assert check(suite).stdout == f"{suite}: accepted, 2 tests, 6 metrics, 11 versions\n"


@pytest.mark.parametrize(
    ("file", "original", "replacement", "problem"),
    [
        (
            "ingest_rate",
            ", count(number) as n",
            "",
            "7: column 3: the result has no n; expected @logStream, value, n",
        ),
        (
            "ingest_rate",
            "avg(number) as value, count(number) as n",
            "avg(number), count(number) as n",
            "7: column 3: the result has no value; expected @logStream, value, n",
        ),
        (
            "ingest_rate",
            "by @logStream",
            "by @logStream, level",
            "7: column 3: the result has level, too; expected only @logStream, value, n",
        ),
        (
            "ingest_rate",
            "stats avg(number) as value, count(number) as n by @logStream",
            "fields number as value, 1 as n, @logStream\n| display @logStream, value, n",
            "8: column 3: the result has a row for each line; "
            "expected stats … by @logStream, with @logStream, value, n",
        ),
        (
            "ingest_samples",
            "@logStream, value, records",
            "@logStream, records",
            "8: column 3: the result has no value; expected @timestamp, @logStream, value",
        ),
        (
            "ingest_samples",
            "value, records",
            "value, msg, records",
            "8: column 3: the result has msg, too; expected only @timestamp, @logStream, value "
            "and, if the lines have them, job, records, seconds",
        ),
        (
            "ingest_samples",
            "limit 10000",
            "limit 100",
            "8: column 3: limit 100 may leave values out; expected limit 10000 or no limit",
        ),
    ],
)
def test_a_query_that_cannot_give_a_metric_is_refused_with_line_and_column(
    suite, file, original, replacement, problem
):
    replace(suite.with_name(f"{file}.cwli"), original, replacement)

    assert problems_of(suite) == [f"rocksdb/{file}.cwli:{problem}"]


def test_a_field_that_no_command_makes_is_a_warning_with_line_and_column(suite):
    replace(suite.with_name("ingest_samples.cwli"), "level, msg, value", "level, msg, valeu")

    done = check(suite)

    assert done.exit_code == 0
    assert done.stderr == (
        "warning: rocksdb/ingest_samples.cwli:5: column 20: no command makes 'value', so JSON in "
        "the message must have it; did you mean 'valeu'?\n"
    )


def test_a_query_that_the_suite_does_not_name_is_a_warning(suite):
    (suite.parent / "spare.cwli").write_text("filtre x")

    warning = "warning: rocksdb/spare.cwli: suite.yaml names no such query; not checked"
    done = check(suite)
    assert (done.exit_code, warning in done.stderr.splitlines()) == (0, True)


def test_a_field_that_stats_does_not_return_is_refused(suite):
    query = suite.with_name("ingest_rate.cwli")
    query.write_text(f"{query.read_text()}| sort m desc\n")

    assert problems_of(suite) == [
        "rocksdb/ingest_rate.cwli:8: column 8: 'm' is missing, because stats does not return it; "
        "the results are @logStream, value, n"
    ]


def test_the_queries_of_a_metric_with_labels_have_these_as_columns(suite):
    labels = "samples: ingest_samples\n        labels: [level]\n        most_labels: 5"
    replace(suite, "samples: ingest_samples", labels)
    replace(suite.with_name("ingest_rate.cwli"), "by @logStream", "by @logStream, level")

    assert problems_of(suite) == [
        "rocksdb/ingest_samples.cwli:8: column 3: the result has no level; "
        "expected @timestamp, @logStream, value, level"
    ]


def test_the_query_of_histograms_has_a_row_for_each_line_with_its_buckets(suite):
    histograms = "histograms: ingest_samples\n        values: any"
    replace(suite, "samples: ingest_samples", histograms)

    assert problems_of(suite) == [
        "rocksdb/ingest_samples.cwli:8: column 3: the result has no histogram; "
        "expected @logStream, histogram"
    ]
    replace(suite.with_name("ingest_samples.cwli"), "value, records, seconds", "histogram")
    replace(suite.with_name("ingest_samples.cwli"), "level, msg, value", "level, msg, histogram")
    replace(suite.with_name("ingest_samples.cwli"), "@timestamp, ", "")
    assert check(suite).exit_code == 0


def test_the_query_of_a_series_has_a_time_and_a_value(suite):
    series = "    series: [{name: users, unit: users, query: ingest_rate}]\n    metrics:"
    replace(suite, "    metrics:", series)

    assert problems_of(suite) == [
        "rocksdb/ingest_rate.cwli:7: column 3: the result has no at; expected @logStream, at, value"
    ]


LOAD = """services:
  agent:
    task: {workload: rocksdb, entry_point: [agent], cpu: 256, memory: 512, storage: 21}
    ready: {port: 8090}
tests:"""
LOAD_STEPS = """    services: [agent]
    steps:
      - name: search
        load:
          {agents: [agent], query: ingest_rate, limits: {ms: 1.0}, bounds: {users: 9, seconds: 9}}
      - {name: report, run_tasks: {}}
    metrics:"""


def test_the_query_of_a_load_has_a_row_for_each_level_with_its_limits(suite):
    without_turns(suite)
    replace(suite, "tests:", LOAD)
    replace(suite, "    metrics:", LOAD_STEPS)

    assert problems_of(suite) == [
        "rocksdb/ingest_rate.cwli:7: column 3: the result has no level, users, ms; "
        "expected @logStream, level, users, ms"
    ]


def test_the_query_that_a_step_waits_for_has_any_columns_and_is_checked(suite):
    steps = "    steps: [{name: load, run_tasks: {}}, {name: b, wait_until: {query: failures}}]\n"
    without_turns(suite)
    replace(suite, "    metrics:", f"{steps}    metrics:")
    assert check(suite).exit_code == 0
    replace(suite.with_name("failures.cwli"), "| filter", "| filtre")

    (problem,) = problems_of(suite)
    assert problem.startswith("rocksdb/failures.cwli:")


def test_a_regular_expression_that_cannot_run_is_refused_with_line_and_column(suite):
    replace(suite.with_name("ingest_rate.cwli"), r"(\.\d+)?)$/", r"(\.\d{2000})?)$/")

    (problem,) = problems_of(suite)
    assert problem.startswith("rocksdb/ingest_rate.cwli:6: column ")


def test_a_query_that_does_not_parse_is_refused_with_line_and_column(suite):
    replace(suite.with_name("ingest_rate.cwli"), "| filter", "| filtre")

    (problem,) = problems_of(suite)
    assert problem.startswith("rocksdb/ingest_rate.cwli:4: column 3: unknown command 'filtre'")


def test_the_problems_of_all_files_are_named_at_once(suite, tmp_path):
    replace(suite, "jobs: 2", "jobs: two")
    (tmp_path / "no.yaml").mkdir()

    assert problems_of(suite, tmp_path / "no.yaml") == [
        "rocksdb/suite.yaml:42: tests.0.jobs: 'two' is not accepted; expected a whole number",
        f"FILE: '{tmp_path}/no.yaml' is not a file; expected suites/<name>/suite.yaml",
    ]
