"""The advice of a run's report for metrics without a verdict."""

import pytest

from tests.plans import RUN, naming, plan_of, rocksdb
from tests.unit.measured_runs import measured, row, with_values
from tidemark.model.numerals import duration
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.advice import advice_on_run as advised
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun

BOTH = ("9.0.0", "9.8.4")
STEADY = [1000.0, 1001.0, 999.0, 1000.0, 1000.0]
SCATTERED = [1000.0, 1100.0, 900.0, 1000.0, 1000.0]
WILD = [1000.0, 1900.0, 100.0, 1000.0, 900.0, 1500.0, 300.0, 1000.0]


def sentence(run):
    """Return the advice without its time, cost and chance."""
    return advised(run)._replace(expected="").sentence


def run_of(*rates, versions=BOTH, trials=None, suite=None, **more):
    """Return a run with these rates of both tests, by version and repetition."""
    fields = {"versions": list(versions), "repetitions": len(rates[0]), "tasks": 1, **more}
    plan = plan_of(fields, suite=suite)
    recorded = [
        with_values(with_values(trial, "ingest", [rate]), "compaction", [rate])
        for trial in measured(plan)[:trials]
        for rate in [rates[versions.index(trial.version)][trial.repetition - 1]]
    ]
    return measured_run(StoredRun(plan, recorded, NO_EXCLUSIONS, []))


def test_a_run_with_too_few_pairs_is_measured_again_with_five_repetitions():
    run = run_of([1000.0], [1000.0])

    command = "tidemark run rocksdb --versions 9.0.0,9.8.4 --repetitions 5"
    assert sentence(run) == f"Measure again, with about 5 repetitions: {command}"
    assert f"5 repetitions:\n\n```sh\n{command}\n```\n" in markdown(report(run))


def test_pairs_that_scatter_have_the_number_of_repetitions_that_tells():
    text = sentence(run_of(SCATTERED, [1060.0, 1000.0, 990.0, 1000.0, 1010.0]))

    assert text.startswith("Measure again, with about 30 repetitions: ")
    assert text.endswith(" --repetitions 30")


def test_no_more_repetitions_are_advised_than_a_run_has_room_for():
    suite = rocksdb()
    many = {"values": "any", "values_at_most": 9_999}
    tests = [
        test.model_copy(
            update={"metrics": tuple(each.model_copy(update=many) for each in test.metrics[:1])}
        )
        for test in suite.tests
    ]
    room = suite.model_copy(update={"tests": tuple(tests)})
    text = sentence(run_of(SCATTERED, [1060.0, 1000.0, 990.0, 1000.0, 1010.0], suite=room))

    assert text.endswith(" --repetitions 24")


@pytest.mark.parametrize(("rates", "recorded"), [(WILD, 2 * len(WILD)), (STEADY, 8)])
def test_a_run_whose_time_was_over_is_measured_again_without_that_limit(rates, recorded):
    run = run_of(rates, rates[::-1], until="decided", within_seconds=60, trials=recorded)

    text = sentence(run)
    assert text.startswith("Measure again, ")
    assert " --baseline 9.0.0 --until decided --repetitions " in text


def in_turns():
    """Return the suite of RocksDB with one metric a test, in rounds."""
    suite = rocksdb()
    tests = tuple(test.model_copy(update={"slices": 5}) for test in suite.tests)
    defaults = suite.defaults.model_copy(update={"layout": "rounds"})
    return suite.model_copy(update={"tests": tests, "defaults": defaults})


def test_a_run_in_another_layout_than_that_of_its_suite_is_measured_again_in_it():
    in_trials = run_of([1000.0], [1000.0], suite=in_turns(), layout="trials")
    in_rounds = run_of([1000.0], [1000.0], suite=in_turns())

    assert sentence(in_trials).endswith(" --repetitions 5 --layout trials")
    assert sentence(in_rounds).endswith(" --repetitions 5")


def test_slowed_versions_whose_changes_are_known_are_not_measured_again():
    fields = {"versions": ["9.8.4"], "slowed": [0], "repetitions": 1}
    plan = plan_of(fields, suite=in_turns())

    assert advised(measured_run(StoredRun(plan, measured(plan), NO_EXCLUSIONS, []))) is None


def test_longer_tests_are_the_advice_if_no_number_of_repetitions_tells():
    text = sentence(run_of(WILD, WILD[::-1]))

    assert " and records 2,000,000, because 100 repetitions of such short tests would give" in text
    assert text.endswith("--set records=2000000")


def test_only_the_parameter_that_the_time_of_an_undecided_test_grows_with_is_multiplied():
    suite = rocksdb()
    ingest, compaction = suite.tests
    tests = (ingest, compaction.model_copy(update={"per": {"tasks": 1}}))
    plan = plan_of(
        {"versions": list(BOTH), "repetitions": len(WILD), "tasks": 1},
        suite=suite.model_copy(update={"tests": tests}),
    )
    trials = [
        with_values(
            with_values(trial, "ingest", [rates[trial.repetition - 1]]), "compaction", [1.0]
        )
        for trial in measured(plan)
        for rates in [WILD if trial.version == BOTH[0] else WILD[::-1]]
    ]

    advice = advised(measured_run(StoredRun(plan, trials, NO_EXCLUSIONS, [])))

    assert advice.text.endswith("--set records=2000000")
    assert "tasks" not in advice.text
    # A trial takes 11 s, 5 of them for ingest, which takes 10 times as long.
    seconds = 2 * len(WILD) * (11 + 9 * 5)
    assert f"It takes about {duration(seconds)} of tests" in advice.expected


def test_rounds_at_once_take_the_time_of_one():
    both = STEADY[:2], STEADY[:2]
    one, two = (advised(run_of(*both, suite=in_turns(), parallel=each)) for each in (1, 2))

    # A version takes 11 s of each round; both take turns in five rounds.
    assert one.expected.startswith(f"It takes about {duration(5 * 11)} of tests")
    assert two.expected.startswith(f"It takes about {duration(28)} of tests")


def test_a_run_until_decided_is_repeated_until_decided():
    text = sentence(run_of(WILD, WILD[::-1], trials=2 * len(WILD), until="decided"))

    assert " --versions 9.0.0,9.8.4 --baseline 9.0.0 --until decided --repetitions 8 " in text


def test_missing_trials_come_first():
    run = run_of(STEADY, STEADY, trials=4)

    assert advised(run)[:2] == ("Measure the missing trials", f"tidemark run --resume {RUN}")


def test_a_run_whose_metrics_are_all_the_same_has_no_advice():
    assert advised(run_of(STEADY, STEADY)) is None


def test_a_run_of_one_version_is_advised_to_measure_the_version_before_beside_it():
    words, command, _ = advised(run_of(STEADY, versions=BOTH[1:]))

    assert words.startswith("9.8.4 has nothing to be compared with.")
    assert command.startswith("tidemark run rocksdb --versions 9.7.3,9.8.4 --repetitions 5")


def test_verdicts_of_a_run_with_a_baseline_are_against_it_in_table_and_advice():
    # The older version is faster than the baseline, which is the newest.
    run = run_of([1100.0, 1101.0, 1099.0, 1100.0, 1100.0], STEADY, baseline="9.8.4")
    text = markdown(report(run))

    assert text.splitlines()[2].startswith("9.0.0 against 9.8.4: ▲ 2 faster")
    assert "- ▲ faster: ingest_rate, +10.00 % (" in text
    assert "| Version | Rate | ± spread | Δ to 9.8.4 | Verdict |" in text
    section = text.partition("ingest_rate in records/s by version")[2].partition("**Every")[0]
    assert row(section, "9.0.0")[3] == "+10.00 %"
    assert row(section, "9.8.4")[3:5] == ["baseline", "nothing to compare"]


def test_each_version_of_a_run_with_a_baseline_is_compared_with_it():
    rates = (STEADY, [each * 0.8 for each in STEADY], [each * 0.81 for each in STEADY])
    run = run_of(*rates, versions=("8.8.1", "9.0.0", "9.8.4"), baseline="8.8.1")

    told = markdown(report(run)).partition("## Results")[0]
    assert told.splitlines()[2].startswith("Each version against 8.8.1: ▼ 4 slower")
    assert "9.8.4 against 8.8.1, −19.0" in told
    assert "against 9.0.0" not in told


def test_a_change_that_no_new_pairs_confirm_is_measured_until_decided():
    slower = [each * 0.8 for each in STEADY]
    command = "tidemark run rocksdb --versions 9.0.0,9.8.4 --baseline 9.0.0 --until decided"

    assert sentence(run_of(STEADY, slower)) == (
        "No new pairs have confirmed the change of ingest_rate, compaction_rate. These would: "
        f"{command}"
    )


SLOWER = [each * 0.8 for each in STEADY]
STILL_SLOWER = [each * 0.6 for each in STEADY]
RUN_OF = "tidemark run rocksdb --versions"


def test_a_change_is_confirmed_against_its_own_base():
    run = run_of(STEADY, STEADY, SLOWER, versions=("8.8.1", "9.0.0", "9.8.4"))

    assert sentence(run).endswith(
        f" These would: {RUN_OF} 9.0.0,9.8.4 --baseline 9.0.0 --until decided"
    )


def test_changes_against_several_bases_have_a_command_each():
    run = run_of(STEADY, SLOWER, STILL_SLOWER, versions=("8.8.1", "9.0.0", "9.8.4"))

    assert sentence(run).endswith(
        f" These would: {RUN_OF} 8.8.1,9.0.0 --baseline 8.8.1 --until decided; "
        f"{RUN_OF} 9.0.0,9.8.4 --baseline 9.0.0 --until decided"
    )


def test_changes_against_one_baseline_have_one_command():
    versions = ("8.8.1", "9.0.0", "9.8.4")
    run = run_of(STEADY, SLOWER, STILL_SLOWER, versions=versions, baseline="8.8.1")

    assert sentence(run).endswith(
        f" These would: {RUN_OF} 8.8.1,9.0.0,9.8.4 --baseline 8.8.1 --until decided"
    )


@pytest.mark.parametrize("versions", [("topic", "main"), ("9.8.4+1a2b3c4d", "9.8.4+5e6f7a8b")])
def test_the_advice_for_versions_of_unknown_order_names_their_base(versions):
    base, version = versions

    assert sentence(run_of(STEADY, SLOWER, versions=versions, suite=naming(versions))).endswith(
        f" These would: {RUN_OF} {base},{version} --baseline {base} --until decided"
    )


@pytest.mark.parametrize(
    "versions", [("topic", "main"), ("9.8.4+f", "9.8.4+0"), ("main", "9.8.4"), ("1.0", "main")]
)
def test_versions_of_unknown_order_are_compared_as_named_and_the_report_says_so(versions):
    run = run_of(STEADY, SLOWER, versions=versions, suite=naming(versions))
    sentence = (
        f"The order of {', '.join(versions)} is not known: each is compared with the one named "
        "before it."
    )

    assert run.plan.ascending == versions
    assert run.plan.bases == {versions[1]: versions[0]}
    assert sentence in markdown(report(run))


def test_a_report_says_nothing_of_an_order_that_is_known_or_needs_none():
    assert "The order of" not in markdown(report(run_of(STEADY, SLOWER)))
    versions = ("topic", "main")
    run = run_of(STEADY, SLOWER, versions=versions, suite=naming(versions), baseline="main")
    assert "The order of" not in markdown(report(run))


def test_a_report_names_the_pair_that_is_off_and_judges_the_others():
    base = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 1000.0] * 2
    new = [0.8 * rate for rate in base]
    new[6] = 2000.0

    run = run_of(base, [rate * (1 + 0.01 * (-1) ** place) for place, rate in enumerate(new)])

    told = "▼ slower (without the pair of repetition 7, far from all others)"
    assert told in markdown(report(run))
