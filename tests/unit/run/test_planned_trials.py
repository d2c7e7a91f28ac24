from collections import Counter

from tests.plans import RUN, STARTED, plan_of, with_axes
from tidemark.model.request import resolve_request
from tidemark.model.run_id import run_id
from tidemark.model.run_spec import requirement
from tidemark.model.suite_files import read_suites

ORDER = [
    *("9.0.0", "8.8.1", "9.8.4"), *("9.8.4", "9.0.0", "8.8.1"), *("9.0.0", "9.8.4", "8.8.1"),
    *("8.8.1", "9.8.4", "9.0.0"), *("9.0.0", "9.8.4", "8.8.1"),
]  # fmt: skip


def plan(name=RUN, **request):
    return plan_of(request, name=name)


def test_each_version_is_measured_once_in_each_repetition():
    trials = plan(repetitions=4).trials

    assert Counter((trial.version, trial.repetition) for trial in trials) == Counter(
        {(version, n): 1 for version in ("8.8.1", "9.8.4") for n in (1, 2, 3, 4)}
    )
    assert [trial.trial for trial in trials] == list(range(1, 9))


def test_repetitions_follow_each_other():
    assert [trial.repetition for trial in plan(repetitions=3).trials] == [1] * 2 + [2] * 2 + [3] * 2


def test_the_order_of_versions_differs_between_runs_but_not_within_a_run():
    orders = {
        tuple(trial.version for trial in plan(f"20261120T124455Z-{n:06x}").trials)
        for n in range(20)
    }

    assert plan() == plan()
    assert len(orders) > 5


def test_each_combination_of_axes_is_measured_once_for_each_version_in_each_repetition():
    axes = {"database": ("postgresql", "mariadb"), "codec": ("lz4", "zstd")}
    under = [{"database": d, "codec": c} for d in axes["database"] for c in axes["codec"]]

    trials = plan_of({"repetitions": 2}, suite=with_axes(axes)).trials

    assert [trial.repetition for trial in trials] == [1] * 8 + [2] * 8
    # The two trials of a pair follow each other.
    assert [trial.axes for trial in trials] == [axes for axes in under for _ in range(2)] * 2
    assert {trial.version for trial in trials[:2]} == {"8.8.1", "9.8.4"}


def test_a_canary_is_measured_in_each_repetition_beside_the_versions():
    suite = read_suites()["rocksdb"].model_copy(update={"canary": "9.0.0"})

    trials = plan_of({"repetitions": 2}, suite=suite).trials
    named = plan_of({"versions": ["9.0.0", "9.8.4"], "repetitions": 2}, suite=suite)

    assert Counter((trial.version, trial.repetition) for trial in trials) == Counter(
        {(version, n): 1 for version in ("8.8.1", "9.0.0", "9.8.4") for n in (1, 2)}
    )
    assert len(named.trials) == 4
    assert named.request.most_trials == 4
    assert '"canary"' not in plan().model_dump_json()


def test_a_suite_without_axes_has_the_order_that_it_had_before_there_were_axes():
    old = plan(repetitions=5, versions=["8.8.1", "9.0.0", "9.8.4"])

    assert [trial.version for trial in old.trials] == ORDER
    assert '"axes"' not in old.model_dump_json()


def test_a_trial_knows_the_package_that_carries_its_version():
    assert plan(versions=["9.0.0"], repetitions=1).trials[0].package == "rocksdict==0.3.23"


def test_a_build_is_installed_from_its_wheel():
    wheel = f"file:///dist/rocksdict-0.4.0-cp311-abi3-any.whl#sha256={'0' * 64}"
    versions = ["9.0.0", "0.4.0+00000000"]
    trials = plan(versions=versions, builds={versions[1]: wheel}, repetitions=1).trials

    assert {trial.version: trial.package for trial in trials} == {
        "9.0.0": "rocksdict==0.3.23", "0.4.0+00000000": f"rocksdict@{wheel}",
    }  # fmt: skip


def test_a_build_has_the_companions_of_the_newest_listed_version():
    suite = read_suites()["deltalake"]
    version, wheel = "1.7.0+00000000", f"file:///x.whl#sha256={'0' * 64}"
    request = {"suite": "deltalake", "versions": [version], "builds": {version: wheel}}

    spec = resolve_request(request, {"deltalake": suite})

    assert requirement(spec, suite, version) == f"deltalake@{wheel} pyarrow==21.0.0"


def test_the_id_of_a_run_has_its_start_and_a_hash_of_its_mark():
    mark = {"suite": "rocksdb", "tasks": 1}

    assert run_id("a", STARTED).startswith("20261120T124455Z-")
    assert run_id(mark, STARTED) == run_id(dict(reversed(mark.items())), STARTED)
    assert len({run_id("a", STARTED), run_id("b", STARTED), run_id(mark, STARTED)}) == 3


def test_a_plan_has_an_estimate_of_its_run():
    assert plan(repetitions=2).estimate.usd > plan(repetitions=1).estimate.usd
