"""The settings of an app that one machine runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.model.context import written_context
from tidemark.model.settings import Settings, read_settings

# One machine has no QuickSight: Tidemark itself draws the dashboard's definition. It has the zones
# of one region.
_ABSENT = {"reports": False, "availabilityZones": []}
_LOGS_DEADLINE_SECONDS = 20


def machine_settings(given: Mapping[str, Any]) -> Settings:
    """Return the settings of cdk.json, those that are given, and what one machine is without.

    Raises
    ------
    Refused
        If a setting is not accepted.

    """
    settings = read_settings({**written_context(), **given, **_ABSENT})
    if "logsDeadlineSeconds" in given:
        return settings
    # The lines of a task are stored when it ends: only a query that matches none waits longer.
    deadline = min(settings.logs_deadline_seconds, _LOGS_DEADLINE_SECONDS)
    return settings.model_copy(update={"logs_deadline_seconds": deadline})
