"""Progress reports while a query reads events."""

import os
import pty
import subprocess
import sys
import threading

import duckdb

from cwli.insights import engine, run


def test_progress_is_reported_only_while_a_statement_runs(monkeypatch):
    monkeypatch.setattr(engine, "_PROGRESS_SECONDS", 0.001)
    enough = threading.Event()
    percentages = []

    def receive(percentage):
        percentages.append(percentage)
        if len(percentages) == 3:
            enough.set()

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar_print = FALSE")
        with engine.report_progress(connection, receive):
            connection.execute("SELECT 1")
            assert enough.wait(60)
        count = len(percentages)
        connection.execute("SELECT 1")
    assert len(percentages) == count
    assert all(0 <= percentage <= 100 for percentage in percentages)


def test_a_receiver_of_progress_does_not_change_the_answer(source):
    events = source("n=1", "n=3")
    query = "parse 'n=*' as n | stats avg(n)"
    assert run(query, events, on_progress=lambda percentage: None) == run(query, events)


def test_progress_goes_to_the_terminal_and_not_to_standard_output(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("x\n")
    outer, inner = pty.openpty()
    code = "from cwli.command import command; command()"
    command = [sys.executable, "-c", code, "stats count(*) as n", log, "--format", "csv"]
    # The tests may start in any terminal; this one can move its cursor.
    env = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=inner, check=True, text=True
    )
    os.close(inner)
    assert done.stdout == "n\n1\n"
    with os.fdopen(outer, "rb") as terminal:
        assert b"reading events" in terminal.read1()
