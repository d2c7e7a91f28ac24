"""What ``tidemark compare`` refuses, and what it advises."""

from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from local.commands import compare
from local.commands.compare import command
from suites.refusal import Refused


class Cloud:
    """A deployed app that holds no version of a comparison."""

    def runs(self):
        return self

    @property
    def results(self):
        return self

    def compare(self, suite, _base, new):
        raise Refused(f"NEW: no run with a rate of {suite} {new} is known")


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
