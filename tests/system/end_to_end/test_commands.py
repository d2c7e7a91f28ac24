"""Command line in a separate process."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.end_to_end.command_line import SMALL, TIDEMARK, tidemark
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites


def test_a_run_announces_itself_shows_each_trial_and_prints_the_table(ran, own_state):
    assert ran.returncode == 0, ran.stderr
    intention, ready, named, *rest = ran.stdout.splitlines()
    assert intention.startswith(
        "RocksDB 9.0.0, 9.8.4: 1 repetition, 2 trials of ingest and compaction "
        "with records 2,000, tasks 1; about "
    )
    assert ready.startswith("The cloud answers at http://127.0.0.1:")
    assert re.fullmatch(r"Run \d{8}T\d{6}Z-[0-9a-f]{6}", named)
    assert [line[:14] for line in rest[:2]] == ["trial 1 of 2  ", "trial 2 of 2  "]
    table = rest[rest.index("Rates and changes") :]
    assert [line.split(" [")[0] for line in table if re.match(r"\w+ \[", line)] == [
        metric.name for test in read_suites()["rocksdb"].tests for metric in test.metrics
    ]
    rows = [line.split() for line in table if line.startswith("  9")]
    assert [row[0] for row in rows] == ["9.0.0", "9.8.4"] * 6
    assert re.search(r" [−+]?\d+\.\d\d % none \? cannot tell ", " ".join(rows[1]))
    saved = [line.split(": ") for line in rest[-6:]]
    assert [kind for kind, _ in saved] == ["Report"] * 2 + ["Comparison"] * 4
    report, page, *_ = (Path(path) for _, path in saved)
    assert report.is_relative_to(own_state)
    assert report.read_text().startswith("# RocksDB")
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_query_reads_the_logs_of_an_ended_run(ran, own_state):
    done = tidemark("query", "queries/logs/ingest_samples.cwli", "--state", str(own_state))

    assert done.returncode == 0, done.stderr
    samples = 2 * read_suites()["rocksdb"].test("ingest").jobs
    assert len(re.findall(r" rocksdb/rocksdb/[0-9a-f]{32} .* 2000 ", done.stdout)) == samples
    assert f"{samples} rows; {samples} of " in done.stderr


def test_a_query_may_come_from_standard_input(ran, own_state):
    done = tidemark("query", "-", "--state", str(own_state), stdin="stats count(*) as events")

    assert re.search(r"events *\n.*\n *\d+ ", done.stdout)


def one_sentence(done, sentence):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tidemark: {sentence}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["leveldb"],
            "suite: 'leveldb' is not known; there are clickhouse, deltalake, kiwi, "
            "rocksdb, rocksdbjni, sleeper; "
            "set TIDEMARK_SYSTEMS to read another folder of suites",
        ),
        (
            ["--versions", '9.0" | filter 1'],
            "versions: '9.0\" | filter 1' is not a version of RocksDB; expected the form of 9.8.4",
        ),
        (
            ["--versions", "../x"],
            "versions: '../x' is not there; expected a wheel or a folder",
        ),
        (
            ["--baseline", "7.4.4"],
            "baseline: '7.4.4' is not measured in this run; expected one of 8.8.1, 9.8.4",
        ),
    ],
)
def test_a_bad_run_is_refused_in_one_sentence_before_anything_starts(arguments, sentence):
    one_sentence(tidemark("run", *arguments), sentence)


def test_an_unknown_suite_is_refused_with_the_known_ones(ran, own_state):
    refused = tidemark("history", "nosuch", "--state", str(own_state))

    one_sentence(
        refused,
        "suite: 'nosuch' is not known; there are clickhouse, deltalake, kiwi, mattermost, "
        "rocksdb, rocksdbjni, sleeper; set TIDEMARK_SYSTEMS to read another folder of suites",
    )


@pytest.mark.parametrize(
    ("option", "known"),
    [
        (
            "metric",
            "compaction_cpu, compaction_rate, ingest_cpu, ingest_engine_rate, ingest_rate, "
            "ingest_upload_rate",
        ),
        ("test", "compaction, ingest"),
    ],
)
def test_a_history_of_an_unknown_metric_or_test_is_refused_with_the_known_ones(
    ran, own_state, option, known
):
    refused = tidemark("history", "rocksdb", f"--{option}", "nope", "--state", str(own_state))

    one_sentence(refused, f"--{option}: 'nope' has no rates that count; there are {known}")


def test_an_unavailable_version_is_refused_before_the_cloud_starts(
    tmp_path,
):
    done = subprocess.run(
        [TIDEMARK, "run", *SMALL, "--state", tmp_path / "state"],
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "UV_OFFLINE": "1",
            "UV_CACHE_DIR": str(tmp_path / "uv"),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "The cloud answers" not in done.stdout
    assert (
        "tidemark: versions: 9.0.0 cannot be prepared here: rocksdict==0.3.23 could not "
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "state").exists()


def test_a_suite_file_with_an_unknown_key_is_refused_by_name(tmp_path):
    for folder in ("suites", "tidemark"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "cdk.json", tmp_path)
    for folder in ("aws", "local", "queries", "workloads"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    suite = tmp_path / "suites" / "rocksdb" / "suite.yaml"
    suite.write_text(suite.read_text() + "colour: blue\n")
    # Python imports the first of two packages with one name; Tidemark reads the suites beside it.
    done = subprocess.run(
        [sys.executable, "-c", "from tidemark.cli import main; main()", "run"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert re.match(r"tidemark: rocksdb/suite\.yaml:\d+: colour: unknown field; known are ", line)


def test_a_query_that_does_not_parse_is_shown_with_its_position(ran, own_state):
    done = tidemark(
        "query", "-", "--state", str(own_state), stdin="fields @message\n| filtre @message like 'x'"
    )

    assert (done.returncode, done.stdout) == (2, "")
    first, excerpt, caret = done.stderr.splitlines()
    assert first.startswith("tidemark: <stdin>: line 2, column 3: unknown command 'filtre'")
    assert excerpt == "| filtre @message like 'x'"
    assert caret == "  ^"


def test_a_query_without_logs_names_the_command_that_leaves_logs(tmp_path):
    one_sentence(
        tidemark("query", "-", "--state", str(tmp_path), stdin="fields @message"),
        f"--state: {tmp_path} holds no logs; `tidemark run --state {tmp_path}` writes some",
    )


def test_an_empty_statement_is_refused_with_its_length(tmp_path):
    refused = tidemark("sql", "  ", "--state", str(tmp_path))

    sentence = "tidemark: STATEMENT: 0 characters are not accepted; expected 1 to 262,144\n"
    assert (refused.returncode, refused.stderr) == (2, sentence)
