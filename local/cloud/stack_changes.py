"""The changes of a stack's resources between two templates, as a change set describes them.

Source: AWS CloudFormation API reference, ResourceChange, ResourceChangeDetail and
ResourceTargetDefinition; user guide, "Update behaviors of stack resources".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from local.cloud.fixed_properties import FIXED

_ATTRIBUTES = ("Metadata", "DeletionPolicy", "UpdateReplacePolicy")
"""The attributes of a resource, beside its properties, whose change CloudFormation describes."""

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
    """True, False, or Conditional if only the id of a replaced resource may change it."""
    scope: tuple[str, ...] = ()
    """The attributes of a modified resource that differ, such as Properties and Metadata."""
    details: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_replaced(self) -> bool:
        """Whether a new resource takes the place of the old one."""
        return self.replacement in {"True", "Conditional"}

    @property
    def properties(self) -> list[str]:
        """The properties of a modified resource that differ."""
        return [name for each in self.details if (name := each["Target"].get("Name"))]


def changes_between(old: Resources, new: Resources) -> list[ResourceChange]:
    """Return what makes the resources of one template those of another.

    Raises
    ------
    UnknownChange
        If a type is not in ``FIXED``, or if a resource has another type than before.

    """
    replaced: set[str] = set()
    while True:
        modified = [
            change
            for name in new.keys() & old.keys()
            if (change := _modification(name, old[name], new[name], replaced))
        ]
        # A replaced resource has another id, which may replace those that refer to it.
        if (
            found := {each.logical_resource_id for each in modified if each.is_replaced}
        ) == replaced:
            break
        replaced = found
    order = list(new)
    modified.sort(key=lambda change: order.index(change.logical_resource_id))
    added = [ResourceChange("Add", name, new[name]["Type"]) for name in new if name not in old]
    gone = [ResourceChange("Remove", name, old[name]["Type"]) for name in old if name not in new]
    return [*added, *modified, *gone]


def references(value: object) -> Iterator[str]:
    """Yield the logical ids, and names of pseudo parameters, that a part of a template names."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "Ref":
                yield inner
            elif key == "Fn::GetAtt":
                yield inner[0] if isinstance(inner, list) else inner.split(".")[0]
            elif key == "Fn::Sub":
                text, *values = [inner] if isinstance(inner, str) else inner
                yield from re.findall(r"\$\{([\w:]+)", text)
                yield from references(values)
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def _modification(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], replaced: Collection[str]
) -> ResourceChange | None:
    kind = new["Type"]
    details = [_detail(key) for key in _ATTRIBUTES if old.get(key) != new.get(key)]
    details += _of_properties(old, new, replaced)
    if not details and kind == old["Type"]:
        return None
    if kind not in FIXED or kind != old["Type"]:
        raise UnknownChange(
            f"{name} changes from {old['Type']} to {kind}; the one-machine cloud knows the rules "
            f"of these types, and changes none into another: {', '.join(sorted(FIXED))}."
        )
    recreations = {detail["Target"]["RequiresRecreation"] for detail in details}
    replacement = "True" if "Always" in recreations else "Conditional"
    return ResourceChange(
        "Modify",
        name,
        kind,
        replacement=replacement if recreations != {"Never"} else "False",
        scope=tuple(sorted({detail["Target"]["Attribute"] for detail in details})),
        details=tuple(details),
    )


def _of_properties(
    old: Mapping[str, Any], new: Mapping[str, Any], replaced: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    before, after = old.get("Properties", {}), new.get("Properties", {})
    fixed = FIXED.get(new["Type"], ())
    for key in {**before, **after}:
        paths = [path for path in fixed if path.split("/")[0] == key]
        if before.get(key) != after.get(key):
            differs = any(_at(before, path) != _at(after, path) for path in paths)
            attribute = "Tags" if key == "Tags" else "Properties"
            yield _detail(attribute, key, "Always" if differs else "Never")
        elif not {*references(after.get(key))}.isdisjoint(replaced):
            refers = any(not {*references(_at(after, path))}.isdisjoint(replaced) for path in paths)
            recreation = "Conditionally" if refers else "Never"
            yield _detail("Properties", key, recreation, by_reference=True)


def _detail(
    attribute: str,
    name: str | None = None,
    recreation: str = "Never",
    *,
    by_reference: bool = False,
) -> Mapping[str, Any]:
    target = {"Attribute": attribute, "Name": name, "RequiresRecreation": recreation}
    return {
        "Target": {key: value for key, value in target.items() if value},
        "Evaluation": "Dynamic" if by_reference else "Static",
        "ChangeSource": "ResourceReference" if by_reference else "DirectModification",
    }


def _at(properties: object, path: str) -> object:
    for name in path.split("/"):
        properties = properties.get(name) if isinstance(properties, Mapping) else None
    return properties
