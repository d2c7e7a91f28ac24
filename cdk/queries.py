"""The queries of ``queries/``, saved where people ask them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Stack
from aws_cdk.aws_athena import CfnNamedQuery
from aws_cdk.aws_logs import CfnQueryDefinition, LogGroup
from constructs import Construct

from cdk.system_tests import SystemTests
from cdk.tables import Tables
from suites.files import ROOT
from suites.model import Suite

# Those that every test is asked beside its metrics'.
_OF_EVERY_TEST = ("environment", "failures")
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
    ) -> None:
        super().__init__(scope, name)
        for suite in suites.values():
            self._over_logs(suite, tests.suites[suite.name].log_group)
        if tests.usage_logs:
            self._over_usage(tests.usage_logs)
        for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
            self._over_tables(path, tables)

    def _over_logs(self, suite: Suite, log_group: LogGroup) -> None:
        """Save the queries that a suite's rates are read with, under ``<stack>/<suite>/``."""
        metrics = [metric for test in suite.tests for metric in test.metrics]
        asked = {query for metric in metrics for query in (metric.query, metric.samples)}
        for query in sorted({*asked, *_OF_EVERY_TEST}):
            self._save(f"{suite.name}-{query}", f"{suite.name}/{query}", query, log_group)

    def _over_usage(self, log_group: LogGroup) -> None:
        """Save the query of what tasks use, whichever suite they are of."""
        self._save(_USAGE, _USAGE, _USAGE, log_group)

    def _save(self, name: str, title: str, query: str, log_group: LogGroup) -> None:
        CfnQueryDefinition(
            self,
            name,
            name=f"{Stack.of(self).stack_name}/{title}",
            query_string=(ROOT / "queries" / "logs" / f"{query}.cwli").read_text(encoding="utf-8"),
            log_group_names=[log_group.log_group_name],
        )

    def _over_tables(self, path: Path, tables: Tables) -> None:
        """Save a query under the first line of its leading comment; the rest describes it."""
        text = path.read_text(encoding="utf-8")
        comment = re.match("(?:-- .+\n)+", text)
        if comment is None:
            raise ValueError(f"{path.name}: it starts with no comment that names it")
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
