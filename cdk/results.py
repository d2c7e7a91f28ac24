"""The results bucket, the tables over it, the saved queries, and the permissions to query them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from aws_cdk import Aws, CfnResource, Duration, RemovalPolicy, Stack
from aws_cdk.aws_athena import CfnNamedQuery, CfnWorkGroup
from aws_cdk.aws_glue import CfnDatabase
from aws_cdk.aws_iam import PolicyStatement, Role, ServicePrincipal
from aws_cdk.aws_logs import CfnQueryDefinition
from aws_cdk.aws_s3 import BlockPublicAccess, Bucket, BucketEncryption, LifecycleRule
from constructs import Construct

from cdk.policies import Conditions, acknowledge, allow, kms_key, objects_finding, using_key
from cdk.system_tests import SystemTests
from tidemark.model.checkout import ROOT
from tidemark.model.services import LAST_LINES_QUERY, READY_QUERY
from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file, query_text
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


# Every test needs these log queries; its metrics have others.
_COMMON = ("environment", "failures")
_SERVICES = (READY_QUERY, LAST_LINES_QUERY)
_USAGE = "task_usage"
_SHARED = ROOT / "queries" / "logs"


class SavedQueries(Construct):
    """The SQL files, saved in the tables' workgroup, and the log queries of the suites.

    A query of several suites is saved once, over the log groups of all of them: a stack has 500
    resources at most, and each suite has some ten queries.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        tables: Tables,
        suites: Mapping[str, Suite],
        tests: SystemTests,
        systems: Path,
    ) -> None:
        super().__init__(scope, name)
        groups = {name: tests.suites[name].log_group.log_group_name for name in suites}
        for (title, text), readers in sorted(_log_queries(suites.values(), systems).items()):
            self._save(title, text, [groups[name] for name in readers])
        if tests.usage_logs:
            # It names no log group: Container Insights makes its own at the first event.
            self._save(_USAGE, (_SHARED / f"{_USAGE}.cwli").read_text(encoding="utf-8"))
        for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
            self._save_sql(path, tables)

    def _save(self, title: str, text: str, log_groups: Sequence[str] = ()) -> None:
        CfnQueryDefinition(
            self,
            title.replace("/", "-"),
            name=f"{Stack.of(self).stack_name}/{title}",
            query_string=text,
            log_group_names=list(log_groups) or None,
        )

    def _save_sql(self, path: Path, tables: Tables) -> None:
        """Save a query; its leading comment is its name and, from line two, its description."""
        text = path.read_text(encoding="utf-8")
        comment = re.match("(?:-- .+\n)+", text)
        if comment is None:
            raise ValueError(f"{path.name}: expected a comment at the start that names the query")
        title, *description = comment.group().replace("-- ", "").splitlines()
        CfnNamedQuery(
            self,
            path.stem,
            name=title,
            description=" ".join(description),
            database=tables.database,
            query_string=text,
            work_group=tables.workgroup,
        )


def _log_queries(suites: Iterable[Suite], systems: Path) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the suites that each log query, a title and a text, reads; it may be of all suites."""
    readers: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for suite in suites:
        for query in _queries_of(suite):
            shared = query_file(suite.name, query, systems / "suites").parent == _SHARED
            title = query if shared else f"{suite.name}/{query}"
            readers[title, query_text(suite, query, systems / "suites")].append(suite.name)
    return readers


def _queries_of(suite: Suite) -> set[str]:
    """Return the queries that read a suite's logs."""
    metrics = [metric for test in suite.tests for metric in test.metrics]
    metric_queries = {query for metric in metrics for query in metric.queries}
    series_queries = {series.query for test in suite.tests for series in test.series}
    services = _SERVICES if suite.services else ()
    loads = {load.query for load in suite.loads}
    return {*metric_queries, *series_queries, *suite.conditions, *loads, *services, *_COMMON}
