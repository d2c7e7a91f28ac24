"""The role in which QuickSight asks Athena: for the tables of its data sets, and no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aws_cdk import Stack
from aws_cdk.aws_iam import Role, ServicePrincipal
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.findings import acknowledge, of_objects
from cdk.grants import Conditions, allow
from cdk.results import ATHENA_PREFIX
from cdk.tables import Tables

_ANSWERS = f"{ATHENA_PREFIX}*"


class AthenaReader(Role):
    """May ask the tables' workgroup, read some tables, and keep answers where Athena does."""

    def __init__(
        self, scope: Construct, name: str, *, read: Collection[str], bucket: Bucket, tables: Tables
    ) -> None:
        # QuickSight user guide, "Passing IAM roles": its trust policy has no condition.
        super().__init__(scope, name, assumed_by=ServicePrincipal("quicksight.amazonaws.com"))
        self._ask(tables.workgroup)
        self._look_up(tables.database, read)
        self._fetch(bucket, [f"tables/{table}/*" for table in sorted(read)])

    def _ask(self, workgroup: str) -> None:
        self._allow(
            [
                "athena:GetQueryExecution",
                "athena:GetQueryResults",
                "athena:GetQueryResultsStream",
                "athena:GetWorkGroup",
                "athena:StartQueryExecution",
                "athena:StopQueryExecution",
            ],
            [self._arn("athena", "workgroup", workgroup)],
        )

    def _look_up(self, database: str, read: Collection[str]) -> None:
        # Athena user guide, "Configure access to databases and tables".
        self._allow(
            ["glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"],
            [
                self._arn("glue", "catalog"),
                self._arn("glue", "database", database),
                *(self._arn("glue", "table", f"{database}/{table}") for table in sorted(read)),
            ],
        )
        # The same, "Configure AWS Glue access to your catalog and database per AWS Region": Athena
        # asks for the region's database `default`, whatever a query names.
        self._allow(["glue:GetDatabase"], [self._arn("glue", "database", "default")])

    def _fetch(self, bucket: Bucket, read: Sequence[str]) -> None:
        # Athena acts in the name of whoever asks: it reads the tables and writes the answer so.
        self._allow(["s3:GetObject"], [bucket.arn_for_objects(pattern) for pattern in read])
        self._allow(
            [
                "s3:AbortMultipartUpload",
                "s3:GetObject",
                "s3:ListMultipartUploadParts",
                "s3:PutObject",
            ],
            [bucket.arn_for_objects(_ANSWERS)],
        )
        self._allow(["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"], [bucket.bucket_arn])
        self._allow(
            ["s3:ListBucket"],
            [bucket.bucket_arn],
            {"StringLike": {"s3:prefix": [*read, _ANSWERS]}},
        )
        for pattern in (*read, _ANSWERS):
            acknowledge(
                self,
                of_objects(bucket, pattern),
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

    def _arn(self, service: str, resource: str, name: str | None = None) -> str:
        return Stack.of(self).format_arn(service=service, resource=resource, resource_name=name)
