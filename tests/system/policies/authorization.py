"""IAM requests of each API call: action, resource and condition keys.

Source: AWS Service Authorization Reference, the pages of each service, unless a line names another.
An error names a call that is not listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from onebox.app import ACCOUNT, REGION
from onebox.cloud.policy_evaluation import Request, Unsupported
from tests.system.policies.calls import Call
from tests.system.policies.deployment import Deployment

Parameters = Mapping[str, Any]

TLS = "aws:SecureTransport"

# S3 needs further permissions for these parameters: an object's version, ACL, lock or key.
_MORE_OF_S3 = {"ACL", "ObjectLockMode", "SSEKMSKeyId", "Tagging", "VersionId"}
# Step Functions uses these rules to await the end of a .sync integration (AWS Step Functions
# developer guide, "IAM policies for nested workflows", "... for Amazon ECS").
_RULES = {
    "ecs:RunTask": "StepFunctionsGetEventsForECSTaskRule",
    "states:StartExecution": "StepFunctionsGetEventsForStepFunctionsExecutionRule",
}


def requests(call: Call, deployment: Deployment) -> Iterator[Request]:
    """
    Yield the IAM requests of a call in a deployment.

    Raises
    ------
    Unsupported
        If the call or one of its parameters is not known.
    """
    requests_of = _CALLS.get(call.operation)
    if requests_of is None:
        raise Unsupported(f"{call.operation} by {call.role}; known: {', '.join(_CALLS)}")
    for request in [*requests_of(call.parameters), *_implied(call, deployment)]:
        # The SDKs call AWS over TLS. All buckets here are of one account.
        own = {"s3:ResourceAccount": ACCOUNT} if request.action.startswith("s3:") else {}
        yield replace(request, context=request.context | _context({TLS: "true", **own}))


def _implied(call: Call, deployment: Deployment) -> Iterator[Request]:
    if call.operation == "ecs:RunTask":
        for role in deployment.passed[call.parameters["taskDefinition"]]:
            service = _context({"iam:PassedToService": "ecs-tasks.amazonaws.com"})
            yield Request("iam:PassRole", role, service)
    # The state machines call these only with .sync.
    if call.role in deployment.machines and call.operation in _RULES:
        rule = f"{_arn('events')}:rule/{_RULES[call.operation]}"
        for action in ("DescribeRule", "PutRule", "PutTargets"):
            yield Request(f"events:{action}", rule)


def _arn(service: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}"


def _context(keys: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(keys.items())


def _on_parameter(action: str, parameter: str) -> Callable[[Parameters], list[Request]]:
    """Return a function that requests an action on the ARN in a parameter."""
    return lambda parameters: [Request(action, parameters[parameter])]


# --- S3 ---


def _objects(action: str, bucket: str, keys: Iterable[str]) -> list[Request]:
    return [Request(action, f"arn:aws:s3:::{bucket}/{key}") for key in keys]


def _object(action: str) -> Callable[[Parameters], list[Request]]:
    def requests_of(parameters: Parameters) -> list[Request]:
        if more := sorted(_MORE_OF_S3 & parameters.keys()):
            raise Unsupported(f"{more[0]} of {action}; accepted: none")
        needed = _objects(action, parameters["Bucket"], [parameters["Key"]])
        # To compare entity tags, S3 needs the permission to read (Amazon S3 user guide,
        # "conditional deletes", "conditional writes").
        if action != "s3:GetObject" and "IfMatch" in parameters:
            needed += _objects("s3:GetObject", parameters["Bucket"], [parameters["Key"]])
        return needed

    return requests_of


def _copy_object(parameters: Parameters) -> list[Request]:
    bucket, _, key = unquote(parameters["CopySource"]).partition("/")
    return [*_objects("s3:GetObject", bucket, [key]), *_object("s3:PutObject")(parameters)]


def _delete_objects(parameters: Parameters) -> list[Request]:
    entries = parameters["Delete"]["Objects"]
    if more := sorted({name for entry in entries for name in entry} - {"Key"}):
        raise Unsupported(f"{more[0]} of s3:DeleteObjects; accepted: Key")
    return _objects("s3:DeleteObject", parameters["Bucket"], [entry["Key"] for entry in entries])


def _list_objects(parameters: Parameters) -> list[Request]:
    prefix = {"s3:prefix": parameters["Prefix"]} if "Prefix" in parameters else {}
    resource = f"arn:aws:s3:::{parameters['Bucket']}"
    return [Request("s3:ListBucket", resource, _context(prefix))]


# --- ECS: calls name a cluster by its ARN ---


def _in_cluster(
    action: str, resources: Callable[[Parameters], Iterable[str]]
) -> Callable[[Parameters], list[Request]]:
    def requests_of(parameters: Parameters) -> list[Request]:
        if "tags" in parameters:
            raise Unsupported(f"tags of {action}; accepted: none")
        cluster = _context({"ecs:cluster": parameters["cluster"]})
        return [Request(action, resource, cluster) for resource in resources(parameters)]

    return requests_of


def _run_task(parameters: Parameters) -> list[Request]:
    needed = _in_cluster("ecs:RunTask", lambda each: [each["taskDefinition"]])(parameters)
    # The settings may give the definition tags (Amazon ECS developer guide, "Grant permission to
    # tag resources on creation").
    if parameters.get("propagateTags") == "TASK_DEFINITION":
        task = f"{parameters['cluster'].replace(':cluster/', ':task/')}/0123456789abcdef"
        needed.append(Request("ecs:TagResource", task, _context({"ecs:CreateAction": "RunTask"})))
    return needed


def _register_task_definition(parameters: Parameters) -> list[Request]:
    definition = f"{_arn('ecs')}:task-definition/{parameters['family']}:*"
    needed = [Request("ecs:RegisterTaskDefinition", definition)]
    if parameters.get("tags"):
        creation = _context({"ecs:CreateAction": "RegisterTaskDefinition"})
        needed.append(Request("ecs:TagResource", definition, creation))
    passed = _context({"iam:PassedToService": "ecs-tasks.amazonaws.com"})
    roles = [parameters[role] for role in ("taskRoleArn", "executionRoleArn") if role in parameters]
    return [*needed, *(Request("iam:PassRole", role, passed) for role in roles)]


# --- EventBridge ---


def _put_events(parameters: Parameters) -> list[Request]:
    bus = f"{_arn('events')}:event-bus"
    return [
        Request(
            "events:PutEvents",
            f"{bus}/{entry.get('EventBusName', 'default')}",
            _context({"events:source": entry["Source"], "events:detail-type": entry["DetailType"]}),
        )
        for entry in parameters["Entries"]
    ]


# --- Logs: actions on a group need its ARN with the suffix ":*" (Amazon CloudWatch Logs user guide,
# "Overview of managing access permissions") ---


def _start_query(parameters: Parameters) -> list[Request]:
    return [Request("logs:StartQuery", f"{_arn('logs')}:log-group:{parameters['logGroupName']}:*")]


# --- Scheduler ---


def _get_schedule(parameters: Parameters) -> list[Request]:
    name = f"{parameters.get('GroupName', 'default')}/{parameters['Name']}"
    return [Request("scheduler:GetSchedule", f"{_arn('scheduler')}:schedule/{name}")]


# --- Service Quotas ---


def _get_quota(parameters: Parameters) -> list[Request]:
    quota = f"{_arn('servicequotas')}:{parameters['ServiceCode']}/{parameters['QuotaCode']}"
    return [Request("servicequotas:GetServiceQuota", quota)]


# --- Systems Manager: a name begins with the slash that its ARN has only once ---


def _get_parameter(parameters: Parameters) -> list[Request]:
    return [Request("ssm:GetParameter", f"{_arn('ssm')}:parameter{parameters['Name']}")]


# --- What an instance has, by its plain name ---


def _named(
    action: str, parameter: str, resource: str = ""
) -> Callable[[Parameters], list[Request]]:
    """Return a function that requests an action on the name in a parameter."""
    place = f"{_arn(action.partition(':')[0])}:{resource}"
    return lambda parameters: [Request(action, f"{place}{parameters[parameter]}")]


def _invoke(parameters: Parameters) -> list[Request]:
    name = parameters["FunctionName"].rsplit(":", 1)[-1]
    return [Request("lambda:InvokeFunction", f"{_arn('lambda')}:function:{name}")]


def _on_queue(action: str) -> Callable[[Parameters], list[Request]]:
    def requests_of(parameters: Parameters) -> list[Request]:
        name = parameters["QueueUrl"].rsplit("/", 1)[-1]
        return [Request(action, f"{_arn('sqs')}:{name}")]

    return requests_of


def _describe_clusters(parameters: Parameters) -> list[Request]:
    names = (name.rsplit("/", 1)[-1] for name in parameters["clusters"])
    return [Request("ecs:DescribeClusters", f"{_arn('ecs')}:cluster/{name}") for name in names]


# --- Athena: a query looks its tables up in Glue, reads their objects and writes its answer, with
# the permissions of its caller (Athena user guide, "Access control") ---


def _start_athena_query(parameters: Parameters) -> list[Request]:
    database = parameters["QueryExecutionContext"]["Database"]
    glue, table = _arn("glue"), f"table/{database}/rates"
    return [
        *_on_workgroup("athena:StartQueryExecution", parameters["WorkGroup"]),
        *(
            Request(f"glue:{action}", f"{glue}:{resource}")
            for action in ("GetDatabase", "GetTable", "GetPartitions")
            for resource in ("catalog", f"database/{database}", table)
        ),
        Request("glue:GetDatabase", f"{glue}:database/default"),
    ]


def _on_workgroup(action: str, workgroup: str) -> list[Request]:
    return [Request(action, f"{_arn('athena')}:workgroup/{workgroup}")]


def _of_query(action: str) -> Callable[[Parameters], list[Request]]:
    # A query belongs to the workgroup that it was started in, which has the name of the stack.
    return lambda _: _on_workgroup(action, "Tidemark")


def _describe_stacks(parameters: Parameters) -> list[Request]:
    stack = f"{_arn('cloudformation')}:stack/{parameters['StackName']}/0123456789abcdef"
    return [Request("cloudformation:DescribeStacks", stack)]


# --- IAM: before a deployment, for the role of ECS ---


def _of_service(action: str) -> Callable[[Parameters], list[Request]]:
    """Return a function that requests an action on the role of ECS, by service or by name."""

    def requests_of(parameters: Parameters) -> list[Request]:
        name = parameters.get("RoleName", "AWSServiceRoleForECS")
        role = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/ecs.amazonaws.com/{name}"
        service = parameters.get("AWSServiceName")
        return [Request(action, role, _context({"iam:AWSServiceName": service} if service else {}))]

    return requests_of


_CALLS: Mapping[str, Callable[[Parameters], list[Request]]] = {
    "athena:GetQueryExecution": _of_query("athena:GetQueryExecution"),
    "athena:GetQueryResults": _of_query("athena:GetQueryResults"),
    "athena:StartQueryExecution": _start_athena_query,
    "cloudformation:DescribeStacks": _describe_stacks,
    "ecs:DescribeClusters": _describe_clusters,
    "ecs:DescribeTaskDefinition": lambda _: [Request("ecs:DescribeTaskDefinition", "*")],
    "ecs:DescribeTasks": _in_cluster("ecs:DescribeTasks", lambda parameters: parameters["tasks"]),
    "ecs:ListTasks": _in_cluster("ecs:ListTasks", lambda _: ["*"]),
    "ecs:RegisterTaskDefinition": _register_task_definition,
    "ecs:RunTask": _run_task,
    "ecs:StopTask": _in_cluster("ecs:StopTask", lambda parameters: [parameters["task"]]),
    "events:DescribeRule": _named("events:DescribeRule", "Name", "rule/"),
    "events:DisableRule": _named("events:DisableRule", "Name", "rule/"),
    "events:EnableRule": _named("events:EnableRule", "Name", "rule/"),
    "events:PutEvents": _put_events,
    "iam:CreateServiceLinkedRole": _of_service("iam:CreateServiceLinkedRole"),
    "iam:GetRole": _of_service("iam:GetRole"),
    "lambda:GetFunctionConfiguration": _named(
        "lambda:GetFunctionConfiguration", "FunctionName", "function:"
    ),
    "lambda:Invoke": _invoke,
    "logs:DescribeLogGroups": lambda _: [Request("logs:DescribeLogGroups", "*")],
    "logs:GetQueryResults": lambda _: [Request("logs:GetQueryResults", "*")],
    "logs:StartQuery": _start_query,
    "s3:CopyObject": _copy_object,
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
    "sns:Publish": _on_parameter("sns:Publish", "TopicArn"),
    "sqs:GetQueueAttributes": _on_queue("sqs:GetQueueAttributes"),
    "sqs:GetQueueUrl": _named("sqs:GetQueueUrl", "QueueName"),
    "sqs:SendMessage": _on_queue("sqs:SendMessage"),
    "ssm:GetParameter": _get_parameter,
    "states:DescribeExecution": _on_parameter("states:DescribeExecution", "executionArn"),
    "states:GetExecutionHistory": _on_parameter("states:GetExecutionHistory", "executionArn"),
    "states:ListExecutions": _on_parameter("states:ListExecutions", "stateMachineArn"),
    "states:StartExecution": _on_parameter("states:StartExecution", "stateMachineArn"),
    "states:StopExecution": _on_parameter("states:StopExecution", "executionArn"),
}
