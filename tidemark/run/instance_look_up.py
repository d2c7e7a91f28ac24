"""The version that an instance reports, and the names of its resources in the account."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from tidemark.model.instance import (
    THINGS,
    Instance,
    InstanceName,
    KnownInstance,
    LoggingTask,
    of_instance,
)
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown
from tidemark.model.suite import Suite
from tidemark.run.ports import Account, Definition, Properties

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


_DEFINITION = "task_definition"


def known_instance(
    properties: Properties, account: Account, suite: Suite, instance: str, execution: str
) -> KnownInstance:
    """Return the resources of an instance in the account of an execution's ARN.

    Raises
    ------
    Refused
        If a property has a name of another form, if nothing in the account has a name, or if the
        suite does not permit the log group of a task definition, or the role of a definition that
        is run.

    """
    found = suite.subject.instance
    assert found  # the suite measures instances
    if not found.names:
        return KnownInstance(names={}, logs={})
    text = read_properties(properties, suite, instance, execution)
    run = suite.definition_words
    search = _Search(account, found, instance, execution.split(":")[4], text, run, {})
    used = suite.words
    names = {word: search.value(word, name) for word, name in found.names.items() if word in used}
    return KnownInstance(
        names=names,
        logs=search.logs,
        clusters=tuple(dict.fromkeys(filter(None, map(names.get, suite.run_cluster_words)))),
    )


class _Search(NamedTuple):
    """The search for the resources of one instance."""

    account: Account
    found: Instance
    instance: str
    number: str
    """The number of the account."""
    text: Text
    run: Collection[str]
    """The words of the definitions that steps run."""
    logs: dict[str, LoggingTask]
    """The logs of the definitions that were found so far."""

    def value(self, word: str, name: InstanceName) -> str:
        """Return the value of a word, '' for an optional name that the instance lacks."""
        if name.needs and not value_of(self.text, name.needs):
            return ""
        forms = name.candidates(self.instance, self.number)
        stated = self._stated(word, name, forms)
        candidates = (stated,) if stated else forms
        if name.kind not in THINGS:
            if not (candidates or name.optional):
                place = f"{listed(name.properties)} in {self.text.address}"
                raise self._refusal(word, "has no value", place)
            return next(iter(candidates), "")
        things = (self._thing(word, name, candidate) for candidate in candidates)
        thing = next(filter(None, things), "")
        if not (thing or name.optional):
            kind = name.kind.replace("_", " ")
            raise self._refusal(word, "is not there", f"a {kind} {' or '.join(candidates)}")
        return thing

    def _stated(self, word: str, name: InstanceName, forms: tuple[str, ...]) -> str | None:
        """Return the name in the first property that has a value, None if no property has any."""
        values = ((each, value_of(self.text, each)) for each in name.properties)
        place, value = next(((each, value) for each, value in values if value), ("", None))
        if value is None:
            return None
        plain = _plain(name.kind, value)
        family = plain.partition(":")[0] if name.kind == _DEFINITION else plain
        if expected := name.misfit(family, forms):
            why = f"is {shown(plain)} in {place} of {self.text.address}"
            raise self._refusal(word, why, expected)
        return plain

    def _thing(self, word: str, name: InstanceName, candidate: str) -> str | None:
        """Return the name or ARN that a plan keeps of a resource, None without the resource."""
        if name.kind != _DEFINITION:
            return self.account.find(name.kind, candidate)
        definition = self.account.definition(candidate)
        if definition is None:
            return None
        self.logs[word] = self._logs(word, name, definition)
        if word in self.run:  # only tasks that a run starts get roles from it
            self._check(word, "has the role", definition.roles, self.found.roles)
        return definition.arn

    def _logs(self, word: str, name: InstanceName, definition: Definition) -> LoggingTask:
        """Return where the container of a definition logs."""
        container = name.container or next(iter(definition.logs))
        if container not in definition.logs or not (name.container or len(definition.logs) == 1):
            there = f"has the containers {listed(definition.logs)}"
            raise self._refusal(
                word, there, name.container or "one, or its name in the field container"
            )
        logs = definition.logs[container]
        if logs is None:
            expected = "the log driver awslogs with a stream prefix"
            raise self._refusal(word, f"has the container {container}", expected)
        group, prefix = logs
        self._check(word, "logs to", [group], self.found.log_groups)
        if self.account.find("log_group", group) is None:
            raise self._refusal(word, f"logs to {shown(group)}, which is not there", "a log group")
        return LoggingTask(container=container, log_group=group, stream_prefix=prefix)

    def _check(self, word: str, has: str, names: Sequence[str], patterns: Sequence[str]) -> None:
        """Refuse a name that no pattern permits to use."""
        own = [of_instance(pattern, self.instance) for pattern in patterns]
        for name in names:
            if not any(fnmatchcase(name, pattern) for pattern in own):
                raise self._refusal(word, f"{has} {shown(name)}", " or ".join(own) or "none")

    def _refusal(self, word: str, why: str, expected: str) -> Refused:
        return Refused(f"instance: {{{word}}} of {self.instance} {why}; expected {expected}")


def _plain(kind: str, value: str) -> str:
    """Return the plain name in an ARN, a URL or a name; of a definition with its revision."""
    if kind not in THINGS:
        return value
    last = value.rsplit("/", 1)[-1]
    return last if kind == _DEFINITION else last.rsplit(":", 1)[-1]
