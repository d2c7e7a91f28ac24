"""The results bucket, and the tables over it."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, CfnResource, Duration, RemovalPolicy
from aws_cdk.aws_athena import CfnWorkGroup
from aws_cdk.aws_glue import CfnDatabase
from aws_cdk.aws_s3 import BlockPublicAccess, Bucket, BucketEncryption, LifecycleRule
from constructs import Construct

from cdk.policies import acknowledge, kms_key
from tidemark.model.settings import Settings
from tidemark.store import keys
from tidemark.store.columns import SCAN_LIMIT_BYTES, TABLES, database_name, table_input

# The key prefix of Athena's query results.
ATHENA_PREFIX = "athena/"


class Results(Construct):
    """The bucket of plans, trials, tables and reports, and of the trials' working data."""

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        key = kms_key(self, "Key", settings)
        self.bucket = Bucket(
            self,
            "Bucket",
            encryption=BucketEncryption.KMS if key else BucketEncryption.S3_MANAGED,
            encryption_key=key,
            # Else each object would be a request to KMS.
            bucket_key_enabled=True if key else None,
            # A measurement cannot be repeated: what is overwritten or deleted by mistake stays.
            versioned=True,
            block_public_access=BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            # Figures outlive even their own stack.
            removal_policy=RemovalPolicy.DESTROY if settings.ephemeral else RemovalPolicy.RETAIN,
            lifecycle_rules=[
                _expiring("WorkingData", keys.WORK, days=2),
                # A query can be repeated.
                _expiring("QueryResults", ATHENA_PREFIX, days=7),
                LifecycleRule(
                    id="Remains",
                    abort_incomplete_multipart_upload_after=Duration.days(2),
                    expired_object_delete_marker=True,
                ),
            ],
        )
        acknowledge(
            self.bucket,
            "S1",
            "It holds figures about releases and nothing personal; whoever must know each access "
            "has CloudTrail's data events, for all buckets of the account alike.",
        )


def _expiring(id_: str, prefix: str, days: int) -> LifecycleRule:
    """Return the rule of objects that are deleted after some days, with their old versions."""
    return LifecycleRule(
        id=id_,
        prefix=prefix,
        expiration=Duration.days(days),
        noncurrent_version_expiration=Duration.days(1),
    )


class Tables(Construct):
    """The database of the results bucket's tables, and the workgroup for its queries."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        bucket: Bucket,
        suites: Sequence[str],
    ) -> None:
        super().__init__(scope, name)
        stack, key = settings.stack_name, settings.kms_key
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
        self.bucket, self.database = bucket, database.ref
        results = f"s3://{bucket.bucket_name}/{ATHENA_PREFIX}"
        self.workgroup = self._workgroup(stack, results, key).ref

    def _workgroup(self, name: str, results: str, key: str) -> CfnWorkGroup:
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
                        encryption_option="SSE_KMS" if key else "SSE_S3", kms_key=key or None
                    ),
                ),
            ),
        )
