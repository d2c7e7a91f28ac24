"""Every fault of the campaign."""

from __future__ import annotations

from tests.faults.catalogue import tasks
from tests.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (*tasks.FAULTS,)
