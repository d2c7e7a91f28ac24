"""The CDK app. Its synthesis needs no network: ``cdk.json`` decides everything."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aws_cdk import App, CfnOutput, Stack, Tags
from aws_cdk.aws_iam import ManagedPolicy, PermissionsBoundary
from aws_cdk.aws_sns_subscriptions import EmailSubscription
from aws_cdk.region_info import RegionInfo

from cdk.instances import InstancePolicies
from cdk.operations import Alarms, OperationsDashboard
from cdk.people import People
from cdk.reports import Reports
from cdk.results import Results, SavedQueries, Tables
from cdk.schedules import Schedules
from cdk.system_tests import SystemTests
from cdk.workflow import Endings, Workflow
from tidemark.model.checkout import published_suites, written_context
from tidemark.model.refusal import Refused
from tidemark.model.request import example_input
from tidemark.model.sentences import shown
from tidemark.model.settings import Settings, read_settings
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import copy_digest, programs_digest
from tidemark.model.suite_files import check_known, chosen_suites, read_suites


class DataStack(Stack):
    """The stack that outlives every deployment: the results, including claims, and the tables."""

    def __init__(self, app: App, settings: Settings, suites: Mapping[str, Suite]) -> None:
        super().__init__(
            app,
            f"{settings.stack_name}-Data",
            description="Tidemark: what was measured",
            suppress_template_indentation=True,
            termination_protection=not settings.ephemeral,
        )
        self.bucket = Results(self, "Results", settings=settings).bucket
        self.tables = Tables(
            self,
            "Tables",
            settings=settings,
            bucket=self.bucket,
            suites=_stored_suites(settings, suites),
        )


class TidemarkStack(Stack):
    """The stack that may be replaced: the cluster that the tests run on, and the workflow."""

    def __init__(
        self, app: App, settings: Settings, suites: Mapping[str, Suite], data: DataStack
    ) -> None:
        super().__init__(
            app,
            settings.stack_name,
            description="Tidemark: did this version get slower, and how sure are we?",
            # CloudFormation accepts 1 MB, which 20 suites would pass with indentation.
            suppress_template_indentation=True,
        )
        self.data = data
        bucket, tables = data.bucket, data.tables
        tests = SystemTests(self, "SystemTests", suites=suites, settings=settings, bucket=bucket)
        workflow = Workflow(self, "Workflow", settings=settings, bucket=bucket, tests=tests)
        Endings(self, "Endings", workflow=workflow)
        self._instances(suites.values(), workflow)
        schedules = self._schedules(settings, workflow) if settings.schedules else None
        if settings.notify_email:
            workflow.topic.add_subscription(EmailSubscription(settings.notify_email))
        reports = self._reports(settings) if settings.reports else None
        alarms = self._alarms(workflow, suites, schedules, reports) if settings.alarms else None
        if settings.dashboard:
            OperationsDashboard(
                self,
                "Rates",
                machine=workflow.run,
                suites=suites.values(),
                alarms=alarms.all if alarms else [],
            )
        SavedQueries(
            self, "Queries", tables=tables, suites=suites, tests=tests, systems=settings.systems
        )
        if settings.policies or settings.github_repository:
            People(self, "People", settings=settings, tables=tables, workflow=workflow)
        self._add_outputs(settings, workflow, suites.values())

    def _instances(self, suites: Iterable[Suite], workflow: Workflow) -> None:
        """Add the permissions on the resources of instances, if a suite names some."""
        named = [each for each in suites if each.subject.instance and each.subject.instance.names]
        roles = {state: each.role for state, each in workflow.functions.items() if each.role}
        if named:
            roles["Trial"] = workflow.trial.role
            InstancePolicies(self, "Instances", suites=named, roles=roles)

    def _schedules(self, settings: Settings, workflow: Workflow) -> Schedules:
        return Schedules(
            self,
            "Schedules",
            settings=settings,
            machine=workflow.run,
            watcher=workflow.functions["SweepRuns"],
            bucket=self.data.bucket,
        )

    def _reports(self, settings: Settings) -> Reports:
        data = self.data
        reports = Reports(
            self, "Reports", settings=settings, bucket=data.bucket, tables=data.tables
        )
        CfnOutput(self, "RefreshStateMachine", value=reports.refresh.state_machine_arn)
        return reports

    def _alarms(
        self,
        workflow: Workflow,
        suites: Iterable[str],
        schedules: Schedules | None,
        reports: Reports | None,
    ) -> Alarms:
        return Alarms(
            self,
            "Alarms",
            topic=workflow.topic,
            suites=suites,
            endings={state: workflow.functions[state] for state in ("EndRun", "SweepRuns")},
            lost_starts=schedules.lost_starts if schedules else None,
            refresh=reports.refresh if reports else None,
        )

    def _add_outputs(self, settings: Settings, workflow: Workflow, suites: Iterable[Suite]) -> None:
        """Add the outputs that programs outside the stack read."""
        CfnOutput(self, "StateMachine", value=workflow.run.state_machine_arn)
        CfnOutput(self, "TrialStateMachine", value=workflow.trial.state_machine_arn)
        CfnOutput(self, "LogsDeadlineSeconds", value=str(settings.logs_deadline_seconds))
        CfnOutput(self, "ResultsBucket", value=self.data.bucket.bucket_name)
        CfnOutput(self, "Database", value=self.data.tables.database)
        CfnOutput(self, "WorkGroup", value=self.data.tables.workgroup)
        for state in ("RecordRates", "PublishReport", "PublishComparison", "EndRun", "SweepRuns"):
            name = workflow.functions[state].function_name
            CfnOutput(self, f"{state}Function", value=name)
        CfnOutput(self, "OutcomesTopic", value=workflow.topic.topic_arn)
        systems = settings.systems
        copies = [
            f"{suite.name}={copy_digest(suite, systems)}.{programs_digest(suite, systems)}"
            for suite in suites
        ]
        CfnOutput(
            self,
            "Suites",
            description="Digests of what the stack has copies of: each suite, and its programs",
            value=" ".join(copies),
        )
        for suite in suites:
            CfnOutput(
                self,
                f"{suite.name.capitalize()}Input",
                description="Input to start StateMachine with, in the Step Functions console",
                value=json.dumps(_default_input(suite)),
            )


def _default_input(suite: Suite) -> dict[str, Any]:
    defaults = suite.defaults.model_dump(mode="json")
    return {**example_input(suite), **defaults, "parameters": suite.default_parameters}


def build(app: App) -> TidemarkStack:
    """Add both stacks to an app and return the replaceable stack.

    The app's context overrides the context of ``cdk.json``.

    Raises
    ------
    Refused
        If a setting or a suite is not accepted; the message is one sentence.

    """
    settings = read_settings({**written_context(), **app.node.get_all_context()})
    suites = chosen_suites(settings, read_suites(settings.systems))
    check_known("schedules", settings.schedules, suites)
    check_known("images", settings.images.keys() - {"*"} - {*_services(suites)}, suites)
    if named := [name for name in sorted(settings.images) if _has_images(suites.get(name))]:
        raise Refused(
            f"cdk.json: context: images: {shown(named[0])} is not accepted: the subject of the "
            "suite names an image of each version; leave it out"
        )
    for name in sorted(settings.schedules):
        if suites[name].subject.instance:
            raise Refused(
                f"cdk.json: context: schedules: {shown(name)} is not accepted: it measures "
                "instances, and a schedule names none; leave it out"
            )
    if active := suites.keys() & settings.retired_suites:
        raise Refused(
            f"cdk.json: context: retiredSuites: {shown(min(active))} is not accepted: it is in "
            "systems; leave it out"
        )
    if settings.reports:
        check_reports(_region())
    _apply_to_all(app, settings)
    return TidemarkStack(app, settings, suites, DataStack(app, settings, suites))


def _stored_suites(settings: Settings, suites: Iterable[str]) -> list[str]:
    """Return the suites whose figures the tables show, in order."""
    # A query lists the objects of each of them: suites that are not wanted have no partition.
    published = () if settings.suites else published_suites(settings.systems)
    return sorted({*suites, *published, *settings.retired_suites})


def _services(suites: Mapping[str, Suite]) -> Iterator[str]:
    """Yield the services of suites, such as ``kiwi/server``."""
    for name, suite in suites.items():
        yield from (f"{name}/{service}" for service in suite.services)


def _has_images(suite: Suite | None) -> bool:
    return suite is not None and suite.runs_images


def _apply_to_all(app: App, settings: Settings) -> None:
    for key, value in settings.tags.items():
        Tags.of(app).add(key, value)
    if arn := settings.permissions_boundary:
        policy = ManagedPolicy.from_managed_policy_arn(app, "PermissionsBoundary", arn)
        PermissionsBoundary.of(app).apply(policy)


def check_partition(region: str) -> None:
    """Refuse a region outside of the partition ``aws``; '' stands for any region.

    The layer of Powertools and the address of the S3 console belong to this partition.
    """
    partition = RegionInfo.get(region).partition if region else None
    if partition not in {None, "aws"}:
        raise Refused(
            f"AWS_REGION: {shown(region)} is not accepted: it is in the partition {partition}; "
            "Tidemark deploys into regions of the partition aws"
        )


# CloudFormation has no types of QuickSight there: the schemas of cfn-lint.
WITHOUT_REPORTS = frozenset({
    "ap-east-1", "ap-east-2", "ap-northeast-3", "ap-south-2", "ap-southeast-4", "ap-southeast-6",
    "ap-southeast-7", "ca-west-1", "il-central-1", "me-central-1", "mx-central-1", "us-west-1",
})  # fmt: skip


def check_reports(region: str) -> None:
    """Refuse the reports in a region without QuickSight's types; '' stands for any region."""
    if region in WITHOUT_REPORTS:
        raise Refused(
            f"cdk.json: context: reports: True is not accepted in {region}: CloudFormation has no "
            "resources of QuickSight there; expected false, or another region"
        )


def _region() -> str:
    """Return the region of the profile or environment, which the CDK's command line sets."""
    return os.environ.get("CDK_DEFAULT_REGION", "")


def main() -> int:
    """Synthesise into the folder that the CDK CLI or CDK_OUTDIR names; return the exit code."""
    app = App()
    try:
        check_partition(_region())
        build(app)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
