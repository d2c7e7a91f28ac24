"""The policies of people and pipelines, ready to attach, and the role of a repository's workflows.

Nobody has them until an administrator attaches them, to a permission set, role or group.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import ArnFormat, Aws, CfnOutput, Stack
from aws_cdk.aws_iam import ManagedPolicy, PolicyStatement, Role, WebIdentityPrincipal
from constructs import Construct

from cdk.policies import (
    acknowledge,
    allow,
    executions,
    exported,
    objects_finding,
    using_key,
    wildcard_finding,
)
from cdk.results import ATHENA_PREFIX, Tables, query_statements
from cdk.workflow import Workflow
from tidemark.model.settings import Settings
from tidemark.store import keys

_GITHUB = "token.actions.githubusercontent.com"
# The parts of the bootstrap stack that the CDK's command line takes on.
_BOOTSTRAP = ("deploy", "file-publishing", "image-publishing", "lookup")
# `exclude`, `include`, `comment`, `acknowledge`, `import` and `profile import` write these, and
# `profile remove` deletes the others.
_WRITTEN = (
    f"{keys.exclusions('*')}*", f"{keys.HISTORY}*", f"{keys.PROFILES}*", f"{keys.VERSIONS}*",
    "runs/*", "tables/*",
)  # fmt: skip
_DELETED = (f"{keys.PROFILES}*", f"{keys.rows('profiles')}*")

_OBJECTS = ("*", f"{ATHENA_PREFIX}*", *_WRITTEN, *_DELETED)


class People(Construct):
    """Managed policies of four kinds of people, and their ARNs among the stack's outputs."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        tables: Tables,
        workflow: Workflow,
    ) -> None:
        super().__init__(scope, name)
        self._bucket, self._tables, self._workflow = tables.bucket, tables, workflow
        self._key = settings.kms_key
        reading, running = self._reading(), self._running()
        pipeline = self._policy("Pipeline", "measure and compare", [*reading, *running])
        if settings.policies:
            everything = [*reading, *running, *self._changing()]
            self._policy("Reader", "read what was measured", reading)
            self._policy("Operator", "measure, exclude and import", everything)
            self._policy("Deployer", "deploy with the CDK's command line", self._deploying())
        if settings.github_repository:
            self._role(settings.github_repository, pipeline)

    def _policy(
        self, name: str, purpose: str, statements: Sequence[PolicyStatement]
    ) -> ManagedPolicy:
        policy = ManagedPolicy(
            self, name, description=f"Tidemark: {purpose}", statements=list(statements)
        )
        database = exported(self._tables, self._tables.database)
        ours = {self._bucket.arn_for_objects(each): each for each in _OBJECTS}
        for arn in sorted({arn for each in statements for arn in each.resources if "*" in arn}):
            finding = (
                objects_finding(self._bucket, ours[arn])
                if arn in ours
                else wildcard_finding(policy, arn.replace(self._tables.database, database))
            )
            acknowledge(policy, finding, "Objects, executions and streams do not exist yet.")
        CfnOutput(
            self,
            f"{name}Policy",
            description=f"The policy of whoever may {purpose}",
            value=policy.managed_policy_arn,
        ).override_logical_id(f"{name}Policy")
        return policy

    def _reading(self) -> list[PolicyStatement]:
        stack, bucket = Stack.of(self), self._bucket
        machines = (self._workflow.run, self._workflow.trial)
        groups = stack.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/{stack.stack_name}/*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        return [
            allow(["cloudformation:DescribeStacks"], [self._stacks(stack.stack_name)]),
            allow(["s3:GetObject"], [bucket.arn_for_objects("*")]),
            allow(["s3:ListBucket", "s3:GetBucketLocation"], [bucket.bucket_arn]),
            allow(
                ["s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject"],
                [bucket.arn_for_objects(f"{ATHENA_PREFIX}*")],
            ),
            *query_statements(stack, self._tables, ["*"]),
            allow(
                ["states:DescribeExecution", "states:GetExecutionHistory"],
                [executions(each) for each in machines],
            ),
            allow(["states:ListExecutions"], [each.state_machine_arn for each in machines]),
            # A comparison that is missing is made when somebody reads it.
            self._calling("PublishComparison"),
            allow(["logs:FilterLogEvents", "logs:StartQuery"], [groups]),
            # These take no resource, or the log groups of the whole account.
            allow(["logs:DescribeLogGroups", "logs:GetQueryResults", "logs:StopQuery"], ["*"]),
            *using_key(self._key),
        ]

    def _running(self) -> list[PolicyStatement]:
        run = self._workflow.run
        return [
            allow(["states:StartExecution"], [run.state_machine_arn]),
            allow(["states:StopExecution"], [executions(run)]),
            self._calling("EndRun"),
        ]

    def _changing(self) -> list[PolicyStatement]:
        written, deleted = (
            [self._bucket.arn_for_objects(pattern) for pattern in patterns]
            for patterns in (_WRITTEN, _DELETED)
        )
        return [
            allow(["s3:PutObject"], written),
            allow(["s3:DeleteObject"], deleted),
            self._calling("PublishReport", "RecordRates", "SweepRuns"),
        ]

    def _calling(self, *states: str) -> PolicyStatement:
        functions = (self._workflow.functions[state] for state in states)
        return allow(["lambda:InvokeFunction"], [each.function_arn for each in functions])

    def _deploying(self) -> list[PolicyStatement]:
        roles = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role"
        place = f"{Aws.ACCOUNT_ID}-{Aws.REGION}"
        of_ecs = f"{roles}/aws-service-role/ecs.amazonaws.com/AWSServiceRoleForECS"
        stacks = [self._stacks(name) for name in (Stack.of(self).stack_name, "CDKToolkit")]
        return [
            allow(
                ["sts:AssumeRole"], [f"{roles}/cdk-*-{part}-role-{place}" for part in _BOOTSTRAP]
            ),
            allow(["cloudformation:DescribeStacks"], stacks),
            # No deployment begins while a run is active.
            allow(["states:ListExecutions"], [self._workflow.run.state_machine_arn]),
            allow(["iam:GetRole"], [of_ecs]),
            allow(
                ["iam:CreateServiceLinkedRole"],
                [of_ecs],
                {"StringEquals": {"iam:AWSServiceName": "ecs.amazonaws.com"}},
            ),
        ]

    def _stacks(self, name: str) -> str:
        """Return the ARNs of the stacks whose name begins so; a stack's ARN ends with an id."""
        return Stack.of(self).format_arn(
            service="cloudformation", resource="stack", resource_name=f"{name}*"
        )

    def _role(self, repository: str, policy: ManagedPolicy) -> None:
        """Add the role that workflows of a repository of GitHub take."""
        provider = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:oidc-provider/{_GITHUB}"
        # GitHub, "Configuring OpenID Connect in Amazon Web Services": both conditions are needed.
        subject = repository if ":" in repository else f"{repository}:*"
        conditions = {
            "StringEquals": {f"{_GITHUB}:aud": "sts.amazonaws.com"},
            "StringLike": {f"{_GITHUB}:sub": f"repo:{subject}"},
        }
        role = Role(
            self,
            "Workflows",
            assumed_by=WebIdentityPrincipal(provider, conditions),
            managed_policies=[policy],
        )
        CfnOutput(
            self,
            "WorkflowsRole",
            description=f"The role of workflows of {repository}",
            value=role.role_arn,
        ).override_logical_id("WorkflowsRole")
