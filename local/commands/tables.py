"""The tables that a command asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from local.commands.target import Target, deployed
from local.deployed import Deployed
from local.sql_client import SqlClient, StatementFailed
from suites.refusal import Refused


@contextmanager
def deployed_tables(target: Target) -> Iterator[SqlClient]:
    """Have the tables of a cloud with the app in it; a statement that fails is exit code 2."""
    with deployed(target) as cloud, tables_of(cloud) as tables:
        yield tables


@contextmanager
def tables_of(cloud: Deployed) -> Iterator[SqlClient]:
    """Have the tables of a cloud that is up; a statement that fails is exit code 2."""
    try:
        yield cloud.tables()
    except StatementFailed as error:
        raise Refused(str(error)) from None
