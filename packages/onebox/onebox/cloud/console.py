"""Operations that AWS's console and the data sources of Grafana call, and that moto lacks.

They describe log groups, single events, saved queries and the tables of the Glue catalogue.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from uuid import uuid4

from moto.athena.responses import AthenaResponse
from moto.logs.exceptions import InvalidParameterException, ResourceNotFoundException
from moto.logs.responses import LogsResponse

from cwli import insights
from onebox.account import ACCOUNT, REGION
from onebox.athena.api import Catalogue
from onebox.cloud.replacements import Replacements
from onebox.logs.store import LogStore

Request = Mapping[str, Any]
Answer = dict[str, Any]
_SEEN_EVENTS = 1_000
"""The newest events of a group whose fields are listed."""
_OF_EVERY_EVENT = ("@timestamp", "@message", "@logStream", "@log", "@ingestionTime")
_MOST_FIELDS = 100
SAVED: dict[str, Answer] = {}
"""The query definitions by id: those of stacks, and those that a client saved, until the end."""


def save(definition: Request, id_: str) -> None:
    """Save a query; raise QueryError if it is none."""
    insights.compile(definition["queryString"])
    SAVED[id_] = {
        "queryDefinitionId": id_,
        "name": definition["name"],
        "queryString": definition["queryString"],
        "queryLanguage": "CWLI",
        "logGroupNames": list(definition.get("logGroupNames") or ()),
        "lastModified": time.time_ns() // 1_000_000,
    }


class LogDescriptions:
    """The log groups of a cloud as the console and Grafana ask for them."""

    def __init__(self, store: LogStore) -> None:
        self._store = store

    def replace_methods(self, replacements: Replacements) -> None:
        """Add the operations to moto's Logs API."""
        actions: dict[str, Callable[[Request, Collection[str]], Answer]] = {
            "get_log_group_fields": self._fields,
            "get_log_record": self._record,
            "list_log_groups": self._list,
            "describe_field_indexes": lambda _, __: {"fieldIndexes": []},
            "put_query_definition": lambda request, _: self._put(request),
            "describe_query_definitions": lambda request, _: self._described(request),
            "delete_query_definition": lambda request, _: self._delete(request),
        }
        for name, action in actions.items():
            replacements.set(LogsResponse, name, _of_logs(action))

    def _fields(self, request: Request, known: Collection[str]) -> Answer:
        """Return the names of fields in the newest events, with their shares [%]."""
        group = _group(request.get("logGroupName") or request["logGroupIdentifier"])
        if group not in known:
            raise ResourceNotFoundException(f"The log group {group} does not exist.")
        query = f"fields @message | sort @timestamp desc | limit {_SEEN_EVENTS}"
        rows = insights.run(query, self._store.events([group])).rows
        messages = [row[0]["value"] for row in rows]
        found = Counter(name for message in messages for name in set(_names(message)))
        shares = {name: 100 for name in _OF_EVERY_EVENT if messages}
        shares |= {name: round(100 * count / len(messages)) for name, count in found.items()}
        most = sorted(shares.items(), key=lambda pair: -pair[1])[:_MOST_FIELDS]
        return {"logGroupFields": [{"name": name, "percent": share} for name, share in most]}

    def _record(self, request: Request, known: Collection[str]) -> Answer:
        """Return the event of an ``@ptr``."""
        pointer = request["logRecordPointer"]
        query = (
            "fields @timestamp, @message, @logStream, @log, @ingestionTime "
            f"| filter @ptr = {json.dumps(pointer)} | limit 1"
        )
        rows = insights.run(query, self._store.events(known)).rows
        if not rows:
            raise ResourceNotFoundException(f"No event has the logRecordPointer {pointer}.")
        return {"logRecord": {cell["field"]: cell["value"] for cell in rows[0]}}

    def _list(self, request: Request, known: Collection[str]) -> Answer:
        part = request.get("logGroupNamePattern", "")
        arn = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:"
        return {
            "logGroups": [
                {"logGroupName": name, "logGroupArn": f"{arn}{name}", "logGroupClass": "STANDARD"}
                for name in sorted(known)
                if part in name
            ]
        }

    def _put(self, request: Request) -> Answer:
        id_ = request.get("queryDefinitionId") or str(uuid4())
        if "queryDefinitionId" in request and id_ not in SAVED:
            raise ResourceNotFoundException(f"There is no query definition {id_}.")
        try:
            save(request, id_)
        except insights.QueryError as error:
            raise InvalidParameterException(f"queryString: {error}") from None
        return {"queryDefinitionId": id_}

    def _described(self, request: Request) -> Answer:
        prefix = request.get("queryDefinitionNamePrefix", "")
        chosen = (each for each in SAVED.values() if each["name"].startswith(prefix))
        return {"queryDefinitions": sorted(chosen, key=lambda each: str(each["name"]))}

    def _delete(self, request: Request) -> Answer:
        return {"success": SAVED.pop(request["queryDefinitionId"], None) is not None}


def describe_tables(replacements: Replacements, catalogue: Callable[[], Catalogue]) -> None:
    """Add the operations on databases and tables to moto's Athena API."""

    def table(request: Request) -> Answer:
        tables = catalogue().get(request["DatabaseName"], {})
        if request["TableName"] not in tables:
            raise _missing(f"{request['DatabaseName']}.{request['TableName']}")
        return {"TableMetadata": _metadata(tables[request["TableName"]])}

    def tables(request: Request) -> Answer:
        if request["DatabaseName"] not in catalogue():
            raise _missing(request["DatabaseName"])
        found = catalogue()[request["DatabaseName"]].values()
        return {"TableMetadataList": [_metadata(each) for each in found]}

    def databases(_: Request) -> Answer:
        return {"DatabaseList": [{"Name": name} for name in catalogue()]}

    actions = {
        "get_table_metadata": table,
        "list_table_metadata": tables,
        "list_databases": databases,
    }
    for name, action in actions.items():
        replacements.set(AthenaResponse, name, _of_athena(action))


def _missing(name: str) -> ResourceNotFoundException:
    return ResourceNotFoundException(f"{name} does not exist in AwsDataCatalog.")


def _metadata(table: Request) -> Answer:
    def columns(described: Collection[Request]) -> list[Answer]:
        return [{"Name": each["Name"], "Type": each["Type"]} for each in described]

    return {
        "Name": table["Name"],
        "TableType": table.get("TableType", ""),
        "Columns": columns(table.get("StorageDescriptor", {}).get("Columns", ())),
        "PartitionKeys": columns(table.get("PartitionKeys", ())),
        "Parameters": dict(table.get("Parameters", {})),
    }


def _names(message: str) -> Iterator[str]:
    """Yield the names of the JSON fields in a message, with dots."""
    try:
        value = json.loads(message) if message.startswith("{") else None
    except (ValueError, RecursionError):
        return
    yield from _members(value, "")


def _members(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, f"{path}.{name}" if path else str(name))
    elif path:
        yield path


def _group(name: str) -> str:
    return name.rsplit(":log-group:", 1)[-1].removesuffix(":*")


def _of_logs(action: Callable[[Request, Collection[str]], Answer]) -> Callable[[LogsResponse], str]:
    return lambda response: json.dumps(
        action(json.loads(response.body), response.logs_backend.groups)
    )


def _of_athena(action: Callable[[Request], Answer]) -> Callable[[AthenaResponse], str]:
    return lambda response: json.dumps(action(json.loads(response.body)))
