"""The deletion of a stack's resources, which moto mostly leaves in place without an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from moto.athena.models import athena_backends
from moto.awslambda_simple.models import lambda_simple_backends
from moto.cloudformation.exceptions import ValidationError
from moto.cloudwatch.models import cloudwatch_backends
from moto.ec2.models import ec2_backends
from moto.ecs.models import ecs_backends
from moto.events.models import events_backends
from moto.glue.models import glue_backends
from moto.iam.models import iam_backends
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends
from moto.stepfunctions.models import stepfunctions_backends

from onebox.account import ACCOUNT, REGION

Resources = Mapping[str, Mapping[str, Any]]
"""The parts of a template by logical id."""
Delete = Callable[[str], object]
"""A function that deletes a resource by its Ref."""
RETAINED = {"Retain", "RetainExceptOnCreate"}
"""The policies that keep a resource whose part of a template, or whose stack, is deleted."""
_PARTS_OF = {
    "AWS::EC2::Route": "RouteTableId",
    "AWS::EC2::SecurityGroupIngress": "GroupId",
    "AWS::EC2::SubnetRouteTableAssociation": "SubnetId",
    "AWS::EC2::VPCGatewayAttachment": "VpcId",
    "AWS::Glue::Table": "DatabaseName",
    "AWS::Lambda::Permission": "FunctionName",
    "AWS::SNS::TopicPolicy": "Topics",
    "AWS::SQS::QueuePolicy": "Queues",
}
"""Types of resources that go with another, by the property that names the other."""


def refuse_undeletable(action: str, going: Resources) -> None:
    """Refuse to delete parts of a template that cannot be deleted here.

    Raises
    ------
    ValidationError
        If there is one; the message begins with ``action``.

    """
    of_type = _deletions()
    for name, part in going.items():
        whole = {*_named(part.get("Properties", {}).get(_PARTS_OF.get(part["Type"])))}
        if part["Type"] not in of_type and not (whole and whole <= going.keys()):
            raise ValidationError(
                message=f"{action} is not supported: one machine cannot delete "
                f"{name} ({part['Type']})."
            )


def _named(value: object) -> Iterator[str]:
    """Yield the logical ids and pseudo parameters that a property refers to."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "Ref":
                yield inner
            elif key == "Fn::GetAtt":
                yield inner.split(".")[0] if isinstance(inner, str) else inner[0]
            else:
                yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)


def delete_resources(going: Resources, resources: Mapping[str, Any]) -> None:
    """Delete the resources of these parts of a template, the last created one first."""
    of_type = _deletions()
    for name in reversed([*resources]):
        resource, part = resources[name], going.get(name)
        if resource and part and part["Type"] in of_type:
            of_type[part["Type"]](resource.physical_resource_id)


def _deletions() -> Mapping[str, Delete]:
    """Return the deletion of each type that can be deleted."""
    return {**_of_data(), **_of_network(), **_of_services()}


def _of_data() -> Mapping[str, Delete]:
    athena, glue = athena_backends[ACCOUNT][REGION], glue_backends[ACCOUNT][REGION]
    s3 = s3_backends[ACCOUNT]["aws"]
    return {
        "AWS::Athena::NamedQuery": athena.named_queries.pop,
        "AWS::Athena::WorkGroup": athena.work_groups.pop,
        "AWS::Glue::Database": glue.delete_database,
        "AWS::Logs::LogGroup": logs_backends[ACCOUNT][REGION].delete_log_group,
        # No API here lists a saved query.
        "AWS::Logs::QueryDefinition": lambda _: None,
        "AWS::S3::Bucket": s3.delete_bucket,
        "AWS::S3::BucketPolicy": s3.delete_bucket_policy,
    }


def _of_network() -> Mapping[str, Delete]:
    ec2 = ec2_backends[ACCOUNT][REGION]

    def delete_gateway(ref: str) -> None:
        gateway = ec2.get_internet_gateway(ref)
        if gateway.vpc:
            ec2.detach_internet_gateway(ref, gateway.vpc.id)
        ec2.delete_internet_gateway(ref)

    def delete_table(ref: str) -> None:
        for association in [*ec2.get_route_table(ref)._associations]:
            ec2.disassociate_route_table(association)
        ec2.delete_route_table(ref)

    return {
        "AWS::EC2::InternetGateway": delete_gateway,
        "AWS::EC2::RouteTable": delete_table,
        "AWS::EC2::SecurityGroup": lambda ref: ec2.delete_security_group(group_id=ref),
        "AWS::EC2::Subnet": ec2.delete_subnet,
        "AWS::EC2::VPC": ec2.delete_vpc,
        "AWS::EC2::VPCEndpoint": ec2.vpc_end_points.pop,
    }


def _of_services() -> Mapping[str, Delete]:
    scheduler, sns = scheduler_backends[ACCOUNT][REGION], sns_backends[ACCOUNT][REGION]
    ecs, iam = ecs_backends[ACCOUNT][REGION], iam_backends[ACCOUNT]["aws"]
    watch, events = cloudwatch_backends[ACCOUNT][REGION], events_backends[ACCOUNT][REGION]

    def delete_role(ref: str) -> None:
        iam.get_role(ref).policies.clear()
        iam.delete_role(ref)

    def delete_rule(ref: str) -> None:
        name = ref.rsplit("/", 1)[-1]
        targets = [target["Id"] for target in events.describe_rule(name, None).targets]
        events.remove_targets(name, None, targets)
        events.delete_rule(name, None)

    return {
        "AWS::CloudWatch::Alarm": lambda ref: watch.delete_alarms([ref]),
        "AWS::CloudWatch::Dashboard": lambda ref: watch.delete_dashboards([ref]),
        "AWS::ECS::Cluster": ecs.delete_cluster,
        "AWS::ECS::TaskDefinition": ecs.deregister_task_definition,
        "AWS::Events::Rule": delete_rule,
        "AWS::IAM::ManagedPolicy": iam.delete_policy,
        "AWS::IAM::Policy": iam.delete_inline_policy,
        "AWS::IAM::Role": delete_role,
        "AWS::Lambda::Function": lambda_simple_backends[ACCOUNT][REGION].delete_function,
        "AWS::SNS::Subscription": sns.unsubscribe,
        "AWS::SNS::Topic": sns.delete_topic,
        "AWS::SQS::Queue": lambda ref: sqs_backends[ACCOUNT][REGION].delete_queue(
            ref.rsplit("/", 1)[-1]
        ),
        "AWS::Scheduler::Schedule": lambda ref: scheduler.delete_schedule(None, ref),
        "AWS::StepFunctions::StateMachine": (
            stepfunctions_backends[ACCOUNT][REGION].delete_state_machine
        ),
    }
