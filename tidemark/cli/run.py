"""``tidemark run``: measure versions of a system, on this machine or in an AWS account."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import click
from rich.console import Console

from tidemark.cli.attended_run import (
    check,
    check_target,
    cloud_at,
    intention,
    measure,
    preflight,
    terminal,
)
from tidemark.cli.builds import check_built, with_builds
from tidemark.cli.chosen_suite import suite_to_run, written_suite
from tidemark.cli.forecast import cost
from tidemark.cli.options import exact_option, fail_on_option, resume_option
from tidemark.cli.preflight import other_order
from tidemark.cli.pull_request import check_job, comment_on_run, comparison_of_run
from tidemark.cli.set_option import (
    axis_option,
    check_pairs,
    parsed,
    resolved,
    set_option,
    split,
    split_axes,
)
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Deployed, Stored
from tidemark.client.runs import Run
from tidemark.model.plan import Plan
from tidemark.model.profile import DEFAULT_HZ
from tidemark.model.refusal import Refused
from tidemark.model.request import resume_request
from tidemark.model.run_spec import RunSpec
from tidemark.model.sentences import listed, plural
from tidemark.model.suite import Layout, Suite
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices
from tidemark.report.comparison.document import ComparisonDocument, exit_code, sentence
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import Progress, read_progress


def gate(stored: Stored, plan: Plan, console: Console) -> int:
    """Print each metric's verdict and return the exit code.

    The versions are compared with the baseline, or else each with the version before it.
    """
    documents = [compared(stored, plan, base, new) for new, base in plan.bases.items()]
    for document in documents:
        for metric in document.metrics:
            console.print(f"{sentence(metric, document)}.", markup=False, soft_wrap=True)
    if not any(metric.decides for document in documents for metric in document.metrics):
        console.print("No metric of the suite decides; give one `decides: true`.")
    return exit_code(documents)


def compared(stored: Stored, plan: Plan, base: str, version: str) -> ComparisonDocument:
    """Return the comparison of two versions of a run."""
    keys = comparison_of_run(stored, plan, base, version)
    return ComparisonDocument.model_validate_json(stored.bucket.read(keys["json"]))


@click.command(name="run", context_settings={"allow_extra_args": True})
@click.argument("suite", required=False)
@click.option(
    "--versions",
    help="Versions to measure, separated by commas; newest and previous are the last two of the "
    "suite. On this machine also ./dist/x.whl or git:COMMIT. If not given, the suite's default "
    "versions.",
    metavar="A,B,…",
)
@click.option(
    "--baseline", help="Version that each other version is compared with, in a page of its own."
)
@click.option(
    "--repetitions",
    type=int,
    help="Trials of each version, 1 to 100; if not given, the suite's default. With --until "
    "decided, the most trials of each version; if not given, 100.",
)
@click.option(
    "--until",
    type=click.Choice(["decided"]),
    help="Measure until each version has a verdict against the baseline (if not given, the "
    "oldest version), or until more repetitions would not give one.",
)
@click.option(
    "--within",
    "within_seconds",
    type=int,
    help="With --until decided, the seconds after which no further repetition begins. A run "
    "measures five in any case.",
    metavar="SECONDS",
)
@click.option(
    "--layout",
    type=click.Choice(get_args(Layout)),
    help="rounds: the versions take turns in one task. trials: each task measures one version. If "
    "not given, the layout of the suite.",
)
@click.option(
    "--parallel",
    type=int,
    help="With --aws, the rounds that are measured at once, each on a host of its own, at most 12. "
    "If not given, as many as the account's quotas have room for.",
    metavar="ROUNDS",
)
@click.option(
    "--instance",
    help="Id of the instance to measure, for a suite of instances that exist already.",
    metavar="ID",
)
@click.option(
    "--tests",
    callback=lambda _, __, value: _listed(value),
    help="Tests to measure, separated by commas. If not given, every test of the suite.",
    metavar="A,B,…",
)
@set_option
@axis_option
@click.option(
    "--profile",
    "profile_hz",
    is_flag=False,
    flag_value=DEFAULT_HZ,
    type=int,
    help="Also measure profiled trials of each version, after all other trials. They count in no "
    f"rate. HZ is the number of samples in a second of CPU time; if not given, {DEFAULT_HZ}.",
    metavar="[HZ]",
)
@click.option(
    "--budget-usd",
    type=float,
    help="Most that tasks and log queries may cost at AWS's prices; the run ends before the trial "
    "that would exceed it.",
)
@click.option(
    "--keep-going",
    is_flag=True,
    help="Measure every trial. If not given, the run drops a version if two of its trials in "
    "sequence fail alike, and ends if a query matches no line of the first trial.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what the run would measure, how long and at which cost, and the risks. Nothing is "
    "started, built or written.",
)
@click.option("--note", default="", help="Reason for the run; stored with its results.")
@resume_option
@fail_on_option
@click.option(
    "--pull-request",
    is_flag=True,
    help="In a job of GitHub Actions or GitLab CI/CD: also write the comparisons into a comment on "
    "the job's pull request, or update that comment.",
)
@exact_option
@target_options
def command(
    suite: str | None,
    versions: str | None,
    settings: tuple[str, ...],
    axes: tuple[str, ...],
    profile_hz: int | None,
    budget_usd: float | None,
    dry_run: bool,
    note: str,
    resume: str | None,
    fail_on: str | None,
    pull_request: bool,
    exact: bool,
    target: Target,
    **others: Any,  # noqa: ANN401 (options with the names of fields of the input)
) -> None:
    """Measure versions of SUITE, or resume a run.

    Without SUITE, the command measures the only suite, or else rocksdb. The run takes the same
    steps here as on AWS.

    On this machine Ctrl-C ends the run and keeps its finished trials; a second Ctrl-C ends
    everything at once. With --aws the run is in your account and continues after Ctrl-C.

    --resume measures the missing trials of a run; only --note and --budget-usd may change. Without
    a new budget, the run keeps its last one. A budget counts from the first trial of the run.

    The exit code is 0 if every trial gave its rates, 1 if the run failed or is incomplete, 2 if the
    input is refused, and 130 if Ctrl-C ended everything at once or left the run. With --fail-on
    slower it is 3 if a metric is slower than in the baseline (without a baseline, than in the
    version before), and 4 if no metric is slower but the trials cannot tell some.

    \b
    Example:
      tidemark run rocksdb --versions 9.0.0,9.8.4 --repetitions 5
    """
    extra = click.get_current_context().args
    check_pairs(settings, axes, [word for word in (*extra, suite) if word])
    _check_words(suite, versions, extra)
    console = terminal()
    options = {
        "suite": suite,
        "versions": _listed(versions),
        **others,
        "parameters": split(settings) or None,
        "axes": split_axes(axes) or None,
        "profile": None if profile_hz is None else {"hz": profile_hz},
    }
    end = _End(gated=bool(fail_on), exact=exact, commented=pull_request)
    if pull_request:
        check_job()
    limit = {} if budget_usd is None else {"budget_usd": budget_usd}
    fields: dict[str, Any] = {
        key: value for key, value in options.items() if value is not None and value is not False
    }
    if resume is not None:
        if fields:
            raise Refused(f"--resume: {listed(fields)} cannot change when a run is resumed")
        again = {**limit, "note": note, "trigger": "cli"}
        if dry_run:
            with stored(target) as store:
                _print_missing(*_unfinished(store.bucket, resume, target, end), console)
            sys.exit(_not_started(console))
        sys.exit(_resume(resume, again, target, console, end))
    named = fields.pop("suite", None) or suite_to_run()
    fields = {"suite": named, **fields, **limit, "note": note, "trigger": "cli"}
    system = written_suite(fields["suite"])
    if settings:
        fields["parameters"] = parsed(fields["parameters"], system)
    check_target(system, target)
    if dry_run:
        check_built(fields.get("versions", ()), system.subject)
    fields = with_builds(fields, system.subject, here=target.stack is None)
    request = resolved(fields, system)
    _warn_of_order(fields, request, system)
    if versions is not None and target.stack is None and not request.slowed:
        # Measure exactly the printed and prepared versions. An account has releases of its own.
        fields["versions"] = list(request.versions)
    _check_gate(request, system, gated=bool(fail_on))
    names = listed(fields.get("versions", request.versions))
    console.print(intention(names, request, system, target), soft_wrap=True)
    if dry_run:
        check(request, system, target)
        sys.exit(_not_started(console))
    preflight(request, system, target, console)
    sys.exit(_measure(fields, system, target, console, end))


def _warn_of_order(fields: Mapping[str, object], request: RunSpec, suite: Suite) -> None:
    """Print that a run compares its versions in another order than the user named them."""
    # Words such as newest have no order of their own.
    are_named = fields.get("versions", list(request.versions)) == list(request.versions)
    sentence = other_order(request, suite.subject) if are_named else ""
    if sentence and not fields.get("baseline"):
        click.echo(f"warning: {sentence}", err=True)


def _not_started(console: Console) -> int:
    """Print the end of a dry run; return its exit code."""
    console.print("Nothing was started; the same command without --dry-run measures it.")
    return 0


def _listed(text: str | None) -> list[str] | None:
    """Return the words between the commas of an option, None without the option."""
    return None if text is None else [word.strip() for word in text.split(",")]


def _check_words(suite: str | None, versions: str | None, extra: Sequence[str]) -> None:
    """Refuse words that belong to no option, such as a version after a space."""
    stray = [word for word in (suite or "", *extra) if word[:1].isdigit()]
    given = (versions or "").replace(",", " ").split()
    is_spaced = any(" " in one.strip() for one in (versions or "").split(","))
    is_list = is_spaced and all(word[:1].isdigit() for word in given)
    if stray or is_list:
        together = ",".join([*given, *(word.strip(",") for word in stray)])
        expected = "commas between versions" if given else "the versions behind this option"
        raise Refused(f"--versions: expected {expected}: --versions {together}")
    if extra:
        raise click.UsageError(f"Got unexpected extra argument ({extra[0]})")


class _End(NamedTuple):
    """The wishes of a user for the end of a run."""

    gated: bool
    """Whether the verdicts decide the exit code."""
    exact: bool
    """Whether the table has all digits."""
    commented: bool
    """Whether the pull request of the job gets a comment."""

    @property
    def options(self) -> str:
        """The options with which people ask for the same end of a further run, outside a job."""
        return " --fail-on slower" if self.gated else ""


def _measure(
    fields: Mapping[str, object], suite: Suite, target: Target, console: Console, end: _End
) -> int:
    with cloud_at(target, console, suite) as cloud:
        return _follow(cloud, cloud.runs.start(fields), target, console, end)


def _follow(cloud: Deployed, run: Run, target: Target, console: Console, end: _End) -> int:
    code = measure(cloud.runs, run, target, console, exact=end.exact, options=end.options)
    if end.commented:
        try:
            console.print(comment_on_run(cloud, run.run_id), soft_wrap=True, markup=False)
        except (Refused, click.ClickException) as error:
            # The verdicts of hours of trials decide the exit code, with a comment or without.
            click.echo(f"warning: {error}", err=True)
    return code or _gate(cloud, run, console, end.gated)


def _check_gate(request: RunSpec, suite: Suite, *, gated: bool) -> None:
    if not gated:
        return
    if len(request.versions) < 2:
        raise Refused("--fail-on: one version has nothing to be compared with; name two or more")
    if request.baseline is None and not suite.subject.knows_order(request.versions):
        raise Refused(
            f"--fail-on: the order of {listed(request.versions)} is not known, so that none is the "
            "version before another; give --baseline"
        )


def _gate(cloud: Deployed, run: Run, console: Console, gated: bool) -> int:
    plan = find_plan(cloud.bucket, run.run_id) if gated else None
    return gate(cloud, plan, console) if plan else 0


def _resume(
    run_id: str, fields: Mapping[str, object], target: Target, console: Console, end: _End
) -> int:
    if target.stack is None:
        with stored(target) as store:
            # The start of a cloud takes seconds; it ends an unfinished run, which has a claim.
            if run_id not in claimed_runs(store.bucket):
                _unfinished(store.bucket, run_id, target, end)
    with cloud_at(target, console) as cloud:
        client = cloud.runs
        if client.find(run_id):
            raise Refused(
                f"--resume: {run_id} is active; `tidemark stop {run_id}{target.flags}` ends it"
            )
        plan, progress = _unfinished(client.bucket, run_id, target, end)
        _print_missing(plan, progress, console)
        preflight(plan.request, plan.suite, target, console)
        fields = {"suite": plan.suite.name, "run": run_id, **fields}
        resume_request(fields, {plan.suite.name: plan.suite})
        return _follow(cloud, client.start(fields), target, console, end)


def _print_missing(plan: Plan, progress: Progress, console: Console) -> None:
    missing = progress.planned - progress.recorded
    expected = estimate(plan.request, plan.suite, list_prices())
    share = cost(expected, missing / plan.request.all_trials)
    console.print(f"Missing: {missing} of {plural(progress.planned, 'trial')}; on AWS {share}.")
    if plan.request.until:
        console.print("The run then goes on until decided.")


def _unfinished(bucket: Bucket, run_id: str, target: Target, end: _End) -> tuple[Plan, Progress]:
    """Return the plan and the progress of a run to resume; refuse one that cannot be resumed."""
    plan, progress = find_plan(bucket, run_id), read_progress(bucket, run_id)
    if plan is None or progress is None:
        raise target.not_stored(run_id, "--resume")
    _check_gate(plan.request, plan.suite, gated=end.gated)
    if progress.recorded == progress.planned:
        raise Refused(f"--resume: {run_id} has no missing trial; every trial is recorded")
    return plan, progress
