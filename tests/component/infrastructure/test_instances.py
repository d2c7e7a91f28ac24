"""The permissions to read the properties of instances in the synthesised template."""

import json

import pytest
from aws_cdk import App

from cdk.app import build
from tests.component.infrastructure.granted import granted
from tidemark.model.refusal import Refused

CONDITION = {"StringEquals": {"s3:ResourceAccount": {"Ref": "AWS::AccountId"}}}


def readers(template):
    """Return the resources that each policy allows to read in the own account, by its roles."""
    return {
        role: each["Resource"]
        for role, each in granted(template)
        if each["Action"] == "s3:GetObject" and each.get("Condition") == CONDITION
    }


def test_three_functions_may_read_the_properties_of_instances_and_nothing_else(
    everything, template
):
    found = readers(everything)

    functions = ("CollectRates", "PlanRun", "PrepareTrial")
    assert sorted(found) == [
        role for role in sorted(found) for name in functions if f"Functions{name}Service" in role
    ]
    assert len(found) == len(functions)
    for resources in found.values():
        newer, older = (json.dumps(each) for each in resources)
        assert ':s3:::pear-*-config-", {"Ref": "AWS::AccountId"}, "/instance.properties"' in newer
        assert ':s3:::pear-*/config"' in older
    assert readers(template) == {}


def rule_actions(template):
    """Return the actions on rules of instances, by the role that has them."""
    found = {}
    for role, each in granted(template):
        if ":rule/pear-*-nightly" in json.dumps(each["Resource"]):
            found.setdefault(role, []).append(each["Action"])
    return found


def test_one_function_may_pause_the_rules_of_instances_and_four_others_may_enable_them(
    everything, template
):
    by_function = {
        name: actions
        for role, actions in rule_actions(everything).items()
        for name in ("PauseRules", "CleanUpTrial", "RecordOutcome", "EndRun", "SweepRuns")
        if f"Functions{name}Service" in role
    }

    pausing = ["events:DescribeRule", "events:DisableRule"]
    assert by_function == {
        "PauseRules": [pausing],
        "CleanUpTrial": ["events:EnableRule"],
        "RecordOutcome": ["events:EnableRule"],
        "EndRun": ["events:EnableRule"],
        "SweepRuns": ["events:EnableRule"],
    }
    assert len(rule_actions(everything)) == len(by_function)
    assert rule_actions(template) == {}


def test_one_function_may_read_the_queues_and_clusters_of_instances_and_no_other(
    everything, template
):
    reading = [["sqs:GetQueueUrl", "sqs:GetQueueAttributes"], "ecs:DescribeClusters"]

    def found(template):
        return [
            (role, json.dumps(each["Resource"]))
            for role, each in granted(template)
            if each["Action"] in reading
        ]

    (role, queue), (other, cluster) = found(everything)
    assert role == other
    assert "FunctionsCheckConditionService" in role
    assert ':pear-*-jobs"' in queue
    assert ':cluster/pear-*-all"' in cluster
    assert found(template) == []


def test_the_output_of_such_a_suite_starts_a_run_of_an_instance(everything):
    output = everything.find_outputs("PearInput")["PearInput"]["Value"]

    assert json.loads(output)["instance"] == "my-id"
    assert json.loads(output)["versions"] == ["deployed"]


def test_a_schedule_of_instances_is_refused(systems_with_images):
    context = {"systems": systems_with_images, "schedules": {"pear": {"cron": "30 3 ? * SAT *"}}}

    with pytest.raises(Refused) as refused:
        build(App(context=context))

    assert str(refused.value) == (
        "cdk.json: context: schedules: 'pear' is not accepted: it measures instances, and a "
        "schedule names none; leave it out"
    )
