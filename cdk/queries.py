"""The queries of ``queries/``, saved where people ask them."""

from __future__ import annotations

import re
from pathlib import Path

from aws_cdk.aws_athena import CfnNamedQuery
from constructs import Construct

from cdk.tables import Tables
from suites.files import ROOT


class SavedQueries(Construct):
    """The SQL files, as saved queries of the tables' workgroup."""

    def __init__(self, scope: Construct, name: str, *, tables: Tables) -> None:
        super().__init__(scope, name)
        for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
            self._over_tables(path, tables)

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
