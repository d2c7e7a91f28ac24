"""Every fault of the campaign."""

from __future__ import annotations

from tests.system.faults.catalogue import claims, endings, largest, services, sizes, states, tasks
from tests.system.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *tasks.FAULTS,
    *services.FAULTS,
    *states.FAULTS,
    *endings.FAULTS,
    *claims.FAULTS,
    *sizes.FAULTS,
    *largest.FAULTS,
)
