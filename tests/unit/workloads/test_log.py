import re

import pytest
from harness import log


@pytest.fixture(autouse=True)
def _in_the_folder_of_a_workload(monkeypatch):
    monkeypatch.setattr(log, "_SYSTEM", "rocksdb")


def test_a_line_has_the_form_that_the_queries_parse(capsys):
    log.info("Ingest", "Wrote 5 records to S3 in 2.0 seconds at 2.5 per second")

    line = capsys.readouterr().out
    assert line == (
        "[main] rocksdb.Ingest INFO  - Wrote 5 records to S3 in 2.0 seconds at 2.5 per second\n"
    )
    # The glob "* * - * at * per second" as a lazy pattern.
    assert re.match("(.*?) (.*?) - (.*?) at (.*?) per second", line)[4] == "2.5"


def test_an_error_has_the_same_form(capsys):
    log.error("Check", "The store holds 1 records: 2 were expected.")

    assert capsys.readouterr().out.startswith("[main] rocksdb.Check ERROR  - The store")
