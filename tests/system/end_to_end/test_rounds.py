"""A round on this machine: two versions take turns in one task of each test."""

import pytest

from onebox.logs.store import LogStore
from tests.system.end_to_end.raw_lines import mean_by_grep_and_awk

VERSIONS = ("9.0.0", "9.8.4")
SLICES = 16
LINES = {
    "ingest_rate": ("to S3", 1),
    "ingest_engine_rate": ("Engine ingested", SLICES),
    "compaction_rate": ("compaction read", SLICES),
}


@pytest.fixture
def measured(weekly):
    return weekly.run


def test_each_version_has_a_whole_trial_of_the_same_tasks(deployed, measured):
    trials = deployed.trials(measured)

    assert {trial["version"] for trial in trials} == set(VERSIONS)
    assert [trial["status"] for trial in trials] == ["ok", "ok"]
    tasks = [
        [task["task_arn"] for test in trial["tests"] for task in test["tasks"]] for trial in trials
    ]
    assert len(tasks[0]) == 2
    assert tasks[0] == tasks[1]
    rates = [rate for trial in trials for test in trial["tests"] for rate in test["rates"]]
    # The first slice of ingest alone uploads.
    once = {"ingest_rate", "ingest_upload_rate"}
    for rate in rates:
        lines = 1 if rate["metric"] in once else SLICES
        assert (len(rate["slices"]), rate["samples"]) == (lines, lines)
    environments = [
        [each["version"] for test in trial["tests"] for each in test["environments"]]
        for trial in trials
    ]
    assert environments == [2 * [trial["version"]] for trial in trials]


@pytest.mark.parametrize(("metric", "words", "count"), [(k, *v) for k, v in LINES.items()])
def test_the_rate_of_a_version_is_that_of_awk_over_its_raw_lines(
    deployed, measured, tmp_path, metric, words, count
):
    rows = [row for row in deployed.rows(measured, "rates") if row["metric"] == metric]
    (stream,) = {
        row["log_stream"]
        for row in deployed.rows(measured, "task_rates")
        if row["metric"] == metric
    }
    store = LogStore(deployed.state / "logs")

    assert len(rows) == len(VERSIONS)
    for row in rows:
        version, raw = row["version"], tmp_path / f"{metric}-{row['version']}.log"
        lines = [event.message for event in store.read("/Tidemark/rocksdb", stream)]
        own = [float(line.split()[-3]) for line in lines
               if line.startswith(f"[{version}] ") and words in line]  # fmt: skip
        assert len(own) == count
        assert row["value"] == pytest.approx(sum(own) / count, rel=1e-9)
        # The raw log has the lines of both versions.
        _, of_both = mean_by_grep_and_awk(store, "/Tidemark/rocksdb", [stream], words, raw)
        assert of_both == len(VERSIONS) * count
