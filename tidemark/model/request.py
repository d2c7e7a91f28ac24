"""The execution input of a run, and the request with all values that follows from it.

The input is the same from console, schedule and CLI.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator

from tidemark.model.base import Frozen
from tidemark.model.checkout import check_suite_name
from tidemark.model.instance import (
    ACCEPTED_ID,
    EXAMPLE,
    INSTANCE,
    is_instance_id,
    of_instance,
)
from tidemark.model.parameters import MOST_TASKS, TASKS, Axes, Value, count, narrowed
from tidemark.model.profile import OptionalProfiling, Profiling
from tidemark.model.refusal import Refused, form, refusal
from tidemark.model.requested_versions import (
    Released,
    Reported,
    check_version,
    instance_version,
    requested_versions,
)
from tidemark.model.run_id import RUN_ID
from tidemark.model.run_size import check_size, most_trials
from tidemark.model.run_spec import (
    MOST_PARALLEL,
    RunSpec,
    between,
    check_listed,
    most_until_decided,
)
from tidemark.model.sentences import ONE_LINE, listed, shown, there_are
from tidemark.model.steps import LONGEST_NAME
from tidemark.model.subject import VersionText
from tidemark.model.suite import (
    MOST_BUDGET_USD,
    MOST_REPETITIONS,
    MOST_VERSIONS,
    ROUNDS,
    TRIALS,
    Layout,
    Suite,
    Until,
    Within,
)
from tidemark.model.version_order import NEWEST, PREVIOUS

LONGEST_NOTE = 500
MOST_OF_ROUND = 6
"""The most versions that take turns in one task, which holds the data of all of them."""
Loss = Annotated[int, Field(strict=True, ge=0, le=90)]
Note = Annotated[str, Field(max_length=LONGEST_NOTE, pattern=ONE_LINE)]
Budget = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=MOST_BUDGET_USD)]
_WHEEL = form(
    r"^file:///[^\s#]{1,400}(\.whl|/)#sha256=[0-9a-f]{64}$",
    "the file:// URL of a wheel or of a folder of jars with #sha256= and its digest",
)
Wheel = Annotated[str, Field(pattern=_WHEEL)]
Trigger = Literal["console", "schedule", "cli"]
_UTC_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_Request = TypeVar("_Request", bound=Frozen)


class Bisect(Frozen):
    """The field ``bisect`` of an execution input."""

    base: str
    """The older version, which the search compares all others with."""
    new: str
    """The newer version, which the search measures first."""
    metric: str
    """The metric that has become slower: one that decides, of one test."""
    among: Annotated[list[str], Field(min_length=2, max_length=1000)] | None = None
    """The versions to search, both ends with them; by default those that the suite lists."""


class RunRequest(Frozen):
    """The input of an execution that starts a run; every field but ``suite`` is optional."""

    suite: str
    """The system under test, a folder of ``suites/``."""
    versions: Annotated[list[str], Field(min_length=1, max_length=MOST_VERSIONS)] | None = None
    """The versions to measure: 1 to 20 that the suite has, each once. ``newest`` and ``previous``
    stand for the last two. In rounds, one version given twice is measured beside itself. The one
    version of an ``instance`` may be named, or left out."""
    instance: str | None = None
    """The id of the instance to measure, such as ``my-id``, for a suite that measures instances: 1
    to 32 small letters, digits and hyphens. Its own properties report the version."""
    builds: dict[VersionText, Wheel] | None = None
    """On one machine: the wheels, or the folders of jars, of versions that nobody released, such as
    ``{"1.4.0+1a2b3c4d": "file:///home/you/dist/x.whl#sha256=…"}``. The command line makes them from
    paths and commits among its versions."""
    slowed: Annotated[list[Loss], Field(min_length=1, max_length=5)] | None = None
    """The percentages by which the run also measures its one version slowed, by waiting, such as
    ``[0, 5]``, in trials 0 alone. It compares them with the version itself and shows what a run
    would find."""
    baseline: str | None = None
    """The version of ``versions`` that each other version is compared with."""
    repetitions: int | None = Field(default=None, strict=True, ge=1, le=MOST_REPETITIONS)
    """The trials of each version under each combination of axes, 1 to 100. A run has at most 900
    trials. Their tasks, values, files, and minutes of tasks until the time-out are at most
    1,000,000 together."""
    until: Until | None = None
    """``decided``: the run goes on by whole repetitions until each version has its verdict against
    the baseline, by default the oldest version. ``repetitions`` is then the upper limit, by
    default what a run has room for, at most 100; up to 60 more confirm a first change."""
    within_seconds: Within | None = None
    """The time after which a run until decided begins no further repetition, 10 to 604,800 [s]. It
    measures five in any case, since fewer have no verdict, and ends sooner if the rest of its time
    would bring none. Without it the run has no such limit."""
    keep_going: bool = Field(default=False, strict=True)
    """``true``: the run measures every trial, whatever fails. By default it stops
    measuring a version after two trials in sequence that failed alike; if that is the baseline, it
    stops measuring the versions compared with it, too. It ends after the first trials if a query
    matches none of the lines that their tasks logged."""
    bisect: Bisect | None = None
    """The search for the first version that is slower than an older one, such as
    ``{"base": "8.8.1", "new": "9.8.4", "metric": "compaction_rate"}``. The run compares ``new``
    with ``base`` until decided, and then measures versions between them until each is nearer to
    one. ``repetitions`` is the upper limit of each comparison. ``among``, such as
    ``["9.0.0", "9.7.3"]`` with both ends, names other versions than the suite lists. The search
    takes the place of ``versions``, ``builds``, ``baseline`` and ``until``."""
    layout: Layout | None = None
    """``rounds``: the versions take turns in one task, slice by slice. ``trials``: each task
    measures one version. By default the layout of the suite, and ``trials`` for more than 6
    versions."""
    parallel: int | None = Field(default=None, strict=True, ge=1, le=MOST_PARALLEL)
    """In rounds, on AWS: how many rounds are measured at once, each on a host of its own, 1 to 12.
    The default is the number that the quotas of the account allow. One machine measures one."""
    profile: OptionalProfiling = None
    """``true``, or ``{"hz": 99, "trials": 5}``: after all other trials, this number of profiled
    trials of each version find the functions that take the CPU time. The suite names its profiler.
    Profiled trials are part of no rate and no verdict."""
    parameters: dict[str, Any] | None = None
    """The values of parameters that the suite declares, such as ``{"records": 500000}``. The
    suite's file has their meaning, their bounds and their defaults."""
    tests: Annotated[list[str], Field(min_length=1)] | None = None
    """The tests to measure, such as ``["ingest"]``, each once; by default those that the suite
    gives, or else every test."""
    axes: dict[str, Annotated[list[str], Field(min_length=1)]] | None = None
    """The values that the run measures on the suite's axes, such as
    ``{"database": ["postgresql"]}``. It measures the suite's default values of an axis that is
    missing here, or else every value."""
    tasks: int | None = Field(default=None, strict=True, ge=1, le=MOST_TASKS)
    """Short for the parameter ``tasks``: the ECS tasks that do each test side by side, 1 to 200."""
    records: int | None = Field(default=None, strict=True, ge=1)
    """Short for the parameter ``records`` (of RocksDB: the records that each task writes and
    compacts)."""
    budget_usd: Budget | None = None
    """The budget for the tasks and log queries of all trials on AWS, above 0 and at most 1,000,000
    [USD]. The run ends before the trial that would exceed it and keeps what it measured."""
    note: Note = ""
    """The reason for the run, up to 500 characters on one line."""
    trigger: Trigger = "console"
    """The origin of the run: ``console``, ``schedule`` or ``cli``."""
    scheduled_at: datetime | None = None
    """The due time of the schedule, in UTC, such as ``2026-11-20T12:44:55Z``, from 7 days before
    the start to 1 day after it. A second execution for the same time succeeds and does nothing."""

    @field_validator("scheduled_at", mode="before")
    @classmethod
    def _utc(cls, value: object) -> object:
        if value is None or (isinstance(value, str) and _UTC_TIME.fullmatch(value)):
            return value
        raise ValueError(f"{shown(value)} is not a UTC time such as 2026-11-20T12:44:55Z")


class ResumeRequest(Frozen):
    """The input of an execution that resumes a run that ended early."""

    suite: str
    """The system under test, a folder of ``suites/``."""
    run: str = Field(pattern=f"^{RUN_ID}$")
    """The id of a run of ``suite`` that ended early, such as ``20261121T030526Z-cd1d65``."""
    budget_usd: Budget | None = None
    """The new budget of the whole run from its first trial, above 0 and at most 1,000,000 [USD].
    Without it the last budget of the run holds."""
    note: Note = ""
    """The reason for resuming the run, up to 500 characters on one line."""
    trigger: Trigger = "console"
    """The origin of the execution: ``console``, ``schedule`` or ``cli``."""


def resume_request(value: object, suites: Mapping[str, Suite]) -> ResumeRequest | None:
    """Return the request to resume a run, None if an execution input asks for a new run.

    Raises
    ------
    Refused
        If the input has other fields, or a field of it is not accepted.

    """
    if not isinstance(value, dict) or "run" not in value:
        return None
    request = _validated(ResumeRequest, value)
    known_suite(request.suite, suites)
    return request


def resolve_request(
    value: object,
    suites: Mapping[str, Suite],
    released: Released = lambda suite: suite.subject.versions,
    reported: Reported = lambda _suite, _instance: None,
) -> RunSpec:
    """Return the run that an execution input asks for.

    ``released`` returns the versions of a suite that ``newest`` and ``previous`` are taken from; by
    default these are the versions of the suite's file.
    ``reported`` returns the version of an instance; by default nobody can ask the instance.

    Raises
    ------
    Refused
        If the input is not accepted.

    """
    request = _validated(RunRequest, value)
    suite = known_suite(request.suite, suites)
    bisect = request.bisect
    if bisect:
        request = _first_comparison(request, bisect, suite)
    request = _beside_itself(request, suite)
    tests, parameters = _tests(request, suite), _parameters(request, suite)
    suite, repetitions = suite.measured_by(TRIALS, tests, parameters), request.repetitions
    versions, baseline = _versions(request, parameters, suite, released, reported)
    slowed = _slowed(request, versions, suite)
    if slowed:
        versions, baseline = (*versions, *slowed), versions[0]
    axes = narrowed(suite.name, suite.axes, {**suite.defaults.axes, **(request.axes or {})})
    layout = _layout(request, suite, versions)
    suite = suite.measured_by(layout, tests, parameters)
    request = _until_decided(request, suite, versions, baseline)
    if request.until:
        _check_deciding(suite)
        of_repetition = len({*versions, suite.canary} - {None}) * count(axes)
        profiled = len(versions) * request.profile.trials if request.profile else 0
        fitting = (most_trials(suite, int(parameters.get(TASKS, 1))) - profiled) // of_repetition
        repetitions = most_until_decided(versions, fitting, repetitions)
        baseline = baseline or _oldest(versions, suite)
    spec = RunSpec(
        suite=suite.name,
        versions=versions,
        builds=request.builds or {},
        slowed=slowed,
        baseline=baseline,
        repetitions=repetitions or suite.defaults.repetitions,
        parameters=parameters,
        axes=axes,
        canary=suite.canary,
        note=request.note,
        trigger=request.trigger,
        scheduled_at=request.scheduled_at,
        budget_usd=request.budget_usd,
        tests=tests,
        layout=layout,
        parallel=_parallel(request, layout),
        until=request.until,
        within_seconds=request.within_seconds,
        keep_going=request.keep_going,
        profile=_profiling(request, suite, axes),
    )
    if suite.canary:
        check_version(suite.canary, "canary", suite)
    check_size(suite, spec)
    if bisect is None:
        return spec
    # ChooseTrial plans each further comparison as large as the run still has room for.
    base, new = versions
    search = between(suite, base, new, bisect.metric, axes, bisect.among)
    return spec.model_copy(update={"bisect": search})


def _tests(request: RunRequest, suite: Suite) -> tuple[str, ...]:
    """Return the named tests in the order of the suite, () for all of them."""
    named = request.tests or suite.defaults.tests
    known = [test.name for test in suite.tests]
    if unknown := [name for name in named if name not in known]:
        known_are = there_are(known, unknown[0])
        raise Refused(f"tests: {suite.name} has no {shown(unknown[0])}; {known_are}")
    if len({*named}) < len(named):
        raise Refused(f"tests: a test is given twice in {listed(named)}")
    return () if len(named) == len(known) else tuple(name for name in known if name in named)


def _beside_itself(request: RunRequest, suite: Suite) -> RunRequest:
    """Return a request that names one version twice as a run of it beside itself."""
    versions = request.versions or []
    if len(versions) != 2 or versions[0] != versions[1] or request.slowed:
        return request
    if suite.subject.instance:
        return request  # it has one version at a time
    if request.baseline not in {None, versions[0]}:
        return request  # the version is refused by name
    return request.model_copy(update={"versions": versions[:1], "slowed": [0], "baseline": None})


def _slowed(request: RunRequest, versions: Sequence[str], suite: Suite) -> dict[str, int]:
    """Return the names of the slowed versions of a run and their percentages."""
    if request.slowed is None:
        return {}
    if len(versions) != 1 or request.baseline or request.bisect:
        raise Refused("slowed: expected one version, without a baseline or a search")
    if suite.subject.instance:
        raise Refused("slowed: an instance has one version at a time, and none beside itself")
    if len(set(request.slowed)) < len(request.slowed):
        raise Refused(f"slowed: a percentage is given twice in {listed(map(str, request.slowed))}")
    return {f"{versions[0]}+slow.{loss}": loss for loss in request.slowed}


def _until_decided(
    request: RunRequest, suite: Suite, versions: Sequence[str], baseline: str | None
) -> RunRequest:
    """Return a request with the end that the suite gives to a run that names none."""
    if request.within_seconds and not request.until:
        raise Refused("within_seconds: only a run until decided has such a limit; add until")
    named = request.until or request.repetitions or request.bisect
    comparable = baseline or suite.subject.knows_order(versions)
    if named or len(versions) < 2 or not comparable:
        return request
    defaults = suite.defaults
    return request.model_copy(
        update={"until": defaults.until, "within_seconds": defaults.within_seconds}
    )


def _layout(request: RunRequest, suite: Suite, versions: Sequence[str]) -> Layout:
    """Return the layout of a run; refuse rounds in which versions cannot take turns."""
    layout = request.layout or suite.defaults.layout
    if layout == TRIALS:
        if any(request.slowed or ()):
            raise Refused(
                f"slowed: a run of {suite.name} in {TRIALS} cannot slow a version; "
                f"expected 0, or layout {ROUNDS} and a suite that may have it"
            )
        return layout
    if names := suite.without_turns:
        raise Refused(
            f"layout: versions cannot take turns in {listed(names)} of {suite.name}; "
            f"expected {TRIALS}"
        )
    measured = {*versions, suite.canary} - {None}
    if len(measured) <= MOST_OF_ROUND:
        return layout
    if request.layout:
        raise Refused(
            f"layout: {len(measured)} versions are too many for one task; expected {TRIALS}, or "
            f"{MOST_OF_ROUND} versions at most"
        )
    return TRIALS


def _parallel(request: RunRequest, layout: Layout) -> int | None:
    """Return how many rounds are asked for at once; refuse several trials of one version."""
    if layout == TRIALS and (request.parallel or 1) > 1:
        raise Refused(
            f"parallel: {TRIALS} of one version follow each other; expected 1, or layout {ROUNDS}"
        )
    return request.parallel


def _versions(
    request: RunRequest,
    parameters: Mapping[str, Value],
    suite: Suite,
    released: Released,
    reported: Reported,
) -> tuple[tuple[str, ...], str | None]:
    """Return the versions of a run and its baseline."""
    requested = suite.defaults.versions if request.versions is None else request.versions
    if suite.subject.instance:
        instance = str(parameters[INSTANCE])
        return (instance_version(requested, instance, suite, reported),), None
    return requested_versions(requested, request.baseline, request.builds or {}, suite, released)


def _first_comparison(request: RunRequest, bisect: Bisect, suite: Suite) -> RunRequest:
    """Return the request for the first comparison of a search."""
    fields = ("versions", "builds", "baseline", "until")
    if given := [name for name in fields if getattr(request, name) is not None]:
        raise Refused(f"bisect: the search takes the place of {listed(given)}; leave them out")
    if bisect.base == bisect.new:
        raise Refused(f"bisect.new: {shown(bisect.new)} is also the base; expected a newer version")
    for field, version in (("base", bisect.base), ("new", bisect.new)):
        if version not in (NEWEST, PREVIOUS):
            check_listed(field, version, suite, bisect.among)
    for version in bisect.among or ():
        check_version(version, "bisect.among", suite)
    comparison = {"versions": [bisect.base, bisect.new], "baseline": bisect.base}
    return request.model_copy(update={**comparison, "until": "decided"})


def example_input(suite: Suite) -> dict[str, str]:
    """Return the shortest input of a run of a suite; the id of an instance is made up."""
    return {"suite": suite.name, **({INSTANCE: EXAMPLE} if suite.subject.instance else {})}


def _validated(model: type[_Request], value: object) -> _Request:
    if not isinstance(value, dict):
        raise Refused('input: expected an object such as {"suite": "rocksdb"}')
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise refusal(model, error) from None


def check_one_machine(suite: Suite, parallel: int | None = None) -> None:
    """Refuse a suite whose versions one machine cannot run, or whose functions it does not have.

    Refuse several rounds at once, too: they would share the cores that they measure.
    """
    if (parallel or 1) > 1:
        raise Refused(
            f"parallel: {parallel} rounds at once need a host each; expected 1 on one machine, or "
            "a run with --aws"
        )
    if suite.subject.image is not None:
        raise Refused(
            f"suite: the subject of {suite.name} is an image of each version, and one machine runs "
            "no images; measure it with --aws, or write a subject with package or prepare"
        )
    if beside := [name for name, service in suite.services.items() if service.task.beside]:
        raise Refused(
            f"suite: {listed(beside)} of {suite.name} has containers of images, and one machine "
            "runs no images; measure it with --aws"
        )
    # A user makes an instance and its functions in the cloud of ``tidemark up``.
    if suite.functions and suite.subject.instance is None:
        raise Refused(
            f"suite: steps of {suite.name} call {listed(suite.functions)}, and one machine has no "
            "functions of a system under test; measure it with --aws, or leave these steps out"
        )


def check_account(suite: Suite) -> None:
    """Refuse a suite whose versions only one machine has."""
    if suite.subject.folder is not None:
        raise Refused(
            f"suite: the versions of {suite.name} are jars in {suite.subject.folder} of a machine, "
            "and an account has no such folder; measure it without --aws"
        )


def known_suite(name: str, suites: Mapping[str, Suite]) -> Suite:
    """Return the suite of a name; refuse an unknown name."""
    check_suite_name(name, suites)
    return suites[name]


def _parameters(request: RunRequest, suite: Suite) -> dict[str, Value]:
    """Return the value of every parameter of a suite, and the id of an instance."""
    short = {name: getattr(request, name) for name in ("records", "tasks")}
    short = {name: value for name, value in short.items() if value is not None}
    given = {**(request.parameters or {})}
    instance = _instance(request, given.pop(INSTANCE, None), suite)
    for name, value in [*given.items(), *short.items()]:
        parameter = suite.parameters.get(name)
        if parameter is None:
            place = name if name in short else "parameters"
            known = there_are(suite.parameters, name)
            if not suite.parameters:
                known = "the suite declares no parameters; leave it out"
            raise Refused(f"{place}: {suite.name} has no {shown(name)}; {known}")
        if not parameter.accepts(value):
            place = name if name in short else f"parameters.{name}"
            sentence = f"{shown(value)} is not accepted; expected {parameter.accepted}"
            raise Refused(f"{place}: {sentence}")
    for name in short:
        if name in given:
            raise Refused(f"{name}: the parameter is given twice, here and in parameters")
    values = {**suite.default_parameters, **given, **short}
    normal = {name: suite.parameters[name].normal(value) for name, value in values.items()}
    return {**instance, **normal}


def _instance(request: RunRequest, stored: object, suite: Suite) -> dict[str, Value]:
    """Return the id of the instance by its name; nothing for a suite without instances.

    ``stored`` is the id among the parameters of a stored request.
    """
    given = stored if request.instance is None else request.instance
    if suite.subject.instance is None:
        if given is None:
            return {}
        raise Refused(f"instance: {suite.name} is not a suite of instances; leave it out")
    for name in ("builds", "baseline"):
        if getattr(request, name):
            raise Refused(f"{name}: an instance has only its own version; leave it out")
    if not isinstance(given, str) or not is_instance_id(given):
        there_is = "there is none" if given is None else f"{shown(given)} is not accepted"
        expected = f"the id of an instance of {suite.title} such as {EXAMPLE}: {ACCEPTED_ID}"
        raise Refused(f"instance: {there_is}; expected {expected}")
    for name in (of_instance(each, given) for each in (*suite.functions, *suite.rules)):
        if len(name) > LONGEST_NAME:
            sentence = f"{shown(given)} gives the name {name} of {len(name)} characters"
            raise Refused(f"instance: {sentence}; functions and rules have at most {LONGEST_NAME}")
    return {INSTANCE: given}


def _profiling(request: RunRequest, suite: Suite, axes: Axes) -> Profiling | None:
    """Return the profiled trials of a run; refuse a suite or a search that cannot have them.

    The profiles of a version are added up, so all are of one combination of axes: the default.
    """
    if request.profile is None:
        return None
    usual = narrowed(suite.name, suite.axes, suite.defaults.axes)
    if suite.profiler is None:
        why = (
            f"{suite.name} has no profiler; leave it out, or add `profiler: py-spy` (Python) or "
            "`profiler: async-profiler` (native code, Java) to the suite"
        )
    elif suite.subject.image:
        lacks = "which lack the harness that starts a profiler; leave it out"
        why = f"{suite.name} has images of its own, {lacks}"
    elif count(usual) > 1:
        several = "axes of more than one combination by default, which a profile would add up"
        why = f"{suite.name} has {several}; leave it out"
    elif axes != usual:
        why = f"{suite.name} has profiles of its default axes alone; leave axes out"
    elif request.bisect:
        why = "not accepted with bisect; profile two versions in a run of their own"
    else:
        return request.profile
    raise Refused(f"profile: {why}")


def _oldest(versions: Sequence[str], suite: Suite) -> str:
    """Return the version that others are compared with if the input names none."""
    if not suite.subject.knows_order(versions):
        raise Refused(
            f"baseline: the order of {listed(versions)} is not known; name the version that others "
            "are compared with"
        )
    return min(versions, key=suite.subject.version_order)


def _check_deciding(suite: Suite) -> None:
    """Refuse a suite without a metric that decides, or with labels on one."""
    metrics = [metric for test in suite.tests for metric in test.metrics if metric.decides]
    if not metrics:
        raise Refused(f"until: no metric of {suite.name} decides; expected decides: true of one")
    if labelled := [metric.name for metric in metrics if metric.labels]:
        raise Refused(
            f"until: metrics of {suite.name} that decide have labels, which are known only after a "
            f"trial: {listed(labelled)}; leave out until, or decides: true"
        )
