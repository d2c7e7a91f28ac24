"""The suites that ship beside RocksDB: three versions, three times each, on this machine."""

import json

import pytest

from onebox.logs.store import LogStore
from tests.system.end_to_end.command_line import tidemark
from tests.system.end_to_end.raw_lines import mean_by_grep_and_awk
from tidemark.model.suite_files import read_suites

WORDS = {
    "ingest_rate": "to S3",
    "ingest_engine_rate": "Engine ingested",
    "ingest_upload_rate": "Uploaded",
    "compaction_rate": "compaction read",
}
# A suite of folders needs jars that its users build: python -m tests.checks.sleeper measures it.
OTHERS = sorted(
    suite.name
    for suite in read_suites().values()
    if "records" in suite.parameters and not suite.subject.folder
)
OTHERS.remove("rocksdb")


@pytest.mark.systems
@pytest.mark.parametrize("name", OTHERS)
def test_three_versions_are_measured_three_times_and_equal_grep_and_awk(name, tmp_path):
    suite, state = read_suites()[name], tmp_path / "state"

    def rows(sql):
        done = tidemark("sql", sql, "--format", "json", "--state", str(state))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    versions = list(suite.subject.versions)
    done = tidemark(
        *("run", name, "--versions", ",".join(versions), "--repetitions", "3"),
        *("--records", "100000", "--state", str(state)),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    rates = rows(f"SELECT * FROM rates WHERE suite = '{name}'")
    samples = rows(f"SELECT trial, metric, log_stream FROM task_rates WHERE suite = '{name}'")
    assert {rate["version"] for rate in rates} == set(versions)
    assert len({(rate["trial"], rate["metric"]) for rate in rates}) == len(rates)
    assert len(rates) == 9 * sum(len(test.metrics) for test in suite.tests)
    store = LogStore(state / "logs")
    for rate in rates:
        place = rate["trial"], rate["metric"]
        streams = {row["log_stream"] for row in samples if (row["trial"], row["metric"]) == place}
        words, raw = WORDS[rate["metric"]], tmp_path / "raw.log"
        mean, count = mean_by_grep_and_awk(store, f"/Tidemark/{name}", streams, words, raw)
        assert int(rate["samples"]) == count
        assert float(rate["value"]) == pytest.approx(mean, rel=1e-9)
