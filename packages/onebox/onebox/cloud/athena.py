"""Athena on one machine: moto's workgroups and saved queries, and our engine to run queries.

A query reads the tables of the Glue catalogue from the objects in S3, and writes its result as CSV
to the location of its workgroup. Source: AWS documentation, Athena API reference.

A result lacks the rows of damaged objects; GetQueryExecution then has a sentence about each of them
as its StateChangeReason, beside the state SUCCEEDED.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

from moto.athena.models import athena_backends
from moto.athena.responses import AthenaResponse
from moto.core.exceptions import JsonRESTError
from moto.glue.models import glue_backends
from moto.logs.exceptions import ResourceNotFoundException
from moto.s3.models import FakeBucket, s3_backends
from sqlglot import exp

from cwli.cancellation import Cancellation, Cancelled
from onebox.app import ACCOUNT, REGION
from onebox.athena import api as athena
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.objects import FileKey
from onebox.cloud.replacements import KeptQuery, Replacements, forget_read, refuse_unknown
from onebox.store.index import DamagedObject, Listed
from onebox.store.table_objects import UndamagedObjects

MOST_ROWS = 1000  # AWS documentation, GetQueryResults: MaxResults
_THREADS = 4
# The rows of new runs take a fraction of this time; later closings keep any rows left over.
_KEEP_SECONDS = 1.0
_START_QUERY = {
    "ClientRequestToken", "ExecutionParameters", "QueryExecutionContext", "QueryString",
    "ResultConfiguration", "WorkGroup",
}  # fmt: skip
_NOT_OVER_THE_ENGINE = (
    "create_data_catalog", "create_prepared_statement", "get_prepared_statement",
    "get_query_runtime_statistics",
)  # fmt: skip

_CANCELLING = (athena.ScanLimitExceeded, Cancelled)

Request = Mapping[str, Any]
Answer = dict[str, Any]


class InvalidRequestException(JsonRESTError):
    """The refusal of a request; the message says why."""

    code = 400

    def __init__(self, message: str) -> None:
        super().__init__("InvalidRequestException", message)


class BucketObjects:
    """The objects of all buckets, read from moto itself: one request per object would be slow."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Sequence[Listed], Sequence[athena.StoredObject]]] = {}

    def list(self, location: str) -> Sequence[athena.StoredObject]:
        """Return the objects whose location begins with ``location``."""
        bucket, prefix = _bucket_and_key(location)
        self._bucket(bucket)
        # moto would look at every key of the bucket.
        listed = FileKey.files.whole_listing(bucket, prefix)
        previous, objects = self._known.get(location, (None, ()))
        if previous is not listed:
            objects = [
                athena.StoredObject(f"s3://{bucket}/{key}", size, md5) for key, size, md5 in listed
            ]
            self._known[location] = listed, objects
        return objects

    def read(self, location: str) -> bytes:
        """Return the body of an object."""
        try:
            return self._body(location)
        except DamagedObject:
            # Perhaps a writer replaced the object between the lookup and the read.
            return self._body(location)

    def _body(self, location: str) -> bytes:
        body = FileKey.files.find(*_bucket_and_key(location))
        if body is None:
            raise athena.QueryError("HIVE_CANNOT_OPEN_SPLIT", f"{location} is no longer there")
        return body.read(location)

    def _bucket(self, name: str) -> FakeBucket:
        buckets: Mapping[str, FakeBucket] = s3_backends[ACCOUNT]["aws"].buckets
        if name not in buckets:
            raise athena.QueryError("", f"The specified bucket does not exist: {name}")
        return buckets[name]


class _Execution(KeptQuery[athena.Result]):
    """One started query and its description for GetQueryExecution."""

    def __init__(self, request: Request, group: str, output: str) -> None:
        super().__init__(Cancellation(athena.MOST_SECONDS))
        self.hear()
        self.id = str(uuid4())
        self.group = group
        self.output = f"{output.rstrip('/')}/{self.id}.csv"
        self.damage: dict[str, None] = {}
        # A client that repeats its request gets the query of its first request.
        self.token: str = request.get("ClientRequestToken", self.id)
        self._request = request
        self._cancelled_at: float | None = None
        self._submitted_at = time.time()
        self._submitted = self._started = self._ended = time.monotonic()

    def run(self, work: Callable[[], athena.Result]) -> athena.Result:
        """Do the work and record its start and its end."""
        self._started = time.monotonic()
        try:
            return work()
        finally:
            self._ended = time.monotonic()

    def cancel(self) -> None:
        """Interrupt the query and discard its result, unless the query has ended."""
        if self.state in {"QUEUED", "RUNNING"}:
            self._cancelled_at = self._submitted_at + time.monotonic() - self._submitted
            self.result.cancel()
            self.cancellation.cancel()

    @property
    def state(self) -> str:
        """The state of the query, by its name in the API."""
        if self._cancelled_at is not None:
            return "CANCELLED"
        if not self.result.done():
            return "RUNNING" if self.result.running() else "QUEUED"
        failure = self.result.exception()
        if failure is None:
            return "SUCCEEDED"
        return "CANCELLED" if isinstance(failure, _CANCELLING) else "FAILED"

    def description(self) -> Answer:
        """Return the query in the form of GetQueryExecution."""
        parameters = self._request.get("ExecutionParameters")
        return {
            "QueryExecutionId": self.id,
            "Query": self._request["QueryString"],
            "StatementType": "DML",
            "SubstatementType": "SELECT",
            "ResultConfiguration": {"OutputLocation": self.output},
            "QueryExecutionContext": self._request.get("QueryExecutionContext", {}),
            "Status": self._status(),
            "Statistics": self._statistics(),
            "WorkGroup": self.group,
            **({"ExecutionParameters": parameters} if parameters else {}),
        }

    def _status(self) -> Answer:
        state = self.state
        status: Answer = {"State": state, "SubmissionDateTime": self._submitted_at}
        if state not in {"QUEUED", "RUNNING"}:
            ended_at = self._submitted_at + self._ended - self._submitted
            status["CompletionDateTime"] = self._cancelled_at or ended_at
        if reason := self._reason():
            status["StateChangeReason"] = reason
        return status

    def _reason(self) -> str:
        """Return why the query failed, or sentences about the damage that its result leaves out."""
        if self._cancelled_at is not None or not self.result.done():
            return ""
        failure = self.result.exception()
        return str(failure) if failure else "\n".join(self.damage)

    def _statistics(self) -> Answer:
        succeeded = self.state == "SUCCEEDED"
        milliseconds = round((self._ended - self._started) * 1000)
        return {
            "DataScannedInBytes": self.result.result().scanned_bytes if succeeded else 0,
            "EngineExecutionTimeInMillis": milliseconds,
            "TotalExecutionTimeInMillis": round((self._ended - self._submitted) * 1000),
        }


class AthenaQueries:
    """Our engine behind moto's Athena, until it is closed; each query runs once, in a thread.

    ``folder`` holds the kept rows of the tables.
    """

    def __init__(self, endpoint: Endpoint, folder: Path) -> None:
        self._endpoint = endpoint
        self._kept = athena.RowCache(folder)
        self._objects = BucketObjects()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="athena query")
        self._executions: dict[str, _Execution] = {}
        self._by_token: dict[str, _Execution] = {}
        self._lock = threading.Lock()
        self._replacements = Replacements()
        self._replace_methods()

    def _replace_methods(self) -> None:
        """Put the engine behind moto's Athena API."""
        actions = {
            "start_query_execution": self._start,
            "get_query_execution": self._get,
            "get_query_results": self._results,
            "stop_query_execution": self._stop,
            "list_query_executions": self._list,
            "list_databases": self._databases,
            "list_table_metadata": self._tables,
            "get_table_metadata": self._table,
        }
        for name, action in actions.items():
            self._replacements.set(AthenaResponse, name, _response_method(action))
        self._replacements.refuse(AthenaResponse, _NOT_OVER_THE_ENGINE)

    def close(self) -> None:
        """Cancel the queries that have not ended, and restore moto's own methods.

        Then keep rows of the stored objects, so that no query has to read a long history. At this
        moment the work disturbs no measurement and delays no answer.
        """
        for execution in self._executions.values():
            execution.cancel()
        self._threads.shutdown()
        self._replacements.restore()
        UndamagedObjects(self._objects, lambda _: None).answer(
            lambda objects: athena.keep(objects, catalogue(), self._kept, _KEEP_SECONDS)
        )

    def _start(self, request: Request) -> Answer:
        _check_request(request)
        group, configuration = _work_group(request)
        try:
            query = athena.parse(request["QueryString"], request.get("ExecutionParameters", ()))
        except athena.MalformedQuery as error:
            raise InvalidRequestException(str(error)) from error
        execution = _Execution(request, group, _output_location(request, configuration))
        with self._lock:
            for old in forget_read(self._executions):
                del self._by_token[old.token]
            if first := self._by_token.get(execution.token):
                first.hear()
                return {"QueryExecutionId": first.id}
            self._by_token[execution.token] = self._executions[execution.id] = execution
        limit = configuration.get("BytesScannedCutoffPerQuery", math.inf)
        execution.await_result(
            self._threads.submit(execution.run, lambda: self._run(execution, query, request, limit))
        )
        return {"QueryExecutionId": execution.id}

    def _run(
        self, execution: _Execution, query: exp.Query, request: Request, most_bytes: float
    ) -> athena.Result:
        database = request.get("QueryExecutionContext", {}).get("Database")
        result = UndamagedObjects(self._objects, execution.damage.setdefault).answer(
            lambda objects: athena.run(
                query,
                objects,
                catalogue(),
                database=database,
                most_bytes=most_bytes,
                kept=self._kept,
                cancellation=execution.cancellation,
            )
        )
        bucket, key = _bucket_and_key(execution.output)
        if bucket not in s3_backends[ACCOUNT]["aws"].buckets:
            raise athena.QueryError("", f"Output location {execution.output} has no bucket")
        self._endpoint.client("s3").put_object(
            Bucket=bucket, Key=key, Body=athena.csv(result), ContentType="text/csv"
        )
        return result

    def _get(self, request: Request) -> Answer:
        return {"QueryExecution": self._execution(request).description()}

    def _stop(self, request: Request) -> Answer:
        self._execution(request).cancel()
        return {}

    def _list(self, request: Request) -> Answer:
        _refuse_unknown("ListQueryExecutions", request, {"WorkGroup"})
        group = request.get("WorkGroup", "primary")
        with self._lock:
            executions = list(self._executions.values())
        return {"QueryExecutionIds": [each.id for each in executions if each.group == group][::-1]}

    def _results(self, request: Request) -> Answer:
        _refuse_unknown("GetQueryResults", request, {"QueryExecutionId", "MaxResults", "NextToken"})
        execution = self._execution(request)
        state = execution.state
        if state in {"QUEUED", "RUNNING"}:
            raise InvalidRequestException(f"Query has not yet finished. Current state: {state}")
        if state != "SUCCEEDED":
            raise InvalidRequestException(
                f"Query did not finish successfully. Final query state: {state}"
            )
        first, count = request.get("NextToken", "0"), request.get("MaxResults", MOST_ROWS)
        if not first.isdigit():
            raise InvalidRequestException(
                f"NextToken {first} was not returned by an earlier GetQueryResults."
            )
        if not 1 <= count <= MOST_ROWS:
            raise InvalidRequestException(
                f"MaxResults is more than maximum allowed length {MOST_ROWS}: {count}"
            )
        rows, after = athena.page(execution.result.result(), int(first), count)
        more = {} if after is None else {"NextToken": str(after)}
        return {"ResultSet": rows, "UpdateCount": 0, **more}

    def _databases(self, _: Request) -> Answer:
        return {"DatabaseList": [{"Name": name} for name in catalogue()]}

    def _tables(self, request: Request) -> Answer:
        return {"TableMetadataList": list(map(_metadata, _tables_of(request).values()))}

    def _table(self, request: Request) -> Answer:
        tables, name = _tables_of(request), request["TableName"]
        if name not in tables:
            raise _missing(f"{request['DatabaseName']}.{name}")
        return {"TableMetadata": _metadata(tables[name])}

    def _execution(self, request: Request) -> _Execution:
        id_ = request["QueryExecutionId"]
        with self._lock:
            if id_ not in self._executions:
                raise InvalidRequestException(f"QueryExecution {id_} was not found")
            self._executions[id_].hear()
            return self._executions[id_]


def _response_method(action: Callable[[Request], Answer]) -> Callable[[AthenaResponse], str]:
    return lambda response: json.dumps(action(json.loads(response.body)))


def _check_request(request: Request) -> None:
    _refuse_unknown("StartQueryExecution", request, _START_QUERY)
    result = request.get("ResultConfiguration", {})
    # EncryptionConfiguration has no effect: S3 encrypts every object anyway.
    _refuse_unknown("ResultConfiguration", result, {"OutputLocation", "EncryptionConfiguration"})
    context = request.get("QueryExecutionContext", {})
    if context.get("Catalog", "AwsDataCatalog").lower() != "awsdatacatalog":
        raise InvalidRequestException(
            f"Catalog {context['Catalog']} is not supported on one machine; accepted: "
            "AwsDataCatalog."
        )


def _refuse_unknown(owner: str, fields: Mapping[str, Any], accepted: set[str]) -> None:
    refuse_unknown(owner, fields, accepted, InvalidRequestException)


def _work_group(request: Request) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the configuration of the workgroup that a request names."""
    name = request.get("WorkGroup", "primary")
    groups = athena_backends[ACCOUNT][REGION].work_groups
    if name not in groups:
        raise InvalidRequestException(f"WorkGroup {name} is not found.")
    return name, groups[name].configuration


def _output_location(request: Request, configuration: Mapping[str, Any]) -> str:
    requested = request.get("ResultConfiguration", {}).get("OutputLocation")
    default = configuration.get("ResultConfiguration", {}).get("OutputLocation")
    enforced = configuration.get("EnforceWorkGroupConfiguration")
    location = default or requested if enforced else requested or default
    if not location:
        raise InvalidRequestException(
            "No output location provided. An output location is required either through the "
            "Workgroup result configuration setting or as an API input."
        )
    if not location.startswith("s3://"):
        raise InvalidRequestException(f"OutputLocation {location} is not an s3:// path.")
    return str(location)


def catalogue() -> athena.Catalogue:
    """Return the tables of the Glue catalogue."""
    databases = glue_backends[ACCOUNT][REGION].databases
    return {
        name: {table.name: table.as_dict() for table in list(database.tables.values())}
        for name, database in list(databases.items())
    }


def _tables_of(request: Request) -> Mapping[str, Mapping[str, Any]]:
    name = request["DatabaseName"]
    if name not in catalogue():
        raise _missing(name)
    return catalogue()[name]


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


def _bucket_and_key(location: str) -> tuple[str, str]:
    bucket, _, key = location.removeprefix("s3://").partition("/")
    return bucket, key
