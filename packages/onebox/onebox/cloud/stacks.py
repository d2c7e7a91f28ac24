"""CloudFormation on one machine: moto's, with types, errors and expiry of objects that it lacks.

A cloud starts from its templates: it creates stacks, also by the change sets with which the CDK CLI
creates them, and neither changes nor deletes a stack.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import CloudFormationError
from moto.cloudformation.models import (
    ChangeSet,
    CloudFormationBackend,
    Stack,
    cloudformation_backends,
)
from moto.cloudformation.parsing import ResourceMap
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.common_models import CloudFormationModel
from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.iam.access_control import PermissionResult
from moto.logs.models import LogGroup
from moto.s3.models import FakeBucket

from onebox.app import ACCOUNT, REGION
from onebox.cloud import (
    alarms,
    resource_types,  # noqa: F401 (moto finds its classes)
)
from onebox.cloud.replacements import Replacements, refuse_unknown
from onebox.cloud.resource_types import invalid

_RULE = {"AbortIncompleteMultipartUpload", "ExpirationInDays", "Id", "Prefix", "Status"}
# One machine keeps no old versions of objects.
_OF_VERSIONS = {"ExpiredObjectDeleteMarker", "NoncurrentVersionExpiration"}

Rules = Iterable[Mapping[str, Any]]


def expire(bucket: FakeBucket, rules: Rules, now: datetime) -> None:
    """Delete the objects of a bucket that have expired by the rules of a template.

    ``now`` is in UTC, without a zone. Raise ValidationError for an unsupported property.
    """
    for rule in rules:
        refuse_unknown("A rule of AWS::S3::Bucket", rule, _RULE | _OF_VERSIONS, invalid)
        if rule["Status"] == "Enabled" and "ExpirationInDays" in rule:
            days = timedelta(days=int(rule["ExpirationInDays"]))
            for key in list(bucket.keys.values()):
                due = key.last_modified + days
                if key.name.startswith(rule.get("Prefix", "")) and due.date() < now.date():
                    bucket.keys.pop(key.name)


def _expire_objects(replacements: Replacements) -> None:
    """Make moto's buckets honour the lifecycle rules of their templates."""

    def create(_: type, /, name: str, template: Any, *place: str, **more: Any) -> FakeBucket:  # noqa: ANN401
        bucket: FakeBucket = original(name, template, *place, **more)
        lifecycle = template["Properties"].get("LifecycleConfiguration", {})
        expire(bucket, lifecycle.get("Rules", ()), utcnow())
        return bucket

    original = replacements.set(FakeBucket, "create_from_cloudformation_json", classmethod(create))


# moto stores these values, and the type's own API shows them. No packet passes this network.
_KEPT: Mapping[str, Collection[str]] = {
    "AWS::CloudWatch::Dashboard": {"DashboardBody", "DashboardName"},
    "AWS::EC2::InternetGateway": {"Tags"},
    "AWS::EC2::Route": {"DestinationCidrBlock", "GatewayId", "RouteTableId"},
    "AWS::EC2::RouteTable": {"Tags", "VpcId"},
    "AWS::EC2::SecurityGroup": {"GroupDescription", "SecurityGroupEgress", "Tags", "VpcId"},
    "AWS::EC2::Subnet": {"AvailabilityZone", "CidrBlock", "MapPublicIpOnLaunch", "Tags", "VpcId"},
    "AWS::EC2::SubnetRouteTableAssociation": {"RouteTableId", "SubnetId"},
    "AWS::EC2::VPC": {
        "CidrBlock", "EnableDnsHostnames", "EnableDnsSupport", "InstanceTenancy", "Tags",
    },
    "AWS::EC2::VPCEndpoint": {"RouteTableIds", "ServiceName", "Tags", "VpcEndpointType", "VpcId"},
    "AWS::EC2::VPCGatewayAttachment": {"InternetGatewayId", "VpcId"},
    "AWS::ECS::Cluster": {"ClusterName", "ClusterSettings"},
    "AWS::Events::Rule": {
        "Description", "EventBusName", "EventPattern", "Name", "ScheduleExpression", "State",
        "Tags", "Targets",
    },
    "AWS::IAM::ManagedPolicy": {"Description", "Path", "PolicyDocument"},
    "AWS::IAM::Policy": {"PolicyDocument", "PolicyName", "Roles"},
    "AWS::IAM::Role": {"AssumeRolePolicyDocument", "PermissionsBoundary", "RoleName", "Tags"},
    "AWS::Lambda::Permission": {
        "Action", "FunctionName", "Principal", "SourceAccount", "SourceArn",
    },
    "AWS::Logs::LogGroup": {"LogGroupName", "RetentionInDays", "Tags"},
    "AWS::S3::Bucket": {"BucketEncryption", "LifecycleConfiguration", "Tags"},
    "AWS::SNS::Topic": {"TopicName"},
    "AWS::SQS::Queue": {"MessageRetentionPeriod", "QueueName", "SqsManagedSseEnabled", "Tags"},
    "AWS::StepFunctions::StateMachine": {
        "DefinitionString", "DefinitionSubstitutions", "LoggingConfiguration", "RoleArn",
        "StateMachineName", "StateMachineType", "Tags", "TracingConfiguration",
    },
}  # fmt: skip

# These properties have no effect on one machine.
_IDLE: Mapping[str, Collection[str]] = {
    "AWS::CloudWatch::Dashboard": {"Tags"},  # no bill
    "AWS::ECS::Cluster": {"Tags"},
    # Nothing here is public, and no command reads old versions of objects, which are not kept.
    "AWS::S3::Bucket": {"PublicAccessBlockConfiguration", "VersioningConfiguration"},
    "AWS::SNS::Topic": {"Tags"},
}


def check_properties(kind: str, properties: Mapping[str, Any]) -> None:
    """Refuse, by name, a property of one of moto's types that has no effect."""
    if kind in _KEPT:
        refuse_unknown(kind, properties, {*_KEPT[kind], *_IDLE.get(kind, ())}, invalid)


_FAILED = "ROLLBACK_FAILED"


def install() -> Replacements:
    """Make stacks with unsupported types fail, and give buckets stable names."""
    replacements = Replacements()
    _refuse_unsupported(replacements)
    _leave_out(replacements)
    _keep_names(replacements)
    _follow_policies(replacements)
    _find_templates(replacements)
    _read_json(replacements)
    _create_by_change_sets(replacements)
    replacements.set(CloudFormationResponse, "update_termination_protection", _protect)
    replacements.refuse(CloudFormationResponse, ("delete_stack", "update_stack"))
    alarms.replace_methods(replacements)
    _expire_objects(replacements)
    return replacements


def _refuse_unsupported(replacements: Replacements) -> None:
    """Make a stack fail for each part that moto would leave out."""
    class_of = parsing.resource_class_from_type

    def known_class(resource_type: str) -> type[CloudFormationModel]:
        # moto only warns and reports CREATE_COMPLETE.
        if resource_type.startswith("Custom::") or not (known := class_of(resource_type)):
            raise invalid(f"{resource_type} is not supported on one machine.")
        return known

    def parse_checked(resource: dict[str, Any], resources: ResourceMap) -> Any:  # noqa: ANN401 (moto's)
        parsed = parse(resource, resources)
        check_properties(resource["Type"], parsed[1]["Properties"])
        return parsed

    def create_one(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (moto's)
        try:
            return create_resource(*arguments, **named)
        except JsonRESTError as error:  # CloudFormation's clients cannot read it
            raise invalid(str(error.message)) from error

    def create_all(stack: Stack) -> None:
        with ExitStack() as on_failure:
            on_failure.callback(setattr, stack, "status", _FAILED)
            create(stack)
            on_failure.pop_all()

    def create_each(resources: ResourceMap, template: dict[str, Any]) -> bool:
        created: bool = create_map(resources, template)
        # moto reports success even if resources are missing.
        parts = template["Resources"].items()
        if missing := [f"{key} ({part['Type']})" for key, part in parts if resources[key] is None]:
            name = resources["AWS::StackName"]
            raise invalid(f"{', '.join(missing)} of {name} was not created.")
        return created

    replacements.set(parsing, "resource_class_from_type", known_class)
    parse = replacements.set(parsing, "parse_resource", parse_checked)
    create_resource = replacements.set(parsing, "parse_and_create_resource", create_one)
    create = replacements.set(Stack, "create_resources", create_all)
    create_map = replacements.set(ResourceMap, "create", create_each)


def _leave_out(replacements: Replacements) -> None:
    """Leave members without a value out of lists, as moto does for properties: AWS::NoValue."""

    def resolved(part: Any, resources: ResourceMap) -> Any:  # noqa: ANN401 (moto's)
        if isinstance(part, list):
            members = (resolved(each, resources) for each in part)
            return [each for each in members if each is not None]
        return resolve(part, resources)

    resolve = replacements.set(parsing, "clean_json", resolved)


_PLANNED = "REVIEW_IN_PROGRESS"


def _create_by_change_sets(replacements: Replacements) -> None:
    """Make change sets create stacks, which the CDK CLI deploys with."""

    def plan(
        backend: CloudFormationBackend, stack_name: str, change_set_name: str, **options: object
    ) -> tuple[str, str]:
        for stack in [each for each in backend.stacks.values() if each.name == stack_name]:
            _check_planned(stack)
            del backend.stacks[stack.stack_id]
        forget(backend, change_set_name)  # moto would look for a name in all stacks
        ids: tuple[str, str] = create_change_set(backend, stack_name, change_set_name, **options)
        return ids

    def create(change_set: ChangeSet) -> None:
        # moto would leave the stack without a template, and so without outputs and exports.
        backend, stack = cloudformation_backends[ACCOUNT][REGION], change_set.stack
        _check_planned(stack)
        stack.cross_stack_resources = backend.exports
        stack.template = change_set.template
        stack._parse_template()
        stack.resource_map = stack._create_resource_map()
        stack.output_map = stack._create_output_map()
        stack.create_resources()
        backend.exports.update({export.name: export for export in stack.exports})

    def named(backend: CloudFormationBackend, name: str) -> list[ChangeSet]:
        known = backend.change_sets.values()
        return [each for each in known if name in {each.change_set_id, each.change_set_name}]

    def find(backend: CloudFormationBackend, change_set_name: str) -> ChangeSet:
        for change_set in named(backend, change_set_name):
            return change_set
        # The CDK CLI expects this code.
        reason = f"ChangeSet [{change_set_name}] does not exist"
        raise CloudFormationError("ChangeSetNotFound", reason)

    def forget(backend: CloudFormationBackend, change_set_name: str) -> None:
        # The CDK CLI deletes one before it makes one, and again until there is none.
        for change_set in named(backend, change_set_name):
            del backend.change_sets[change_set.change_set_id]

    create_change_set = replacements.set(CloudFormationBackend, "create_change_set", plan)
    replacements.set(ChangeSet, "apply", create)
    replacements.set(CloudFormationBackend, "describe_change_set", find)
    replacements.set(CloudFormationBackend, "delete_change_set", forget)


def _check_planned(stack: Stack) -> None:
    if stack.status != _PLANNED:
        raise invalid(
            f"Stack [{stack.name}] already exists: on one machine a stack keeps its template; "
            "start another cloud."
        )


def _protect(response: CloudFormationResponse) -> ActionResult:
    """Carry out UpdateTerminationProtection, which moto lacks."""
    name = response._get_param("StackName")
    stack = response.cloudformation_backend.get_stack(name)
    stack.enable_termination_protection = response._get_bool_param("EnableTerminationProtection")
    return ActionResult({"StackId": stack.stack_id})


def _keep_names(replacements: Replacements) -> None:
    """Give resources that stored data refers to the same name in every process."""

    def stable_name(resource_type: str, stack_name: str, logical_id: str) -> str:
        # Results and logs outlive their process, and the stored claims name executions.
        if resource_type == "AWS::S3::Bucket":
            # Earlier versions had one stack: its results stay where they are.
            return f"{stack_name.removesuffix('-Data')}-{logical_id}"[:63].lower()
        if resource_type in {"AWS::Logs::LogGroup", "AWS::StepFunctions::StateMachine"}:
            return f"{stack_name}-{logical_id}"
        return str(name_of(resource_type, stack_name, logical_id))

    name_of = replacements.set(parsing, "generate_resource_name", stable_name)


def _follow_policies(replacements: Replacements) -> None:
    """Make policies name log groups as on AWS, and deny nothing that AWS allows."""

    def log_group_attribute(group: LogGroup, name: str) -> str:
        # In a template the ARN of a log group includes its streams, as policies for logs need it.
        value: str = attribute_of(group, name)
        return f"{value}:*" if name == "Arn" else value

    attribute_of = replacements.set(LogGroup, "get_cfn_attribute", log_group_attribute)
    # moto ignores a policy's conditions: a denial of plain HTTP would deny everything.
    replacements.set(FakeBucket, "get_permission", lambda *_: PermissionResult.NEUTRAL)


def _find_templates(replacements: Replacements) -> None:
    """Find the template of a stack in the bucket that the path of its URL names."""

    def template_at(response: CloudFormationResponse, url: str) -> str:
        # moto finds the bucket in the path only for this name.
        return str(original(response, url.replace("//127.0.0.1:", "//localhost:", 1)))

    original = replacements.set(CloudFormationResponse, "_get_stack_from_s3_url", template_at)


def _read_json(replacements: Replacements) -> None:
    """Read the JSON of the CDK as JSON: as YAML, moto takes a hundred times longer."""

    def parse(template: str) -> Any:  # noqa: ANN401 (moto's)
        try:
            return json.loads(template)
        except ValueError:
            return original(template)

    def parse_own(change_set: ChangeSet) -> None:
        change_set.template_dict = parse(change_set.template)

    original = replacements.set(Stack, "parse_template", staticmethod(parse))
    replacements.set(ChangeSet, "_parse_template", parse_own)
