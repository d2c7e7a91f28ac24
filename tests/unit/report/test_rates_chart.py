"""The chart of rates over the versions of a run."""

import vl_convert

from tests.unit.measured_runs import charts, ingest_of, planned
from tests.unit.prepared_results import PREPARED
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun


def layers(chart):
    return {each["name"]: each["data"]["values"] for each in chart.spec["layer"]}


def test_a_run_of_many_versions_shows_their_levels_with_changes_first():
    contents = PREPARED["20 versions"].report()

    ingest, compaction = charts(contents, " by version, ± its spread")

    assert (ingest.caption, compaction.caption) == tuple(
        f"{name} by version, ± its spread over the trials; higher is better"
        for name in ("ingest_rate", "compaction_rate")
    )
    points = layers(ingest)["rates"]
    assert [point["version"] for point in points if point["verdict"] == "slower"] == ["9.12.0"]
    colors = {mark.words: mark.color for mark in ingest.legend}
    assert [*colors] == ["slower", "same"]
    drawn = {point["verdict"]: point["color"] for point in points}
    assert colors == {word: drawn[word] for word in colors}
    results = next(each for each in contents.sections if each.heading == "Results")
    assert results.blocks[:2] == (ingest, compaction)


def test_a_version_without_a_rate_has_no_point_and_a_row():
    plan = planned(["8.8.1", "9.0.0", "9.7.3", "9.8.4"], repetitions=1)
    rates = {"8.8.1": [100], "9.0.0": [100], "9.8.4": [100]}
    trials = [each for each in ingest_of(plan, {**rates, "9.7.3": [1]}) if each.version in rates]

    chart, _ = charts(
        report(measured_run(StoredRun(plan, trials, NO_EXCLUSIONS, []))), "± its spread"
    )

    assert [point["version"] for point in layers(chart)["rates"]] == [*rates]
    assert [row.cells[1] for row in chart.table.rows] == ["100", "100", "missing", "100"]


def test_rates_that_are_the_same_look_the_same():
    _, compaction = charts(PREPARED["20 versions"].report(), "± its spread")

    low, high = compaction.spec["encoding"]["y"]["scale"]["domain"]
    assert high - low > 4 * 0.05 * 1_990_000
    assert "<svg" in vl_convert.vegalite_to_svg(dict(compaction.spec, width=400))
