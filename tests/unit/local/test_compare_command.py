"""What ``tidemark compare`` refuses, and what it advises."""

from contextlib import contextmanager

import duckdb
import pytest
from click.testing import CliRunner

from local.commands import compare
from local.commands.compare import command
from local.sql_client import Answer
from suites.refusal import Refused
from tests.plans import RUN


class Cloud:
    """A deployed app that holds no version of a comparison.

    ``rated`` are the runs in its tables, and whether they are left out.
    """

    def __init__(self):
        self.rated, self.planned = {}, True

    def runs(self):
        return self

    @property
    def results(self):
        return self

    def compare(self, suite, _base, new):
        raise Refused(f"NEW: no run with a rate of {suite} {new} is known")

    def is_compared(self, _suite, version):
        return version != "9.8.4"

    def plan(self, run_id):
        return run_id if self.planned else None

    def tables(self):
        return self

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
    """Have every command work in one cloud, wherever it is told to."""
    cloud = Cloud()

    @contextmanager
    def deployed(_target):
        yield cloud

    monkeypatch.setattr(compare, "deployed", deployed)
    return cloud


def refused(*arguments):
    """Return why versions are not compared."""
    done = CliRunner().invoke(command, ["9.0.0", "9.8.4", *map(str, arguments)])
    assert isinstance(done.exception, Refused), done.exception
    return str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9.0.0", "9.8.4", "--output", "/nowhere/a.md"], "--output: there is no folder /nowhere"),
        (["9.0.0", "9.8.4", "--suite", "nope"], "suite: 'nope' is not known; there are rocksdb"),
        (["../9.0.0", "9.8.4"], "BASE: '../9.0.0' names no version and no run; "),
        (["9.0.0", "9.8.4; --"], "NEW: '9.8.4; --' names no version and no run; "),
    ],
)
def test_what_is_refused_before_anything_is_asked(arguments, sentence):
    done = CliRunner().invoke(command, arguments)

    assert isinstance(done.exception, Refused)
    assert str(done.exception).startswith(sentence)


@pytest.mark.usefixtures("cloud")
def test_what_is_not_there_is_sought_where_the_command_looked(tmp_path):
    here, there = refused("--state", tmp_path), refused("--aws", "--stack", "Perf")

    said = "NEW: no run with a rate of rocksdb 9.8.4 is known; `tidemark runs{} lists the runs and "
    assert here.startswith(said.format(f" --state {tmp_path}`"))
    assert there.startswith(said.format(" --aws --stack Perf`"))


def test_a_run_of_an_earlier_tidemark_is_named_with_what_makes_it_known(cloud, tmp_path):
    cloud.rated = {RUN: None}

    assert refused("--state", tmp_path).endswith(
        f" is known; run {RUN} of an earlier Tidemark measured 9.8.4: `tidemark report {RUN} "
        f"--state {tmp_path}` makes it known"
    )


def test_figures_that_were_imported_are_no_run_to_make_known(cloud):
    cloud.rated, cloud.planned = {RUN: False}, False

    assert "`tidemark runs` lists" in refused()


def test_a_run_that_is_left_out_is_none_to_make_known(cloud):
    cloud.rated = {RUN: True}

    assert "`tidemark runs` lists" in refused()


def test_both_forms_are_saved_beside_the_report_of_the_new_side(cloud, monkeypatch, tmp_path):
    stored = {form: f"reports/rocksdb/{RUN}/9.8.4-against-9.0.0.{form}" for form in ("md", "html")}
    monkeypatch.setattr(cloud, "compare", lambda *_: stored)
    monkeypatch.setattr(cloud, "read", str.encode, raising=False)

    done = CliRunner().invoke(command, ["9.0.0", "9.8.4", "--state", str(tmp_path)])

    assert done.output == stored["md"]
    assert [(tmp_path / key).read_text() for key in stored.values()] == list(stored.values())
