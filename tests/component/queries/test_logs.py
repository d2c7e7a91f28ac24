"""Every log query that ships, over log lines of each kind."""

import json
import re

import pytest

from cwli.insights import run
from onebox.logs.store import LogStore
from tidemark.model.checkout import ROOT
from tidemark.model.suite_asset import FOLDER, query_file
from tidemark.run.collect_rates import _OF_TASKS, _OF_VERSION

QUERIES = ROOT / "queries" / "logs"
GROUP = "/Tidemark/rocksdb"
NOON = 1_763_640_000_000  # 2025-11-20 12:00:00 UTC [ms]
INGEST = (
    "[main] rocksdb.Ingest INFO  - "
    "Wrote {records} records to S3 in 2.1 seconds at {rate} per second"
)
ENGINE = (
    "[main] rocksdb.Ingest INFO  - "
    "Engine ingested {records} records in 0.312 seconds at {rate} per second"
)
UPLOAD = (
    "[main] rocksdb.Ingest INFO  - Uploaded {records} records in 0.210 seconds at {rate} per second"
)
COMPACTION = (
    "[main] rocksdb.Compaction INFO  - Compaction job {job}: "
    "compaction read {records} records at {rate} per second"
)
CPU = {
    "ingest_cpu": (
        "[main] rocksdb.Ingest INFO  - "
        "Engine used {rate} CPU microseconds per record for {records} records"
    ),
    "compaction_cpu": (
        "[main] rocksdb.Compaction INFO  - Compaction job {job}: "
        "compaction used {rate} CPU microseconds per record for {records} records"
    ),
}
RATES = {"ingest": INGEST, "engine": ENGINE, "upload": UPLOAD, "compaction": COMPACTION}
# Lines that resemble a rate line, but must not count as one.
DECOYS = [
    "[main] rocksdb.Ingest INFO  - Flushing files to S3 containing 400 rows",
    "[main] rocksdb.Ingest INFO  - Saved to S3 in 2.1 seconds",
    "[main] rocksdb.Compaction INFO  - Compaction job j: compaction called at 10:02:11.120Z",
    "[main] rocksdb.Compaction INFO  - Compaction job j: compaction wrote 5 rows at 7.0 per second",
    # Rate lines that are quoted, cut short, or followed by other text.
    '[main] x.Retry INFO  - After "[main] rocksdb.Ingest INFO  - '
    'Wrote 5 records to S3 in 2.1 seconds at 7.0 per second"',
    "[main] x.Retry INFO  - Wrote 5 records to S3 in 2.1 seconds at 7.0 per second, it said",
    "[main] rocksdb.Ingest INFO  - Wrote 5 records to S3 in 2.1 seconds at 7.0 per sec",
    "Wrote 5 records to S3 in 2.1 seconds at 7.0 per second",
    "[main] x.Echo INFO  - [main] rocksdb.Compaction INFO  - Compaction job j: "
    "compaction read 5 records at 7.0 per second",
    "[main] rocksdb.Compaction INFO  - Compaction job j: compaction read 5 records at 7",
    "",
]


class Logs:
    """A log store that gets each line a second after the one before."""

    def __init__(self, folder):
        self.store = LogStore(folder)
        self.now = NOON

    def add(self, stream, *messages):
        for message in messages:
            self.now += 1000
            self.store.append(GROUP, stream, [(self.now, message)], self.now)

    def ask(self, name, before="", suite="rocksdb"):
        text = before + query_file(suite, name).read_text(encoding="utf-8")
        result = run(text, self.store.events([GROUP]), NOON // 1000, self.now // 1000 + 1)
        assert result.warnings == ()
        return [{cell["field"]: cell["value"] for cell in row} for row in result.rows]


@pytest.fixture
def logs(tmp_path):
    return Logs(tmp_path)


def test_every_query_that_ships_is_tested_here():
    # test_kiwi.py and test_sleeper_rates.py
    others = [path for path in FOLDER.glob("*/*.cwli") if path.parent.name != "kiwi"]
    shipped = (path.stem for path in (*QUERIES.glob("*.cwli"), *others))
    assert sorted(name for name in shipped if not name.startswith("sleeper_")) == [
        "compaction_cpu", "compaction_cpu_samples", "compaction_rate", "compaction_samples",
        "engine_rate", "engine_samples", "environment", "failures", "ingest_cpu",
        "ingest_cpu_samples", "ingest_rate", "ingest_samples", "last_lines", "ready", "task_usage",
        "upload_rate", "upload_samples", "work",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "line"), RATES.items())
def test_the_rate_query_gives_mean_and_counts_by_stream(logs, name, line):
    logs.add("a", *DECOYS, *(line.format(job="j", records=10, rate=r) for r in ("100.5", "200.0")))
    logs.add("b", line.format(job="j", records=10, rate="7"), *DECOYS)

    rows = {row["@logStream"]: row for row in logs.ask(f"{name}_rate")}

    assert (float(rows["a"]["value"]), rows["a"]["n"]) == (150.25, "2")
    assert (rows["b"]["value"], rows["b"]["n"]) == ("7", "1")


@pytest.mark.parametrize("text", ["∞", "NaN", "Infinity", "-1.0", "1e5"])
@pytest.mark.parametrize(("name", "line"), RATES.items())
def test_a_rate_that_is_not_finite_is_a_sample_and_not_in_the_mean(logs, name, line, text):
    logs.add("a", line.format(job="j", records=10, rate="100.5"))
    logs.add("a", line.format(job="j", records=10, rate=text))

    (row,) = logs.ask(f"{name}_rate")

    assert (row["value"], row["n"]) == ("100.5", "1")
    assert [sample["value"] for sample in logs.ask(f"{name}_samples")] == ["100.5", text]


def test_the_share_of_work_is_the_mean_of_its_lines(logs):
    shares = (f"[main] sleeper.Work INFO  - Share of work: {each}" for each in ("0.5000", "1.0000"))
    logs.add("a", *DECOYS, *shares, "[main] sleeper.Work INFO  - Share of work: NaN")

    (row,) = logs.ask("work", suite="sleeper")

    assert (row["value"], row["n"]) == ("0.75", "2")


@pytest.mark.parametrize(("name", "line"), CPU.items())
def test_the_cpu_queries_give_mean_and_samples_with_their_records(logs, name, line):
    logs.add("a", *DECOYS, *(line.format(job="j", records=10, rate=r) for r in ("1.5", "2.0", "∞")))

    (row,) = logs.ask(name)

    assert (row["value"], row["n"]) == ("1.75", "2")
    samples = [(sample["value"], sample["records"]) for sample in logs.ask(f"{name}_samples")]
    assert samples == [("1.5", "10"), ("2.0", "10"), ("∞", "10")]


@pytest.mark.parametrize(("name", "line"), RATES.items())
def test_a_query_reads_the_lines_of_one_version_of_a_round(logs, name, line):
    for thread in ("9.8.4", "9.8.40", "9.8+4", "main", "9.8.4"):
        text = line.format(job="j", records=10, rate="100.5").replace("main", thread)
        logs.add("a", text, *DECOYS)

    (row,) = logs.ask(f"{name}_rate", _OF_VERSION.format(re.escape("9.8.4")))

    assert row["n"] == "2"


def test_ingest_samples_gives_each_line_with_its_records_in_order_of_time(logs):
    logs.add("a", INGEST.format(records=1000, rate="100.0"), *DECOYS)
    logs.add("b", INGEST.format(records=2000, rate="∞"))

    assert logs.ask("ingest_samples")[0] == {
        "@timestamp": "2025-11-20 12:00:01.000",
        "@logStream": "a",
        "value": "100.0",
        "records": "1000",
        "seconds": "2.1",
        "@ptr": logs.ask("ingest_samples")[0]["@ptr"],
    }
    assert [row["value"] for row in logs.ask("ingest_samples")] == ["100.0", "∞"]


def test_ingest_samples_gives_records_without_seconds_where_a_line_has_none(logs):
    logs.add("a", "[main] rocksdb.Ingest INFO  - Wrote 7 rows to S3 in 2 s at 3.5 per second")

    (row,) = logs.ask("ingest_samples")

    assert (row["records"], row.get("seconds")) == ("7", None)


def test_compaction_samples_gives_each_job(logs):
    logs.add("a", *DECOYS, COMPACTION.format(job="3f2b-9c", records=440, rate="365613.7"))

    (row,) = logs.ask("compaction_samples")

    assert (row["job"], row["records"], row["value"]) == ("3f2b-9c", "440", "365613.7")


def test_environment_gives_the_json_of_each_stream(logs):
    text = '{"cpu_model": "Epyc: 7"}'
    logs.add("a", f"[main] rocksdb.Environment INFO  - Environment: {text}", *DECOYS)

    (row,) = logs.ask("environment")

    assert (row["@logStream"], row["environment"]) == ("a", text)


def test_failures_gives_the_message_of_each_error_line(logs):
    logs.add("a", *DECOYS, "[main] rocksdb.Deadline ERROR  - It took more than 5 seconds.")

    (row,) = logs.ask("failures")

    assert (row["@logStream"], row["failure"]) == ("a", "It took more than 5 seconds.")


def test_failures_gives_an_uncaught_exception_with_its_class(logs):
    logs.add(
        "a", *DECOYS, "Traceback (most recent call last):", '  raise ValueError("boom")',
        "ValueError: boom",
    )  # fmt: skip
    logs.add("b", "java.lang.IllegalStateException", "1 Error: of another form")

    found = {(row["@logStream"], row["failure"]) for row in logs.ask("failures")}

    assert found == {("a", "ValueError: boom"), ("b", "java.lang.IllegalStateException")}


def test_failures_gives_the_last_thousand_messages_with_the_newest_first(logs):
    lines = [f"[main] rocksdb.Check ERROR  - Record {n} is lost." for n in range(1001)]
    logs.add("a", *lines)

    rows = logs.ask("failures")

    assert len(rows) == 1000
    assert rows[0]["failure"] == "Record 1000 is lost."


def test_ready_finds_the_services_whose_harness_said_so(logs):
    logs.add("a", *DECOYS, "[main] kiwi.Service INFO  - Ready: :8080 after 1.234 seconds")
    logs.add("b", "Ready: :8080", "[main] kiwi.Service ERROR  - Ready: no")

    assert [row["@logStream"] for row in logs.ask("ready")] == ["a"]


def test_last_lines_gives_the_newest_line_first(logs):
    logs.add("a", "open", "full")

    assert [(row["@logStream"], row["@message"]) for row in logs.ask("last_lines")] == [
        ("a", "full"), ("a", "open")
    ]  # fmt: skip


def test_task_usage_gives_the_usage_of_each_task_in_order_of_time(logs):
    task = {
        "Type": "Task", "TaskId": "t0", "CpuUtilized": 1126.4, "MemoryUtilized": 512,
        "NetworkRxBytes": 10, "NetworkTxBytes": 20, "StorageReadBytes": 0, "StorageWriteBytes": 5,
    }  # fmt: skip
    logs.add(
        "FargateTelemetry-1",
        json.dumps({"Type": "Cluster", "TaskCount": 1}),
        json.dumps(task),
        json.dumps({"Type": "Task", "TaskId": "t1", "CpuUtilized": 512}),
    )

    first, second = logs.ask("task_usage")

    assert first == {
        "@timestamp": "2025-11-20 12:00:02.000", "TaskId": "t0", "CpuUtilized": "1126.4",
        "MemoryUtilized": "512", "NetworkRxBytes": "10", "NetworkTxBytes": "20",
        "StorageReadBytes": "0", "StorageWriteBytes": "5", "@ptr": first["@ptr"],
    }  # fmt: skip
    assert (second["TaskId"], second.get("MemoryUtilized")) == ("t1", None)
    assert logs.ask("task_usage", _OF_TASKS.format("'t1', 't2'")) == [second]
