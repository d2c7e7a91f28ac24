"""The time that a request spends in the database, as a header of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Statements:
    """The statements of a request, as a wrapper of Django's ``connection.execute_wrapper``.

    The time of a statement is the time that the call of the database's driver takes. PostgreSQL's
    and MariaDB's drivers fetch all rows within it. Connections and transactions are not statements.
    """

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0

    def __call__(self, execute: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 (as Django has it)
        """Execute a statement, and add its time, also if it fails."""
        began = perf_counter()
        try:
            return execute(*arguments)
        finally:
            self.count += 1
            self.seconds += perf_counter() - began

    def header(self) -> tuple[str, str]:
        """Return the header ``Server-Timing`` (W3C) with the time [ms] and the number."""
        return "Server-Timing", f"db;dur={1000 * self.seconds:.3f};desc={self.count}"


def timed(application: Application, connection: Any) -> Application:  # noqa: ANN401 (Django's)
    """Return an application (PEP 3333) whose answers have the time of their statements."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        statements = Statements()

        def start(status: str, headers: list[tuple[str, str]], *fault: object) -> Any:  # noqa: ANN401 (the server's)
            return start_response(status, [*headers, statements.header()], *fault)

        with connection.execute_wrapper(statements):
            return application(environ, start)

    return answer
