"""The alarms of a stack and its dashboard in CloudWatch.

A run or refresh that fails, a start that is missed and a function that cannot end runs raise an
alarm. A metric of these has a value only when something happens, and none for hours or days in
between. Each alarm therefore keeps its state until the next value: it is raised once, and cleared
when the next run of the suite is complete, the queue is empty, the function returns, or the next
refresh succeeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import Aws, Duration, Stack
from aws_cdk.aws_cloudwatch import (
    Alarm,
    AlarmStatusWidget,
    ComparisonOperator,
    Dashboard,
    GraphWidget,
    IMetric,
    IWidget,
    MathExpression,
    Metric,
    TreatMissingData,
)
from aws_cdk.aws_cloudwatch_actions import SnsAction
from aws_cdk.aws_iam import PolicyStatement, ServicePrincipal
from aws_cdk.aws_lambda import Function
from aws_cdk.aws_sns import Topic
from aws_cdk.aws_sqs import Queue
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct

from tidemark.model.metric import Metric as SuiteMetric
from tidemark.model.suite import Suite, Test
from tidemark.model.telemetry import MISSED_SCHEDULES, NAMESPACE, RUN_FAILED

# Two values in one period count as one. No two runs of a suite end in one minute, nor do two
# sweeps, and Lambda retries a failed invocation after one minute.
_PERIOD = Duration.minutes(1)
# A consumer that looks into a queue hides its messages for half a minute.
_QUEUE_PERIOD = Duration.minutes(5)


class Alarms(Construct):
    """The alarms of a stack, which notify its topic when they are raised and cleared."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        topic: Topic,
        suites: Iterable[str],
        endings: Mapping[str, Function],
        lost_starts: Queue | None,
        refresh: StateMachine | None,
    ) -> None:
        super().__init__(scope, name)
        self._topic, self._stack = topic, Stack.of(self).stack_name
        self.all: list[Alarm] = []
        for suite in suites:
            self._alarm(
                f"{suite}-run-failed",
                self._metric(RUN_FAILED, suite=suite),
                f"The last run of {suite} is incomplete or failed; its report says why.",
            )
        for state, function in endings.items():
            self._alarm(
                f"{state}-failed",
                function.metric_errors(statistic="Maximum", period=_PERIOD),
                f"{state} failed: runs that died may not have been ended; its log says why.",
            )
        if lost_starts:
            self._alarm(
                "schedule-missed",
                self._metric(MISSED_SCHEDULES),
                "A suite was not measured when it was due, though its schedule is on.",
            )
            self._alarm(
                "start-undelivered",
                lost_starts.metric_approximate_number_of_messages_visible(
                    statistic="Maximum", period=_QUEUE_PERIOD
                ),
                f"Starts of runs could not be delivered; they are kept in {lost_starts.queue_name}",
            )
        if refresh:
            self._alarm(
                "refresh-failed",
                refresh.metric_failed(statistic="Maximum", period=_PERIOD),
                "QuickSight does not show the last run; the failed refresh says why.",
            )
        topic.add_to_resource_policy(self._publish_statement())

    def _metric(self, name: str, **dimensions: str) -> Metric:
        return Metric(
            namespace=NAMESPACE,
            metric_name=name,
            dimensions_map={"stack": self._stack, **dimensions},
            statistic="Maximum",
            period=_PERIOD,
        )

    def _alarm(self, name: str, metric: IMetric, description: str) -> None:
        alarm = Alarm(
            self,
            name,
            alarm_name=f"{self._stack}-{name}",
            alarm_description=description,
            metric=metric,
            threshold=1,
            comparison_operator=ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=1,
            datapoints_to_alarm=1,
            treat_missing_data=TreatMissingData.IGNORE,
        )
        alarm.add_alarm_action(SnsAction(self._topic))
        # An alarm also notifies when its first value is OK: CloudWatch cannot tell OK after ALARM
        # from OK after INSUFFICIENT_DATA.
        alarm.add_ok_action(SnsAction(self._topic))
        self.all.append(alarm)

    def _publish_statement(self) -> PolicyStatement:
        return PolicyStatement(
            principals=[ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[self._topic.topic_arn],
            conditions={
                "ArnEquals": {"aws:SourceArn": [alarm.alarm_arn for alarm in self.all]},
                "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            },
        )


_DAY = Duration.days(1)
# A weekly run gives one figure per week, so a quarter shows a trend.
_GRAPHED = "-P90D"
_WIDTH = 24  # of CloudWatch's grid
_HALF = _WIDTH // 2


class OperationsDashboard(Construct):
    """A graph of the outcomes of all runs, and below it a graph for each metric of each suite."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        machine: StateMachine,
        suites: Iterable[Suite],
        alarms: Sequence[Alarm],
    ) -> None:
        super().__init__(scope, name)
        status: list[IWidget] = [_runs(machine, _HALF if alarms else _WIDTH)]
        if alarms:
            status.append(AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=_HALF))
        rates = [
            [self._rates(suite, test, metric) for test in suite.tests for metric in test.metrics]
            for suite in suites
        ]
        Dashboard(
            self,
            "Dashboard",
            # CloudWatch user guide: dashboards are global, and a stack may be in two regions.
            dashboard_name=f"{Stack.of(self).stack_name}-{Aws.REGION}",
            start=_GRAPHED,
            widgets=[status, *rates],
        )

    def _rates(self, suite: Suite, test: Test, metric: SuiteMetric) -> GraphWidget:
        # CloudWatch user guide, "Use search expressions in graphs": a search also finds versions
        # that are measured later, but none without data in the past two weeks.
        search = (
            f"SEARCH('{{{NAMESPACE},stack,suite,test,version}} "
            f'stack="{Stack.of(self).stack_name}" suite="{suite.name}" test="{test.name}" '
            f"MetricName=\"{metric.name}\"', 'Average', {_DAY.to_seconds():.0f})"
        )
        rates = MathExpression(
            expression=search, using_metrics={}, label="${PROP('Dim.version')}", period=_DAY
        )
        return GraphWidget(
            title=f"{suite.title}: {metric.name} [{metric.unit}]", left=[rates], width=_HALF
        )


def _runs(machine: StateMachine, width: int) -> GraphWidget:
    ends: list[IMetric] = [
        machine.metric_succeeded(period=_DAY, label="complete"),
        machine.metric_failed(period=_DAY, label="incomplete, failed or refused"),
        machine.metric_aborted(period=_DAY, label="stopped"),
        machine.metric_timed_out(period=_DAY, label="timed out"),
    ]
    return GraphWidget(title="Runs that ended, by day", left=ends, width=width)
