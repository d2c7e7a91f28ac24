"""A comparison for programs and pipelines."""

import json
from xml.etree import ElementTree

import pytest

from tests.unit.measured_runs import failed, ingest_of, planned
from tidemark.figures.verdicts.rule import Judgement, Margins
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import Quantity
from tidemark.model.metric import Metric
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.comparison.document import (
    ComparisonDocument,
    beside_cpu_time,
    document,
    exit_code,
    junit,
    workflow_commands,
)
from tidemark.report.comparison.sides import Pair, sides
from tidemark.store.stored_run import StoredRun

BOTH = ["9.0.0", "9.8.4"]
BASE = [1000.0, 1010.0, 990.0, 1000.0, 1005.0]


def document_of(new, change=lambda trials: trials):
    """Return the document of this rate of ingest; compaction is the same."""
    plan = planned(BOTH, repetitions=len(new))
    trials = change(ingest_of(plan, {"9.0.0": BASE[: len(new)], "9.8.4": new}))
    run = StoredRun(plan, trials, NO_EXCLUSIONS, [])
    return document(sides((run, "9.0.0"), (run, "9.8.4")))


SLOWER = document_of([0.8 * rate for rate in BASE])
SAME = document_of(BASE)
UNTOLD = document_of([900.0, 1000.0])
LOST = document_of(BASE, lambda trials: [failed(t) if t.version == "9.8.4" else t for t in trials])


def test_a_document_has_each_metric_with_its_verdict_and_figures():
    written = json.loads(SLOWER.model_dump_json())

    assert written["schema_version"] == 1
    assert (written["suite"], written["new"]["version"]) == ("rocksdb", "9.8.4")
    ingest, compaction = written["metrics"]
    assert (ingest["name"], ingest["verdict"], ingest["decides"]) == ("ingest_rate", "slower", True)
    assert ingest["base_mean"] == sum(BASE) / 5
    assert ingest["change"] == pytest.approx(-0.2)
    assert (ingest["pairs"], ingest["more_pairs"]) == (5, None)
    assert (ingest["outliers"], ingest["odd"]) == ([], None)
    assert compaction["verdict"] == "same"
    assert ComparisonDocument.model_validate(written) == SLOWER


def pair(name, word, effect, unit="records/s", test="ingest", decides=True):
    """Return a metric of both sides with its verdict."""
    direction = "lower" if unit.startswith("CPU") else "higher"
    metric = Metric(name=name, unit=unit, direction=direction, query="x", decides=decides)
    quantity = Quantity(test, metric, "mean", "", {})
    judgement = Judgement(word, "", "paired t", effect, effect - 0.01, effect + 0.01, 12)
    verdict = Verdict(quantity, "9.0.0", "9.8.4", judgement, effect, 12, 12, Margins(), 2)
    return Pair(quantity, None, None, verdict, unlike=False)


CPU = "CPU µs/record"


@pytest.mark.parametrize(
    ("rate", "cpu", "sentence"),
    [
        (
            "cannot tell", "faster",
            "ingest_rate cannot tell, and CPU time can: ingest_cpu −6.00 %, faster",
        ),
        (
            "slower", "same",
            "ingest_rate is slower, and its CPU time the same (ingest_cpu −6.00 %): "
            "what changed is not the CPU's work alone",
        ),
    ],
)  # fmt: skip
def test_a_rate_whose_cpu_time_has_another_verdict_has_a_sentence(rate, cpu, sentence):
    both = [pair("ingest_rate", rate, -0.2), pair("ingest_cpu", cpu, -0.06, unit=CPU)]

    assert list(beside_cpu_time(both)) == [sentence]


@pytest.mark.parametrize(
    ("rate", "cpu"),
    [
        (("ingest_rate", "faster", 0.1), ("ingest_cpu", "faster", -0.06)),
        (("ingest_rate", "cannot tell", 0.1), ("ingest_cpu", "cannot tell", -0.06)),
        (("ingest_rate", "slower", 0.1), ("ingest_cpu", "cannot tell", -0.06)),
    ],
)
def test_cpu_time_that_agrees_or_cannot_tell_has_no_sentence(rate, cpu):
    assert not list(beside_cpu_time([pair(*rate), pair(*cpu, unit=CPU)]))
    told = pair("ingest_cpu", "faster", -0.06, unit=CPU)
    others = [pair("ingest_rate", "cannot tell", 0.1, test="compaction"),
              pair("upload_rate", "cannot tell", 0.1, decides=False)]  # fmt: skip
    assert not list(beside_cpu_time([*others, told]))


def test_a_metric_without_rates_is_not_comparable_and_says_why():
    lost, _ = LOST.metrics

    assert (lost.verdict, lost.pairs, lost.change) == ("not comparable", 0, None)
    assert lost.reason == "all 5 trials of 9.8.4 failed"


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        ([SAME], 0),
        ([SLOWER], 3),
        ([UNTOLD], 4),
        ([LOST], 4),
        ([SAME, UNTOLD, SLOWER], 3),
        ([SAME, UNTOLD], 4),
        ([], 4),
    ],
)
def test_slower_and_cannot_tell_have_exit_codes_of_their_own(documents, code):
    assert exit_code(documents) == code


def test_a_metric_with_labels_does_not_decide():
    labelled = SLOWER.metrics[0].model_copy(update={"decides": False})
    metrics = (labelled, SLOWER.metrics[1])

    assert exit_code([SLOWER.model_copy(update={"metrics": metrics})]) == 0


def test_slower_is_a_failure_in_junit_and_what_cannot_be_told_is_skipped():
    for one, outcomes in ((SLOWER, ["failure", None]), (UNTOLD, ["skipped", "skipped"])):
        suite = ElementTree.fromstring(junit(one))

        assert suite.get("tests") == "2"
        assert suite.get("failures") == str(outcomes.count("failure"))
        assert suite.get("skipped") == str(outcomes.count("skipped"))
        cases = suite.findall("testcase")
        assert [case.get("classname") for case in cases] == ["rocksdb.ingest", "rocksdb.compaction"]
        assert [case[0].tag if len(case) else None for case in cases] == outcomes
    message = suite.find("testcase/skipped").get("message")
    assert message == (
        "ingest_rate: cannot tell (2 of the 5 pairs that a verdict needs), 9.8.4 against 9.0.0, "
        "−5.60 %, 95 % interval −48.51 % to +73.06 %"
    )


def test_github_gets_an_annotation_for_each_metric():
    error, notice = workflow_commands(SLOWER).splitlines()
    warning, _ = workflow_commands(UNTOLD).splitlines()

    assert error.startswith("::error title=rocksdb ingest_rate::ingest_rate: slower (no new ")
    assert ", −20.00 %25, 95 %25 interval " in error
    assert notice.startswith("::notice title=rocksdb compaction_rate::")
    assert warning.startswith("::warning title=rocksdb ingest_rate::")


def test_every_form_names_the_test_of_a_metric_that_two_tests_have():
    ingest, compaction = SLOWER.metrics
    both = (ingest, compaction.model_copy(update={"name": ingest.name}))
    error, notice = workflow_commands(SLOWER.model_copy(update={"metrics": both})).splitlines()

    name = "ingest: ingest_rate"
    assert error.startswith("::error title=rocksdb ingest%3A ingest_rate::ingest: ingest_rate: ")
    assert notice.startswith("::notice title=rocksdb compaction%3A ingest_rate::compaction: ")
    assert f'message="{name}: slower' in junit(SLOWER.model_copy(update={"metrics": both}))


def test_a_large_change_of_a_latency_is_told_as_times_in_every_form():
    latency = SLOWER.metrics[0].model_copy(
        update={"unit": "ms", "direction": "lower", "effect": 12.8, "low": 11.0, "high": 14.5}
    )
    slowed = SLOWER.model_copy(update={"metrics": (latency,)})

    told = (
        "slower (no new pairs confirm it), 9.8.4 against 9.0.0, 13.8 times as long, 95 % interval "
        "12.0 to 15.5 times"
    )
    assert told in workflow_commands(slowed).replace("%25", "%")
    assert told in junit(slowed)


def test_an_annotation_stays_on_its_line_whatever_a_name_holds():
    metric = SLOWER.metrics[0].model_copy(update={"name": "a: b, c\n::error::d"})

    (line,) = workflow_commands(SLOWER.model_copy(update={"metrics": (metric,)})).splitlines()

    assert line.startswith("::error title=rocksdb a%3A b%2C c%0A%3A%3Aerror%3A%3Ad::a: b, c%0A")
