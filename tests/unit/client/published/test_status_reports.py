"""Sleeper's reports of jobs in the forms of several of its releases, with figures made up here."""

import json
from datetime import date

import pytest

from tests.unit.client.published.test_file_figures import (
    HEADINGS,
    PUBLICATION,
    figures,
    refused,
)
from tidemark.client.published.file_figures import left_out
from tidemark.client.published.release_tables import Wishes

OLD_COMPACTION = """
Compaction Job Status Report
----------------------------
Total jobs: 3
Average compaction rate: 1,000.00 read/s, 625.00 write/s
Average standard compaction rate: 800.00 read/s, 375.00 write/s
Average splitting compaction rate: 2,000.00 read/s, 1,000.00 write/s
--------------------------------------------------------------------------------------
| STATE    | TYPE    | START_TIME           | FINISH_TIME          | LINES_READ | READ_RATE (s) |
| FINISHED | COMPACT | 2023-04-28T10:00:00Z | 2023-04-28T10:01:00Z |     30,000 |        500.00 |
| FINISHED | SPLIT   | 2023-04-28T10:00:30Z | 2023-04-28T10:01:00Z |     60,000 |      2,000.00 |
| FINISHED | COMPACT | 2023-04-28T10:01:00Z | 2023-04-28T10:02:00Z |     60,000 |      1,000.00 |
| PENDING  | COMPACT |                      |                      |            |               |
"""
INGEST = """Compaction Task Status Report
| STATE | TASK_ID | START_TIME | FINISH_TIME |

Ingest Job Status Report
------------------------
Average ingest rate: 10.00 read/s, 5.00 write/s
| STATE       | START_TIME               | FINISH_TIME              | ROWS_READ | ROWS_WRITTEN |
| UNCOMMITTED | 2025-09-25T13:34:12.001Z | 2025-09-25T13:35:12.001Z |       600 |          300 |
| FAILED      | 2025-09-21T13:34:12.001Z | 2025-09-21T13:35:12.001Z |        60 |           60 |
| FINISHED    | 2025-09-25T13:34:12.001Z | 2025-09-25T13:34:12.001Z |         0 |            0 |
"""


def test_a_report_gives_both_averages_of_its_finished_standard_jobs_apart():
    # 90,000 records in the two minutes from the first start to the last finish.
    assert figures(OLD_COMPACTION, version="0.16.0") == [
        ("0.16.0", "2023-04-28", "compaction_rate", "800.00", 2),
        ("0.16.0", "2023-04-28", "compaction_total_rate", "750.00", 2),
    ]


def test_ingest_counts_what_it_writes_and_reports_of_tasks_are_left_out():
    assert figures(INGEST, version="0.33.0") == [
        ("0.33.0", "2025-09-25", "ingest_rate", "5.00", 4),
        ("0.33.0", "2025-09-25", "ingest_total_rate", "5.00", 4),
    ]


def test_the_jobs_of_a_report_that_do_not_count_are_counted():
    found = [list(left_out(text, PUBLICATION, Wishes("1.0"))) for text in (OLD_COMPACTION, INGEST)]

    assert found == [
        ["2 compaction jobs that split, failed or did not finish"],
        [
            "2 ingest jobs that split, failed or did not finish",
            "1 report of other things than jobs",
        ],
    ]


def run(start, finish, records, **update):
    processed = {"rowsRead": records, "rowsWritten": 1}
    return {"taskId": "t", "updates": [
        {"type": "STARTED", "startTime": f"2026-01-02T{start}Z"},
        {"type": "FINISHED", "finishTime": f"2026-01-02T{finish}Z", "rowsProcessed": processed},
        *([update] if update else []),
    ]}  # fmt: skip


def test_a_json_report_has_rates_that_are_computed_from_times_and_rows():
    jobs = [
        {"jobId": "a", "createUpdateTime": "x", "jobRuns": [run("10:00:00", "10:01:00", 30_000)]},
        {"jobId": "b", "createUpdateTime": "x", "jobRuns": [
            run("10:00:30", "10:01:00", 60_000),
            run("10:00:30", "10:00:31", 1, failureTime="x"),
        ]},
    ]  # fmt: skip

    assert [figure[2:4] for figure in figures(json.dumps(jobs), version="0.36.1")] == [
        ("compaction_rate", "1,250.00"), ("compaction_total_rate", "1,500.00"),
    ]  # fmt: skip


def test_a_splitting_compaction_and_one_without_a_known_start_are_left_out_of_a_json_report():
    whole, partial = run("10:00:00", "10:01:00", 30_000), run("10:00:00", "10:01:00", 90_000)
    del partial["updates"][0]
    split = {"childPartitionIds": ["left", "right"]}
    jobs = [
        {"jobId": "a", "createdStatus": {"childPartitionIds": []}, "jobRuns": [whole]},
        {"jobId": "b", "createdStatus": split, "jobRuns": [run("10:00:00", "10:00:01", 60_000)]},
        {"jobId": "c", "jobRuns": [partial]},
    ]

    assert [figure[2:4] for figure in figures(json.dumps(jobs), version="0.18.0")] == [
        ("compaction_rate", "500.00"), ("compaction_total_rate", "500.00"),
    ]  # fmt: skip
    assert list(left_out(json.dumps(jobs), PUBLICATION, Wishes("0.18.0"))) == [
        "2 compaction jobs that split, failed or did not finish"
    ]


def test_an_older_json_report_of_ingest_has_its_times_in_a_summary():
    summary = {
        "recordsProcessed": {"linesRead": 600, "linesWritten": 300},
        "startTime": "2022-09-22T13:34:12.001Z", "finishTime": "2022-09-22T13:35:12.001Z",
        "recordsWrittenPerSecond": 5.0,
    }  # fmt: skip
    started = {"startTime": "2022-09-22T13:34:12.001Z"}
    runs = [{"startedStatus": started, "finishedStatus": {"summary": summary}},
            {"startedStatus": started}]  # fmt: skip
    report = {"queueMessages": {}, "jobList": [{"jobId": "a", "jobRunList": runs}]}

    assert [figure[1:4] for figure in figures(json.dumps(report), version="0.16.0")] == [
        ("2022-09-22", "ingest_rate", "5.00"), ("2022-09-22", "ingest_total_rate", "5.00"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (OLD_COMPACTION * 2, "line 2: two reports of compaction jobs; expected one"),
        ("Ingest Job Status Report\n", "line 1: the report has no finished ingest job"),
        ('[{"jobId": "a"}]', "the JSON is not a report of compaction jobs: a job has no runs"),
        (OLD_COMPACTION.replace("800.00 read", "∞ read"),
         "line 2: the average: '∞' is not a figure; expected one such as 366000 or 366,000.5"),
        (OLD_COMPACTION.replace("800.00 read", "1e999 read"),
         "line 2: the average: '1e999' is not a finite number"),
        (OLD_COMPACTION.replace("30,000", "30,000.0"),
         "line 10: '30000.0' is not a number of records"),
        (json.dumps([{"createUpdateTime": "x", "jobRuns": [run("10:00", "10:01", "ab")]}]),
         "line 1: 'ab' is not a number of records"),
        ("[1]", "the JSON is not a report; expected Sleeper's report of jobs"),
    ],
)  # fmt: skip
def test_a_report_without_one_average_is_refused(text, sentence):
    assert refused(text, version="0.16.0") == sentence


def test_a_report_needs_the_version_of_its_jobs():
    assert refused(OLD_COMPACTION) == "a report has no version; name it with --version"


@pytest.mark.parametrize("report", [OLD_COMPACTION, "[]"])
@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"order": "day-first"}, "--dates: day-first"),
        ({"tested_on": date(2022, 6, 13)}, "--date: 2022-06-13"),
        ({"left_out": ["TYPE"]}, "--leave-out: TYPE"),
    ],
)
def test_an_option_for_tables_is_refused_of_a_report(report, option, named):
    sentence = refused(report, version="0.16.0", **option)

    assert sentence == f"{named} has no effect on a report; expected a page of tables"


def test_a_page_with_a_report_and_a_table_of_figures_is_refused():
    page = f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n\n```{OLD_COMPACTION}```\n"

    assert refused(page, version="0.16.0") == (
        "line 1: the table has figures, and line 6 begins a report; expected one of both in FILE"
    )
