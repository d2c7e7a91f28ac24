"""Refusals and hints of ``tidemark compare``."""

import re
from contextlib import contextmanager

import duckdb
import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import planned
from tests.unit.report.test_pipelines import SLOWER
from tidemark.cli import compare
from tidemark.cli.compare import changes_picture, command
from tidemark.client.tables import Answer
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.report.blocks import Details, Report, Section, Table
from tidemark.report.files import dump
from tidemark.report.markdown import markdown
from tidemark.report.marks import marked
from tidemark.store import keys
from tidemark.store.keys import BLOCKS

SUITE = ("--suite", "rocksdb")
REPORT = Report("x", (), ())
PLAN = planned(name=RUN).model_dump_json().encode()


class OneVersionLess(FakeBucket):
    """The results bucket with a run of each version but 9.8.4."""

    def keys(self, prefix, at_once=1_000, after=""):
        is_of_versions = prefix.startswith(keys.VERSIONS) and "9.8.4" not in prefix
        return iter([f"{prefix}{RUN}"]) if is_of_versions else super().keys(prefix, at_once, after)


class Cloud:
    """A deployed app without any version of a comparison.

    ``rated`` are the runs in its tables, and whether they are excluded.
    """

    def __init__(self):
        self.rated, self.bucket = {}, OneVersionLess({keys.plan(RUN): PLAN})
        self.publisher = self.tables = self

    def comparison(self, suite, _base, new):
        raise Refused(f"NEW: no run with a rate of {suite} {new} is known")

    def ask(self, statement, parameters):
        with duckdb.connect() as tables:
            tables.execute(
                "CREATE TABLE rates "
                "(suite TEXT, version TEXT, run_id TEXT, excluded BOOLEAN, value DOUBLE)"
            )
            for rated in self.rated.items():
                tables.execute("INSERT INTO rates VALUES ('rocksdb', '9.8.4', ?, ?, 1)", rated)
            return Answer(["run_id"], tables.execute(statement, parameters).fetchall(), 0, 0)


@pytest.fixture
def cloud(monkeypatch):
    """Let every command work in one cloud, for any target."""
    cloud = Cloud()

    @contextmanager
    def stored(_target):
        yield cloud

    monkeypatch.setattr(compare, "stored", stored)
    monkeypatch.setattr(compare, "written_suites", list)
    return cloud


def refused(*arguments):
    """Return the reason why versions are not compared."""
    result = CliRunner().invoke(command, ["9.0.0", "9.8.4", *SUITE, *map(str, arguments)])
    assert isinstance(result.exception, Refused), result.exception
    return str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9.0.0", "9.8.4", "--output", "/nowhere/a.md"], "--output: there is no folder /nowhere"),
        (
            ["9.0.0", "9.8.4", "--output", "a.pdf"],
            "--output: a.pdf is not accepted; expected a name that ends in .md, .html, .json, "
            ".xml, .svg, .png",
        ),
        (["../9.0.0", "9.8.4"], "BASE: '../9.0.0' names no version and no run; "),
        (
            ["9.0.0", "9.8.4", "--format", "json", "--all"],
            "--all: not accepted with --format json; expected --format markdown",
        ),
        (
            ["9.0.0", "9.8.4", "--format", "json", "--output", "x.svg"],
            "--format: json is not accepted for a picture; leave --format out",
        ),
        (["9.0.0", "9.8.4; --"], "NEW: '9.8.4; --' names no version and no run; "),
    ],
)
def test_a_bad_argument_is_refused_before_the_cloud_is_used(arguments, sentence):
    result = CliRunner().invoke(command, arguments)

    assert isinstance(result.exception, Refused)
    assert str(result.exception).startswith(sentence)


@pytest.mark.usefixtures("cloud")
def test_the_hint_for_a_missing_version_names_the_target_of_the_command(tmp_path):
    here, there = refused("--state", tmp_path), refused("--aws", "--stack", "Perf")

    sentence = (
        "NEW: no run with a rate of rocksdb 9.8.4 is known; `tidemark runs{} lists the runs and "
    )
    assert here.startswith(sentence.format(f" --state {tmp_path}`"))
    assert there.startswith(sentence.format(" --aws --stack Perf`"))


def test_a_version_of_the_suite_that_no_run_measured_comes_with_the_run_that_measures_it(
    cloud, monkeypatch
):
    monkeypatch.setattr(compare, "written_suites", lambda: ["rocksdb"])

    def comparison(*_):
        raise Refused("NEW: no run with a rate of rocksdb 9.8.4 is known; did you mean '9.8.0'?")

    monkeypatch.setattr(cloud, "comparison", comparison)
    assert refused("--aws", "--stack", "Perf") == (
        "NEW: no run with a rate of rocksdb 9.8.4 is known; "
        "`tidemark run rocksdb --versions 9.8.4 --aws --stack Perf` measures it"
    )


def test_a_run_without_a_report_is_named_with_the_command_that_makes_it_comparable(cloud, tmp_path):
    cloud.rated = {RUN: None}

    assert refused("--state", tmp_path).endswith(
        f" is known; run {RUN} measured 9.8.4 and has no report; `tidemark report {RUN} "
        f"--state {tmp_path}` makes it comparable"
    )


def test_imported_figures_are_no_run_for_a_hint(cloud):
    cloud.rated = {RUN: False}
    cloud.bucket.discard(keys.plan(RUN))

    assert "`tidemark runs` lists" in refused()


def test_the_hint_names_an_excluded_run_and_the_command_that_lets_it_count_again(cloud):
    cloud.rated = {RUN: True}

    hint = f"`tidemark include {RUN}` lets the run that is left out count again"
    assert refused().endswith(hint)


def stored_as(*forms):
    return {form: f"reports/rocksdb/{RUN}/9.8.4-against-9.0.0.{form}" for form in (*forms, BLOCKS)}


def compared(cloud, monkeypatch, arguments, report=REPORT):
    """Return the result of a comparison whose document is the one of a slower version."""
    forms = stored_as("md", "json")
    texts = {
        forms["md"]: markdown(report),
        forms["json"]: SLOWER.model_dump_json(),
        forms[BLOCKS]: dump(report),
    }
    bodies = {key: text.encode() for key, text in texts.items()}
    monkeypatch.setattr(cloud, "comparison", lambda *_: forms)
    monkeypatch.setattr(cloud.bucket, "read", bodies.__getitem__)
    return CliRunner().invoke(command, ["9.0.0", "9.8.4", *SUITE, *arguments])


@pytest.mark.parametrize(
    ("form", "ending", "start"),
    [("json", "json", "{"), ("junit", "xml", "<?xml"), ("github", "txt", "::error title=")],
)
def test_a_form_for_programs_is_printed_or_written(
    cloud, monkeypatch, tmp_path, form, ending, start
):
    options = ["--state", str(tmp_path / "state"), "--format", form]

    printed = compared(cloud, monkeypatch, options)
    written = compared(cloud, monkeypatch, [*options, "--output", str(tmp_path)])

    assert printed.output.startswith(start)
    assert (printed.exit_code, written.exit_code) == (0, 0)
    assert (tmp_path / f"9.8.4-against-9.0.0.{ending}").read_text() == printed.output


@pytest.mark.parametrize(
    ("name", "start"), [("x.json", "{"), ("x.xml", "<?xml"), ("x.md", "# x"), ("x", "# x")]
)
def test_the_ending_of_a_file_asks_for_its_form(cloud, monkeypatch, tmp_path, name, start):
    options = ["--state", str(tmp_path / "state"), "--output", str(tmp_path / name)]

    assert compared(cloud, monkeypatch, options).exit_code == 0
    assert (tmp_path / name).read_text().startswith(start)


def test_the_changes_are_a_picture_on_request(cloud, monkeypatch, tmp_path):
    vector, pixels = tmp_path / "changes.svg", tmp_path / "changes.png"

    for file in (vector, pixels):
        options = ["--state", str(tmp_path), "--output", str(file), "--fail-on", "slower"]
        result = compared(cloud, monkeypatch, options)
        assert (result.exit_code, result.output) == (3, f"{file}\n")

    svg = vector.read_text(encoding="utf-8")
    texts = ("rocksdb: 9.8.4 against 9.0.0", "ingest: ingest_rate   ▼ slower", "better →")
    assert [text for text in texts if text not in svg] == []
    assert "var(" not in svg
    assert "\xa0%</text>" in svg, "a space stands before the sign, as in every text"
    assert pixels.read_bytes().startswith(b"\x89PNG")


def test_a_picture_on_white_has_the_light_colours_of_pages():
    style = (ROOT / "tidemark" / "pages" / "page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"(--[\w-]+): (#\w+);", part)) for part in style.split("@media", 1)
    )

    svg = changes_picture(SLOWER, ".svg").decode()

    assert {light["--series-8"], light["--ink"], "#fff"} <= {*re.findall(r"#\w+", svg)}
    assert not {*dark.values()} & {*re.findall(r"#\w+", svg)}


def test_each_verdict_of_a_picture_says_that_the_machines_are_unlike():
    found = SLOWER.model_copy(update={"unlike_machines": True})

    svg = changes_picture(found, ".svg").decode()

    assert f"ingest: ingest_rate   {marked('slower on unlike machines')}<" in svg


def test_a_picture_says_of_how_many_metrics_it_has_the_first():
    each = SLOWER.metrics[0]
    many = [each.model_copy(update={"name": f"latency{n}"}) for n in range(45)]

    def title(metrics):
        svg = changes_picture(SLOWER.model_copy(update={"metrics": tuple(metrics)}), ".svg")
        return re.search(">(rocksdb: [^<]*)<", svg.decode())[1].replace("\xa0", " ")

    whole = "rocksdb: 9.8.4 against 9.0.0, 95 % intervals"
    assert title(many) == f"{whole}, 20 of 45 metrics"
    assert title(many[:2]) == whole


def test_a_slower_version_has_an_exit_code_of_its_own(cloud, monkeypatch, tmp_path):
    result = compared(cloud, monkeypatch, ["--state", str(tmp_path), "--fail-on", "slower"])

    assert (result.exit_code, result.output) == (3, "# x\n")


def test_a_printed_comparison_has_its_folded_tables_with_all_alone(cloud, monkeypatch, tmp_path):
    details = Details("Samples", (Table("", ("1",), ()),))
    report = Report("x", (), (Section("Results", ("9 %", details)),))
    here, file = ["--state", str(tmp_path)], tmp_path / "x.md"

    short = compared(cloud, monkeypatch, here, report).output
    whole = compared(cloud, monkeypatch, [*here, "--all"], report).output
    compared(cloud, monkeypatch, [*here, "--output", str(file)], report)

    more = "--all prints 9 more lines."
    assert short == f"# x\n\n## Results\n\n9 %\n\n{more}\n"
    assert whole == file.read_text() == markdown(report)


def test_both_forms_are_saved_beside_the_report_of_the_new_side(cloud, monkeypatch, tmp_path):
    stored = stored_as("md", "html")
    monkeypatch.setattr(cloud, "comparison", lambda *_: stored)
    monkeypatch.setattr(cloud.bucket, "read", str.encode)
    options = ["--state", str(tmp_path), "--output", str(tmp_path / "x.md")]

    result = CliRunner().invoke(command, ["9.0.0", "9.8.4", *SUITE, *options])

    assert result.output == f"{tmp_path / 'x.md'}\n"
    del stored[BLOCKS]
    assert [(tmp_path / key).read_text() for key in stored.values()] == list(stored.values())


def test_the_flame_graphs_that_a_page_links_to_are_saved_beside_it(cloud, monkeypatch, tmp_path):
    graphs = "functions-ingest-9.8.4-against-9.0.0.html"
    stored = {**stored_as("html"), "functions-ingest": f"reports/rocksdb/{RUN}/{graphs}"}
    monkeypatch.setattr(cloud, "comparison", lambda *_: stored)
    monkeypatch.setattr(cloud.bucket, "read", str.encode)
    page = tmp_path / "page.html"
    options = ["--state", str(tmp_path / "state"), "--format", "html", "--output", str(page)]

    result = CliRunner().invoke(command, ["9.0.0", "9.8.4", *SUITE, *options])

    assert result.output == f"{page}\n{tmp_path / graphs}\n"
    assert (tmp_path / graphs).read_text() == stored["functions-ingest"]
