"""The refresh of the reports' data sets after each run."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk.aws_events import EventPattern, Rule
from aws_cdk.aws_events_targets import SfnStateMachine
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.definitions import definition
from cdk.findings import acknowledge
from cdk.policy_statements import allow
from cdk.workflow import state_machine
from tidemark.model.settings import Settings
from tidemark.model.telemetry import EVENT_SOURCE, EVENT_TYPE


class Refreshes(Construct):
    """A state machine that refreshes data sets by their ids whenever a run has ended.

    The machine starts on the event that the last step of a run puts on the event bus. A refresh is
    no state of the run, so it neither fails nor delays a run, and it also follows a run that is
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
            definition("refresh"),
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
            "IAM5[Resource::arn:<AWS::Partition>:quicksight:<AWS::Region>:<AWS::AccountId>:"
            f"dataset/{ingestions}]",
            "An ingestion has a name when it is created, and no sooner.",
        )
