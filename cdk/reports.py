"""Reports in QuickSight: data sets over Athena, and the dashboard over them.

QuickSight's account, users and groups belong to no stack; reports need them to exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Aws, CfnOutput, CfnResource, Stack
from aws_cdk.aws_events import EventPattern, Rule
from aws_cdk.aws_events_targets import SfnStateMachine
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk import definitions
from cdk.policies import acknowledge, allow, wildcard_finding
from cdk.results import AthenaReader, Tables
from cdk.workflow import state_machine
from tidemark.dashboard.data_sets import DATA_SETS, DECIMAL, DataSet, read_data_set
from tidemark.dashboard.quicksight import definition
from tidemark.dashboard.sheets import dashboard
from tidemark.model.settings import Settings
from tidemark.model.telemetry import EVENT_SOURCE, EVENT_TYPE

_TITLE = "did this version get slower?"
# The id of the only table of each data set.
_TABLE = "sql"
# The actions that the group is granted on an asset of each type. QuickSight refuses a part of a set
# that its console grants at once, so these are the console's sets for viewers and users. Deployed
# assets change only by deploying. The analysis is for trying changes, and only its owners see it.
_ACTIONS = {
    "Analysis": [
        "DeleteAnalysis", "DescribeAnalysis", "DescribeAnalysisPermissions", "QueryAnalysis",
        "RestoreAnalysis", "UpdateAnalysis", "UpdateAnalysisPermissions",
    ],
    "Dashboard": ["DescribeDashboard", "ListDashboardVersions", "QueryDashboard"],
    "DataSet": [
        "DescribeDataSet", "DescribeDataSetPermissions", "DescribeIngestion", "ListIngestions",
        "PassDataSet",
    ],
    "DataSource": ["DescribeDataSource", "DescribeDataSourcePermissions", "PassDataSource"],
    "Theme": ["DescribeTheme", "DescribeThemeAlias", "ListThemeAliases", "ListThemeVersions"],
}  # fmt: skip


class Reports(Construct):
    """The dashboard of ``tidemark.dashboard.sheets``, published to a group, and its data sets."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, bucket: Bucket, tables: Tables
    ) -> None:
        super().__init__(scope, name)
        self._stack, self._group = settings.stack_name, settings.reports_principal
        by_name = {name: read_data_set(name) for name in DATA_SETS}
        names = frozenset[str]().union(*(data_set.tables for data_set in by_name.values()))
        reader = AthenaReader(
            self, "Reader", table_names=names, bucket=bucket, tables=tables, key=settings.kms_key
        )
        source = self._data_source(reader, tables.workgroup)
        arns = {
            name: self._data_set(data_set, source, tables.database)
            for name, data_set in by_name.items()
        }
        self._publish(definition(dashboard()), arns)
        self.refresh = Refreshes(
            self,
            "Refreshes",
            settings=settings,
            data_sets=[self._id(name) for name in by_name],
            bucket=bucket,
        ).machine

    def _id(self, name: str) -> str:
        """Return the id of an asset. It never changes, because people's own assets refer to it."""
        return f"{self._stack}-{name}"

    def _asset(self, kind: str, name: str, properties: Mapping[str, Any]) -> CfnResource:
        """Return an asset that the group may use.

        The definitions use the API's names of properties, which CDK's own classes do not take.
        """
        actions = [f"quicksight:{action}" for action in _ACTIONS[kind]]
        return CfnResource(
            self,
            name,
            type=f"AWS::QuickSight::{kind}",
            properties={
                "AwsAccountId": Aws.ACCOUNT_ID,
                "Permissions": [{"Principal": self._group, "Actions": actions}],
                **properties,
            },
        )

    def _data_source(self, reader: AthenaReader, workgroup: str) -> CfnResource:
        athena = {"WorkGroup": workgroup, "RoleArn": reader.role_arn}
        source = self._asset("DataSource", "Athena", {
            "DataSourceId": self._id("athena"),
            "Name": f"{self._stack}: Athena",
            "Type": "ATHENA",
            "DataSourceParameters": {"AthenaParameters": athena},
        })  # fmt: skip
        # QuickSight queries Athena as soon as the data source exists.
        source.node.add_dependency(reader)
        return source

    def _data_set(self, data_set: DataSet, source: CfnResource, database: str) -> str:
        """Return the ARN of a data set that is kept in SPICE."""
        sql = {
            "DataSourceArn": source.get_att("Arn"),
            "Name": data_set.title,
            "SqlQuery": data_set.within(database),
            "Columns": [_column(name, kind) for name, kind in data_set.columns.items()],
        }
        asset = self._asset("DataSet", data_set.name, {
            "DataSetId": self._id(data_set.name),
            "Name": f"{self._stack}: {data_set.title}",
            "ImportMode": "SPICE",
            "PhysicalTableMap": {_TABLE: {"CustomSql": sql}},
            # CloudFormation would otherwise wait for up to 36 hours.
            "IngestionWaitPolicy": {"WaitForSpiceIngestion": False},
        })  # fmt: skip
        return asset.get_att("Arn").to_string()

    def _publish(self, definition: Mapping[str, Any], arns: Mapping[str, str]) -> None:
        """Add the dashboard for viewers, and the analysis for trying changes."""
        colours = (definitions.FOLDER / "theme.json").read_text(encoding="utf-8")
        theme = self._asset("Theme", "Theme", {
            "ThemeId": self._id("theme"),
            "Name": self._stack,
            "BaseThemeId": "CLASSIC",
            "Configuration": json.loads(colours),
        })  # fmt: skip
        declarations = [{"Identifier": name, "DataSetArn": arn} for name, arn in arns.items()]
        properties = {
            "Name": f"{self._stack}: {_TITLE}",
            "ThemeArn": theme.get_att("Arn"),
            "Definition": {**definition, "DataSetIdentifierDeclarations": declarations},
            # An error that QuickSight finds fails the deployment rather than a visual.
            "ValidationStrategy": {"Mode": "STRICT"},
        }
        self._asset("Analysis", "Analysis", {"AnalysisId": self._id("analysis"), **properties})
        dashboard = self._id("dashboard")
        self._asset("Dashboard", "Dashboard", {"DashboardId": dashboard, **properties})
        CfnOutput(
            self,
            "DashboardUrl",
            description="Rates, comparisons and runs in QuickSight",
            value=f"https://{Aws.REGION}.quicksight.aws.amazon.com/sn/dashboards/{dashboard}",
        )


def _column(name: str, kind: str) -> Mapping[str, str]:
    # API reference, InputColumn: a fixed decimal, the default, has four decimal places.
    return {"Name": name, "Type": kind, **({"SubType": "FLOAT"} if kind == DECIMAL else {})}


class Refreshes(Construct):
    """A state machine that refreshes data sets by their ids whenever a run has ended.

    The machine starts on the event that the last step of a run puts on the event bus. A refresh is
    not a state of the run, so it neither fails nor delays a run, and it also follows a run that is
    ended from outside.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        data_sets: Sequence[str],
        bucket: Bucket,
    ) -> None:
        super().__init__(scope, name)
        self.machine = state_machine(
            self,
            "Refresh",
            definitions.definition("refresh"),
            {"Account": Aws.ACCOUNT_ID, "DataSets": ",".join(data_sets)},
            settings,
        )
        acknowledge(
            self.machine,
            "IAM5[Resource::*]",
            "X-Ray and the delivery of logs: neither can be named.",
        )
        for data_set in data_sets:
            self._allow_refreshing(data_set)
        Rule(
            self,
            "RunEnded",
            description="The data sets of the reports take in what a run measured",
            event_pattern=EventPattern(
                source=[EVENT_SOURCE],
                detail_type=[EVENT_TYPE],
                detail={
                    # Other stacks may put events of their runs on the same bus.
                    "bucket": [bucket.bucket_name],
                    # The tables have no figures of a refused run.
                    "status": [{"anything-but": "rejected"}],
                },
            ),
            targets=[SfnStateMachine(self.machine)],
        )

    def _allow_refreshing(self, data_set: str) -> None:
        ingestions = f"{data_set}/ingestion/*"
        arn = Stack.of(self).format_arn(
            service="quicksight", resource="dataset", resource_name=ingestions
        )
        self.machine.add_to_role_policy(
            allow(["quicksight:CreateIngestion", "quicksight:DescribeIngestion"], [arn])
        )
        acknowledge(
            self.machine,
            wildcard_finding(self, arn),
            "An ingestion has a name when it is created, and no sooner.",
        )
