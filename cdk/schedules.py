"""Scheduled runs of suites, and the dead-letter queue of their starts."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Aws, Duration, Stack, TimeZone
from aws_cdk.aws_iam import Role, ServicePrincipal
from aws_cdk.aws_lambda import Function
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_scheduler import (
    ContextAttribute,
    Schedule,
    ScheduleExpression,
    ScheduleTargetInput,
)
from aws_cdk.aws_scheduler_targets import StepFunctionsStartExecution
from aws_cdk.aws_sqs import Queue, QueueEncryption
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct

from cdk.policies import acknowledge, allow, kms_key, using_key
from tidemark.model.settings import Settings, StartTime

# EventBridge Scheduler tries 185 times within a day by default. A run that starts an hour late may
# run beside the load that its start time was chosen to avoid.
RETRIES = 2
LATEST_START = Duration.hours(1)


class Schedules(Construct):
    """One schedule for each suite that has a start time, and their dead-letter queue.

    ``watcher`` gets the name of each suite's schedule in the variable ``SCHEDULES``, and may
    describe these schedules.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        machine: StateMachine,
        watcher: Function,
        bucket: Bucket,
        settings: Settings,
    ) -> None:
        super().__init__(scope, name)
        key = kms_key(self, "Key", settings)
        self.lost_starts = Queue(
            self,
            "Undelivered",
            encryption=QueueEncryption.KMS if key else QueueEncryption.SQS_MANAGED,
            encryption_master_key=key,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        acknowledge(self.lost_starts, "SQS3", "It is a dead-letter queue itself.")
        starter = self._starter(settings.kms_key)
        schedules = {
            suite: self._schedule(suite, start, machine, starter)
            for suite, start in settings.schedules.items()
        }
        self._allow_watching(watcher, schedules, bucket)

    def _starter(self, key: str) -> Role:
        """Return the role of the schedules, which no schedule of another group may take."""
        group = Stack.of(self).format_arn(
            service="scheduler", resource="schedule-group", resource_name="default"
        )
        own = {"aws:SourceAccount": Aws.ACCOUNT_ID, "aws:SourceArn": group}
        principal = ServicePrincipal("scheduler.amazonaws.com", conditions={"StringEquals": own})
        role = Role(self, "Starter", assumed_by=principal)
        # An undelivered start is a message in the encrypted queue.
        for statement in using_key(key):
            role.add_to_policy(statement)
        return role

    def _schedule(
        self, suite: str, start: StartTime, machine: StateMachine, starter: Role
    ) -> Schedule:
        return Schedule(
            self,
            suite.capitalize(),
            description=f"Measure the newest version of {suite} and the one before",
            schedule=ScheduleExpression.expression(
                f"cron({start.cron})", TimeZone.of(start.time_zone)
            ),
            target=StepFunctionsStartExecution(
                machine,
                role=starter,
                input=ScheduleTargetInput.from_object(_request(suite, start)),
                retry_attempts=RETRIES,
                max_event_age=LATEST_START,
                dead_letter_queue=self.lost_starts,
            ),
        )

    def _allow_watching(
        self, watcher: Function, schedules: Mapping[str, Schedule], bucket: Bucket
    ) -> None:
        names = {suite: schedule.schedule_name for suite, schedule in schedules.items()}
        watcher.add_environment("SCHEDULES", Stack.of(self).to_json_string(names))
        arns = [schedule.schedule_arn for schedule in schedules.values()]
        watcher.add_to_role_policy(allow(["scheduler:GetSchedule"], arns))
        # The watcher looks for runs by the time at which they were due: their names begin with it.
        by_time = {"StringLike": {"s3:prefix": "runs/*Z-"}}
        watcher.add_to_role_policy(allow(["s3:ListBucket"], [bucket.bucket_arn], by_time))


def _request(suite: str, start: StartTime) -> Mapping[str, object]:
    """Return the input of an execution.

    A repeated delivery of a start has the same time, and so names the same run.
    """
    return {
        "suite": suite,
        "versions": ["newest", "previous"],
        "trigger": "schedule",
        "scheduled_at": ContextAttribute.scheduled_time,
        **({} if start.budget_usd is None else {"budget_usd": start.budget_usd}),
    }
