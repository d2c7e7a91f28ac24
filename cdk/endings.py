"""Runs whose execution ends without an outcome: who is told, and who looks after what is left."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk.aws_ecs import Cluster
from aws_cdk.aws_events import EventPattern, Rule, Schedule
from aws_cdk.aws_events_targets import LambdaFunction
from aws_cdk.aws_iam import Policy, PolicyStatement
from aws_cdk.aws_lambda import Function
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct

from cdk.findings import EXECUTIONS, acknowledge, of_executions
from cdk.grants import allow, executions, in_cluster
from cdk.workflow import Workflow

# How long a run may be dead before it is noticed that the event of its end was lost.
SWEEP_EVERY = Duration.hours(1)


class Endings(Construct):
    """The rules by which runs are ended, and what EndRun and SweepRuns may do to end them."""

    def __init__(
        self, scope: Construct, name: str, *, workflow: Workflow, cluster: Cluster
    ) -> None:
        super().__init__(scope, name)
        functions = workflow.functions
        end, sweep = functions["EndRun"], functions["SweepRuns"]
        for function in (end, sweep):
            function.add_environment("CLUSTER", cluster.cluster_arn)
            function.add_environment("TRIAL_STATE_MACHINE", workflow.trial.state_machine_arn)
            for statement in self._stopping(workflow.trial, cluster):
                function.add_to_role_policy(statement)
            if function.role:
                acknowledge(function.role, of_executions(workflow.trial), EXECUTIONS)
        self._allow_asking(workflow.run, functions["PlanRun"], end, sweep)
        Rule(
            self,
            "RunDied",
            description="A run whose execution did not come to its last state gets its outcome",
            event_pattern=EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [workflow.run.state_machine_arn],
                    # A run that was refused or is incomplete FAILED, too, but holds no claim.
                    "status": ["FAILED", "TIMED_OUT", "ABORTED"],
                },
            ),
            targets=[LambdaFunction(end)],
        )
        Rule(
            self,
            "Sweep",
            description="Runs and tasks that died without an event",
            schedule=Schedule.rate(SWEEP_EVERY),
            targets=[LambdaFunction(sweep)],
        )

    def _stopping(self, trial: StateMachine, cluster: Cluster) -> list[PolicyStatement]:
        return [
            allow(["states:ListExecutions"], [trial.state_machine_arn]),
            allow(["states:StopExecution"], [executions(trial)]),
            # ListTasks does not tell of which group, that is run, a task is.
            _any_task(cluster, "ecs:ListTasks", "ecs:DescribeTasks", "ecs:StopTask"),
        ]

    def _allow_asking(self, run: StateMachine, *functions: Function) -> None:
        """Let functions ask whether the holder of a claim is alive, and what it died of."""
        # A policy of its own: the machine needs the functions, which would need the machine.
        policy = Policy(
            self,
            "AskOfHolder",
            roles=[function.role for function in functions if function.role],
            statements=[allow(["states:DescribeExecution"], [executions(run)])],
        )
        acknowledge(policy, of_executions(run), EXECUTIONS)


def _any_task(cluster: Cluster, *actions: str) -> PolicyStatement:
    """Allow actions on the tasks of a cluster.

    Fargate has no container instances, which are what ListTasks names; and the tasks of a run do
    not exist yet: any, but of this cluster only.
    """
    return allow(actions, ["*"], in_cluster(cluster))
