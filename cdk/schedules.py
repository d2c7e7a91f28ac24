"""Suites that are measured by themselves, and where a start that was not delivered is kept."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration, Stack, TimeZone
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

from cdk.findings import acknowledge
from cdk.grants import allow
from cdk.settings import StartTime

# EventBridge Scheduler tries 185 times within a day unless told otherwise. A start that comes an
# hour late measures beside what its time was chosen to avoid.
RETRIES = 2
LATEST_START = Duration.hours(1)


class Schedules(Construct):
    """One schedule for each suite that has a start time, and their dead-letter queue.

    ``watcher`` is told the name of each suite's schedule as ``SCHEDULES``, and may ask for it.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        starts: Mapping[str, StartTime],
        machine: StateMachine,
        watcher: Function,
        bucket: Bucket,
    ) -> None:
        super().__init__(scope, name)
        self.undelivered = Queue(
            self,
            "Undelivered",
            encryption=QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        acknowledge(self.undelivered, "SQS3", "It is a dead-letter queue itself.")
        schedules = {
            suite: self._schedule(suite, start, machine) for suite, start in starts.items()
        }
        self._let_watch(watcher, schedules, bucket)

    def _schedule(self, suite: str, start: StartTime, machine: StateMachine) -> Schedule:
        return Schedule(
            self,
            suite.capitalize(),
            description=f"Measure the newest version of {suite} and the one before",
            schedule=ScheduleExpression.expression(
                f"cron({start.cron})", TimeZone.of(start.time_zone)
            ),
            target=StepFunctionsStartExecution(
                machine,
                input=ScheduleTargetInput.from_object(_request(suite)),
                retry_attempts=RETRIES,
                max_event_age=LATEST_START,
                dead_letter_queue=self.undelivered,
            ),
        )

    def _let_watch(
        self, watcher: Function, schedules: Mapping[str, Schedule], bucket: Bucket
    ) -> None:
        names = {suite: schedule.schedule_name for suite, schedule in schedules.items()}
        watcher.add_environment("SCHEDULES", Stack.of(self).to_json_string(names))
        arns = [schedule.schedule_arn for schedule in schedules.values()]
        watcher.add_to_role_policy(allow(["scheduler:GetSchedule"], arns))
        # It looks for the runs that are named after a time at which one was due.
        due = {"StringLike": {"s3:prefix": "runs/*Z-"}}
        watcher.add_to_role_policy(allow(["s3:ListBucket"], [bucket.bucket_arn], due))


def _request(suite: str) -> Mapping[str, object]:
    """Return the input of the execution; what is delivered twice has the same time, and is one."""
    return {
        "suite": suite,
        "versions": ["newest", "previous"],
        "trigger": "schedule",
        "scheduled_at": ContextAttribute.scheduled_time,
    }
