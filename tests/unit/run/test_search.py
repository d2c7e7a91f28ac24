"""A run that searches for the first slower version, chosen trial by trial."""

import io
import json
import re

import pytest
from rich.console import Console

from tests.plans import RUN, naming, rocksdb, with_axes
from tests.unit.measured_runs import charts, left_out, row
from tests.unit.run.test_choose_trial import Measuring, in_batch
from tidemark.cli.live import ahead
from tidemark.cli.show import rates
from tidemark.figures.verdicts import needed_trials
from tidemark.figures.verdicts.sequential_run import closed, standing_of
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.run_spec import between
from tidemark.report.markdown import markdown
from tidemark.report.run_report.decisions import search_path
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import publish_report, report
from tidemark.report.terminal import print_blocks
from tidemark.store import keys
from tidemark.store.stored_run import read_standing

VERSIONS = ["8.8.1", "8.10.0", "9.0.0", "9.7.3", "9.8.4"]
BISECT = {"base": "8.8.1", "new": "9.8.4", "metric": "ingest_rate"}


def searching(first=None, **more):
    """Return a run that searches; versions from ``first`` on are a fifth slower."""
    slower = VERSIONS[VERSIONS.index(first) :] if first else []
    return Measuring(dict.fromkeys(slower, 0.2), bisect=BISECT, **more)


def found(run):
    """Return the path of a run's search, as its report has it."""
    return search_path(measured_run(run.stored), run.plan.request.bisect)


def exclude(run, *trials):
    for trial in trials:
        (exclusion,) = left_out(trial, "busy")._decisions.values()
        run.bucket.write(keys.exclusion(RUN, trial), exclusion.model_dump_json().encode())


@pytest.fixture(scope="module")
def ended():
    """Return a search that a kill interrupted, and that has found 9.0.0."""
    run = searching("9.0.0", scatter=0.03)
    run.go_on(most=30)
    run.bucket.delete(keys.work(RUN))
    run.go_on()
    return run


def test_one_run_finds_the_first_slower_version_and_keeps_its_path(ended):
    search = found(ended)

    assert (search.first_slower, search.is_conclusive) == ("9.0.0", True)
    assert [(each.version, each.verdict) for each in search.path] == [
        ("9.8.4", "slower"),
        ("9.0.0", "nearer to the newest"),
        ("8.10.0", "nearer to the base"),
    ]
    assert ended.outcome().status == "complete"
    trials = ended.stored.trials
    assert [trial.trial for trial in trials] == list(range(1, len(trials) + 1))
    assert all("8.8.1" in versions and len(versions) == 2 for versions in ended.repetitions())


def test_the_search_goes_up_where_the_version_in_the_middle_is_not_slower():
    run = searching("9.8.4")
    run.go_on()

    assert [each.version for each in found(run).path] == ["9.8.4", "9.0.0", "9.7.3"]
    assert found(run).first_slower == "9.8.4"


def test_the_report_has_the_comparisons_in_the_order_of_the_search(ended):
    written = publish_report(ended.bucket, RUN)
    text = ended.bucket.read(written["report.md"]).decode()
    stored = json.loads(ended.bucket.read(written["search.json"]))
    path = [comparison._asdict() for comparison in found(ended).path]
    assert stored == {**found(ended)._asdict(), "path": path}
    assert [comparison["version"] for comparison in stored["path"]] == ["9.8.4", "9.0.0", "8.10.0"]
    summary, _, section = text.partition("First version slower than 8.8.1")

    assert re.search(
        r"By ingest_rate 9\.0\.0 is the first version slower than 8\.8\.1 "
        r"\(−2\d\.\d %, 95 % interval −.* to −.*\); 8\.10\.0 is nearer to 8\.8\.1",
        summary,
    )
    assert "cannot tell:" not in summary.partition("## Results")[0]
    assert row(section.partition("Verdicts against")[0], "9.8.4")[1] == "slower"
    assert section.index("| 9.8.4 |") < section.index("| 9.0.0 |") < section.index("| 8.10.0 |")
    assert "at most 20 repetitions and 60 to confirm in each comparison" in text
    assert "up to 4 % if each repetition resembles the one before" in section


def test_the_table_and_the_chart_of_a_search_compare_with_its_base(ended):
    run = measured_run(ended.stored)
    text = markdown(report(run)).partition("**Rates and changes**")[2].partition("<details>")[0]
    versions = ["8.10.0", "9.0.0", "9.8.4"]
    rows = [row(text, r"ingest_rate \[records/s\]", each) for each in versions]

    assert [each[6] for each in rows] == [
        "nearer to 8.8.1", "nearer to 9.8.4", "▼ slower, confirmed by 5 new pairs",
    ]  # fmt: skip
    told = {each.version: each for each in found(ended).path}
    for cells in rows:
        assert float(cells[4].rstrip(" %").replace("−", "-")) == pytest.approx(
            100 * told[cells[1]].effect, abs=0.06
        )
    (chart,) = (each for each in charts(report(run), "± its spread") if "ingest" in each.caption)
    points = next(each for each in chart.spec["layer"] if each["name"] == "rates")["data"]["values"]
    assert [(each["version"], each["verdict"]) for each in points] == [
        ("8.8.1", "nothing to compare"),
        ("8.10.0", "nearer to 8.8.1"),
        ("9.0.0", "nearer to 9.8.4"),
        ("9.8.4", "slower"),
    ]
    colors = {each["version"]: each["color"] for each in points}
    assert colors["9.0.0"] == colors["9.8.4"] != colors["8.10.0"] == colors["8.8.1"]


def test_the_terminal_table_of_a_search_compares_with_its_base(ended):
    console = Console(file=io.StringIO(), width=160)
    print_blocks([rates(report(measured_run(ended.stored)))], console)

    lines = [" ".join(each.split()) for each in console.file.getvalue().splitlines()]
    printed = [each for each in lines if "ingest_rate" in each]
    assert [each.partition(" % ")[2].rpartition("% ")[2] for each in printed[1:]] == [
        "nearer to 8.8.1", "nearer to 9.8.4", "▼ slower, confirmed by 5 new pairs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scatter", "is_conclusive", "sentence"),
    [
        (0.02, True, "By ingest_rate 9.8.4 is not slower than 8.8.1 (+0.6 %, 95 % interval "),
        (0.9, False, "By ingest_rate the trials cannot tell 9.8.4 from 8.8.1 (+20 %, 95 % "),
    ],
)
def test_a_newest_version_that_is_not_slower_ends_the_search(scatter, is_conclusive, sentence):
    run = searching(scatter=scatter)
    run.go_on()

    search = found(run)
    assert (search.first_slower, search.is_conclusive) == (None, is_conclusive)
    assert len(search.path) == 1
    assert search.sentence.startswith(sentence)


def test_a_version_that_always_fails_ends_the_search_with_those_that_are_left():
    run = searching("9.7.3")
    run.failing.add("9.0.0")
    run.go_on()

    assert found(run).sentence.startswith(
        "By ingest_rate one of 8.10.0, 9.0.0, 9.7.3, 9.8.4 is the first version slower than "
        "8.8.1, and the trials cannot tell which; 9.8.4 is slower (−"
    )


@pytest.mark.parametrize(
    ("failing", "pairs", "reason"),
    [
        ({"9.0.0"}, 0, "5 repetitions in a row gave no pair"),
        (set(), 8, "the pairs do not tell which end is nearer"),
    ],
)
def test_the_report_and_the_progress_have_the_same_reason_for_a_version_that_is_not_told(
    failing, pairs, reason
):
    losses = {"9.0.0": 0.105, "9.8.4": 0.2}
    run = Measuring(losses, scatter=0.06, bisect=BISECT, repetitions=8, keep_going=True)
    run.failing = failing
    run.go_on()
    trials = [each.trial for each in run.stored.trials]
    told = found(run).path[-1]
    decided = ahead(run.bucket, run.plan, trials).decided

    assert (told.version, told.verdict, told.pairs, told.reason) == (
        "9.0.0", "cannot tell", pairs, reason,
    )  # fmt: skip
    assert f"decided     9.0.0  ingest_rate cannot tell after {pairs} pairs: {reason}" in decided


def test_a_search_that_ends_between_two_comparisons_is_incomplete_and_goes_on():
    run = searching("9.0.0")
    before = run.plan
    while run.plan == before:  # up to the choice that plans the second comparison
        before, choice = run.plan, run.choose()
        if run.plan == before:
            run.record(*in_batch(choice))
    run.bucket.write(keys.plan(RUN), before.model_dump_json().encode())
    run.plan = before

    assert run.outcome().status == "incomplete"
    assert run.choose() == choice  # the same trial of the same version
    run.go_on()

    assert (found(run).first_slower, run.outcome().status) == ("9.0.0", "complete")


def test_a_late_choice_leaves_the_plan_that_a_resume_has_made_longer():
    run = searching("9.0.0")
    before = run.plan
    while run.plan == before:
        run.record(*in_batch(run.choose()))
    longer = run.plan.model_dump_json().encode()
    bucket = run.bucket
    bucket.write(keys.plan(RUN), before.model_dump_json().encode())
    listed = bucket.keys

    def overtaken(prefix, **more):
        bucket.write(keys.plan(RUN), longer)
        return listed(prefix, **more)

    bucket.keys = overtaken

    run.choose()

    assert bucket.read(keys.plan(RUN)) == longer
    assert run.plan.model_dump_json().encode() == longer


def test_an_exclusion_that_opens_an_earlier_comparison_makes_the_search_measure_it_again():
    run = searching("9.0.0")
    done = run.go_on().done
    exclude(run, *range(1, 5))

    assert run.outcome().status == "incomplete"
    run.go_on()

    assert run.outcome().status == "complete"
    again = run.stored.trials[done:]
    assert {trial.version for trial in again} == {"8.8.1", "9.8.4"}
    assert found(run).first_slower == "9.0.0"


def test_the_running_sums_of_a_search_are_those_of_the_stored_trials(ended):
    stored = ended.stored
    whole = standing_of(stored.plan, stored.trials, stored.exclusions)

    assert closed(read_standing(ended.bucket, RUN), ended.plan) == closed(whole, ended.plan)


def test_a_version_between_needs_few_pairs(ended):
    _, *between = found(ended).path

    assert [each.pairs for each in between] == [5, 5]


def test_the_first_slower_version_of_a_gradual_change_has_lost_at_least_half_of_it():
    losses = {"9.0.0": 0.05, "9.7.3": 0.15, "9.8.4": 0.2}
    run = Measuring(losses, bisect=BISECT)
    run.go_on()

    assert found(run).first_slower == "9.7.3"
    first, _, rest = found(run).sentence.partition("; ")
    assert first.startswith(
        "By ingest_rate 9.7.3 is the first version slower than 8.8.1 (−14.5 %, "
    )
    assert rest == "9.0.0 is nearer to 8.8.1 than to 9.8.4."


def test_the_progress_of_a_search_has_what_it_has_found(ended):
    trials = len(ended.stored.trials)

    left = ahead(ended.bucket, ended.plan, range(1, trials + 1))

    assert (left.trial, left.trials, left.open) == (None, 0, 0)
    assert left.decided[:2] == (
        "decided    8.10.0  ingest_rate nearer to the base after 5 pairs",
        "decided     9.0.0  ingest_rate nearer to the newest after 5 pairs",
    )


def test_the_progress_of_a_comparison_between_has_the_pairs_that_tell_the_ends_apart():
    run = searching("9.0.0")
    while (trial := next(iter(in_batch(run.choose())), None)) and run.plan.trials[
        trial - 1
    ].version != "9.0.0":
        run.record(trial)
    left = ahead(run.bucket, run.plan, [each.trial for each in run.stored.trials])

    assert left.trials == 2 * 5


def test_a_search_plans_no_more_trials_than_a_run_has_room_for(monkeypatch):
    monkeypatch.setattr(needed_trials, "most_trials", lambda *_: 31)
    run = searching("9.0.0")

    assert run.go_on().done == 30
    assert not found(run).is_conclusive
    assert run.plan.request.most_trials == 480


def test_every_repetition_of_a_search_measures_the_canary():
    suite = rocksdb().model_copy(update={"canary": "7.4.4"})
    run = searching("9.0.0", suite=suite)
    run.go_on()

    assert all({"7.4.4", "8.8.1"} < versions for versions in run.repetitions())
    assert found(run).first_slower == "9.0.0"


@pytest.mark.parametrize("first", ["8.10.0", "9.7.3"])
def test_the_canary_of_a_search_may_be_one_of_the_versions_to_compare(first):
    suite = rocksdb().model_copy(update={"canary": "9.0.0"})
    run = searching(first, suite=suite, scatter=0.03)
    run.go_on()

    assert all({"8.8.1", "9.0.0"} <= versions for versions in run.repetitions())
    assert [each.version for each in found(run).path] == ["9.8.4", "9.0.0", first]
    assert (found(run).first_slower, run.outcome().status) == (first, "complete")
    reason = run.verdicts("9.0.0")[0].judgement.reason
    end = "9.8.4" if first == "8.10.0" else "8.8.1"
    assert reason in ("", f"nearer to {end}, which a search does not confirm")
    whole = standing_of(run.plan, run.stored.trials, run.stored.exclusions)
    assert closed(read_standing(run.bucket, RUN), run.plan) == closed(whole, run.plan)


def test_a_search_follows_one_value_of_each_axis():
    suite = with_axes({"database": ("postgresql", "mariadb")})
    with pytest.raises(Refused, match=r"one value of each axis; give one value of database$"):
        searching("9.0.0", suite=suite)

    run = searching("9.0.0", suite=suite, axes={"database": ["mariadb"]})
    run.go_on()

    assert found(run).first_slower == "9.0.0"


def test_a_search_between_two_listed_neighbours_names_no_version_in_between():
    bisect = {**BISECT, "base": "9.7.3"}
    run = Measuring({"9.8.4": 0.2}, bisect=bisect)
    run.go_on()

    sentence = "By ingest_rate 9.8.4 is the first version slower than 9.7.3 (−19.8 %, "
    assert found(run).sentence.startswith(sentence)


@pytest.mark.parametrize("field", ["base", "new"])
def test_a_search_is_among_the_versions_that_the_suite_lists(field):
    sides = {"base": "8.8.1", "new": "9.8.4", field: "9.1.0"}
    refused = rf"^bisect\.{field}: rocksdb lists no '9\.1\.0'; there are 7\.4\.4, "

    with pytest.raises(Refused, match=refused):
        between(rocksdb(), sides["base"], sides["new"], "ingest_rate", {})


def test_a_search_by_a_metric_of_several_tests_is_refused():
    suite = rocksdb()
    first, second = suite.tests
    tests = (first, second.model_copy(update={"metrics": first.metrics}))
    refused = r"^bisect\.metric: several tests of rocksdb have ingest_rate; expected "

    with pytest.raises(Refused, match=refused):
        searching(suite=suite.model_copy(update={"tests": tests}))


def test_newest_stands_for_the_newest_listed_version_of_a_search():
    bisect = {**BISECT, "new": "newest"}
    spec = resolve_request({"suite": "rocksdb", "bisect": bisect}, {"rocksdb": rocksdb()})

    assert (spec.versions, spec.bisect.versions) == (("8.8.1", "9.8.4"), tuple(VERSIONS))
    assert (spec.until, spec.baseline, spec.repetitions) == ("decided", "8.8.1", 100)


def test_a_search_may_be_among_versions_that_the_suite_does_not_list():
    among = ["1.0.0", "1.10.0", "1.2.0"]
    bisect = {"base": "1.0.0", "new": "1.10.0", "metric": "ingest_rate", "among": among}
    suites = {"rocksdb": naming(["1.0.0", "1.1.0"])}

    spec = resolve_request({"suite": "rocksdb", "bisect": bisect}, suites)

    assert spec.bisect.versions == ("1.0.0", "1.2.0", "1.10.0")


@pytest.mark.parametrize(
    ("among", "sentence"),
    [
        (["8.8.1", "9.0.0"], "bisect.new: rocksdb lists no '9.8.4'; there are 8.8.1, 9.0.0"),
        (["8.8.1", "9.8.4", "9.9.9"], "bisect.among: 9.9.9 has no release in the suite of RocksDB"),
    ],
)
def test_a_search_among_other_versions_has_both_ends_and_releases_alone(among, sentence):
    with pytest.raises(Refused, match=f"^{sentence}"):
        resolve_request(
            {"suite": "rocksdb", "bisect": {**BISECT, "among": among}}, {"rocksdb": rocksdb()}
        )
