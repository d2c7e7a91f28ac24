"""Grants of a deployed app: the policies of its stacks, with physical names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from onebox.cloud.endpoint import Endpoint

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Deployment:
    """
    Deployment of the app.

    Attributes
    ----------
    policies
        Policy documents by role name and policy name.
    logical_ids
        Logical id of each role by its name.
    machines
        Names of the roles of state machines.
    passed
        ARNs of the roles that each task definition passes to its tasks, by ARN of the definition.
    guards
        Resource policies by ARN of the resource.
    templates
        Synthesised template of each stack.
    """

    policies: Mapping[str, Mapping[str, Document]]
    logical_ids: Mapping[str, str]
    machines: list[str]
    passed: Mapping[str, list[str]]
    guards: Mapping[str, Document]
    templates: list[Document]

    def to_json(self) -> str:
        """Return the deployment as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Deployment:
        """Return the deployment from the text of ``to_json``."""
        return cls(**json.loads(text))


def read_deployment(endpoint: Endpoint) -> Deployment:
    """Return the deployment in a cloud."""
    resources = list(_resources(endpoint))

    def of_type(kind: str) -> dict[str, str]:
        return {name: logical_id for logical_id, name, type_ in resources if type_ == kind}

    roles = of_type("AWS::IAM::Role")
    return Deployment(
        policies={role: _inline(endpoint, role) for role in roles},
        logical_ids=roles,
        machines=[
            _machine_role(endpoint, arn) for arn in of_type("AWS::StepFunctions::StateMachine")
        ],
        passed={arn: _passed(endpoint, arn) for arn in of_type("AWS::ECS::TaskDefinition")},
        guards=dict(_guards(endpoint, of_type("AWS::S3::Bucket"), of_type("AWS::SNS::Topic"))),
        templates=[_template(endpoint, stack) for stack in _stacks(endpoint)],
    )


def _stacks(endpoint: Endpoint) -> list[str]:
    stacks = endpoint.client("cloudformation").describe_stacks()["Stacks"]
    return [stack["StackName"] for stack in stacks]


def _template(endpoint: Endpoint, stack: str) -> Document:
    body = endpoint.client("cloudformation").get_template(StackName=stack)["TemplateBody"]
    return body if isinstance(body, dict) else dict(json.loads(body))


def _resources(endpoint: Endpoint) -> Iterator[tuple[str, str, str]]:
    """Yield the logical id, physical name and type of every resource of every stack."""
    pages = endpoint.client("cloudformation").get_paginator("list_stack_resources")
    for stack in _stacks(endpoint):
        for page in pages.paginate(StackName=stack):
            for resource in page["StackResourceSummaries"]:
                yield (
                    resource["LogicalResourceId"],
                    resource["PhysicalResourceId"],
                    resource["ResourceType"],
                )


def _inline(endpoint: Endpoint, role: str) -> dict[str, Document]:
    iam = endpoint.client("iam")
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    return {
        name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for name in sorted(names)
    }


def _machine_role(endpoint: Endpoint, arn: str) -> str:
    machine = endpoint.client("stepfunctions").describe_state_machine(stateMachineArn=arn)
    return str(machine["roleArn"]).rsplit("/", 1)[-1]


def _passed(endpoint: Endpoint, arn: str) -> list[str]:
    definition = endpoint.client("ecs").describe_task_definition(taskDefinition=arn)
    return [definition["taskDefinition"][role] for role in ("taskRoleArn", "executionRoleArn")]


def _guards(
    endpoint: Endpoint, buckets: Iterable[str], topics: Iterable[str]
) -> Iterator[tuple[str, Document]]:
    for bucket in buckets:
        policy = endpoint.client("s3").get_bucket_policy(Bucket=bucket)["Policy"]
        yield f"arn:aws:s3:::{bucket}", json.loads(policy)
    for topic in topics:
        attributes = endpoint.client("sns").get_topic_attributes(TopicArn=topic)["Attributes"]
        yield topic, json.loads(attributes["Policy"])
