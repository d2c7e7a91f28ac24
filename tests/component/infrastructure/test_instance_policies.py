"""The policies for what instances have: each step of a run is allowed, and nothing beside it."""

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.assertions import Template
from aws_cdk.aws_iam import Role, ServicePrincipal
from cdk_nag import AwsSolutionsChecks

from cdk.instances import InstancePolicies
from onebox.cloud.policy_evaluation import Request, allowed, read_statements
from tests.unit.kiwi_instance import read_kiwi

HERE = "eu-west-2:123456789012"
PSEUDO = {"AWS::Partition": "aws", "AWS::Region": "eu-west-2", "AWS::AccountId": "123456789012"}
STATES = (
    "PlanRun", "CollectRates", "CheckCondition", "FindTasks", "EndRun", "SweepRuns", "Trial",
    "PrepareTrial",
)  # fmt: skip
CLUSTER = f"arn:aws:ecs:{HERE}:cluster/kiwi-my-id-writers"
DEFINITION = f"arn:aws:ecs:{HERE}:task-definition/kiwi-my-id-writer:7"
TASK = f"arn:aws:ecs:{HERE}:task/kiwi-my-id-writers/0a1b"
ROLE = "arn:aws:iam::123456789012:role/kiwi-my-id-WriterRole"
GROUP = f"arn:aws:logs:{HERE}:log-group:kiwi-my-id-writers:*"
INSIDE = {"ecs:cluster": CLUSTER}
THEIRS = {"ecs:cluster": f"arn:aws:ecs:{HERE}:cluster/kiwi-my-id-compact"}
AT_START = {"ecs:CreateAction": "RunTask"}
PASSED = {"iam:PassedToService": "ecs-tasks.amazonaws.com"}
STOPPING = [
    ("ecs:ListTasks", "*", INSIDE),
    ("ecs:DescribeTasks", TASK, INSIDE),
    ("ecs:StopTask", TASK, INSIDE),
]
NEEDED = {
    "PlanRun": [
        ("ecs:DescribeClusters", CLUSTER, {}),
        ("lambda:GetFunctionConfiguration", f"arn:aws:lambda:{HERE}:function:my-id-creator", {}),
        ("events:DescribeRule", f"arn:aws:events:{HERE}:rule/my-id-Nightly", {}),
        ("ecs:DescribeTaskDefinition", "*", {}),
        ("logs:DescribeLogGroups", "*", {}),
    ],
    "CollectRates": [("logs:StartQuery", GROUP, {}), *STOPPING],
    "CheckCondition": [],
    "FindTasks": [("ecs:ListTasks", "*", THEIRS), ("ecs:DescribeTasks", TASK, THEIRS)],
    "EndRun": STOPPING,
    "SweepRuns": STOPPING,
    "Trial": [
        ("ecs:RunTask", DEFINITION, INSIDE),
        ("ecs:DescribeTasks", TASK, INSIDE),
        ("ecs:StopTask", TASK, INSIDE),
        ("ecs:TagResource", TASK, AT_START),
        ("iam:PassRole", ROLE, PASSED),
    ],
    "PrepareTrial": [],
}
OTHER = {"ecs:cluster": f"arn:aws:ecs:{HERE}:cluster/other"}
DENIED = {
    "PlanRun": [("ecs:DescribeClusters", OTHER["ecs:cluster"], {})],
    "CollectRates": [
        ("logs:StartQuery", f"arn:aws:logs:{HERE}:log-group:other:*", {}),
        ("ecs:StopTask", TASK, OTHER),
        ("ecs:RunTask", DEFINITION, INSIDE),
    ],
    "FindTasks": [("ecs:DescribeTasks", TASK, INSIDE), ("ecs:StopTask", TASK, THEIRS)],
    "Trial": [
        ("ecs:RunTask", DEFINITION, OTHER),
        ("ecs:RunTask", f"arn:aws:ecs:{HERE}:task-definition/other:1", INSIDE),
        # The instance itself starts its compactors.
        ("ecs:RunTask", f"arn:aws:ecs:{HERE}:task-definition/my-idCompactor:1", INSIDE),
        ("iam:PassRole", ROLE, {"iam:PassedToService": "lambda.amazonaws.com"}),
        ("iam:PassRole", "arn:aws:iam::123456789012:role/admin", PASSED),
        ("ecs:TagResource", TASK, {"ecs:CreateAction": "CreateCluster"}),
    ],
}


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return App(outdir=str(tmp_path_factory.mktemp("assembly")))


@pytest.fixture(scope="module")
def stack(app, tmp_path_factory):
    stack = Stack(app, "S")
    roles = {
        state: Role(stack, state, assumed_by=ServicePrincipal("lambda.amazonaws.com"))
        for state in STATES
    }
    suite = read_kiwi(tmp_path_factory.mktemp("systems"))
    InstancePolicies(stack, "Instances", suites=[suite], roles=roles)
    return stack


def resolved(value):
    """Return a part of a template with an account and region in place of parameters."""
    if isinstance(value, list):
        return [resolved(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return separator.join(resolved(parts))
    return PSEUDO[value["Ref"]] if "Ref" in value else {k: resolved(v) for k, v in value.items()}


@pytest.fixture(scope="module")
def statements(stack):
    """Return the statements of each role, by the state of its function."""
    found = {state: [] for state in STATES}
    for policy in Template.from_stack(stack).find_resources("AWS::IAM::Policy").values():
        document = read_statements(resolved(policy["Properties"]["PolicyDocument"]))
        for role in policy["Properties"]["Roles"]:
            state = next(state for state in STATES if role["Ref"].startswith(state))
            found[state] += document
    return found


def request(action, resource, context):
    return Request(action, resource, frozenset(context.items()))


@pytest.mark.parametrize("state", STATES)
def test_a_state_may_do_what_its_step_needs_and_no_other_action(statements, state):
    needed = [request(*each) for each in NEEDED[state]]

    assert all(allowed(each, statements[state]) for each in needed)
    granted = {action for statement in statements[state] for action in statement.actions}
    assert granted == {each.action for each in needed}


def test_only_what_has_no_name_is_allowed_without_one(statements):
    unnamed = {
        (action, tuple(key for _, key, _ in statement.conditions))
        for listed in statements.values()
        for statement in listed
        for action in statement.actions
        if "*" in statement.resources
    }

    assert unnamed == {
        ("ecs:DescribeTaskDefinition", ()),
        ("logs:DescribeLogGroups", ()),
        ("ecs:ListTasks", ("ecs:cluster",)),
        ("ecs:DescribeTasks", ("ecs:cluster",)),
        ("ecs:StopTask", ("ecs:cluster",)),
    }


@pytest.mark.parametrize("state", DENIED)
def test_a_state_may_do_nothing_to_what_is_of_no_instance(statements, state):
    for each in DENIED[state]:
        assert not allowed(request(*each), statements[state]), each


def test_each_wildcard_is_acknowledged(app, stack):
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth(force=True)
