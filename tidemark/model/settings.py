"""The settings of a deployment, the context of ``cdk.json``, and the images that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from tidemark.model.base import NAME, Consistent, Frozen
from tidemark.model.checkout import ROOT, place_of_setting
from tidemark.model.cron import Cron, exceed_in_a_day, time_zone
from tidemark.model.refusal import Problem, Refused, form, problem, refusal
from tidemark.model.sentences import shown
from tidemark.model.suite import MOST_BUDGET_USD, Suite
from tidemark.model.task import HARNESS, Task

REFRESHES_OF_A_DAY = 32
"""QuickSight user guide, "Refreshing SPICE data": the refreshes of a data set in 24 hours."""
_LONGEST_BUNDLE = 16_000
"""The most characters of certificates [B]: each task definition has a copy, and holds 64 kB."""


def _of_certificates(file: str) -> str:
    if file:
        _read_certificates(file)
    return file


def _read_certificates(file: str) -> str:
    try:
        text = (ROOT / file).read_text(encoding="ascii")
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ValueError(f"{shown(file)} cannot be read: {reason}") from None
    if "-----BEGIN CERTIFICATE-----" not in text or len(text) > _LONGEST_BUNDLE:
        raise ValueError(
            f"{shown(file)} is not accepted; expected a file of PEM certificates of up to "
            f"{_LONGEST_BUNDLE:,} characters"
        )
    return text


def _of_systems(folder: Path) -> Path:
    path = (ROOT / folder).resolve()
    for part in ("suites", "workloads"):
        if not (path / part).is_dir():
            raise ValueError(f"{shown(str(folder))} is not accepted: it has no folder {part}")
    return path


# Keys that ``cdk acknowledge`` and ``cdk cli-telemetry`` write into the context.
_KEPT_BY_CLI = {"acknowledged-issue-numbers", "cli-telemetry"}


def _known_zone(name: str) -> str:
    time_zone(name)
    return name


def _cron(fields: str) -> str:
    Cron(fields, "Etc/UTC")
    return fields


def _separated(value: object) -> object:
    """Return the list of a comma-separated text, the form of a list on the command line."""
    return value.split(",") if isinstance(value, str) else value


def _named(value: object) -> object:
    """Return the mapping of a text such as ``a=b,c=d``, the form of it on the command line."""
    if not isinstance(value, str):
        return value
    pairs = (pair.partition("=") for pair in value.split(",") if pair)
    return {name: text for name, _, text in pairs}


def _not_of_aws(key: str) -> str:
    if key.lower().startswith("aws:"):
        raise ValueError(f"{shown(key)} is not accepted: AWS reserves keys that begin with aws:")
    return key


def _not_of_data(name: str) -> str:
    if name.endswith("-Data"):
        raise ValueError(
            f"{shown(name)} is not accepted: the stack of the results of {shown(name[:-5])} has "
            "this name"
        )
    return name


def _free(name: str) -> str:
    if name.startswith(("AWS_", "ECS_", "TIDEMARK_")) or name in {"PATH", "PYTHONPATH"}:
        raise ValueError(f"{shown(name)} is not accepted: the task sets it itself")
    return name


EPHEMERAL_STACK = "TidemarkVerify"
"""The name of the only stack whose results may be deleted with it."""
_STACK = form(
    r"^[A-Za-z][A-Za-z0-9-]{0,63}$", "a letter, and up to 63 letters, digits and hyphens after it"
)
_IMAGE = form(r"^[A-Za-z0-9._/:@-]+$", "an image such as ghcr.io/owner/name:tag")
_EMAIL = form(r"^([^@\s]+@[^@\s]+)?$", "an address such as name@example.com, or ''")
_SUITE = form(f"^({NAME})$", "the name of a suite")
_VPC = form(r"^(vpc-[0-9a-f]{8,17})?$", "an id such as vpc-0123456789abcdef0, or ''")
_SUBNET = form(r"^subnet-[0-9a-f]{8,17}$", "an id such as subnet-0123456789abcdef0")
_ZONE = form(r"^[a-z]{2}(-[a-z]+)+-\d[a-z]$", "the name of a zone such as us-west-1a")
_RANGE = form(
    r"^(pl-[0-9a-f]{8,17}|\d{1,3}(\.\d{1,3}){3}/\d{1,2})$",
    "addresses such as 10.0.0.0/8, or the id of a prefix list such as pl-0123456789abcdef0",
)
_INDEX = form(
    r"^(https?://[^\s/@]+/\S*)?$",
    "an address such as https://packages.example.com/python/ without a password, or ''",
)
_KEY = form(
    r"^(arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/(mrk-[0-9a-f]{32}|[0-9a-f-]{36}))?$",
    "an ARN such as arn:aws:kms:us-east-1:123456789012:key/<id>",
)
_REPOSITORY = form(
    r"^([A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}(:[A-Za-z0-9._/:-]{1,200})?)?$",
    "a repository such as owner/name, or owner/name:environment:release, or ''",
)
_VARIABLE = form(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$", "the name of a variable such as HTTPS_PROXY")
_POLICY = form(
    r"^(arn:aws[a-z-]*:iam::(aws|\d{12}):policy/[A-Za-z0-9+=,.@_/-]+)?$",
    "an ARN such as arn:aws:iam::123456789012:policy/Boundary, or ''",
)
_GROUP = form(
    r"^(arn:aws[a-z-]*:quicksight:[a-z0-9-]+:\d{12}:group/[A-Za-z0-9._-]+/[\w+=,.@/-]+)?$",
    "an ARN such as arn:aws:quicksight:us-east-1:123456789012:group/default/Perf, or ''",
)
# Source: AWS documentation, "Tag naming limits and requirements".
_TAG_KEY = form(r"^[A-Za-z0-9 _.:/=+@-]{1,128}$", "1 to 128 letters, digits, spaces and _.:/=+@-")
_TAG_VALUE = form(
    r"^[A-Za-z0-9 _.:/=+@-]{0,256}$", "up to 256 letters, digits, spaces and _.:/=+@-"
)
ImageName = Annotated[str, Field(pattern=_IMAGE)]
SuiteName = Annotated[str, Field(pattern=_SUITE)]
SubnetId = Annotated[str, Field(pattern=_SUBNET)]
Zone = Annotated[str, Field(pattern=_ZONE)]
Range = Annotated[str, Field(pattern=_RANGE)]
Variable = Annotated[str, Field(pattern=_VARIABLE), AfterValidator(_free)]
VariableText = Annotated[str, Field(max_length=1024)]
TagKey = Annotated[str, Field(pattern=_TAG_KEY), AfterValidator(_not_of_aws)]
TagValue = Annotated[str, Field(pattern=_TAG_VALUE)]


class StartTime(Frozen):
    """The start times of a suite's schedule, by default Sunday at two in the morning."""

    model_config = ConfigDict(alias_generator=to_camel)

    cron: Annotated[str, AfterValidator(_cron)] = "0 2 ? * SUN *"
    """The six fields of EventBridge Scheduler's cron expressions."""
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "Etc/UTC"
    budget_usd: Annotated[float, Field(allow_inf_nan=False, gt=0, le=MOST_BUDGET_USD)] | None = None
    """The budget of each run [USD]; None for none."""


class Settings(Consistent):
    """The settings of a deployment; context keys are in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)

    stack_name: Annotated[str, AfterValidator(_not_of_data)] = Field(pattern=_STACK)
    """The name of the stack that a deployment replaces, and the start of the names of its log
    groups: a letter, then up to 63 letters, digits and hyphens. The results are in a second stack,
    ``<stackName>-Data``, with termination protection."""
    ephemeral: bool
    """Whether the results are deleted with their stack, off by default. `make verify-aws` alone
    uses it, for the stack ``TidemarkVerify``; no other stack may have it."""
    systems: Annotated[Path, AfterValidator(_of_systems)]
    """The folder that holds ``suites/`` and ``workloads/``, relative to ``cdk.json``. ``.`` is this
    repository; another folder keeps systems outside it. For the commands of ``tidemark``
    the variable ``TIDEMARK_SYSTEMS`` replaces it."""
    suites: Annotated[tuple[SuiteName, ...], BeforeValidator(_separated)]
    """The suites to deploy, such as ``rocksdb,clickhouse``. Empty deploys all suites of
    ``systems``; their images are built, and the tables have a partition of each."""
    retired_suites: Annotated[tuple[SuiteName, ...], BeforeValidator(_separated)]
    """The suites that are no longer in ``systems``, whose stored figures the tables still show. By
    default there are none."""
    images: Annotated[dict[str, ImageName], BeforeValidator(_named)]
    """Existing images by suite, such as ``rocksdb=ghcr.io/owner/name:tag``, separated by commas;
    ``kiwi/server=…`` is a service's image, and ``*`` stands for every other suite. An image has a
    tag or a digest, and is in a public registry or in ECR. A repository of another account must let
    this account pull it. Docker builds an image that this setting leaves out. Leave out a suite
    whose subject is an image."""
    prebuilt: bool
    """Whether images that Docker builds have the listed versions of their suite inside, so that a
    task needs no package index. An image is then larger, and a further version needs a deployment.
    """
    log_retention: Literal["ONE_WEEK", "ONE_MONTH", "THREE_MONTHS", "SIX_MONTHS", "ONE_YEAR"]
    """The time that the logs of tasks and functions are kept: ``ONE_WEEK``, ``ONE_MONTH``,
    ``THREE_MONTHS``, ``SIX_MONTHS`` or ``ONE_YEAR``."""
    logs_deadline_seconds: int = Field(ge=0, le=3600)
    """The time that a test waits for log lines after its tasks have ended, 0 to 3,600 [s]."""
    schedules: dict[str, StartTime]
    """The start times of suites that are measured on a schedule, none by default. An example is
    ``{"rocksdb": {"cron": "0 2 ? * SUN *", "timeZone": "Etc/UTC"}}``, with the six fields of
    EventBridge Scheduler; ``{"rocksdb": {}}`` means the same. With ``"budgetUsd": 2`` each run may
    cost 2 USD, and within that it confirms a new level that the history suspects."""
    notify_email: str = Field(pattern=_EMAIL, max_length=254)
    """The address that gets mail of every outcome and alarm once it has confirmed the subscription.
    Empty sends no mail; others may subscribe to the topic."""
    alarms: bool
    """Whether CloudWatch alarms notify the topic of failed runs, missed schedules, undelivered
    starts, failed functions and, with ``reports``, failed refreshes."""
    dashboard: bool
    """Whether CloudWatch has a dashboard, ``<stackName>-<region>``, of run outcomes and of each
    rate by version, for versions measured in the past two weeks."""
    reports: bool
    """Whether QuickSight has a dashboard of versions, comparisons, runs and outcomes, off by
    default. It needs the account's own QuickSight subscription."""
    reports_principal: str = Field(pattern=_GROUP, max_length=256)
    """The ARN of the QuickSight group that sees the reports, such as
    ``arn:aws:quicksight:us-east-1:123456789012:group/default/Releases``, with the region where
    QuickSight keeps the account's users. Required with ``reports``."""
    container_insights: bool
    """Whether Container Insights logs the CPU, memory, network and disk use of tasks once a minute,
    for the charts of reports and comparisons. It costs 0.9 USD a month idle and about 0.01 USD for
    each hour of measuring."""
    vpc_id: str = Field(pattern=_VPC)
    """The id of an existing network for the tasks. Empty makes a network of public subnets, without
    NAT."""
    subnet_ids: Annotated[tuple[SubnetId, ...], BeforeValidator(_separated)]
    """The subnets of ``vpcId`` in which tasks run, without public addresses. From there tasks must
    reach S3, ECR, CloudWatch Logs and, without ``prebuilt``, the package index. Required with
    ``vpcId``."""
    private_network: bool
    """Whether tasks in the new network have no public address and no way to the internet: its
    subnets are isolated, and endpoints lead to S3, ECR and CloudWatch Logs. It costs 43.8 USD a
    month in two zones. Images must have the versions inside: see ``prebuilt``."""
    egress: Annotated[tuple[Range, ...], BeforeValidator(_separated)]
    """The addresses and prefix lists that tasks may reach, by TCP, such as
    ``10.0.0.0/8,pl-63a5400a``; S3, ECR, CloudWatch Logs and the package index must be among them.
    Empty allows every address."""
    package_index: str = Field(pattern=_INDEX, max_length=512)
    """The address of the package index that tasks and Docker install from, such as
    ``https://packages.example.com/python/``. Empty means PyPI. Hashes are compared whatever the
    index."""
    ca_bundle: Annotated[str, AfterValidator(_of_certificates)]
    """A file of PEM certificates, relative to ``cdk.json``, that tasks trust beside their own, such
    as the certificate of a proxy. Empty means none. The stack has a copy of the file."""
    task_environment: Annotated[dict[Variable, VariableText], BeforeValidator(_named)]
    """Further variables of every task, such as ``HTTPS_PROXY=http://proxy.example.com:3128``,
    separated by commas; none by default. The console shows them: put no secret there."""
    kms_key: str = Field(pattern=_KEY)
    """The ARN of a key of KMS, in the region of the stack, that encrypts the results, logs,
    messages, queues, query results and the variables of functions. Empty means keys of AWS. The
    key's own policy must allow its use: docs/security.md has it."""
    policies: bool
    """Whether the stack has policies to attach to people and pipelines, such as ``ReaderPolicy``
    among its outputs. Nobody has them until an administrator attaches them."""
    github_repository: str = Field(pattern=_REPOSITORY)
    """The repository of GitHub whose workflows may take the role of pipelines, such as
    ``owner/name``; ``owner/name:environment:release`` keeps the role to one environment,
    ``owner/name:ref:refs/heads/main`` to one branch. Empty makes no such role. The account must
    have the identity provider ``token.actions.githubusercontent.com``."""
    availability_zones: Annotated[tuple[Zone, ...], BeforeValidator(_separated)]
    """The zones of the new network: one, or two of one region, such as ``us-west-1a,us-west-1c``.
    Empty means the first two zones of the region. Fargate has to be in each zone. The subnets of
    ``vpcId`` have zones of their own."""
    permissions_boundary: str = Field(pattern=_POLICY)
    """The ARN of a policy that bounds every role. Empty bounds none."""
    tags: dict[TagKey, TagValue]
    """The tags of every resource of the stacks that takes tags, and of the Fargate tasks of runs,
    such as ``{"cost-centre": "4711"}``."""

    def image(self, program: str) -> str | None:
        """Return the name of the existing image of a suite or service; None if it is built."""
        return self.images.get(program, self.images.get("*"))

    @property
    def certificates(self) -> str:
        """The PEM certificates of ``caBundle``, '' for none."""
        return _read_certificates(self.ca_bundle) if self.ca_bundle else ""

    @property
    def tasks_variables(self) -> dict[str, str]:
        """The variables of every task that these settings give."""
        index, certificates = self.package_index, self.certificates
        return {
            **({"UV_DEFAULT_INDEX": index} if index else {}),
            **({"TIDEMARK_CERTIFICATES": certificates} if certificates else {}),
            **self.task_environment,
        }

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the settings do not fit each other."""
        if self.ephemeral and self.stack_name != EPHEMERAL_STACK:
            sentence = f"True is not accepted for the stack {self.stack_name}, whose results would"
            expected = f"be deleted with it; expected the stack {EPHEMERAL_STACK}"
            yield problem(("ephemeral",), f"{sentence} {expected}")
        if bool(self.vpc_id) != bool(self.subnet_ids):
            sentence = "expected both, for an existing network, or none"
            yield Problem((), f"vpcId and subnetIds: {sentence}")
        yield from self._unfit_network()
        if self.reports and not self.reports_principal:
            sentence = "'' is not accepted with reports; expected a group"
            yield problem(("reportsPrincipal",), sentence)
        crons = [Cron(each.cron, each.time_zone) for each in self.schedules.values()]
        if self.reports and exceed_in_a_day(crons, REFRESHES_OF_A_DAY):
            sentence = f"they start more than {REFRESHES_OF_A_DAY} runs within 24 hours, and each"
            does = f"run refreshes the reports, which QuickSight does {REFRESHES_OF_A_DAY} times a"
            expected = "day; expected fewer starts, or reports false"
            yield problem(("schedules",), f"{sentence} {does} {expected}")

    def _unfit_network(self) -> Iterator[Problem]:
        """Yield why the network cannot have the zones and the addresses of the settings."""
        if self.private_network and self.vpc_id:
            sentence = "True is not accepted with vpcId, in which no task has a public address"
            yield problem(("privateNetwork",), f"{sentence}; expected false")
        if self.private_network and not (self.prebuilt or self.images):
            sentence = "True is not accepted without prebuilt or images"
            yield problem(("privateNetwork",), f"{sentence}: its tasks reach no package index")
        zones = self.availability_zones
        if zones and self.vpc_id:
            yield problem(("availabilityZones",), "expected none with vpcId and subnetIds")
        # A third zone would leave fewer addresses in each subnet than a test may have tasks.
        regions = {zone[:-1] for zone in zones}
        if zones and (len({*zones}) != len(zones) or len(zones) > 2 or len(regions) > 1):
            sentence = f"{','.join(zones)} is not accepted; expected one zone, or two of one region"
            yield problem(("availabilityZones",), sentence)


def read_settings(context: Mapping[str, Any]) -> Settings:
    """Return the settings of a CDK context; refuse a setting that is not accepted."""
    # The CDK's CLI adds feature flags and look-ups, which have a colon or a slash in their names.
    settings = {
        key: value
        for key, value in context.items()
        if not set(key) & set(":/") and key not in _KEPT_BY_CLI
    }
    try:
        return Settings.model_validate(settings)
    except ValidationError as error:
        field, _, sentence = str(refusal(Settings, error)).partition(": ")
        raise Refused(f"{place_of_setting(field, context)}: {sentence}") from None


class Image(NamedTuple):
    """The image of one program."""

    program: str
    """The suite, or the suite and its service: ``kiwi/server``."""
    name: str
    """The existing image, with ``{version}`` if each version has one; '' if it is built."""
    dockerfile: str
    """The file that it is built from, below ``workloads/``; '' if it exists or cannot be built."""


def images(suites: Mapping[str, Suite], settings: Settings) -> Iterator[Image]:
    """Yield the image of each program of suites."""
    for suite in suites.values():
        if suite.subject.image and suite.runs_images:
            yield Image(suite.name, suite.subject.image, "")
        else:
            yield image(suite, suite.name, suite.task, settings)
        for name, service in suite.services.items():
            yield image(suite, f"{suite.name}/{name}", service.task, settings)


def image(suite: Suite, program: str, task: Task, settings: Settings) -> Image:
    """Return the image of a program that runs the same image for all versions."""
    named = settings.image(program) or ""
    workload = settings.systems / "workloads" / task.workload
    return Image(program, named, "" if named else _dockerfile(suite, task, workload))


def _dockerfile(suite: Suite, task: Task, workload: Path) -> str:
    """Return the Dockerfile of a suite's image: the workload's own, or a plain one of Python."""
    if (workload / "Dockerfile").is_file():
        return f"{workload.name}/Dockerfile"
    python_alone = task.entry_point[0] == "python" and suite.subject.prepare is None
    return f"{HARNESS.name}/Dockerfile" if python_alone else ""
