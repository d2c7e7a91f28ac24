"""Publishers, which write figures, reports and comparisons again from stored results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tidemark.client.ports import Functions, Stack, StateMachines


class Publisher(Protocol):
    """A publisher that works from stored results."""

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them."""

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the keys of ``md``, ``html`` and ``json``.

        Raises
        ------
        Refused
            If a side is not stored.

        """

    def refresh(self) -> None:
        """Refresh the reports in QuickSight, if there are any."""


class FunctionPublisher:
    """A publisher that invokes the functions of a deployed stack."""

    def __init__(self, functions: Functions, machines: StateMachines, stack: Stack) -> None:
        self._functions, self._machines, self._stack = functions, machines, stack

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""
        self._functions.invoke(self._stack.outputs["RecordRatesFunction"], {"run_id": run_id})

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""
        self._functions.invoke(self._stack.outputs["PublishReportFunction"], {"run_id": run_id})

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them."""
        for run_id in run_ids:
            self.report(run_id)
        for run_id in run_ids:
            self.rates(run_id)

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the key of each form."""
        event = {"suite": suite, "base": base, "new": new}
        return self._functions.invoke(self._stack.outputs["PublishComparisonFunction"], event)

    def refresh(self) -> None:
        """Start the state machine that refreshes QuickSight, if the stack has one."""
        if machine := self._stack.outputs.get("RefreshStateMachine"):
            self._machines.start(machine, "", "{}")
