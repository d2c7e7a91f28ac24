"""The changes of a stack's resources between two templates, as a change set describes them.

Source: AWS CloudFormation API reference, ResourceChange, ResourceChangeDetail and
ResourceTargetDefinition; user guide, "Update behaviors of stack resources".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from local.cloud.fixed_properties import FIXED

_ATTRIBUTES = ("Metadata", "DeletionPolicy", "UpdateReplacePolicy")
"""The attributes of a resource, beside its properties, whose change CloudFormation describes."""

_ATTRIBUTE_OF_ANOTHER = "ResourceAttribute"

Resources = Mapping[str, Mapping[str, Any]]
"""The parts of a template by logical id."""


class UnknownChange(ValueError):
    """A change of a resource, of which this machine does not know whether it is replaced."""


@dataclass(frozen=True)
class ResourceChange:
    """The change of one resource, with the fields of CloudFormation's ResourceChange."""

    action: str
    """Add, Modify or Remove."""
    logical_resource_id: str
    resource_type: str
    physical_resource_id: str | None = None
    replacement: str | None = None
    """True, False, or Conditional if only another resource's id or attribute may replace it."""
    scope: tuple[str, ...] = ()
    """The attributes of a modified resource that differ, such as Properties and Metadata."""
    details: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_replaced(self) -> bool:
        """Whether a new resource takes the place of the old one.

        An attribute of a resource that changes in place stays as it is here.
        """
        return any(
            each["Target"]["RequiresRecreation"] != "Never"
            and each["ChangeSource"] != _ATTRIBUTE_OF_ANOTHER
            for each in self.details
        )

    @property
    def properties(self) -> list[str]:
        """The properties of a modified resource that differ, or name a replaced one."""
        return [
            name
            for each in self.details
            if (name := each["Target"].get("Name"))
            and each["ChangeSource"] != _ATTRIBUTE_OF_ANOTHER
        ]


def changes_between(old: Resources, new: Resources) -> list[ResourceChange]:
    """Return what makes the resources of one template those of another.

    Raises
    ------
    UnknownChange
        If a type is not in ``FIXED``, or if a resource has another type than before.

    """
    found = _Found(set(), set())
    while True:
        modified = [
            change
            for name in new.keys() & old.keys()
            if (change := _modification(name, old[name], new[name], found))
        ]
        # A replaced resource has another id, which may replace those that refer to it. A modified
        # one may have other attributes, and CloudFormation lists those that name them.
        before, found = found, _found(modified)
        if found == before:
            break
    order = list(new)
    modified.sort(key=lambda change: order.index(change.logical_resource_id))
    added = [ResourceChange("Add", name, new[name]["Type"]) for name in new if name not in old]
    gone = [ResourceChange("Remove", name, old[name]["Type"]) for name in old if name not in new]
    return [*added, *modified, *gone]


class _Found(NamedTuple):
    """Logical ids of resources."""

    replaced: set[str]
    modified: set[str]


def _found(modified: list[ResourceChange]) -> _Found:
    return _Found(
        {each.logical_resource_id for each in modified if each.is_replaced},
        {each.logical_resource_id for each in modified},
    )


def references(value: object) -> Iterator[str]:
    """Yield the logical ids, and names of pseudo parameters, that a part of a template names."""
    for name in _named(value):
        yield name.split(".")[0]


def _sources(value: object) -> Iterator[str]:
    """Yield the logical ids of the resources whose attributes a part of a template names."""
    for name in _named(value):
        if "." in name:
            yield name.split(".")[0]


def _named(value: object) -> Iterator[str]:
    """Yield what a part of a template names: a logical id, or one with an attribute, ``F.Arn``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "Ref":
                yield inner
            elif key == "Fn::GetAtt":
                yield inner if isinstance(inner, str) else f"{inner[0]}.{inner[1]}"
            elif key == "Fn::Sub":
                text, *values = [inner] if isinstance(inner, str) else inner
                yield from re.findall(r"\$\{([\w:.]+)", text)
                yield from _named(values)
            else:
                yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)


def _modification(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], found: _Found
) -> ResourceChange | None:
    kind = new["Type"]
    details = [_detail(key) for key in _ATTRIBUTES if old.get(key) != new.get(key)]
    details += _of_properties(old, new, found)
    if not details and kind == old["Type"]:
        return None
    if kind not in FIXED or kind != old["Type"]:
        raise UnknownChange(
            f"{name} changes from {old['Type']} to {kind}; the one-machine cloud changes only "
            f"resources that keep their type, one of: {', '.join(sorted(FIXED))}."
        )
    recreations = {
        detail["Evaluation"]
        for detail in details
        if detail["Target"]["RequiresRecreation"] == "Always"
    }
    replacement = "True" if "Static" in recreations else "Conditional"
    return ResourceChange(
        "Modify",
        name,
        kind,
        replacement=replacement if recreations else "False",
        scope=tuple(sorted({detail["Target"]["Attribute"] for detail in details})),
        details=tuple(details),
    )


def _of_properties(
    old: Mapping[str, Any], new: Mapping[str, Any], found: _Found
) -> Iterator[Mapping[str, Any]]:
    before, after = old.get("Properties", {}), new.get("Properties", {})
    fixed = FIXED.get(new["Type"], ())
    for key in {**before, **after}:
        paths = [path for path in fixed if path.split("/")[0] == key]
        if before.get(key) != after.get(key):
            differs = any(_at(before, path) != _at(after, path) for path in paths)
            attribute = "Tags" if key == "Tags" else "Properties"
            yield _detail(attribute, key, fixed=differs)
            continue
        for source, named, others in (
            ("ResourceReference", references, found.replaced),
            (_ATTRIBUTE_OF_ANOTHER, _sources, found.modified - found.replaced),
        ):
            if others & {*named(after.get(key))}:
                refers = any(others & {*named(_at(after, path))} for path in paths)
                yield _detail("Properties", key, source, fixed=refers)


def _detail(
    attribute: str,
    name: str | None = None,
    source: str = "DirectModification",
    *,
    fixed: bool = False,
) -> Mapping[str, Any]:
    recreation = "Always" if fixed else "Never"
    target = {"Attribute": attribute, "Name": name, "RequiresRecreation": recreation}
    return {
        "Target": {key: value for key, value in target.items() if value},
        "Evaluation": "Static" if source == "DirectModification" else "Dynamic",
        "ChangeSource": source,
    }


def _at(properties: object, path: str) -> object:
    for name in path.split("/"):
        properties = properties.get(name) if isinstance(properties, Mapping) else None
    return properties
