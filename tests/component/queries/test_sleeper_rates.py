"""The queries of the suite sleeper, over lines of each version of Sleeper, and awk beside them.

Source of the lines: gchq/sleeper, IngestCoordinator, CompactionTask, LoggedDuration and
core/src/main/resources/log4j.properties; 0.36 as a real instance printed them.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from cwli.insights import run
from onebox.logs.store import LogStore
from tidemark.cli.query_contract import check_queries
from tidemark.model.checkout import ROOT
from tidemark.model.metric import Metric
from tidemark.model.suite import Test
from tidemark.model.suite_asset import FOLDER, query_file
from tidemark.model.suite_files import read_suites

LINES = Path(__file__).with_name("sleeper.log")
# A field is a word: the thread's name alone may have several words, before "INFO".
AWK = r"""
BEGIN { FS = "\t" }
!/] core\.metrics\.MetricsLogger INFO  - / { next }
!/ at [^ ]+ per second$/ || /"/ { next }
{ count = split(substr($2, index($2, "INFO  - ") + 8), word, " "); rate = word[count - 2] }
/ - Wrote / {
    seconds = 0
    for (i = 7; i < count - 3; i += 2) {
        if (word[i + 1] ~ /^hour/) seconds += 3600 * word[i]
        if (word[i + 1] ~ /^minute/) seconds += 60 * word[i]
        if (word[i + 1] ~ /^second/) seconds += word[i]
    }
    add("ingest_records", word[2])
    if (seconds) add("recomputed_rate", word[2] / seconds)
    if (rate ~ /^[0-9.]+$/) add("ingest_rate", rate)
}
/: compaction read / {
    add("compaction_records", word[6])
    if (rate ~ /^[0-9.]+$/) add("compaction_rate", rate)
}
function add(query, number) { sum[query " " $1] += number; n[query " " $1]++ }
END { for (key in n) printf "%s %.17g %d\n", key, sum[key], n[key] }
"""
RATES = ("ingest_rate", "recomputed_rate", "compaction_rate")
RECORDS = ("ingest_records", "compaction_records")


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    store = LogStore(tmp_path_factory.mktemp("sleeper"))
    for number, line in enumerate(LINES.read_text(encoding="utf-8").splitlines()):
        stream, _, message = line.partition("\t")
        store.append("/sleeper", stream, [(number, message)], number)
    return store.events(["/sleeper"])


@pytest.fixture(scope="module")
def ask(events):
    @cache
    def answer(query):
        result = run(
            query_file("sleeper", f"sleeper_{query}").read_text(encoding="utf-8"), events, 0, 10
        )
        assert result.warnings == ()
        return [{cell["field"]: cell["value"] for cell in row} for row in result.rows]

    return answer


@pytest.fixture(scope="module")
def figures_of_awk():
    """Return the sum and number of the values of each query and stream, as awk finds them."""
    done = subprocess.run(["awk", AWK, LINES], capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines()]
    return {(query, stream): (float(total), int(n)) for query, stream, total, n in words}


@pytest.mark.parametrize("query", [*RATES, *RECORDS])
def test_awk_finds_the_same_figure_in_the_lines_of_each_version(ask, figures_of_awk, query):
    expected = {
        stream: (total / n if query in RATES else total, n)
        for (its_query, stream), (total, n) in figures_of_awk.items()
        if its_query == query
    }
    rows = {row["@logStream"]: row for row in ask(query) if row["n"] != "0"}
    assert {stream: int(row["n"]) for stream, row in rows.items()} == {
        stream: n for stream, (_, n) in expected.items()
    }
    for stream, (value, _) in expected.items():
        assert float(rows[stream]["value"]) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("query", "figures"),
    [
        ("ingest_rate", {"0.11": 160_000.0, "0.12": 146_573.8, "0.32": 187_793.4, "0.36": 150_000}),
        (
            "recomputed_rate",
            {"0.11": 160_000.0, "0.36": (400 / 2.943 + 1000 / 10.954) * 500},
        ),
        ("ingest_records", {"0.16": 60_000_000, "0.21": 1_480_000_500, "0.36": 1_400_000}),
        ("compaction_rate", {"0.11": 365_613.7, "0.16": 325_000.0, "0.32": (3504890.2 + 31e5) / 2}),
        ("compaction_records", {"0.11": 440_000_000, "0.32": 660_000_000, "0.36": 2_000_000}),
    ],
)
def test_a_version_has_the_figure_that_its_lines_say(ask, query, figures):
    found = {row["@logStream"]: row.get("value") for row in ask(query)}
    for version, figure in figures.items():
        assert float(found[version]) == pytest.approx(figure, rel=1e-12)


def test_the_recomputed_rate_is_made_of_seconds_in_figures_and_in_words(ask):
    rows = ask("recomputed_samples")
    for version, seconds in {
        "0.16": [292, 150],
        "0.21": [259.482, 250.03, 3723.25, 7260, 1.5],
        "0.36": [2.943, 10.954],
    }.items():
        own = [row for row in rows if row["@logStream"] == version]
        assert [float(row["seconds"]) for row in own] == pytest.approx(seconds, rel=1e-12)
        rates = [int(row["records"]) / float(row["seconds"]) for row in own]
        assert [float(row["value"]) for row in own] == pytest.approx(rates, rel=1e-12)


def test_a_rate_that_the_line_floors_is_kept_beside_the_recomputed_one(ask):
    logged = [row["value"] for row in ask("ingest_samples") if row["@logStream"] == "0.36"]
    recomputed = [
        round(float(row["value"]))
        for row in ask("recomputed_samples")
        if row["@logStream"] == "0.36"
    ]
    assert (logged, recomputed) == (["200000", "100000"], [135_916, 91_291])


def test_a_rate_that_is_no_number_is_a_sample_as_its_line_has_it(ask):
    ingest = [row["value"] for row in ask("ingest_samples") if row["@logStream"] == "edge"]
    compaction = [row["value"] for row in ask("compaction_samples") if row["@logStream"] == "edge"]
    assert (ingest, compaction) == (["∞", "NaN"], ["NaN", "Infinity"])
    assert {row["n"] for row in ask("ingest_rate") if row["@logStream"] == "edge"} == {"0"}


def test_a_writer_of_less_than_a_second_has_a_recomputed_rate(ask):
    rows = [row for row in ask("recomputed_samples") if row["@logStream"] == "edge"]
    assert float(rows[0]["value"]) == pytest.approx(400 / 0.412, rel=1e-12)
    assert "value" not in rows[1]  # no records in no time


def test_each_compaction_job_is_a_sample_with_its_records(ask):
    rows = [row for row in ask("compaction_samples") if row["@logStream"] == "0.32"]
    assert [(row["job"], row["records"], row["value"]) for row in rows] == [
        ("8a7e", "440000000", "3504890.2"),
        ("9b11", "220000000", "3100000.0"),
    ]


def test_each_job_that_began_is_named_by_the_line_of_its_version(ask):
    began = {(row["@logStream"], row["job"]) for row in ask("compaction_began")}
    assert began == {
        ("0.11", "3f2b9c1e-6f0a-4d6c-9f57-0d8e6a2f7b11"),
        ("0.16", "0d8e"),
        ("0.16", "0d8f"),
        ("0.32", "8a7e"),
        ("0.36", "1b93d3db-a507-4bc9-a12c-e14d66115003"),
    }


@pytest.mark.parametrize("query", [*RATES, *RECORDS, "ingest_samples", "compaction_samples"])
def test_no_line_that_resembles_a_rate_line_counts(ask, query):
    assert "decoy" not in {row["@logStream"] for row in ask(query)}


def test_the_queries_give_what_metrics_need():
    metrics = [
        metric("ingest_rate", "ingest_samples"),
        metric("recomputed_rate", "recomputed_samples"),
        metric("ingest_records"),
        metric("compaction_rate", "compaction_samples", "compaction_began"),
        metric("compaction_records"),
    ]
    test = Test(name="all", timeout_seconds=60, metrics=tuple(metrics))
    suite = read_suites()["rocksdb"].model_copy(update={"name": "sleeper", "tests": (test,)})
    check_queries(suite, FOLDER)


def metric(query, samples=None, began=None):
    named = {"query": query, "samples": samples, "began": began}
    fields = {field: f"sleeper_{name}" for field, name in named.items() if name}
    return Metric(name=query, unit="records/s", direction="higher", **fields)


@pytest.mark.parametrize(
    "query", sorted((ROOT / "queries" / "logs").glob("sleeper_*.cwli")), ids=lambda path: path.stem
)
def test_a_parsed_pattern_captures_named_groups_alone(query):
    parsed = [line for line in query.read_text().splitlines() if line.startswith("| parse")]

    assert not [line for line in parsed if re.search(r"(?<!\\)\((?!\?)", line)]
