"""``tidemark sizes``: the sizing table of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import click

from tidemark.cli.options import run_argument
from tidemark.cli.saving import format_option, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.figures.sizing import Held, Sized, bounded, sizing
from tidemark.model.labels import labelled_name
from tidemark.model.numerals import percent, supported
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.services import SIZE, UNITS_OF_VCPU
from tidemark.store.run_objects import all_trials, read_exclusions


@click.command(name="sizes")
@run_argument
@format_option
@target_options
def command(run: str, form: str, target: Target) -> None:
    """Show the sizes of a service that RUN measured, and the smallest that holds.

    A size holds if each figure with a bound in the suite is within it. If a figure has several
    labels, the worst counts. The table has a line for each version and size, and names the figures
    that are not within their bounds.

    \b
    Example:
      tidemark sizes 20261120T124455Z-0a1b2c
    """
    with stored(target) as store:
        plan = target.plan(store.bucket, run)
        _check(plan)
        trials = list(all_trials(store.bucket, run))
        rows = sizing(plan, trials, read_exclusions(store.bucket, run))
    columns = list(_row(rows[0], plan, form))
    show(columns, [_row(row, plan, form) for row in rows], form)
    if form == "table":
        for sentence in _answers(rows):
            click.echo(sentence)


def _check(plan: Plan) -> None:
    """Refuse a run that cannot tell which size holds."""
    if SIZE not in plan.suite.axes:
        sentence = f"RUN: the suite {plan.suite.name} has no axis {SIZE}"
        raise Refused(f"{sentence}; give it one, and its services `sizes` for it")
    if SIZE not in plan.request.axes:
        advice = f"measure sizes with `tidemark run {plan.suite.name} --axis {SIZE}=A,B`"
        raise Refused(f"RUN: {plan.run_id} has no axis {SIZE}; {advice}")
    if not bounded(plan.suite):
        raise Refused(f"RUN: no metric of {plan.suite.name} has bounds; expected one with holds")


def _row(row: Sized, plan: Plan, form: str) -> Mapping[str, str | None]:
    cpu = sum(size.cpu for size in row.sizes.values()) / UNITS_OF_VCPU
    memory = sum(size.memory or 0 for size in row.sizes.values())
    number = _rounded if form == "table" else _exact
    return {
        "version": row.version,
        **{name: row.others[name] for name in plan.request.axes if name != SIZE},
        SIZE: row.size,
        "vcpu": f"{cpu:g}",
        "memory_mib": str(memory) if memory else None,
        "memory_used": None if row.memory_used is None else percent(row.memory_used, places=0),
        **{held.figure.name: number(held.value) for held in row.figures},
        "holds": _word(row),
        "because": _because(row),
    }


def _word(row: Sized) -> str:
    if not row.trials:
        return "unknown"
    return "smallest" if row.smallest else "yes" if row.holds else "no"


def _because(row: Sized) -> str | None:
    if not row.trials:
        return "no trial counts"
    return "; ".join(_reason(held) for held in row.figures if not held.holds) or None


def _rounded(value: float | None) -> str | None:
    return None if value is None else supported(value, None)[0]


def _exact(value: float | None) -> str | None:
    return None if value is None else repr(value)


def _reason(held: Held) -> str:
    """Return why a figure does not hold."""
    name = held.figure.name
    if held.value is None:
        return f"{name} is missing in a trial"
    labels = f" {held.labels}".replace('"', "") if held.labels else ""
    is_lower = held.figure.metric.direction == "lower"
    is_off = "above" if is_lower else "below"
    return f"{name}{labels} is {is_off} {held.bound:g} {held.figure.metric.unit}"


def _answers(rows: list[Sized]) -> Iterator[str]:
    """Yield the smallest size that holds, of each version under the other axes."""
    versions: defaultdict[str, list[Sized]] = defaultdict(list)
    for row in rows:
        versions[labelled_name(row.version, row.others)].append(row)
    for name, sizes in versions.items():
        smallest = next((row for row in sizes if row.smallest), None)
        below = sizes[: sizes.index(smallest)] if smallest else sizes
        unknown = [row.size for row in below if not row.trials]
        if smallest:
            known = " known to hold" if unknown else " that holds"
            size = f"{smallest.size} ({_amounts(smallest)})"
            answer = f"the smallest size{known} is {size}"
        else:
            answer = "no size is known to hold" if unknown else "no size holds"
        untold = f"; no trial of {listed(unknown)} counts" if unknown else ""
        yield f"{name}: {answer}{untold}."


def _amounts(row: Sized) -> str:
    return " and ".join(f"{name} with {size.text}" for name, size in row.sizes.items())
