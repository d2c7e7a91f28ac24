"""The permissions on the resources of instances, each in a policy of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from aws_cdk import Aws
from aws_cdk.aws_iam import IRole, Policy, PolicyStatement
from constructs import Construct

from cdk.permissions import END_TASKS, FIND_TASKS
from cdk.policies import (
    INSTANCES,
    Conditions,
    acknowledge,
    allow,
    instance_arns,
    passing_to_tasks,
    uncovered,
    wildcard_finding,
)
from tidemark.model.instance import Instance, InstanceName, of_instance
from tidemark.model.suite import Suite

_LOOK_UPS: Mapping[str, tuple[str, str]] = {
    "cluster": ("ecs:DescribeClusters", "cluster/"),
    "queue": ("sqs:GetQueueUrl", ""),
    "function": ("lambda:GetFunctionConfiguration", "function:"),
    "rule": ("events:DescribeRule", "rule/"),
}
"""The action that looks a thing up, and the beginning of its resource, by its kind."""


class InstancePolicies(Construct):
    """Policies of the functions and of the machine of trials for suites with names of instances.

    ``roles`` has the roles of functions by state, and the role of the machine as ``Trial``.
    """

    def __init__(
        self, scope: Construct, name: str, *, suites: Collection[Suite], roles: Mapping[str, IRole]
    ) -> None:
        super().__init__(scope, name)
        self._suites = suites
        self._roles = roles
        self._grant("Planning", ["PlanRun"], self._look_ups())
        self._run = sorted({form for suite in suites for form in suite.run_clusters})
        found = sorted({form for suite in suites for form in suite.found_clusters})
        logs = [self._logs()] if self._run or found else []
        # Only where runs start tasks: those that the instance itself started are not stopped.
        ends = [_tasks(END_TASKS, self._run)] if self._run else []
        if found:
            self._grant("Finding", ["FindTasks"], [_tasks(FIND_TASKS, found)])
        if logs:
            self._grant("Collecting", ["CollectRates"], [*logs, *ends])
        if logs and any(suite.conditions for suite in suites):
            self._grant("Checking", ["CheckCondition"], logs)
        if ends:
            self._grant("Ending", ["EndRun", "SweepRuns"], ends)
            self._grant("Running", ["Trial"], self._tasks())

    def _grant(self, name: str, states: Sequence[str], allowed: Iterable[PolicyStatement]) -> None:
        statements = list(allowed)
        roles = [self._roles[state] for state in states]
        policy = Policy(self, name, roles=roles, statements=statements)
        for arn in sorted({arn for each in statements for arn in each.resources} - {"*"}):
            acknowledge(policy, wildcard_finding(policy, arn), INSTANCES)
        acknowledge(
            policy,
            "IAM5[Resource::*]",
            "The reading of task definitions and log groups and, kept to clusters of instances by "
            "a condition, tasks that do not exist yet: none of these can be named.",
        )

    def _look_ups(self) -> Iterable[PolicyStatement]:
        """Yield the permissions to look up the things that have the forms of names."""
        kinds = {name.kind for suite in self._suites for name in _names(suite)}
        for kind, (action, resource) in _LOOK_UPS.items():
            if kind in kinds:
                service = action.partition(":")[0]
                yield allow([action], instance_arns(service, resource, self._forms(kind)))
        if "task_definition" in kinds:
            # Service Authorization Reference: the first takes no resource. The resource of the
            # second is every log group of the account.
            yield allow(["ecs:DescribeTaskDefinition", "logs:DescribeLogGroups"], ["*"])

    def _logs(self) -> PolicyStatement:
        patterns = (each.log_groups for each in map(_instance, self._suites))
        groups = sorted({f"{group}:*" for each in patterns for group in each})
        return allow(["logs:StartQuery"], instance_arns("logs", "log-group:", groups))

    def _tasks(self) -> Iterable[PolicyStatement]:
        """Yield the permissions to run tasks of instances and wait for their end."""
        families = [f"{form}:*" for suite in self._suites for form in suite.definitions]
        definitions = instance_arns("ecs", "task-definition/", families)
        yield allow(["ecs:RunTask"], definitions, _in_clusters(self._run))
        yield _tasks(["ecs:StopTask", "ecs:DescribeTasks"], self._run)
        # A task takes on the tags of its definition.
        at_start = {"StringEquals": {"ecs:CreateAction": "RunTask"}}
        tasks = [f"{form}/*" for form in self._run]
        yield allow(["ecs:TagResource"], instance_arns("ecs", "task/", tasks), at_start)
        patterns = (each.roles for each in map(_instance, self._suites))
        roles = uncovered(of_instance(role, "*") for each in patterns for role in each)
        yield passing_to_tasks(
            [f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{role}" for role in roles]
        )

    def _forms(self, kind: str) -> Sequence[str]:
        """Return the forms of all names of a kind, in order."""
        names = (name for suite in self._suites for name in _names(suite))
        return sorted({form for name in names if name.kind == kind for form in name.forms})


def _instance(suite: Suite) -> Instance:
    assert suite.subject.instance  # only such suites are kept
    return suite.subject.instance


def _names(suite: Suite) -> Iterable[InstanceName]:
    return _instance(suite).names.values()


def _tasks(actions: Sequence[str], clusters: Sequence[str]) -> PolicyStatement:
    """Return the permission to do something to the tasks in clusters: the tasks have no names."""
    return allow(actions, ["*"], _in_clusters(clusters))


def _in_clusters(clusters: Sequence[str]) -> Conditions:
    return {"ArnLike": {"ecs:cluster": instance_arns("ecs", "cluster/", clusters)}}
