"""The cost of the deployed stacks while nothing is measured."""

import re

import pytest

from tidemark.dashboard.data_sets import DATA_SETS, read_data_set
from tidemark.model.checkout import ROOT
from tidemark.model.request import example_input, resolve_request
from tidemark.model.suite_files import read_suites
from tidemark.money.estimate import SAVED_QUERIES, TABLES_READ, estimate
from tidemark.money.idle import Unpriced, idle_charges
from tidemark.money.prices import SERVICE_PRICES, list_prices


def monthly_usd(*resources):
    """Return the monthly cost of resources, each a type and its properties."""
    template = {
        "Resources": {
            f"R{n}": {"Type": kind, "Properties": properties}
            for n, (kind, properties) in enumerate(resources)
        }
    }
    return sum(charge.usd for charge in idle_charges([template]))


def test_every_type_of_both_stacks_has_a_price_or_a_reason_why_it_has_none(template, data):
    templates = [template.to_json(), data.to_json()]
    kinds = {r["Type"] for each in templates for r in each["Resources"].values()}

    charges = idle_charges(templates)

    assert {charge.kind for charge in charges} == kinds
    assert all(charge.reason for charge in charges)
    assert sum(charge.count for charge in charges) == sum(len(t["Resources"]) for t in templates)
    assert [charge.usd for charge in charges] == sorted((c.usd for c in charges), reverse=True)


def built_images(template):
    return sum(
        "container-assets" in str(container["Image"])
        for each in template.find_resources("AWS::ECS::TaskDefinition").values()
        for container in each["Properties"]["ContainerDefinitions"]
    )


def test_resources_that_are_off_by_default_have_a_price_too(template, everything):
    default, all_on = (
        sum(charge.usd for charge in idle_charges([each.to_json()]))
        for each in (template, everything)
    )

    # Two alarms watch starts and one watches the refresh of reports. Missed starts are a metric
    # that is sent every hour. The refresh has a log group; reports cost nothing without readers. A
    # suite of images, one with services and one of instances have an alarm and a log group each, as
    # every suite has, and images of 0.15 GB.
    alarms = 6 * SERVICE_PRICES.alarm + SERVICE_PRICES.metric
    logs = 4 * monthly_usd(("AWS::Logs::LogGroup", {}))
    images = (built_images(everything) - built_images(template)) * 0.15 * 0.10
    assert images > 0
    assert all_on - default == pytest.approx(alarms + logs + images + SERVICE_PRICES.dashboard)


def estimated(**fields):
    suite = read_suites()["rocksdb"]
    request = resolve_request({**example_input(suite), **fields}, {suite.name: suite})
    return estimate(request, suite, list_prices())


def run_usd(**fields):
    return estimated(**fields).usd


def idle_usd(*templates):
    return sum(charge.usd for charge in idle_charges(templates))


def without_other_suites(template):
    """Return a template without what belongs to one suite, but for RocksDB's."""
    others = [name for name in read_suites() if name != "rocksdb"]
    theirs = (
        *(f"SystemTests{name.capitalize()}" for name in others),
        *(f"Alarms{name}runfailed" for name in others),
    )
    resources = template["Resources"].items()
    return {"Resources": {name: part for name, part in resources if not name.startswith(theirs)}}


def test_the_table_of_the_cost_page_is_computed_from_templates_and_unit_prices(template, data):
    both = template.to_json(), data.to_json()
    idle, run, weeks = idle_usd(*both), run_usd(), 365 / 7 / 12
    # Each of 200 runs is read, and each of 8 suites is listed.
    table = 8 * SERVICE_PRICES.listing + 200 * SERVICE_PRICES.reading
    expected = {
        "a month without runs": idle,
        "the same with `dashboard`": idle + 3.00,
        "the same with `privateNetwork`, in two zones": idle + 3 * 2 * 730 * 0.01,
        "the same with RocksDB alone (`suites`)": idle_usd(without_other_suites(both[0]), both[1]),
        "a default run of RocksDB": run,
        "a month with such a run each week": idle + weeks * run,
        "a month with such a run each hour": idle + 730 * run,
        "a run of 110 tasks, 5 times for two versions": run_usd(
            tasks=110, repetitions=5, versions=["9.0.0", "9.8.4"]
        ),
        "each saved query once, over 200 runs of 8 suites": SAVED_QUERIES * 10e6 / 1e12 * 5
        + TABLES_READ * table,
        "the same objects, read once for each data set of QuickSight": table
        * sum(len(read_data_set(name).tables) for name in DATA_SETS),
    }
    rows = [
        f"| {what} | {usd:,.2f} |" if usd >= 0.01 else f"| {what} | {usd:.4f} |"
        for what, usd in expected.items()
    ]

    page = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if re.search(r"\| [\d,.]+ \|$", line)] == rows


def words(page):
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


def test_the_figures_in_sentences_are_computed_from_templates_and_unit_prices(template, data):
    charges = idle_charges([template.to_json(), data.to_json()])
    idle = sum(charge.usd for charge in charges)
    (insights,) = (each.usd for each in charges if each.kind == "AWS::ECS::Cluster")
    default, minutes = estimated(), {3: "three", 4: "four", 5: "five", 6: "six"}
    trial = run_usd(versions=["9.8.4"], repetitions=1, records=1_000_000)

    for sentence in (
        f"the stacks cost **{idle:.2f} USD** a month",
        f"Container Insights costs {insights:.1f} USD of this",
        f"A default run of RocksDB costs **{default.usd:.2f} USD** at most and takes "
        f"{minutes[round(default.seconds / 60)]} minutes",
    ):
        assert sentence in words("cost.md")
    assert f"It costs {3 * 2 * 730 * 0.01:.1f} USD a month in two zones" in words("deploy.md")
    assert f"It costs {insights:.1f} USD a month idle" in words("deploy.md")
    assert f"The trial costs about {trial:.2f} USD" in words("first-account.md")
    assert idle / 730 < 0.02


def test_an_idle_deployment_costs_two_dollars_a_month_at_most(template, data):
    charges = idle_charges([template.to_json(), data.to_json()])

    assert sum(charge.usd for charge in charges) <= 2


def test_an_interface_endpoint_costs_each_of_its_zones():
    interface = {"VpcEndpointType": "Interface", "SubnetIds": ["a", "b"]}

    assert monthly_usd(("AWS::EC2::VPCEndpoint", interface)) == pytest.approx(2 * 730 * 0.01)
    assert monthly_usd(("AWS::EC2::VPCEndpoint", {"RouteTableIds": ["a"]})) == 0


def test_an_hourly_rule_costs_its_invocations_and_a_daily_rule_costs_a_24th_of_that():
    hourly = monthly_usd(("AWS::Events::Rule", {"ScheduleExpression": "rate(1 hour)"}))
    daily = monthly_usd(("AWS::Events::Rule", {"ScheduleExpression": "rate(24 hours)"}))
    never = monthly_usd(("AWS::Events::Rule", {"EventPattern": {}}))

    # 730 invocations of 2 s at 2.25 GB, 1 kB of log events, 3 lists and a trace each.
    invocation = 2e-7 + 2 * 2.25 * 0.0000133334 + 1e-6 * 0.5 + 3 * 5e-6 + 5e-6
    assert hourly == pytest.approx(730 * invocation)
    assert (daily, never) == (pytest.approx(hourly / 24), 0)


def _insights(value):
    return {"ClusterSettings": [{"Name": "containerInsights", "Value": value}]}


def test_container_insights_cost_their_metrics_and_logs_of_a_cluster_without_tasks():
    # Three metrics, and 500 bytes each minute.
    expected = 3 * 0.30 + 43_800 * 500 / 1e9 * 0.5

    assert monthly_usd(("AWS::ECS::Cluster", _insights("enabled"))) == pytest.approx(expected)
    assert monthly_usd(("AWS::ECS::Cluster", _insights("disabled"))) == 0


@pytest.mark.parametrize(
    ("kind", "properties", "excerpt"),
    [
        ("AWS::EC2::NatGateway", {}, "AWS::EC2::NatGateway"),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Resource"}, "VPC endpoint of the type Re"),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 * * ? *)"}, "cron"),
        ("AWS::CloudWatch::Alarm", {"Metrics": [], "Period": 60}, "several metrics"),
        ("AWS::CloudWatch::Alarm", {"Period": 10}, "of seconds"),
        ("AWS::ECS::Cluster", _insights("enhanced"), "Insights enhanced"),
    ],
)
def test_a_resource_without_a_price_is_an_error_that_names_it(kind, properties, excerpt):
    with pytest.raises(Unpriced, match=f"^resources: .*{excerpt}.* has no price"):
        monthly_usd((kind, properties))
