"""Every suite on the harness, in rounds and in trials on this machine: its figures are awk's."""

import json

import pytest

from onebox.logs.store import LogStore
from tests.system.end_to_end.command_line import tidemark
from tests.system.end_to_end.raw_lines import CPU_TIME, RATE, mean_by_grep_and_awk
from tidemark.model.suite_files import read_suites

LINES = {
    "ingest_rate": (" records to S3 in ", RATE),
    "ingest_engine_rate": ("Engine ingested", RATE),
    "ingest_upload_rate": ("Uploaded", RATE),
    "ingest_cpu": ("Engine used", CPU_TIME),
    "compaction_rate": ("compaction read", RATE),
    "compaction_cpu": ("compaction used", CPU_TIME),
}
ON_HARNESS = sorted(suite.name for suite in read_suites().values() if not suite.without_turns)


@pytest.mark.systems
@pytest.mark.parametrize("layout", ["rounds", "trials"])
@pytest.mark.parametrize("name", ON_HARNESS)
def test_the_figures_of_each_version_equal_grep_and_awk_over_its_raw_lines(name, layout, tmp_path):
    suite, state = read_suites()[name].measured_by(layout, (), {}), tmp_path / "state"

    def rows(sql):
        done = tidemark("sql", sql, "--format", "json", "--state", str(state))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    versions = list(suite.subject.versions)[-2:]
    done = tidemark(
        *("run", name, "--versions", ",".join(versions), "--repetitions", "1"),
        *("--set", "records=60000", "--layout", layout, "--state", str(state)),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    rates = rows(f"SELECT * FROM rates WHERE suite = '{name}'")
    samples = rows(f"SELECT trial, metric, log_stream FROM task_rates WHERE suite = '{name}'")
    metrics = {metric.name: (test, metric) for test in suite.tests for metric in test.metrics}
    assert sorted((rate["version"], rate["metric"]) for rate in rates) == sorted(
        (version, metric) for version in versions for metric in metrics
    )
    store = LogStore(state / "logs")
    for rate in rates:
        place = rate["trial"], rate["metric"]
        streams = {row["log_stream"] for row in samples if (row["trial"], row["metric"]) == place}
        words, figure = LINES[rate["metric"]]
        # All versions of a round log into one stream, each under its name.
        thread = rate["version"] if layout == "rounds" else "main"
        mean, count = mean_by_grep_and_awk(
            store, f"/Tidemark/{name}", streams, words, tmp_path / "raw.log", figure, thread
        )
        test, metric = metrics[rate["metric"]]
        assert int(rate["samples"]) == count == metric.values_of(test.jobs)
        assert float(rate["value"]) == pytest.approx(mean, rel=1e-9)
