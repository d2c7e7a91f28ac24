"""The cost of the deployed stacks while nothing is measured."""

import pytest

from tidemark.money.idle import Unpriced, idle_charges
from tidemark.money.prices import SERVICE_PRICES


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


def test_resources_that_are_off_by_default_have_a_price_too(template, everything):
    default, all_on = (
        sum(charge.usd for charge in idle_charges([each.to_json()]))
        for each in (template, everything)
    )

    # Two alarms watch starts and one watches the refresh of reports. Missed starts are a metric
    # that is sent every hour. The refresh has a log group; reports cost nothing without readers. A
    # suite of images, one with services and one of instances have an alarm and a log group each, as
    # every suite has.
    alarms = 6 * SERVICE_PRICES.alarm + SERVICE_PRICES.metric
    logs = 4 * monthly_usd(("AWS::Logs::LogGroup", {}))
    assert all_on - default == pytest.approx(alarms + logs)


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
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface"}, "VPC endpoint"),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 * * ? *)"}, "cron"),
        ("AWS::CloudWatch::Alarm", {"Metrics": [], "Period": 60}, "several metrics"),
        ("AWS::CloudWatch::Alarm", {"Period": 10}, "of seconds"),
        ("AWS::ECS::Cluster", _insights("enhanced"), "Insights enhanced"),
    ],
)
def test_a_resource_without_a_price_is_an_error_that_names_it(kind, properties, excerpt):
    with pytest.raises(Unpriced, match=f"^resources: .*{excerpt}.* has no price"):
        monthly_usd((kind, properties))
