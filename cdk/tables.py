"""The tables over the results in S3, and the Athena workgroup to query them."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, CfnResource
from aws_cdk.aws_athena import CfnWorkGroup
from aws_cdk.aws_glue import CfnDatabase
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.results import ATHENA_PREFIX
from tidemark.store.catalogue import SCAN_LIMIT_BYTES, database_name, table_input
from tidemark.store.columns import TABLES


class Tables(Construct):
    """The database of the results bucket's tables, and the workgroup for its queries."""

    def __init__(
        self, scope: Construct, name: str, *, stack: str, bucket: Bucket, suites: Sequence[str]
    ) -> None:
        super().__init__(scope, name)
        database = CfnDatabase(
            self,
            "Database",
            catalog_id=Aws.ACCOUNT_ID,
            database_input=CfnDatabase.DatabaseInputProperty(
                name=database_name(stack),
                description="Figures measured by Tidemark",
            ),
        )
        for table, columns in TABLES.items():
            location = f"s3://{bucket.bucket_name}/tables"
            CfnResource(
                self,
                table,
                type="AWS::Glue::Table",
                properties={
                    "CatalogId": Aws.ACCOUNT_ID,
                    "DatabaseName": database.ref,
                    "TableInput": table_input(table, columns, location, suites),
                },
            )
        self.database = database.ref
        self.workgroup = self._workgroup(stack, f"s3://{bucket.bucket_name}/{ATHENA_PREFIX}").ref

    def _workgroup(self, name: str, results: str) -> CfnWorkGroup:
        return CfnWorkGroup(
            self,
            "WorkGroup",
            name=name,
            # Without this option a workgroup that has been used cannot be deleted.
            recursive_delete_option=True,
            work_group_configuration=CfnWorkGroup.WorkGroupConfigurationProperty(
                enforce_work_group_configuration=True,
                bytes_scanned_cutoff_per_query=SCAN_LIMIT_BYTES,
                engine_version=CfnWorkGroup.EngineVersionProperty(
                    selected_engine_version="Athena engine version 3"
                ),
                result_configuration=CfnWorkGroup.ResultConfigurationProperty(
                    output_location=results,
                    encryption_configuration=CfnWorkGroup.EncryptionConfigurationProperty(
                        encryption_option="SSE_S3"
                    ),
                ),
            ),
        )
