import json
import re
import shutil
from pathlib import Path

import pytest

from tests.refusals import refused
from tidemark.cli.query_contract import check_queries
from tidemark.model.checkout import ROOT
from tidemark.model.publication import find_publication
from tidemark.model.refusal import FORMS, Refused
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import FOLDER
from tidemark.model.suite_files import read_suite, read_suites, written_out

ROCKSDB = (FOLDER / "rocksdb" / "suite.yaml").read_text(encoding="utf-8")


def write(tmp_path, text):
    """Write a suite file with the queries of RocksDB beside it; return its path."""
    folder = tmp_path / "suites" / "rocksdb"
    shutil.copytree(FOLDER / "rocksdb", folder)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    return folder / "suite.yaml"


def refusal_of(tmp_path, text):
    return refused(read_suite, write(tmp_path, text))


def sentences(refusal):
    """Return the sentences of a refusal without the file and the lines."""
    return [line.split(": ", maxsplit=1)[1] for line in refusal.splitlines()]


def test_a_stored_suite_of_images_is_read_again():
    fields = read_suites()["rocksdb"].model_dump(by_alias=True)
    subject = {"image": "ghcr.io/x/rocksdb:{version}", "form": ".*"}
    task = {"cpu": 1024, "memory": 2048, "storage": 21}
    suite = Suite.model_validate({**fields, "subject": subject, "task": task})

    assert Suite.model_validate_json(suite.model_dump_json()) == suite


@pytest.mark.parametrize(
    "systems",
    [ROOT, ROOT / "instances", ROOT / "images"],
    ids=["own", "instances", "images"],
)
def test_every_shipped_suite_has_the_queries_that_its_metrics_need(systems):
    for suite in read_suites(systems).values():
        check_queries(suite, systems / "suites")


@pytest.mark.parametrize("systems", [ROOT, ROOT / "instances", ROOT / "images"])
def test_more_is_better_of_rates_and_users_alone_in_every_shipped_suite(systems):
    suites = read_suites(systems)
    published = filter(None, (find_publication(systems, name) for name in (*suites, "mattermost")))
    figures = [
        *(metric for suite in suites.values() for test in suite.tests for metric in test.metrics),
        *(figure for publication in published for figure in publication.figures),
    ]
    assert figures
    for each in figures:
        is_more_better = each.unit.endswith(("/s", "/h")) or each.unit in {"users", "share"}
        assert (each.direction == "higher") == is_more_better, each


def test_systems_may_be_in_another_folder(tmp_path):
    (tmp_path / "workloads" / "rocksdb").mkdir(parents=True)
    write(tmp_path, ROCKSDB)

    assert set(read_suites(tmp_path)) == {"rocksdb"}


def test_a_folder_without_suites_is_refused(tmp_path):
    with pytest.raises(Refused, match="systems: there is no suite in "):
        read_suites(tmp_path)


def test_an_unknown_nested_key_is_refused_with_its_path(tmp_path):
    text = ROCKSDB.replace("    metrics:\n", "    job: 1\n    metrics:\n", 1)

    line = text[: text.index("    job: 1")].count("\n") + 1
    assert refusal_of(tmp_path, text) == (
        f"rocksdb/suite.yaml:{line}: tests.0.job: unknown field; "
        "known are name, command, jobs, slices, timeout_seconds, services, steps, seconds, per, "
        "fixed_seconds, metrics, series, artefacts; did you mean 'jobs'?"
    )


def test_text_that_is_no_yaml_is_refused_with_its_line(tmp_path):
    assert refusal_of(tmp_path, "a: b\n\tc: d\n") == (
        "rocksdb/suite.yaml:2: not valid YAML: while scanning a plain scalar, "
        "found a tab character that violates indentation"
    )


def test_a_version_outside_its_form_is_refused(tmp_path):
    refusal = refusal_of(
        tmp_path, ROCKSDB.replace("    7.4.4: 0.3.2", "    '7.4': 0.3.2\n    7.4.4: 0.3.2")
    )

    assert refusal == (
        r"rocksdb/suite.yaml:8: subject.versions.7.4: the version does not have the form "
        r"'\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}'"
    )


def test_many_problems_of_a_suite_are_counted(tmp_path):
    versions = "".join(f"    {number}: x\n" for number in range(60))
    text = ROCKSDB.replace("    7.4.4: 0.3.2\n", versions)

    *named, counted = refusal_of(tmp_path, text).splitlines()
    assert (len(named), counted) == (50, "rocksdb/suite.yaml: 10 more")


def test_the_form_of_versions_is_matched_in_linear_time(tmp_path):
    form = r"form: '(\d+\.?)+'"
    path = write(tmp_path, ROCKSDB.replace(r"form: '\d{1,3}\.\d{1,3}\.\d{1,3}'", form))

    # An engine that tries every way to split these digits would not end.
    assert not read_suite(path).subject.has_form("1" * 63 + "-")


def test_every_pattern_of_the_model_has_words():
    schema = json.dumps(Suite.model_json_schema())

    text = r'("(?:[^"\\]|\\.)*")'
    of_values = re.findall(rf'"pattern": {text}', schema)
    of_keys = re.findall(rf'"patternProperties": {{{text}', schema)
    patterns = {json.loads(each) for each in (*of_values, *of_keys)}
    assert patterns <= FORMS.keys()


def test_a_python_workload_needs_no_entry_point():
    assert read_suites()["rocksdb"].task.entry_point == (
        *("python", "-m", "harness", "rocksdb_workload"),
    )


def test_seconds_are_for_an_amount_of_a_number_and_no_choice(tmp_path):
    codec = "parameters:\n  codec: {type: choice, of: [a], default: a, means: codec}\n"
    text = ROCKSDB.replace("parameters:\n", codec).replace(
        "per: {records: 1000000}", "per: {codec: 1}"
    )

    assert (
        "tests.0.per.codec: the suite has no number of this name; there are records, tasks"
    ) in sentences(refusal_of(tmp_path, text))


def test_a_suite_of_images_has_services_if_one_of_their_containers_runs_the_image():
    fields = read_suites(ROOT / "images")["mattermost"].model_dump(mode="json", by_alias=True)

    assert Suite.model_validate(fields).services["server"].task.versioned == ["app", "app_mysql"]
    assert not Suite.model_validate(fields).runs_images


@pytest.mark.parametrize(
    ("axes", "expected"), [("axes: {database: [maria]}\n", "maria"), ("", "an axis of the suite")]
)
def test_a_container_under_an_unknown_value_of_an_axis_is_refused(tmp_path, axes, expected):
    beside = {"mysql": {"image": "mysql:8", "under": {"database": "mysql"}}}
    fields = {
        "task": {"workload": "rocksdb", "entry_point": ["x"], "cpu": 512, "memory": 1024,
                 "storage": 21, "beside": beside},
        "ready": {"port": 8080},
    }  # fmt: skip
    services = f"services: {json.dumps({'server': fields})}\n"
    place = "services.server.task.beside.mysql.under: database has no 'mysql'; expected"

    text = ROCKSDB.replace("defaults:\n", f"{axes}{services}defaults:\n")
    assert f"{place} {expected}" in sentences(refusal_of(tmp_path, text))


def test_the_limit_of_a_series_is_a_finite_number(tmp_path):
    series = "series: [{name: users, unit: users, query: failures, limit: .nan}]"
    text = ROCKSDB.replace("    metrics:\n", f"    {series}\n    metrics:\n", 1)

    assert sentences(refusal_of(tmp_path, text)) == [
        "tests.0.series.0.limit: nan is not accepted; expected a finite number"
    ]


def test_a_container_under_a_value_is_refused_in_a_task_without_the_image_of_the_version(tmp_path):
    beside = {"mysql": {"image": "mysql:8", "under": {"database": "mysql"}}}
    fields = {
        "task": {"workload": "rocksdb", "entry_point": ["x"], "cpu": 512, "memory": 1024,
                 "storage": 21, "beside": beside},
        "ready": {"port": 8080},
    }  # fmt: skip
    services = f"services: {json.dumps({'server': fields})}\n"
    text = ROCKSDB.replace("defaults:\n", f"axes: {{database: [mysql]}}\n{services}defaults:\n")

    assert (
        "services.server.task.beside.mysql.under: no container of the task has the image of the "
        "version; expected one, or no under"
    ) in sentences(refusal_of(tmp_path, text))


def test_services_without_the_image_of_the_version_are_refused(tmp_path):
    fields = {
        "task": {"workload": "rocksdb", "entry_point": ["x"], "cpu": 512, "memory": 1024,
                 "storage": 21},
        "ready": {"port": 8080},
    }  # fmt: skip
    text = ROCKSDB.replace("  package: rocksdict\n", "  image: x:{version}\n")
    text = text.replace("defaults:\n", f"services: {json.dumps({'server': fields})}\ndefaults:\n")

    assert (
        "services: no container of a service has the image of the subject; expected one beside its "
        "program, or a subject with package or prepare"
    ) in sentences(refusal_of(tmp_path, text))


def test_no_suite_that_ships_has_a_query_of_its_own_in_place_of_one_of_all_suites():
    of_all = {path.name for path in (ROOT / "queries" / "logs").glob("*.cwli")}
    of_suites = [*ROOT.glob("suites/*/*.cwli"), *ROOT.glob("images/suites/*/*.cwli")]

    # The reason of a failed task would be missing with another query failures.cwli.
    assert [path for path in of_suites if path.name in of_all] == []


SHORT = {
    "name": "ducks",
    "subject": {"package": "duckdb", "versions": ["1.2.0", "1.3.2", "1.4.1"]},
    "tests": [
        {
            "name": "read",
            "command": "./bench --json",
            "metrics": [{"name": "ms", "unit": "ms", "direction": "lower", "log": "ms=*"}],
        }
    ],
}


def suite(**fields):
    return Suite.model_validate(written_out({**SHORT, **fields}))


def test_a_suite_of_a_command_needs_its_name_its_versions_and_its_metric():
    short = suite()

    assert (short.title, short.task.workload) == ("ducks", "ducks")
    assert short.task.entry_point == ("python", "-m", "harness.command")
    assert short.tests[0].every_step[0].command == ("./bench --json",)
    assert (short.defaults.versions, short.defaults.repetitions) == (("previous", "newest"), 5)
    assert Suite.model_validate_json(short.model_dump_json()) == short


@pytest.mark.parametrize(
    ("versions", "defaults"),
    [
        (["1.4.1"], ("1.4.1",)),
        (["main", "fix"], ("main", "fix")),
        (["a1", "b2", "c3"], ("b2", "c3")),
    ],
)
def test_versions_without_an_order_are_measured_as_they_are_listed(versions, defaults):
    short = suite(subject={"package": "duckdb", "form": ".*", "versions": versions})
    assert short.defaults.versions == defaults


def test_a_service_whose_command_is_a_text_runs_its_words():
    service = suite(services={"server": {"command": "python serve.py --port 8080",
                                         "ready": {"port": 8080}}}).services["server"]  # fmt: skip
    assert (*service.task.entry_point, *service.command) == (
        "python", "serve.py", "--port", "8080"
    )  # fmt: skip
    assert service.task.workload == "ducks"


def test_the_python_of_a_suite_is_a_parameter_that_a_run_may_set():
    named = suite(python="3.13")
    assert named == suite(python=3.13)
    assert named.default_parameters == {"python": "3.13"}
    assert named.pythons == ("3.11", "3.12", "3.13", "3.14")
    assert suite(axes={"python": ["3.12", "3.13"]}).pythons == ("3.12", "3.13")
    assert suite().pythons == ()


def test_tests_with_one_long_beginning_have_queries_of_their_own():
    names = ("a", "insert_of_many_small_rows_one", "insert_of_many_small_rows_two")
    tests = [
        {"name": name, "metrics": [{"name": "rate", "log": f"{name} rate=*"}]} for name in names
    ]
    whole = written_out({"tests": tests})
    assert [test["metrics"][0]["query"] for test in whole["tests"]] == [
        "rate", "insert_of_many_small_rows", "insert_of_many_small_row2",
    ]  # fmt: skip


# Each line has a text of the file, its replacement, and the sentence or its beginning.
MISTAKES = [
    json.loads(line)
    for line in Path(__file__).with_name("bad_suites.jsonl").read_text("utf-8").splitlines()
]


def test_there_are_sixty_kinds_of_mistakes():
    assert len({(original, replacement) for original, replacement, _ in MISTAKES}) >= 60


@pytest.mark.parametrize(("original", "replacement", "sentence"), MISTAKES)
def test_a_mistake_is_named_with_its_place(tmp_path, original, replacement, sentence):
    assert original in ROCKSDB
    text = ROCKSDB.replace(original, replacement, 1)

    lines = refusal_of(tmp_path, text).splitlines()

    places = [line.split(": ", maxsplit=1)[0] for line in lines]
    assert any(line.split(": ", maxsplit=1)[1].startswith(sentence) for line in lines), lines
    assert all(place.startswith("rocksdb/suite.yaml") for place in places)


def test_a_file_with_mistakes_in_all_its_parts_names_them_at_once_in_their_order(tmp_path):
    text = ROCKSDB
    for original, replacement in {
        "title: RocksDB\n": "title: 7\n",
        "  9.8.4: 0.3.29": "  '9.8': 0.3.29",
        "from: 1, to: 200": "from: 9, to: 2",
        "  workload: rocksdb\n": "  workload: rocks\n",
        "cpu: 2048": "cpu: 1",
        "query: ingest_rate\n": "query: ingest\n",
        "per: {records: 1000000}": "per: {users: 5}",
        "- name: compaction\n": "- name: ingest\n",
    }.items():
        text = text.replace(original, replacement, 1)

    lines = refusal_of(tmp_path, text).splitlines()

    numbers = [int(line.split(":")[1]) for line in lines]
    assert numbers == sorted(numbers)
    assert [line.split(": ")[1] for line in lines] == [
        "title",
        "subject.versions.9.8",
        "parameters.tasks",
        "task.workload",
        "task.cpu",
        "tests",
        "tests.0.per.users",
        "tests.0.metrics.0.query",
    ]
