"""What the deployed stacks cost while nothing is measured."""

import pytest

from cdk.idle import Unpriced, idle_charges
from suites.prices import SERVICE_PRICES


def charged(*resources):
    """Return what resources cost a month, given as a type and properties."""
    template = {
        "Resources": {
            f"R{n}": {"Type": kind, "Properties": properties}
            for n, (kind, properties) in enumerate(resources)
        }
    }
    return sum(charge.usd for charge in idle_charges([template]))


def test_every_type_of_both_stacks_has_a_price_or_a_reason_why_it_has_none(template, data):
    templates = [template.to_json(), data.to_json()]
    kinds = {r["Type"] for one in templates for r in one["Resources"].values()}

    charges = idle_charges(templates)

    assert {charge.kind for charge in charges} == kinds
    assert all(charge.reason for charge in charges)
    assert sum(charge.count for charge in charges) == sum(len(t["Resources"]) for t in templates)
    assert [charge.usd for charge in charges] == sorted((c.usd for c in charges), reverse=True)


def test_what_is_off_by_default_has_its_price_too(template, everything):
    default, all_on = (
        sum(charge.usd for charge in idle_charges([one.to_json()]))
        for one in (template, everything)
    )

    # Of the alarms, two on starts and one on the refresh of reports, that on missed starts has a
    # metric which is sent every hour. What refreshes them logs; else they cost what readers do.
    alarms = 3 * SERVICE_PRICES.alarm + SERVICE_PRICES.metric
    assert all_on - default == pytest.approx(alarms + charged(("AWS::Logs::LogGroup", {})))


def test_an_hourly_schedule_costs_what_it_invokes_and_a_daily_one_the_24th_of_it():
    hourly = charged(("AWS::Events::Rule", {"ScheduleExpression": "rate(1 hour)"}))
    daily = charged(("AWS::Events::Rule", {"ScheduleExpression": "rate(24 hours)"}))
    never = charged(("AWS::Events::Rule", {"EventPattern": {}}))

    # 730 invocations of 2 s at 0.5 GB, 1 kB of log events, 3 lists and a trace each.
    one = 2e-7 + 0.0000133334 + 1e-6 * 0.5 + 3 * 5e-6 + 5e-6
    assert hourly == pytest.approx(730 * one)
    assert (daily, never) == (pytest.approx(hourly / 24), 0)


def _insights(value):
    return {"ClusterSettings": [{"Name": "containerInsights", "Value": value}]}


def test_container_insights_cost_what_they_send_of_a_cluster_without_tasks():
    # Three metrics, and 500 bytes each minute.
    expected = 3 * 0.30 + 43_800 * 500 / 1e9 * 0.5

    assert charged(("AWS::ECS::Cluster", _insights("enabled"))) == pytest.approx(expected)
    assert charged(("AWS::ECS::Cluster", _insights("disabled"))) == 0


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        ("AWS::EC2::NatGateway", {}, "AWS::EC2::NatGateway"),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface"}, "VPC endpoint"),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 * * ? *)"}, "cron"),
        ("AWS::CloudWatch::Alarm", {"Metrics": [], "Period": 60}, "several metrics"),
        ("AWS::CloudWatch::Alarm", {"Period": 10}, "of seconds"),
        ("AWS::ECS::Cluster", _insights("enhanced"), "Insights enhanced"),
    ],
)
def test_what_has_no_price_is_an_error_that_names_it(kind, properties, named):
    with pytest.raises(Unpriced, match=f"^resources: .*{named}.* has no price"):
        charged((kind, properties))
