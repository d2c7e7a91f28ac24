"""Tables in memory, and fixtures that query them."""

import gzip
import hashlib
import json

import pytest

from onebox.athena import api as athena

LOCATION = "s3://results/tables/rates/"
COLUMNS = {
    "run_id": "string",
    "value": "double",
    "samples": "int",
    "records": "bigint",
    "started_at": "timestamp",
    "excluded": "boolean",
    "versions": "array<string>",
}


class MemoryObjects:
    """Objects in a dictionary, with a record of listings and reads."""

    def __init__(self):
        self.bodies = {}
        self.listed = []
        self.read_locations = []

    def put(self, location, *rows):
        """Put rows, as JSON or as texts, as one gzipped object."""
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        self.bodies[location] = gzip.compress("".join(f"{line}\n" for line in lines).encode())

    def list(self, location):
        self.listed.append(location)
        for name, body in self.bodies.items():
            if name.startswith(location):
                yield athena.StoredObject(name, len(body), hashlib.md5(body).hexdigest())

    def read(self, location):
        self.read_locations.append(location)
        return self.bodies[location]


def table_description(name, location, columns, partitions=(), parameters=(), **more):
    """Return the description of a table in Glue."""
    return {
        "DatabaseName": "tidemark",
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": key, "Type": type_} for key, type_ in dict(partitions).items()],
        "Parameters": dict(parameters),
        "StorageDescriptor": {
            "Location": location,
            "Columns": [{"Name": column, "Type": type_} for column, type_ in columns.items()],
            "SerdeInfo": {"SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe"},
        },
        **more,
    }


PROJECTION = {
    "projection.enabled": "true",
    "projection.suite.type": "enum",
    "projection.suite.values": "rocksdb,sleeper",
    "projection.year.type": "integer",
    "projection.year.range": "2000,2100",
}


@pytest.fixture
def rates():
    return table_description(
        "rates", LOCATION, COLUMNS, {"suite": "string", "year": "int"}, PROJECTION
    )


@pytest.fixture
def catalogue(rates):
    return {"tidemark": {"rates": rates}}


@pytest.fixture
def objects():
    return MemoryObjects()


@pytest.fixture
def run(objects, catalogue):
    def run(query, *parameters, **more):
        return athena.run(
            query, objects, catalogue, database="tidemark", parameters=parameters, **more
        )

    return run


@pytest.fixture
def ask(run):
    """A function that returns the rows of a query."""
    return lambda query, *parameters: run(query, *parameters).rows


@pytest.fixture
def value(ask):
    """A function that returns the value of an expression as results show it."""

    def value(expression):
        ((text,),) = ask(f"SELECT {expression}")
        return text

    return value


@pytest.fixture
def refusal(run):
    """A function that returns the error message of a query."""

    def refusal(query, *parameters):
        with pytest.raises(athena.QueryError) as raised:
            run(query, *parameters)
        return str(raised.value)

    return refusal
