"""What IAM is asked for each call of an API: action, resource and condition keys.

Source: AWS Service Authorization Reference, the pages of each service, unless a line names another.
A call that is not listed here is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from local.account import ACCOUNT, REGION
from tests.policies.calls import Call
from tests.policies.deployment import Deployment
from tests.policies.evaluation import Request, Unsupported

Parameters = Mapping[str, Any]

TLS = "aws:SecureTransport"

# Parameters by which S3 asks for more than is written here: an object's version, ACL, lock or key.
_MORE_OF_S3 = {"ACL", "ObjectLockMode", "SSEKMSKeyId", "Tagging", "VersionId"}
# Through these rules Step Functions learns of the end of what a state waits for, .sync (AWS Step
# Functions developer guide, "IAM policies for nested workflows", "... for Amazon ECS").
_RULES = {
    "ecs:RunTask": "StepFunctionsGetEventsForECSTaskRule",
    "states:StartExecution": "StepFunctionsGetEventsForStepFunctionsExecutionRule",
}


def requests(call: Call, deployment: Deployment) -> Iterator[Request]:
    """
    Yield what IAM is asked when a call is made in a deployment.

    Raises
    ------
    Unsupported
        If the call, or a parameter of it, is not understood.
    """
    asked = _CALLS.get(call.operation)
    if asked is None:
        raise Unsupported(f"{call.operation} by {call.role}; known: {', '.join(_CALLS)}")
    for request in [*asked(call.parameters), *_implied(call, deployment)]:
        # As the calls of the SDKs are on AWS.
        yield replace(request, context=request.context | _context({TLS: "true"}))


def _implied(call: Call, deployment: Deployment) -> Iterator[Request]:
    if call.operation == "ecs:RunTask":
        for role in deployment.passed[call.parameters["taskDefinition"]]:
            passed = _context({"iam:PassedToService": "ecs-tasks.amazonaws.com"})
            yield Request("iam:PassRole", role, passed)
    # One machine has no other integration with these than .sync.
    if call.role in deployment.machines and call.operation in _RULES:
        rule = f"{_arn('events')}:rule/{_RULES[call.operation]}"
        for action in ("DescribeRule", "PutRule", "PutTargets"):
            yield Request(f"events:{action}", rule)


def _arn(service: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}"


def _context(keys: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(keys.items())


def _of(action: str, parameter: str) -> Callable[[Parameters], list[Request]]:
    """Return what asks for an action with the ARN that a parameter is."""
    return lambda given: [Request(action, given[parameter])]


# --- S3 ---


def _objects(action: str, bucket: str, keys: Iterable[str]) -> list[Request]:
    return [Request(action, f"arn:aws:s3:::{bucket}/{key}") for key in keys]


def _object(action: str) -> Callable[[Parameters], list[Request]]:
    def asked(given: Parameters) -> list[Request]:
        if more := sorted(_MORE_OF_S3 & given.keys()):
            raise Unsupported(f"{more[0]} of {action}; accepted: none")
        found = _objects(action, given["Bucket"], [given["Key"]])
        # Amazon S3 user guide, "conditional deletes", "conditional writes": to compare an entity
        # tag is to read.
        if action != "s3:GetObject" and "IfMatch" in given:
            found += _objects("s3:GetObject", given["Bucket"], [given["Key"]])
        return found

    return asked


def _delete_objects(given: Parameters) -> list[Request]:
    entries = given["Delete"]["Objects"]
    if more := sorted({name for entry in entries for name in entry} - {"Key"}):
        raise Unsupported(f"{more[0]} of s3:DeleteObjects; accepted: Key")
    return _objects("s3:DeleteObject", given["Bucket"], [entry["Key"] for entry in entries])


def _list_objects(given: Parameters) -> list[Request]:
    prefix = {"s3:prefix": given["Prefix"]} if "Prefix" in given else {}
    resource = f"arn:aws:s3:::{given['Bucket']}"
    return [Request("s3:ListBucket", resource, _context(prefix))]


# --- ECS: a cluster is given by its ARN ---


def _in_cluster(
    action: str, resources: Callable[[Parameters], Iterable[str]]
) -> Callable[[Parameters], list[Request]]:
    def asked(given: Parameters) -> list[Request]:
        if "tags" in given:
            raise Unsupported(f"tags of {action}; accepted: none")
        cluster = _context({"ecs:cluster": given["cluster"]})
        return [Request(action, resource, cluster) for resource in resources(given)]

    return asked


def _run_task(given: Parameters) -> list[Request]:
    found = _in_cluster("ecs:RunTask", lambda given: [given["taskDefinition"]])(given)
    # Asked if the definition has tags, as settings may give it (Amazon ECS developer guide, "Grant
    # permission to tag resources on creation").
    if given.get("propagateTags") == "TASK_DEFINITION":
        task = f"{given['cluster'].replace(':cluster/', ':task/')}/0123456789abcdef"
        found.append(Request("ecs:TagResource", task, _context({"ecs:CreateAction": "RunTask"})))
    return found


# --- EventBridge ---


def _put_events(given: Parameters) -> list[Request]:
    bus = f"{_arn('events')}:event-bus"
    return [
        Request(
            "events:PutEvents",
            f"{bus}/{entry.get('EventBusName', 'default')}",
            _context({"events:source": entry["Source"], "events:detail-type": entry["DetailType"]}),
        )
        for entry in given["Entries"]
    ]


# --- Logs: a group's own actions are granted on its ARN with ":*" behind it (Amazon CloudWatch Logs
# user guide, "Overview of managing access permissions") ---


def _start_query(given: Parameters) -> list[Request]:
    return [Request("logs:StartQuery", f"{_arn('logs')}:log-group:{given['logGroupName']}:*")]


# --- Scheduler and its dead letters ---


def _get_schedule(given: Parameters) -> list[Request]:
    name = f"{given.get('GroupName', 'default')}/{given['Name']}"
    return [Request("scheduler:GetSchedule", f"{_arn('scheduler')}:schedule/{name}")]


def _send_message(given: Parameters) -> list[Request]:
    name = given["QueueUrl"].rsplit("/", 1)[-1]
    return [Request("sqs:SendMessage", f"{_arn('sqs')}:{name}")]


# --- Service Quotas ---


def _get_quota(given: Parameters) -> list[Request]:
    quota = f"{_arn('servicequotas')}:{given['ServiceCode']}/{given['QuotaCode']}"
    return [Request("servicequotas:GetServiceQuota", quota)]


# --- Systems Manager: a name begins with the slash that its ARN has once ---


def _get_parameter(given: Parameters) -> list[Request]:
    return [Request("ssm:GetParameter", f"{_arn('ssm')}:parameter{given['Name']}")]


_CALLS: Mapping[str, Callable[[Parameters], list[Request]]] = {
    "ecs:DescribeTasks": _in_cluster("ecs:DescribeTasks", lambda given: given["tasks"]),
    "ecs:ListTasks": _in_cluster("ecs:ListTasks", lambda _: ["*"]),
    "ecs:RunTask": _run_task,
    "ecs:StopTask": _in_cluster("ecs:StopTask", lambda given: [given["task"]]),
    "events:PutEvents": _put_events,
    "lambda:Invoke": _of("lambda:InvokeFunction", "FunctionName"),
    "logs:GetQueryResults": lambda _: [Request("logs:GetQueryResults", "*")],
    "logs:StartQuery": _start_query,
    "s3:DeleteObject": _object("s3:DeleteObject"),
    "s3:DeleteObjects": _delete_objects,
    "s3:GetObject": _object("s3:GetObject"),
    "s3:HeadObject": _object("s3:GetObject"),
    "s3:ListObjectsV2": _list_objects,
    "s3:PutObject": _object("s3:PutObject"),
    "scheduler:GetSchedule": _get_schedule,
    "servicequotas:GetAWSDefaultServiceQuota": lambda _: [
        Request("servicequotas:GetAWSDefaultServiceQuota", "*")
    ],
    "servicequotas:GetServiceQuota": _get_quota,
    "sns:Publish": _of("sns:Publish", "TopicArn"),
    "sqs:SendMessage": _send_message,
    "ssm:GetParameter": _get_parameter,
    "states:DescribeExecution": _of("states:DescribeExecution", "executionArn"),
    "states:ListExecutions": _of("states:ListExecutions", "stateMachineArn"),
    "states:StartExecution": _of("states:StartExecution", "stateMachineArn"),
    "states:StopExecution": _of("states:StopExecution", "executionArn"),
}
