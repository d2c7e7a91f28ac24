"""The tables over the results in S3, and the Athena workgroup to ask them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk.aws_athena import CfnWorkGroup
from aws_cdk.aws_glue import CfnDatabase, CfnTable
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.results import ATHENA_PREFIX
from suites.tables import PARTITIONS, TABLES

# What one query may read [B]: a slip in a query fails instead of costing. A run takes some 10 kB.
SCAN_LIMIT_BYTES = 1024**3
# What the year of a run may be; a year without runs costs nothing.
YEARS = "2000,2100"


class Tables(Construct):
    """The database of the results bucket's tables, and the workgroup that people ask it in."""

    def __init__(
        self, scope: Construct, name: str, *, stack: str, bucket: Bucket, suites: Sequence[str]
    ) -> None:
        super().__init__(scope, name)
        database = CfnDatabase(
            self,
            "Database",
            catalog_id=Aws.ACCOUNT_ID,
            database_input=CfnDatabase.DatabaseInputProperty(
                name=re.sub("[^a-z0-9_]", "_", stack.lower()),
                description="Figures measured by Tidemark",
            ),
        )
        for table, columns in TABLES.items():
            CfnTable(
                self,
                table,
                catalog_id=Aws.ACCOUNT_ID,
                database_name=database.ref,
                table_input=_table(table, columns, f"s3://{bucket.bucket_name}/tables", suites),
            )
        self.database = database.ref
        self.workgroup = self._workgroup(stack, f"s3://{bucket.bucket_name}/{ATHENA_PREFIX}").ref

    def _workgroup(self, name: str, results: str) -> CfnWorkGroup:
        return CfnWorkGroup(
            self,
            "WorkGroup",
            name=name,
            # A workgroup that has been used cannot be deleted otherwise.
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


def _table(
    name: str, columns: Mapping[str, str], tables: str, suites: Sequence[str]
) -> CfnTable.TableInputProperty:
    """Return gzipped JSON lines as a table, its partitions projected from what they can be."""
    location = f"{tables}/{name}/"
    return CfnTable.TableInputProperty(
        name=name,
        table_type="EXTERNAL_TABLE",
        partition_keys=_columns(PARTITIONS),
        # Athena documentation, partition projection: no crawler and no partition is ever added.
        parameters={
            "EXTERNAL": "TRUE",
            "classification": "json",
            "compressionType": "gzip",
            "projection.enabled": "true",
            "projection.suite.type": "enum",
            "projection.suite.values": ",".join(suites),
            "projection.year.type": "integer",
            "projection.year.range": YEARS,
            "storage.location.template": f"{location}suite=${{suite}}/year=${{year}}/",
        },
        storage_descriptor=CfnTable.StorageDescriptorProperty(
            location=location,
            columns=_columns(columns),
            compressed=True,
            input_format="org.apache.hadoop.mapred.TextInputFormat",
            output_format="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            serde_info=CfnTable.SerdeInfoProperty(
                serialization_library="org.openx.data.jsonserde.JsonSerDe"
            ),
        ),
    )


def _columns(types: Mapping[str, str]) -> list[CfnTable.ColumnProperty]:
    return [CfnTable.ColumnProperty(name=name, type=type_) for name, type_ in types.items()]
