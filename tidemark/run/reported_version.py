"""The version that an instance of a system reports, read from its own properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidemark.model.instance import Instance
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown
from tidemark.model.suite import Suite
from tidemark.run.ports import Properties


def reported_version(properties: Properties, suite: Suite, instance: str, execution: str) -> str:
    """Return the version that an instance reports in the account of an execution's ARN.

    Raises
    ------
    Refused
        If no object with its properties can be read, or the first one has no version.

    """
    found = suite.subject.instance
    assert found  # the suite measures instances
    tried = []
    for bucket, key in found.addresses(instance, execution.split(":")[4]):
        text = properties.read(bucket, key)
        if text is not None:
            return _version(text, found, f"s3://{bucket}/{key}")
        tried.append(f"s3://{bucket}/{key}")
    raise Refused(
        f"instance: {instance} is not known, since its properties cannot be read; expected them "
        f"in {listed(tried)}"
    )


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


def _version(text: str, found: Instance, address: str) -> str:
    versions = set(_values(text, found.version))
    if len(versions) != 1:
        there = f"{len(versions)} values" if versions else "no value"
        raise Refused(f"instance: {address} has {there} of {found.version}; expected one")
    return versions.pop()


def _values(text: str, name: str) -> Iterator[str]:
    """Yield the values of a property.

    Source of the form: java.util.Properties, "load"; a line goes on after a backslash at its end.
    """
    # Comments begin with # or !, which no accepted name has.
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text)
    for match in re.finditer(rf"^[ \t\f]*{re.escape(name)}[ \t\f]*[=:](.*)$", joined, re.M):
        yield match[1].strip()
