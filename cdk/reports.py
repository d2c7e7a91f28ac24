"""Reports in QuickSight: data sets over Athena, and the dashboard over them.

QuickSight's account, users and groups belong to no stack: reports are for who has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aws_cdk import Aws, CfnOutput, CfnResource
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.athena_reader import AthenaReader
from cdk.data_sets import DECIMAL, DataSet
from cdk.definition import data_sets, read_definition
from cdk.refreshes import Refreshes
from cdk.settings import Settings
from cdk.tables import Tables
from cdk.workflow import FOLDER

_TITLE = "did this version get slower?"
# Within a data set, of its only table.
_TABLE = "sql"
# By type, what the group may do with an asset: what QuickSight's console grants at once to whoever
# may view or use it, for a part of that set is refused. What is deployed is changed by deploying;
# the analysis is there to try, and its owners are all who can see it.
_GRANTED = {
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
    """The dashboard of ``dashboard.json``, published to a group, and its data sets."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, bucket: Bucket, tables: Tables
    ) -> None:
        super().__init__(scope, name)
        self._stack, self._group = settings.stack_name, settings.reports_principal
        definition = read_definition()
        known = data_sets(definition)
        read = frozenset[str]().union(*(each.tables for each in known.values()))
        source = self._data_source(
            AthenaReader(self, "Reader", read=read, bucket=bucket, tables=tables), tables.workgroup
        )
        arns = {name: self._data_set(each, source, tables.database) for name, each in known.items()}
        self._publish(definition, arns)
        self.refresh = Refreshes(
            self,
            "Refreshes",
            settings=settings,
            data_sets=[self._id(name) for name in known],
            bucket=bucket,
        ).machine

    def _id(self, name: str) -> str:
        """Return the id of an asset: what others made of it hangs on that, so it never changes."""
        return f"{self._stack}-{name}"

    def _asset(self, kind: str, name: str, properties: Mapping[str, Any]) -> CfnResource:
        """Return an asset that the group is granted.

        CDK's own classes take no properties in the API's words, in which definitions are written.
        """
        actions = [f"quicksight:{action}" for action in _GRANTED[kind]]
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
        # QuickSight asks Athena as soon as there is a data source.
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
            # CloudFormation would wait for up to 36 hours.
            "IngestionWaitPolicy": {"WaitForSpiceIngestion": False},
        })  # fmt: skip
        return asset.get_att("Arn").to_string()

    def _publish(self, definition: Mapping[str, Any], arns: Mapping[str, str]) -> None:
        """Make the dashboard that is looked at, and the analysis in which to try changes."""
        theme = self._asset("Theme", "Theme", {
            "ThemeId": self._id("theme"),
            "Name": self._stack,
            "BaseThemeId": "CLASSIC",
            "Configuration": json.loads((FOLDER / "theme.json").read_text(encoding="utf-8")),
        })  # fmt: skip
        declared = [{"Identifier": name, "DataSetArn": arn} for name, arn in arns.items()]
        shown = {
            "Name": f"{self._stack}: {_TITLE}",
            "ThemeArn": theme.get_att("Arn"),
            "Definition": {**definition, "DataSetIdentifierDeclarations": declared},
            # What QuickSight finds wrong fails the deployment, and not a visual.
            "ValidationStrategy": {"Mode": "STRICT"},
        }
        self._asset("Analysis", "Analysis", {"AnalysisId": self._id("analysis"), **shown})
        dashboard = self._id("dashboard")
        self._asset("Dashboard", "Dashboard", {"DashboardId": dashboard, **shown})
        CfnOutput(
            self,
            "DashboardUrl",
            description="Rates, comparisons and runs in QuickSight",
            value=f"https://{Aws.REGION}.quicksight.aws.amazon.com/sn/dashboards/{dashboard}",
        )


def _column(name: str, kind: str) -> Mapping[str, str]:
    # API reference, InputColumn: a fixed decimal, the default, has four places after its point.
    return {"Name": name, "Type": kind, **({"SubType": "FLOAT"} if kind == DECIMAL else {})}
