"""What is told while events are read."""

import os
import pty
import subprocess
import sys
import threading

import duckdb

from local.insights import progress, run


def test_progress_is_told_while_a_statement_runs_and_no_longer(monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS", 0.001)
    heard = threading.Event()
    percentages = []

    def told(percentage):
        percentages.append(percentage)
        if len(percentages) == 3:
            heard.set()

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar_print = FALSE")
        with progress.progress_told(connection, told):
            connection.execute("SELECT 1")
            assert heard.wait(60)
        count = len(percentages)
        connection.execute("SELECT 1")
    assert len(percentages) == count
    assert all(0 <= percentage <= 100 for percentage in percentages)


def test_a_query_answers_the_same_whoever_is_told(source):
    events = source("n=1", "n=3")
    query = "parse 'n=*' as n | stats avg(n)"
    assert run(query, events, told=lambda percentage: None) == run(query, events)


def test_progress_is_shown_on_a_terminal_and_leaves_the_answer_alone(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("x\n")
    outer, inner = pty.openpty()
    code = "from local.commands.query import command; command()"
    command = [sys.executable, "-c", code, "stats count(*) as n", log, "--format", "csv"]
    # A terminal that moves its cursor, whatever the one is that the tests are started in.
    env = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=inner, check=True, text=True
    )
    os.close(inner)
    assert done.stdout == "n\n1\n"
    with os.fdopen(outer, "rb") as terminal:
        assert b"reading events" in terminal.read1()
