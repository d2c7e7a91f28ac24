"""The state machines of runs and trials, their functions, and the end of runs that died."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from aws_cdk import ArnFormat, CfnResource, Duration, Stack
from aws_cdk.aws_events import EventPattern, Rule, Schedule
from aws_cdk.aws_events_targets import LambdaFunction
from aws_cdk.aws_iam import IRole, Policy, PolicyStatement
from aws_cdk.aws_lambda import Function
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_sns import Topic
from aws_cdk.aws_stepfunctions import DefinitionBody, LogLevel, LogOptions, StateMachine
from constructs import Construct

from cdk.definitions import definition
from cdk.functions import Functions
from cdk.policies import (
    DEFINITIONS,
    EXECUTIONS,
    INSTANCES,
    Conditions,
    acknowledge,
    allow,
    executions,
    in_cluster,
    kms_key,
    passing_to_tasks,
    wildcard_finding,
)
from cdk.system_tests import SystemTests, log_group
from tidemark.model.instance import of_instance
from tidemark.model.settings import Settings

# Step Functions learns of the end of a task or a child execution through these managed rules.
_TASK_RULE = "StepFunctionsGetEventsForECSTaskRule"
_EXECUTION_RULE = "StepFunctionsGetEventsForStepFunctionsExecutionRule"


class Workflow(Construct):
    """The state machine of a run, and the state machine of a trial, which a run starts."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        bucket: Bucket,
        tests: SystemTests,
    ) -> None:
        super().__init__(scope, name)
        self._settings = settings
        key = kms_key(self, "OutcomesKey", settings)
        self.topic = Topic(self, "Outcomes", enforce_ssl=True, master_key=key)
        self.functions = Functions(
            self,
            "Functions",
            settings=settings,
            bucket=bucket,
            tests=tests,
            topic=self.topic,
        ).by_state
        self.trial = self._trial(self.functions, tests)
        self.run = self._run(self.functions)

    def _trial(self, functions: Mapping[str, Function], tests: SystemTests) -> StateMachine:
        network = tests.network
        machine = self._machine("Trial", "trial", functions, {
            "Cluster": tests.cluster.cluster_arn,
            "Subnets": ",".join(network.subnet_ids),
            "PublicAddress": "ENABLED" if network.public_address else "DISABLED",
            "Systems": _systems(tests),
        })  # fmt: skip
        # cfn-lint 1.58 accepts only a number, but in JSONata a time limit may be an expression.
        resource = cast("CfnResource", machine.node.default_child)
        resource.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3601"]}})
        self._allow_tasks(machine.role, tests)
        self._allow_calls(machine.role, tests)
        return machine

    def _allow_calls(self, role: IRole, tests: SystemTests) -> None:
        """Allow the machine of a trial to call the functions that the suites name."""
        names = {name for tasks in tests.suites.values() for name in tasks.suite.functions}
        arns = [
            Stack.of(self).format_arn(
                service="lambda",
                resource="function",
                resource_name=of_instance(name, "*"),
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for name in sorted(names)
        ]
        if arns:
            _grant(role, ["lambda:InvokeFunction"], arns)
        for arn in arns:
            if "*" in arn:
                acknowledge(role, wildcard_finding(role, arn), INSTANCES)

    def _allow_tasks(self, role: IRole, tests: SystemTests) -> None:
        """Allow the machine of a trial to run tasks of the suites and wait for their end."""
        suites = tests.suites.values()
        cluster = in_cluster(tests.cluster)
        definitions = [arn for tasks in suites for arn in tasks.run_definitions]
        _grant(role, ["ecs:RunTask"], definitions, cluster)
        for arn in (arn for each in suites for arn in each.image_definitions):
            acknowledge(role, wildcard_finding(role, arn), DEFINITIONS)
        # The tasks do not exist yet, so any task of this cluster is allowed.
        _grant(role, ["ecs:StopTask", "ecs:DescribeTasks"], ["*"], cluster)
        # A task takes on the tags of its definition, which separate its cost from other costs.
        name = tests.cluster.cluster_name
        task = Stack.of(self).format_arn(service="ecs", resource="task", resource_name=f"{name}/*")
        at_start = {"StringEquals": {"ecs:CreateAction": "RunTask"}}
        _grant(role, ["ecs:TagResource"], [task], at_start)
        acknowledge(
            role,
            wildcard_finding(role, task),
            "A task has an id when it is started, and no sooner.",
        )
        roles = [task_role for tasks in suites for task_role in tasks.roles]
        role.add_to_principal_policy(passing_to_tasks(roles))
        _grant_rule(self, role, _TASK_RULE)

    def _run(self, functions: Mapping[str, Function]) -> StateMachine:
        machine = self._machine("Run", "workflow", functions, {
            "TrialStateMachine": self.trial.state_machine_arn,
        })  # fmt: skip
        self.trial.grant_start_execution(machine)
        _grant(
            machine.role,
            ["states:DescribeExecution", "states:StopExecution"],
            [executions(self.trial)],
        )
        acknowledge(machine, wildcard_finding(machine, executions(self.trial)), EXECUTIONS)
        _grant_rule(self, machine.role, _EXECUTION_RULE)
        return machine

    def _machine(
        self,
        name: str,
        states: str,
        functions: Mapping[str, Function],
        substitutions: Mapping[str, str],
    ) -> StateMachine:
        text = definition(states)
        callees = {
            state: function for state, function in functions.items() if f"${{{state}}}" in text
        }
        machine = state_machine(
            self,
            name,
            text,
            {
                **{state: function.function_arn for state, function in callees.items()},
                **substitutions,
            },
            self._settings,
        )
        # CDK's own grants would include versions and aliases, which no state calls.
        arns = [function.function_arn for function in callees.values()]
        _grant(machine.role, ["lambda:InvokeFunction"], arns)
        acknowledge(
            machine,
            "IAM5[Resource::*]",
            "X-Ray, the delivery of logs and, kept to our cluster by a condition, tasks that do "
            "not exist yet: none of these can be named.",
        )
        return machine


def _systems(tests: SystemTests) -> str:
    """Return the ECS resources of each suite, which PrepareTrial gets, as a JSONata object.

    The environment of a function holds 4 KB, which ten suites would fill.
    """
    usage = tests.usage_logs.log_group_name if tests.usage_logs else None
    systems = {
        name: {
            "task_definition": tasks.definition.task_definition_arn,
            "container": name,
            "log_group": tasks.log_group.log_group_name,
            "stream_prefix": name,
            "security_group": tasks.security_group.security_group_id,
            "services": {
                service: definition.task_definition_arn
                for service, definition in tasks.services.items()
            },
            "usage_log_group": usage,
        }
        for name, tasks in tests.suites.items()
    }
    # The expression stands in a string of JSON; none of its names and ARNs has a quote.
    return json.dumps(systems).replace('"', "'")


def state_machine(
    scope: Construct,
    name: str,
    text: str,
    substitutions: Mapping[str, str],
    settings: Settings,
) -> StateMachine:
    """Return a state machine with tracing and with logs of every event, without its data."""
    # Step Functions user guide: a log group with this prefix needs no entry in the resource policy
    # that allows logging, which the whole account shares and which is limited to 5,120 characters.
    vended = f"/aws/vendedlogs/states/{Stack.of(scope).stack_name}/{name}"
    logs = log_group(scope, f"{name}Logs", settings, vended)
    return StateMachine(
        scope,
        name,
        # The execution's history holds inputs and outputs.
        logs=LogOptions(destination=logs, level=LogLevel.ALL, include_execution_data=False),
        tracing_enabled=True,
        definition_body=DefinitionBody.from_string(text),
        definition_substitutions=dict(substitutions),
    )


def _grant(
    role: IRole,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Conditions | None = None,
) -> None:
    role.add_to_principal_policy(allow(actions, resources, conditions))


def _grant_rule(scope: Construct, role: IRole, rule: str) -> None:
    arn = Stack.of(scope).format_arn(service="events", resource="rule", resource_name=rule)
    _grant(role, ["events:PutTargets", "events:PutRule", "events:DescribeRule"], [arn])


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
                finding = wildcard_finding(function, executions(workflow.trial))
                acknowledge(function.role, finding, EXECUTIONS)
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
        acknowledge(policy, wildcard_finding(policy, executions(run)), EXECUTIONS)


def _stop_statements(trial: StateMachine) -> list[PolicyStatement]:
    return [
        allow(["states:ListExecutions"], [trial.state_machine_arn]),
        allow(["states:StopExecution"], [executions(trial)]),
    ]
