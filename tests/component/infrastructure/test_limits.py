"""AWS accepts 20 suites with the longest names, in the region with the longest name."""

import json
import shutil
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.app import build
from tests.plans import plan_of, system_of
from tidemark.model.checkout import ROOT, written_context
from tidemark.model.suite_files import read_suites
from tidemark.run.prepare_trial import PreparedService, PreparedStep, prepare

ACCOUNT, REGION = "123456789012", "ap-northeast-1"
STACK = "T" + "x" * 63
SUITES = 20
# IAM and CloudFormation allow more, by a fifth: what is resolved here may be a little longer there.
SHARE = 0.8
PSEUDO = {
    "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws", "AWS::Region": REGION,
    "AWS::StackName": STACK, "AWS::URLSuffix": "amazonaws.com",
}  # fmt: skip
NAMES = ("ClusterName", "Family", "FunctionName", "LogGroupName")
ARNS = {
    "AWS::ECS::Cluster": ("ecs", "cluster/", 255),
    "AWS::ECS::TaskDefinition": ("ecs", "task-definition/", 255),
    "AWS::Lambda::Function": ("lambda", "function:", 64),
    "AWS::Logs::LogGroup": ("logs", "log-group:", 512),
    "AWS::SNS::Topic": ("sns", "", 256),
    "AWS::SQS::Queue": ("sqs", "", 80),
    "AWS::Scheduler::Schedule": ("scheduler", "schedule/default/", 64),
    "AWS::StepFunctions::StateMachine": ("states", "stateMachine:", 80),
}
"""The service, the beginning of the resource and the longest name of what has an ARN."""
NAMED = {
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::ECS::Cluster": ("ClusterName", 255),
    "AWS::ECS::TaskDefinition": ("Family", 255),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::Logs::QueryDefinition": ("Name", 255),
    "AWS::QuickSight::DataSet": ("DataSetId", 512),
    "AWS::QuickSight::Dashboard": ("Name", 2048),
}
"""The property that names a thing, and the most characters that its service accepts."""
REFERENCES_ARE_ARNS = {
    "AWS::ECS::TaskDefinition", "AWS::SNS::Topic", "AWS::StepFunctions::StateMachine",
}  # fmt: skip


class Resolver:
    """The intrinsic functions of a template, with values of the greatest length."""

    def __init__(self, template):
        self.template, self.resources = template, template["Resources"]

    def __call__(self, value):
        if isinstance(value, list):
            return [self(each) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name == "Ref" or name.startswith("Fn::"):
                return self.intrinsic(name, argument)
        return {name: self(each) for name, each in value.items()}

    def intrinsic(self, name, argument):
        match name:
            case "Ref":
                return self.reference(argument)
            case "Fn::GetAtt":
                return self.attribute(*argument)
            case "Fn::Join":
                return argument[0].join(self(argument[1]))
            case "Fn::ImportValue":
                return f"arn:aws:s3:::{'b' * 63}"
            case "Fn::Sub":
                return argument
        raise AssertionError(name)

    def reference(self, logical):
        if logical in PSEUDO:
            return PSEUDO[logical]
        kind = self.resources[logical]["Type"]
        if kind.startswith("AWS::EC2::"):
            return f"{kind[10:].lower()}-{'0' * 17}"
        return self.arn(logical) if kind in REFERENCES_ARE_ARNS else self.name(logical)

    def attribute(self, logical, attribute):
        kind = self.resources[logical]["Type"]
        if attribute == "GroupId":
            return self.reference(logical)
        if attribute == "Name":
            return self.name(logical)[:80]
        if kind == "AWS::IAM::Role":
            return f"arn:aws:iam::{ACCOUNT}:role/{self.name(logical)[:64]}"
        return self.arn(logical)

    def name(self, logical):
        properties = self.resources[logical].get("Properties", {})
        given = [properties[name] for name in NAMES if name in properties]
        return self(given[0]) if given else f"{STACK}-{logical}-{'X' * 12}"

    def arn(self, logical):
        kind = self.resources[logical]["Type"]
        service, resource, longest = ARNS[kind]
        revision = {"AWS::ECS::TaskDefinition": ":1000", "AWS::Logs::LogGroup": ":*"}.get(kind, "")
        name = self.name(logical)[:longest]
        return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}{name}{revision}"

    def of(self, kind):
        found = (each["Properties"] for each in self.resources.values() if each["Type"] == kind)
        return list(found)


def longest_names(folder, suites):
    """Write the shipped suites into a folder, and copies with the longest names."""
    (folder / "workloads").symlink_to(ROOT / "workloads")
    shutil.copytree(ROOT / "suites", folder / "suites")
    shipped = sorted(read_suites())
    for number in range(suites - len(shipped)):
        name = shipped[number % len(shipped)]
        copy = f"{name}_{number}_{'x' * 32}"[:32]
        path = folder / "suites" / copy / "suite.yaml"
        shutil.copytree(folder / "suites" / name, path.parent)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"name: {name}\n", f"name: {copy}\n", 1), encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return the template of 20 suites."""
    systems = longest_names(tmp_path_factory.mktemp("systems"), SUITES)
    out = tmp_path_factory.mktemp("assembly")
    context = {"systems": systems, "stackName": STACK, "reports": True, "dashboard": True}
    context["reportsPrincipal"] = "arn:aws:quicksight:us-east-1:123456789012:group/default/All"
    app = App(outdir=str(out), context=written_context() | context)
    build(app)
    app.synth()
    return Path(out, f"{STACK}.template.json")


@pytest.fixture(scope="module")
def resolver(file):
    return Resolver(json.loads(file.read_text(encoding="utf-8")))


def test_the_template_is_smaller_than_cloudformation_accepts(file, resolver):
    assert file.stat().st_size <= 900_000
    # The CDK refuses more.
    assert len(resolver.resources) <= 500
    assert len(resolver.template["Outputs"]) <= 200 * SHARE


def test_the_environment_of_a_function_fits_into_4_kb(resolver):
    for function in resolver.of("AWS::Lambda::Function"):
        variables = resolver(function["Environment"]["Variables"])
        assert sum(len(name) + len(value) for name, value in variables.items()) <= 4096 * SHARE


def test_the_policies_of_a_role_are_shorter_than_iam_accepts(resolver):
    sizes = {}
    for policy in resolver.of("AWS::IAM::Policy"):
        document = json.dumps(resolver(policy["PolicyDocument"]), separators=(",", ":"))
        for role in policy["Roles"]:
            sizes[role["Ref"]] = sizes.get(role["Ref"], 0) + len(document)

    assert max(sizes.values()) <= 10_240 * SHARE


def test_a_policy_of_people_is_shorter_than_iam_accepts(resolver):
    # IAM counts no blanks.
    sizes = [
        len(json.dumps(resolver(policy["PolicyDocument"]), separators=(",", ":")))
        for policy in resolver.of("AWS::IAM::ManagedPolicy")
        # CDK itself makes another one of what is too long for an inline policy.
        if policy["Description"].startswith("Tidemark: ")
    ]

    assert len(sizes) == 4
    assert max(sizes) <= 6_144 * SHARE


def test_each_name_is_shorter_than_its_service_accepts(resolver):
    """Hold names that the template gives; CloudFormation cuts the others itself."""
    for kind, (member, longest) in NAMED.items():
        names = [resolver(each[member]) for each in resolver.of(kind) if member in each]
        assert all(len(name) <= longest * SHARE for name in names), kind
    for output in resolver.template["Outputs"].values():
        assert len(output.get("Description", "")) <= 1024 * SHARE


def test_the_definition_of_a_state_machine_is_smaller_than_1_mb(resolver):
    for machine in resolver.of("AWS::StepFunctions::StateMachine"):
        given = resolver(machine["DefinitionSubstitutions"])
        assert len(machine["DefinitionString"]) + len(json.dumps(given)) <= 2**20 * SHARE


def overrides(suite):
    """Yield the overrides of each task of a default run's first trial, as the state has them."""
    plan = plan_of({"suite": suite.name}, suite=suite)
    prepared = prepare(plan, plan.trials[:1], system_of(suite.name, services=dict.fromkeys(
        suite.services, "arn"
    )), "b" * 63)  # fmt: skip
    for test in prepared.tests:
        hosts = [
            {"Name": f"TIDEMARK_{step.name.upper()}", "Value": "255.255.255.255"}
            for step in test.steps
            if isinstance(step, PreparedService)
        ]
        of_task = [
            {"Name": "TIDEMARK_DEADLINE_SECONDS", "Value": "9" * 6},
            {"Name": "TIDEMARK_TASK", "Value": "999"},
            {"Name": "TIDEMARK_ARTEFACTS", "Value": f"{test.artefacts}999/"},
        ]
        for step in test.steps:
            if isinstance(step, PreparedService | PreparedStep):
                more = step.environment if isinstance(step, PreparedService) else of_task
                yield {
                    "ContainerOverrides": [
                        {
                            "Name": suite.name,
                            "Command": list(step.command),
                            "Environment": [*test.environment, *hosts, *more],
                        }
                    ]
                }


@pytest.mark.parametrize("name", sorted(read_suites()))
def test_what_a_task_is_given_fits_into_the_overrides_of_run_task(name):
    suite = read_suites()[name].model_copy(update={"name": f"{name}_{'x' * 32}"[:32]})
    sizes = [len(json.dumps(each)) for each in overrides(suite)]

    assert sizes
    assert max(sizes) <= 8192 * SHARE
