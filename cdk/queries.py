"""The queries of ``queries/``, saved in Athena and in CloudWatch Logs Insights."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aws_cdk import Stack
from aws_cdk.aws_athena import CfnNamedQuery
from aws_cdk.aws_logs import CfnQueryDefinition
from constructs import Construct

from cdk.results import Tables
from cdk.system_tests import SystemTests
from tidemark.model.checkout import ROOT
from tidemark.model.services import LAST_LINES_QUERY, READY_QUERY
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file, query_text

# The log queries of every test, besides those of its metrics.
_COMMON = ("environment", "failures")
_SERVICES = (READY_QUERY, LAST_LINES_QUERY)
_USAGE = "task_usage"
_SHARED = ROOT / "queries" / "logs"


class SavedQueries(Construct):
    """The SQL files, saved in the tables' workgroup, and the log queries of the suites.

    A query of several suites is saved once, over the log groups of all of them: a stack has 500
    resources at most, and each suite has some ten queries.
    """

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
        groups = {name: tests.suites[name].log_group.log_group_name for name in suites}
        for (title, text), readers in sorted(_log_queries(suites.values(), systems).items()):
            self._save(title, text, [groups[name] for name in readers])
        if tests.usage_logs:
            # It names no log group: Container Insights makes its own at the first event.
            self._save(_USAGE, (_SHARED / f"{_USAGE}.cwli").read_text(encoding="utf-8"))
        for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
            self._save_sql(path, tables)

    def _save(self, title: str, text: str, log_groups: Sequence[str] = ()) -> None:
        CfnQueryDefinition(
            self,
            title.replace("/", "-"),
            name=f"{Stack.of(self).stack_name}/{title}",
            query_string=text,
            log_group_names=list(log_groups) or None,
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


def _log_queries(suites: Iterable[Suite], systems: Path) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the suites that each log query, a title and a text, reads; it may be of all suites."""
    readers: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for suite in suites:
        for query in _queries_of(suite):
            shared = query_file(suite.name, query, systems / "suites").parent == _SHARED
            title = query if shared else f"{suite.name}/{query}"
            readers[title, query_text(suite, query, systems / "suites")].append(suite.name)
    return readers


def _queries_of(suite: Suite) -> set[str]:
    """Return the queries that read a suite's logs."""
    metrics = [metric for test in suite.tests for metric in test.metrics]
    metric_queries = {query for metric in metrics for query in metric.queries}
    series_queries = {series.query for test in suite.tests for series in test.series}
    services = _SERVICES if suite.services else ()
    loads = {load.query for load in suite.loads}
    return {*metric_queries, *series_queries, *suite.conditions, *loads, *services, *_COMMON}
