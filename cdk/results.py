"""The results bucket."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk.aws_s3 import BlockPublicAccess, Bucket, BucketEncryption, LifecycleRule
from constructs import Construct

from cdk.findings import acknowledge
from tidemark.store import keys

# The key prefix of Athena's query results.
ATHENA_PREFIX = "athena/"


class Results(Construct):
    """The bucket of plans, trials, tables and reports, and of the trials' working data."""

    def __init__(self, scope: Construct, name: str, *, ephemeral: bool) -> None:
        super().__init__(scope, name)
        self.bucket = Bucket(
            self,
            "Bucket",
            encryption=BucketEncryption.S3_MANAGED,
            # A measurement cannot be repeated: what is overwritten or deleted by mistake stays.
            versioned=True,
            block_public_access=BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            # Figures outlive even their own stack.
            removal_policy=RemovalPolicy.DESTROY if ephemeral else RemovalPolicy.RETAIN,
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
