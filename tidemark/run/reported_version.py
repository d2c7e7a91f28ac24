"""The properties of an instance of a system, and the version that they report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown
from tidemark.model.suite import Suite
from tidemark.run.ports import Properties

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Text(NamedTuple):
    """The text of an instance's properties, and the address that it was read from."""

    address: str
    content: str


def read_properties(properties: Properties, suite: Suite, instance: str, execution: str) -> Text:
    """Return the properties of an instance in the account of an execution's ARN.

    Raises
    ------
    Refused
        If no object with its properties can be read.

    """
    found = suite.subject.instance
    assert found  # the suite measures instances
    tried = []
    for bucket, key in found.addresses(instance, execution.split(":")[4]):
        address = f"s3://{bucket}/{key}"
        content = properties.read(bucket, key)
        if content is not None:
            return Text(address, content)
        tried.append(address)
    raise Refused(
        f"instance: {instance} is not known, since its properties cannot be read; expected them "
        f"in {listed(tried)}"
    )


def reported_version(properties: Properties, suite: Suite, instance: str, execution: str) -> str:
    """Return the version that an instance reports in the account of an execution's ARN.

    Raises
    ------
    Refused
        If no object with its properties can be read, or the first one has no version.

    """
    text, found = read_properties(properties, suite, instance, execution), suite.subject.instance
    assert found  # the suite measures instances
    version = value_of(text, found.version)
    if version is None:
        raise Refused(f"instance: {text.address} has no value of {found.version}; expected one")
    return version


def value_of(text: Text, name: str) -> str | None:
    """Return the value of a property, None without one; refuse a property with several values."""
    values = set(_values(text.content, name))
    if len(values) > 1:
        raise Refused(f"instance: {text.address} has {len(values)} values of {name}; expected one")
    return next(iter(values), None)


def check_version_of(properties: Properties, plan: Plan, trial: PlannedTrial) -> None:
    """Refuse a trial whose instance reports another version than the plan has."""
    instance = plan.request.instance
    assert instance  # the suite measures instances
    version = reported_version(properties, plan.suite, instance, plan.execution_arn)
    if version != trial.version:
        raise Refused(
            f"instance: {instance} reports {shown(version)} now, and this run measures "
            f"{trial.version}; start another run"
        )


def _values(text: str, name: str) -> Iterator[str]:
    """Yield the values of a property.

    Source of the form: java.util.Properties, "load"; a line goes on after a backslash at its end.
    """
    # Comments begin with # or !, which no accepted name has.
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text)
    for match in re.finditer(rf"^[ \t\f]*{re.escape(name)}[ \t\f]*[=:](.*)$", joined, re.M):
        yield re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _escaped, match[1].strip())


def _escaped(match: re.Match[str]) -> str:
    """Return the character of an escape, such as ``:`` of ``\\:``."""
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)
