"""The look-up of things in an account by name, such as the clusters and queues of an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tidemark.model.version_order import versions_parameter
from tidemark.money.capacity import Quota, QuotaUnknown
from tidemark.run.ports import Definition

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_service_quotas import ServiceQuotasClient
    from mypy_boto3_service_quotas.type_defs import ServiceQuotaTypeDef
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_ssm import SSMClient


class NamedThings:
    """The things of an account and region, by their names.

    ``client`` makes the client of a service; most runs need none of them.
    """

    def __init__(self, client: Callable[[str], Any]) -> None:
        self._client = cache(client)
        self._finds: Mapping[str, Callable[[str], str | None]] = {
            "cluster": self._cluster,
            "queue": self._queue,
            "function": self._function,
            "rule": self._rule,
            "log_group": self._log_group,
        }

    def find(self, kind: str, name: str) -> str | None:
        """Return the ARN of a cluster or the name of anything else; None if there is none."""
        return self._finds[kind](name)

    def definition(self, name: str) -> Definition | None:
        """Return the task definition of a family, or of a family with a revision; None if none."""
        ecs = self._client("ecs")
        try:
            found = ecs.describe_task_definition(taskDefinition=name)["taskDefinition"]
        except ecs.exceptions.ClientException:  # the family has no such definition
            return None
        roles = (found.get(role, "") for role in ("taskRoleArn", "executionRoleArn"))
        return Definition(
            arn=found["taskDefinitionArn"],
            roles=tuple(role.rsplit("/", 1)[-1] for role in roles if role),
            logs={each["name"]: _logs(each) for each in found["containerDefinitions"]},
        )

    def _cluster(self, name: str) -> str | None:
        found = self._client("ecs").describe_clusters(clusters=[name])["clusters"]
        # ECS describes a deleted cluster for some time.
        return next((each["clusterArn"] for each in found if each["status"] == "ACTIVE"), None)

    def _queue(self, name: str) -> str | None:
        sqs = self._client("sqs")
        try:
            sqs.get_queue_url(QueueName=name)
        except sqs.exceptions.QueueDoesNotExist:
            return None
        return name

    def _function(self, name: str) -> str | None:
        functions = self._client("lambda")
        try:
            functions.get_function_configuration(FunctionName=name)
        except functions.exceptions.ResourceNotFoundException:
            return None
        return name

    def _rule(self, name: str) -> str | None:
        events = self._client("events")
        try:
            events.describe_rule(Name=name)
        except events.exceptions.ResourceNotFoundException:
            return None
        return name

    def _log_group(self, name: str) -> str | None:
        groups = self._client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        return name if any(each["logGroupName"] == name for each in groups) else None


def _logs(container: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the log group and stream prefix of a container, None if it logs elsewhere."""
    logging = container.get("logConfiguration", {})
    options = logging.get("options", {})
    if logging.get("logDriver") != "awslogs" or "awslogs-stream-prefix" not in options:
        return None
    return options["awslogs-group"], options["awslogs-stream-prefix"]


_MESSAGES: Sequence[QueueAttributeNameType] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
)


class SqsQueues:
    """The queues of the account and region."""

    def __init__(self, client: SQSClient) -> None:
        self._client = client

    def left(self, name: str) -> int | None:
        """Return the messages of a queue that wait or are in work, about; None without a queue."""
        try:
            url = self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except self._client.exceptions.QueueDoesNotExist:
            return None
        answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=_MESSAGES)
        return sum(int(answer["Attributes"][name]) for name in _MESSAGES)


_MOST_BYTES = 1 << 20
# Amazon S3 API reference, GetObject: AccessDenied stands for a missing object, too, if the caller
# may not list the bucket.
_NOT_THERE = {"AccessDenied", "NoSuchBucket", "NoSuchKey"}


class S3Properties:
    """Objects with properties, in any bucket that the caller may read."""

    def __init__(self, client: S3Client) -> None:
        self._client = client

    def read(self, bucket: str, key: str) -> str | None:
        """Return the first MiB of an object as Latin-1, None if there is none to read."""
        try:
            answer = self._client.get_object(Bucket=bucket, Key=key)
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _NOT_THERE:
                return None
            raise
        return answer["Body"].read(_MOST_BYTES).decode("latin-1")


class ParameterReleases:
    """The versions that release pipelines have announced."""

    def __init__(self, client: SSMClient, stack: str) -> None:
        self._client = client
        self._stack = stack

    def versions(self, suite: str) -> list[str]:
        """Return the versions that a suite's parameter lists, or [] without a parameter."""
        name = versions_parameter(self._stack, suite)
        try:
            answer = self._client.get_parameter(Name=name)
        except self._client.exceptions.ParameterNotFound:
            return []
        return [version.strip() for version in answer["Parameter"]["Value"].split(",")]


class AppliedQuotas:
    """Service Quotas of the account and region."""

    def __init__(self, client: ServiceQuotasClient) -> None:
        self._client = client

    def value(self, quota: Quota) -> float:
        """Return the value of a quota as applied to the account, or else AWS's default.

        Raises
        ------
        QuotaUnknown
            If the service does not return the value.

        """
        try:
            answer = self._read(quota)
        except self._client.exceptions.ClientError as error:
            raise QuotaUnknown(f"the quota {quota.name!r} cannot be read: {error}") from None
        # Service Quotas returns an ErrorReason in place of a value that it cannot determine.
        if "Value" not in answer:
            reason = answer.get("ErrorReason")
            raise QuotaUnknown(f"the quota {quota.name!r} has no value: {reason}")
        return answer["Value"]

    def _read(self, quota: Quota) -> ServiceQuotaTypeDef:
        service, code = quota.service, quota.code
        try:
            return self._client.get_service_quota(ServiceCode=service, QuotaCode=code)["Quota"]
        # Service Quotas API reference, ListServiceQuotas: some quotas have no applied value, only
        # a default.
        except self._client.exceptions.NoSuchResourceException:
            return self._client.get_aws_default_service_quota(ServiceCode=service, QuotaCode=code)[
                "Quota"
            ]
