"""The ending of runs whose execution left no outcome: rules, and permissions of two functions."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk.aws_events import EventPattern, Rule, Schedule
from aws_cdk.aws_events_targets import LambdaFunction
from aws_cdk.aws_iam import Policy, PolicyStatement
from aws_cdk.aws_lambda import Function
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct

from cdk.findings import EXECUTIONS, acknowledge, executions_finding
from cdk.policy_statements import allow, executions
from cdk.workflow import Workflow

# The longest time that a dead run stays unnoticed if the event of its end is lost.
SWEEP_EVERY = Duration.hours(1)


class Endings(Construct):
    """The rules that end runs, and the permissions that EndRun and SweepRuns need for it."""

    def __init__(self, scope: Construct, name: str, *, workflow: Workflow) -> None:
        super().__init__(scope, name)
        functions = workflow.functions
        end, sweep = functions["EndRun"], functions["SweepRuns"]
        for function in (end, sweep):
            function.add_environment("TRIAL_STATE_MACHINE", workflow.trial.state_machine_arn)
            for statement in _stop_statements(workflow.trial):
                function.add_to_role_policy(statement)
            if function.role:
                acknowledge(function.role, executions_finding(workflow.trial), EXECUTIONS)
        self._allow_describing_runs(workflow.run, functions["PlanRun"], end, sweep)
        Rule(
            self,
            "RunDied",
            description="A run whose execution did not come to its last state gets its outcome",
            event_pattern=EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [workflow.run.state_machine_arn],
                    # The execution of a refused or incomplete run is FAILED too, but its run holds
                    # no claim.
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

    def _allow_describing_runs(self, run: StateMachine, *functions: Function) -> None:
        """Allow functions to read whether the holder of a claim is alive, and how it died."""
        # A separate policy avoids a cycle: the machine already depends on the functions.
        policy = Policy(
            self,
            "AskOfHolder",
            roles=[function.role for function in functions if function.role],
            statements=[allow(["states:DescribeExecution"], [executions(run)])],
        )
        acknowledge(policy, executions_finding(run), EXECUTIONS)


def _stop_statements(trial: StateMachine) -> list[PolicyStatement]:
    return [
        allow(["states:ListExecutions"], [trial.state_machine_arn]),
        allow(["states:StopExecution"], [executions(trial)]),
    ]
