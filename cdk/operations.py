"""The operations dashboard in CloudWatch: outcomes, alarms and rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aws_cdk import Aws, Duration, Stack
from aws_cdk.aws_cloudwatch import (
    Alarm,
    AlarmStatusWidget,
    Dashboard,
    GraphWidget,
    IMetric,
    IWidget,
    MathExpression,
)
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct

from tidemark.model.metric import Metric
from tidemark.model.suite import Suite, Test
from tidemark.model.telemetry import NAMESPACE

_DAY = Duration.days(1)
# A weekly run gives one figure per week, so a quarter shows a trend.
_PERIOD = "-P90D"
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
            start=_PERIOD,
            widgets=[status, *rates],
        )

    def _rates(self, suite: Suite, test: Test, metric: Metric) -> GraphWidget:
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
