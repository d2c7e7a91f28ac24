"""The log queries of a report: commands to repeat them, and addresses of AWS's console."""

from datetime import UTC, datetime
from urllib.parse import unquote

from tests.unit.measured_runs import measured, planned
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.blocks import Command, Link, Table
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.trials import Window, console_address, query_blocks
from tidemark.store.stored_run import StoredRun

ARN = "arn:aws:states:eu-west-1:111122223333:execution:Run:x"
NOON, ONE = (datetime(2026, 11, 20, hour, tzinfo=UTC) for hour in (12, 13))
WINDOW = Window("/Tidemark/rocksdb", NOON, ONE, "")


def blocks_of(plan):
    return list(query_blocks(measured_run(StoredRun(plan, measured(plan), NO_EXCLUSIONS, []))))


def test_each_query_is_a_command_over_the_logs_of_all_trials():
    table, lines = blocks_of(planned())

    assert isinstance(table, Table)
    told = [row.cells[:2] for row in table.rows]
    assert told == [("ingest", "ingest_rate"), ("compaction", "compaction_rate")]
    command = table.rows[0].cells[2]
    assert command.startswith(
        "tidemark query queries/logs/ingest_rate.cwli --log-group /Tidemark/rocksdb --start 20"
    )
    assert isinstance(lines, Command)
    assert "filter @logStream = 'rocksdb/rocksdb/001ingest0'" in lines.text


def test_metrics_of_one_query_share_its_command():
    plan = planned()
    ingest, compaction = plan.suite.tests
    (rate,) = ingest.metrics
    both = ingest.model_copy(update={"metrics": (rate, rate.model_copy(update={"name": "peak"}))})
    suite = plan.suite.model_copy(update={"tests": (both, compaction)})

    run = StoredRun(plan.model_copy(update={"suite": suite}), measured(plan), NO_EXCLUSIONS, [])
    table, _ = query_blocks(measured_run(run))

    assert [row.cells[1] for row in table.rows] == ["ingest_rate, peak", "compaction_rate"]


def test_a_run_in_an_account_links_each_query_to_its_console():
    blocks = blocks_of(planned().model_copy(update={"execution_arn": ARN}))

    assert "--from-aws /Tidemark/rocksdb --start 20" in blocks[0].rows[0].cells[2]
    links = [each.file for each in blocks if isinstance(each, Link)]
    assert len(links) == 2
    assert links[0].startswith("https://eu-west-1.console.aws.amazon.com/cloudwatch/home?")


def test_the_address_of_a_query_has_its_text_its_window_and_its_log_group():
    address = console_address(ARN, WINDOW, "stats count(*)")

    detail = unquote(unquote(address.partition("queryDetail")[2].replace("$", "%")))
    assert detail == (
        "=~(end~'2026-11-20T13*3a00*3a00.000Z~start~'2026-11-20T12*3a00*3a00.000Z~timeType~'"
        "ABSOLUTE~tz~'UTC~editorString~'stats*20count*28*2a*29~source~(~'*2fTidemark*2frocksdb))"
    )


def test_one_machine_and_an_unknown_partition_have_no_console():
    of_examples = ARN.replace("111122223333", "123456789012")
    elsewhere = ARN.replace("arn:aws:", "arn:aws-iso:")

    assert not console_address(of_examples, WINDOW, "x")
    assert not console_address(elsewhere, WINDOW, "x")
