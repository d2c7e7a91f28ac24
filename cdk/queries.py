"""The queries of ``queries/``, saved in Athena and in CloudWatch Logs Insights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Stack
from aws_cdk.aws_athena import CfnNamedQuery
from aws_cdk.aws_logs import CfnQueryDefinition, LogGroup
from constructs import Construct

from cdk.results import Tables
from cdk.system_tests import SystemTests
from tidemark.model.checkout import ROOT
from tidemark.model.services import LAST_LINES_QUERY, READY_QUERY
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file

# The log queries of every test, besides those of its metrics.
_COMMON = ("environment", "failures")
_SERVICES = (READY_QUERY, LAST_LINES_QUERY)
_USAGE = "task_usage"


class SavedQueries(Construct):
    """The SQL files, saved in the tables' workgroup, and the log queries of each suite."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        tables: Tables,
        suites: Mapping[str, Suite],
        tests: SystemTests,
        systems: Path,
    ) -> None:
        super().__init__(scope, name)
        self._systems = systems
        for suite in suites.values():
            self._save_log_queries(suite, tests.suites[suite.name].log_group)
        if tests.usage_logs:
            self._save_usage_query()
        for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
            self._save_sql(path, tables)

    def _save_log_queries(self, suite: Suite, log_group: LogGroup) -> None:
        """Save the queries that read a suite's logs, under ``<stack>/<suite>/``."""
        metrics = [metric for test in suite.tests for metric in test.metrics]
        named = ((each.query, each.samples, each.histograms) for each in metrics)
        metric_queries = {query for queries in named for query in queries if query}
        series_queries = {series.query for test in suite.tests for series in test.series}
        services = _SERVICES if suite.services else ()
        loads = {load.query for load in suite.loads}
        queries = {*metric_queries, *series_queries, *suite.conditions, *loads, *services, *_COMMON}
        for query in sorted(queries):
            file = query_file(suite.name, query, self._systems / "suites")
            self._save(f"{suite.name}-{query}", f"{suite.name}/{query}", file, log_group)

    def _save_usage_query(self) -> None:
        """Save the query for the usage of tasks, which covers all suites.

        It names no log group: that of Container Insights does not exist before the first event.
        """
        self._save(_USAGE, _USAGE, ROOT / "queries" / "logs" / f"{_USAGE}.cwli")

    def _save(self, name: str, title: str, file: Path, log_group: LogGroup | None = None) -> None:
        CfnQueryDefinition(
            self,
            name,
            name=f"{Stack.of(self).stack_name}/{title}",
            query_string=file.read_text(encoding="utf-8"),
            log_group_names=[log_group.log_group_name] if log_group else None,
        )

    def _save_sql(self, path: Path, tables: Tables) -> None:
        """Save a query; its leading comment is its name and, from line two, its description."""
        text = path.read_text(encoding="utf-8")
        comment = re.match("(?:-- .+\n)+", text)
        if comment is None:
            raise ValueError(f"{path.name}: expected a comment at the start that names the query")
        title, *description = comment.group().replace("-- ", "").splitlines()
        CfnNamedQuery(
            self,
            path.stem,
            name=title,
            description=" ".join(description),
            database=tables.database,
            query_string=text,
            work_group=tables.workgroup,
        )
