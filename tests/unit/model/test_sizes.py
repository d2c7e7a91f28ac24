"""The sizes of a service, and the bounds within which a size holds."""

import pytest
import yaml

from tests.refusals import refused
from tidemark.model.checkout import ROOT
from tidemark.model.request import resolve_request
from tidemark.model.suite_files import read_suite
from tidemark.money.capacity import VCPUS, needed
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices

KIWI = ROOT / "suites" / "kiwi"


@pytest.fixture
def written(tmp_path):
    """Return a function that reads the suite of Kiwi TCMS after a change."""

    def written(change):
        suite = yaml.safe_load((KIWI / "suite.yaml").read_text())
        change(suite)
        folder = tmp_path / "suites" / "kiwi"
        folder.mkdir(parents=True)
        for query in KIWI.glob("*.cwli"):
            (folder / query.name).symlink_to(query)
        (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
        return read_suite(folder / "suite.yaml", ROOT / "workloads")

    return written


def sizes_of(suite):
    return suite["services"]["server"]["sizes"]


def latency(suite):
    return suite["tests"][1]["metrics"][0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda suite: sizes_of(suite)["one"].update(memory=1024),
            "services.server.sizes.one.memory: 1,024 MiB are not accepted for 1024 CPU units; "
            "Fargate has 2,048, 3,072 and so on up to 8,192 MiB",
        ),
        (
            lambda suite: sizes_of(suite).update(one={"cpu": 256}),
            "services.server.sizes.one.memory: 4,096 MiB are not accepted for 256 CPU units; "
            "Fargate has 512, 1,024 and so on up to 2,048 MiB",
        ),
        (
            lambda suite: sizes_of(suite).pop("two"),
            "services.server.sizes: there are half, one; expected the values of the axis size: "
            "half, one, two",
        ),
        (
            lambda suite: latency(suite).update(holds={"p95": 100}),
            "tests.1.metrics.0.holds: p95 is not a statistic of the metric; ",
        ),
        (
            lambda suite: latency(suite).update(holds={"p99": "guests"}),
            "tests.1.metrics.0.holds.p99: the suite has no number of this name; ",
        ),
    ],
)
def test_a_size_or_bound_that_nobody_can_have_is_refused_by_name(written, change, sentence):
    assert sentence in refused(written, change)


def kiwi(**axes):
    suite = read_suite(KIWI / "suite.yaml", ROOT / "workloads")
    fields = {"suite": "kiwi", "repetitions": 1, **({"axes": axes} if axes else {})}
    return suite, resolve_request(fields, {"kiwi": suite})


def test_a_run_has_no_sizes_unless_it_names_some():
    assert kiwi()[1].axes == {"database": ("sqlite",)}
    assert kiwi(size=["one"])[1].axes == {"database": ("sqlite",), "size": ("one",)}


def test_the_cost_and_the_capacity_of_a_run_are_those_of_its_sizes():
    costs = {}
    for size in ("half", "one", "two"):
        suite, request = kiwi(size=[size])
        costs[size] = estimate(request, suite, list_prices()).tasks_usd
    of_all = estimate(*reversed(kiwi(size=["half", "one", "two"])), list_prices()).tasks_usd

    suite, request = kiwi()
    assert costs["half"] < costs["one"] < costs["two"]
    assert costs["two"] == estimate(request, suite, list_prices()).tasks_usd
    assert of_all == pytest.approx(sum(costs.values()))
    most = {size: dict(needed(*reversed(kiwi(size=[size]))))[VCPUS] for size in ("half", "two")}
    assert most == {"half": 2.5, "two": 4.0}
