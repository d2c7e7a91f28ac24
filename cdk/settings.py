"""The settings of a deployment: the context of ``cdk.json``, validated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from suites.cron import Cron, time_zone
from suites.files import ROOT
from suites.model import Frozen
from suites.refusal import Refused, refusal, shown


def _of_systems(folder: Path) -> Path:
    found = (ROOT / folder).resolve()
    for part in ("suites", "workloads"):
        if not (found / part).is_dir():
            raise ValueError(f"{shown(str(folder))} is not accepted: it has no folder {part}")
    return found


# What ``cdk acknowledge`` and ``cdk cli-telemetry`` write into the context.
_KEPT_BY_CLI = {"acknowledged-issue-numbers", "cli-telemetry"}


def _known_zone(name: str) -> str:
    time_zone(name)
    return name


def _cron(fields: str) -> str:
    Cron(fields, "Etc/UTC")
    return fields


def _separated(given: object) -> object:
    """Return the parts of a text with commas, as which the command line gives a list."""
    return given.split(",") if isinstance(given, str) else given


def _not_of_aws(key: str) -> str:
    if key.lower().startswith("aws:"):
        raise ValueError(f"{shown(key)} is not accepted: what begins with aws: is AWS's own")
    return key


_STACK = r"^[A-Za-z][A-Za-z0-9-]{0,63}$"
_IMAGE = r"^[A-Za-z0-9._/:@-]*$"
_EMAIL = r"^([^@\s]+@[^@\s]+)?$"
_VPC = r"^(vpc-[0-9a-f]{8,17})?$"
_SUBNET = r"^subnet-[0-9a-f]{8,17}$"
_POLICY = r"^(arn:aws[a-z-]*:iam::(aws|\d{12}):policy/[A-Za-z0-9+=,.@_/-]+)?$"
_GROUP = r"^(arn:aws[a-z-]*:quicksight:[a-z0-9-]+:\d{12}:group/[A-Za-z0-9._-]+/[\w+=,.@/-]+)?$"
# Source: AWS documentation, "Tag naming limits and requirements".
_TAG_KEY = r"^[A-Za-z0-9 _.:/=+@-]{1,128}$"
_TAG_VALUE = r"^[A-Za-z0-9 _.:/=+@-]{0,256}$"
_FORMS = {
    _STACK: "a letter, and up to 63 letters, digits and hyphens after it",
    _IMAGE: "an image such as python:3.11-slim, or ''",
    _EMAIL: "an address such as name@example.com, or ''",
    _VPC: "an id such as vpc-0123456789abcdef0, or ''",
    _SUBNET: "an id such as subnet-0123456789abcdef0",
    _POLICY: "an ARN such as arn:aws:iam::123456789012:policy/Boundary, or ''",
    _GROUP: "an ARN such as arn:aws:quicksight:us-east-1:123456789012:group/default/Perf, or ''",
    _TAG_KEY: "1 to 128 letters, digits, spaces and _.:/=+@-",
    _TAG_VALUE: "up to 256 letters, digits, spaces and _.:/=+@-",
}
SubnetId = Annotated[str, Field(pattern=_SUBNET)]
TagKey = Annotated[str, Field(pattern=_TAG_KEY), AfterValidator(_not_of_aws)]
TagValue = Annotated[str, Field(pattern=_TAG_VALUE)]


class StartTime(Frozen):
    """When a suite is measured without being asked; Sunday at two in the morning if not told."""

    model_config = ConfigDict(alias_generator=to_camel)

    cron: Annotated[str, AfterValidator(_cron)] = "0 2 ? * SUN *"
    """Six fields, as EventBridge Scheduler takes them."""
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "Etc/UTC"


class Settings(Frozen):
    """What an account may decide about its deployment; context keys are in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)

    stack_name: str = Field(pattern=_STACK)
    systems: Annotated[Path, AfterValidator(_of_systems)]
    """The folder that holds ``suites/`` and ``workloads/``; a relative one begins at cdk.json."""
    image: str = Field(pattern=_IMAGE)
    """An existing image of the workload, in a public registry or in ECR, whose repository lets the
    account pull it; '' builds it from its Dockerfile (with Docker)."""
    log_retention: Literal["ONE_WEEK", "ONE_MONTH", "THREE_MONTHS", "SIX_MONTHS", "ONE_YEAR"]
    """How long the logs of tasks and functions are kept."""
    logs_deadline_seconds: int = Field(ge=0, le=3600)
    """How long after its tasks a test waits for their log lines [s]."""
    schedules: dict[str, StartTime]
    """When each suite is measured by itself; a suite that is not named is measured when asked."""
    notify_email: str = Field(pattern=_EMAIL, max_length=254)
    """Who is told of every outcome and alarm by e-mail; '' tells nobody but the topic."""
    alarms: bool
    """Whether CloudWatch watches for failed runs, missed schedules and undelivered starts."""
    dashboard: bool
    """Whether CloudWatch has a dashboard of the rates; an account's first three are free."""
    reports: bool
    """Whether QuickSight has the reports; the account has to have subscribed to it."""
    reports_principal: str = Field(pattern=_GROUP, max_length=256)
    """ARN of the QuickSight group that sees the reports, with the region where QuickSight keeps the
    account's users; '' if there are no reports."""
    container_insights: bool
    """Whether what the tasks use is logged, by Container Insights; some 0.9 USD a month."""
    vpc_id: str = Field(pattern=_VPC)
    """The account's network that tasks run in; '' makes one, of public subnets and without NAT."""
    subnet_ids: Annotated[tuple[SubnetId, ...], BeforeValidator(_separated)]
    """Subnets of that network, from which tasks without a public address reach S3, ECR, CloudWatch
    Logs and the package index."""
    permissions_boundary: str = Field(pattern=_POLICY)
    """ARN of the policy that bounds every role; '' bounds none."""
    tags: dict[TagKey, TagValue]
    """Tags of every resource that takes tags."""

    @model_validator(mode="after")
    def _network_is_whole(self) -> Self:
        if bool(self.vpc_id) != bool(self.subnet_ids):
            raise ValueError("vpcId and subnetIds: expected both, for an existing network, or none")
        return self

    @model_validator(mode="after")
    def _reports_are_seen(self) -> Self:
        if self.reports and not self.reports_principal:
            raise ValueError("reportsPrincipal: '' is not accepted with reports; expected a group")
        return self


def written_context() -> dict[str, Any]:
    """Return the context of ``cdk.json``."""
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return context


def read_settings(context: Mapping[str, Any]) -> Settings:
    """Return the settings among a CDK context's keys; Refused, in one sentence, for a bad one."""
    # Feature flags and look-ups, which the CLI adds, have a colon or a slash in their names.
    own = {
        key: value
        for key, value in context.items()
        if not set(key) & set(":/") and key not in _KEPT_BY_CLI
    }
    try:
        return Settings.model_validate(own)
    except ValidationError as error:
        raise Refused(f"cdk.json: context: {refusal(Settings, error, _FORMS)}") from None
