"""The time of a request in the database of Kiwi TCMS, which its server reports."""

import itertools
from contextlib import contextmanager

import pytest


class Connection:
    """A connection of Django that runs statements through the wrapper that it has, if any."""

    def __init__(self):
        self.wrapper = None

    @contextmanager
    def execute_wrapper(self, wrapper):
        self.wrapper = wrapper
        yield
        self.wrapper = None

    def execute(self, statement):
        return self.wrapper(self._execute, statement, (), False, {})

    def _execute(self, statement, _parameters, _many, _context):
        if statement == "BAD":
            raise ValueError(statement)
        return f"rows of {statement}"


@pytest.fixture
def statements(kiwi_server, monkeypatch):
    statements = kiwi_server("statements")
    # Every look at the clock is a quarter of a second later.
    times = itertools.count(0, 0.25)
    monkeypatch.setattr(statements, "perf_counter", lambda: next(times))
    return statements


@pytest.fixture
def requested(statements):
    """Return the function that makes a request of some statements: its headers, and the rest."""
    connection = Connection()

    def requested(*wanted):
        started = []

        def application(environ, start_response):
            rows = [connection.execute(statement) for statement in environ["statements"]]
            start_response("200 OK", [("Content-Type", "text/plain")])
            return rows

        answer = statements.timed(application, connection)
        rows = answer({"statements": wanted}, lambda *given: started.append(given))
        ((status, headers),) = started
        assert (status, connection.wrapper) == ("200 OK", None)
        return dict(headers), rows

    return requested


def test_an_answer_has_the_time_and_the_number_of_its_statements(requested):
    headers, rows = requested("SELECT 1", "SELECT 2")

    assert rows == ["rows of SELECT 1", "rows of SELECT 2"]
    assert headers == {"Content-Type": "text/plain", "Server-Timing": "db;dur=500.000;desc=2"}


def test_each_request_begins_anew(requested):
    requested("SELECT 1")

    assert requested()[0]["Server-Timing"] == "db;dur=0.000;desc=0"


def test_a_statement_that_fails_counts_with_its_time(statements):
    counted, connection = statements.Statements(), Connection()
    with connection.execute_wrapper(counted), pytest.raises(ValueError, match="BAD"):
        connection.execute("BAD")

    assert counted.header()[1] == "db;dur=250.000;desc=1"


def test_the_load_reads_what_the_server_reports(statements, kiwi_load):
    counted, load = statements.Statements(), kiwi_load("json_rpc")
    counted(lambda: None)

    name, value = counted.header()
    assert (name, load.statements_of(value)) == (load.HEADER, (250.0, 1))
