"""The role in which QuickSight queries Athena, limited to the tables of its data sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aws_cdk import Stack
from aws_cdk.aws_iam import PolicyStatement, Role, ServicePrincipal
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.policies import Conditions, acknowledge, allow, objects_finding, using_key
from cdk.results import ATHENA_PREFIX, Tables
from tidemark.store import keys

_RESULTS = f"{ATHENA_PREFIX}*"


def query_statements(
    stack: Stack, tables: Tables, names: Collection[str]
) -> Sequence[PolicyStatement]:
    """Return the permissions to query tables in their workgroup, but for those on objects."""

    def arn(service: str, resource: str, name: str | None = None) -> str:
        return stack.format_arn(service=service, resource=resource, resource_name=name)

    actions = [
        "GetQueryExecution", "GetQueryResults", "GetQueryResultsStream", "GetWorkGroup",
        "StartQueryExecution", "StopQueryExecution",
    ]  # fmt: skip
    return [
        allow(
            [f"athena:{action}" for action in actions],
            [arn("athena", "workgroup", tables.workgroup)],
        ),
        # Athena user guide, "Configure access to databases and tables".
        allow(
            ["glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"],
            [
                arn("glue", "catalog"),
                arn("glue", "database", tables.database),
                *(arn("glue", "table", f"{tables.database}/{name}") for name in sorted(names)),
            ],
        ),
        # Athena user guide, "Configure AWS Glue access to your catalog and database per AWS
        # Region": every query also looks up the region's database `default`.
        allow(["glue:GetDatabase"], [arn("glue", "database", "default")]),
    ]


class AthenaReader(Role):
    """A role that may query in the tables' workgroup, read some tables, and write results."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        table_names: Collection[str],
        bucket: Bucket,
        tables: Tables,
        key: str,
    ) -> None:
        # QuickSight user guide, "Passing IAM roles": the trust policy has no condition.
        super().__init__(scope, name, assumed_by=ServicePrincipal("quicksight.amazonaws.com"))
        for statement in (*query_statements(Stack.of(self), tables, table_names), *using_key(key)):
            self.add_to_policy(statement)
        self._allow_objects(bucket, [f"{keys.rows(table)}*" for table in sorted(table_names)])

    def _allow_objects(self, bucket: Bucket, tables: Sequence[str]) -> None:
        # Athena reads the tables and writes the results with the permissions of its caller.
        self._allow(["s3:GetObject"], [bucket.arn_for_objects(pattern) for pattern in tables])
        self._allow(
            [
                "s3:AbortMultipartUpload",
                "s3:GetObject",
                "s3:ListMultipartUploadParts",
                "s3:PutObject",
            ],
            [bucket.arn_for_objects(_RESULTS)],
        )
        self._allow(["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"], [bucket.bucket_arn])
        self._allow(
            ["s3:ListBucket"],
            [bucket.bucket_arn],
            {"StringLike": {"s3:prefix": [*tables, _RESULTS]}},
        )
        for pattern in (*tables, _RESULTS):
            acknowledge(
                self,
                objects_finding(bucket, pattern),
                "The objects of a table are named after runs, and an answer after its query: "
                "neither exists yet; the prefix keeps the role to them.",
            )

    def _allow(
        self,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Conditions | None = None,
    ) -> None:
        self.add_to_policy(allow(actions, resources, conditions))
