"""The exports of stacks, which other stacks import: kept while they are in use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Stack

from local.cloud.stack_changes import references


def check_deletion(backend: CloudFormationBackend, stack: Stack) -> None:
    """Refuse to delete a stack while another stack imports one of its exports."""
    _check_unused(backend, stack, stack.template_dict.get("Outputs", {}), "deleted")


def check_update(backend: CloudFormationBackend, stack: Stack, change_set: ChangeSet) -> None:
    """Refuse to change or remove an export that another stack imports."""
    old, new = stack.template_dict.get("Outputs", {}), change_set.template_dict.get("Outputs", {})
    changes: Any = change_set.changes
    replaced = {each.logical_resource_id for each in changes if each.is_replaced}
    changed = {
        key
        for key in old.keys() & new.keys()
        if _exported(old[key]) != _exported(new[key]) or replaced & {*references(old[key])}
    }
    _check_unused(backend, stack, old.keys() - new.keys(), "deleted")
    _check_unused(backend, stack, changed, "updated")


def replace_exports(backend: CloudFormationBackend, stack: Stack) -> None:
    """Make the exports of a stack those of its outputs."""
    of_others = {
        name: export
        for name, export in backend.exports.items()
        if export.exporting_stack_id != stack.stack_id
    }
    backend.exports.clear()
    backend.exports.update({**of_others, **{export.name: export for export in stack.exports}})


def _exported(output: dict[str, Any]) -> tuple[Any, Any]:
    return output["Value"], output.get("Export")


def _check_unused(
    backend: CloudFormationBackend, stack: Stack, outputs: Iterable[str], lost: str
) -> None:
    parts = stack.template_dict.get("Outputs", {})
    exports = [parts[key]["Export"]["Name"] for key in outputs if "Export" in parts[key]]
    names = {parsing.clean_json(name, stack.resource_map) for name in exports}
    for other in backend.stacks.values():
        imported = re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(other.template_dict))
        if used := sorted(names & {*imported}):
            raise ValidationError(
                message=f"Export {used[0]} cannot be {lost} as it is in use by {other.name}"
            )
