"""The objects that a query reads for its conditions, and the rows of their lines."""

import gzip
import math

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from tables import COLUMNS, LOCATION, MemoryObjects, table_description

from onebox.athena import api as athena

ROW = {
    "run_id": "r",
    "value": 1.5,
    "samples": 3,
    "records": 5_000_000_000,
    "started_at": "2026-11-20 12:44:55.678",
    "excluded": False,
    "versions": ["9.0.0", None],
}


def place(suite, year, name="run.jsonl.gz"):
    return f"{LOCATION}suite={suite}/year={year}/{name}"


@pytest.fixture
def partitions(objects):
    for suite in ("rocksdb", "sleeper"):
        for year in (2024, 2025, 2026):
            objects.put(place(suite, year), {**ROW, "run_id": f"{suite}-{year}"})


@pytest.fixture
def read(run, objects):
    """A function that returns the partitions that a query reads, from the places of objects."""

    def read(query, *parameters):
        objects.read_locations.clear()
        run(query, *parameters)
        return {
            tuple(part.partition("=")[2] for part in location.split("/")[-3:-1])
            for location in objects.read_locations
        }

    return read


EVERYTHING = {
    (suite, year) for suite in ("rocksdb", "sleeper") for year in ("2024", "2025", "2026")
}
SLEEPER = {(suite, year) for suite, year in EVERYTHING if suite == "sleeper"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("true", EVERYTHING),
        ("suite = 'sleeper'", SLEEPER),
        ("suite = 'sleeper' AND year = 2025", {("sleeper", "2025")}),
        ("suite = 'sleeper' AND (year > 2025 AND value > 1)", {("sleeper", "2026")}),
        ("suite IN ('sleeper', 'none') AND year BETWEEN 2025 AND 2025", {("sleeper", "2025")}),
        ("suite = 'sleeper' AND (year = 2024 OR year = 2026)", SLEEPER - {("sleeper", "2025")}),
        ("suite = 'sleeper' OR value > 1", EVERYTHING),
        ("suite = 'sleeper' AND year = year", SLEEPER),
        ("suite = 'sleeper' AND year + 1 = 2026", {("sleeper", "2025")}),
        ("suite = 'none'", set()),
        ("suite = run_id", EVERYTHING),
        ("suite LIKE 'sl%' AND run_id = (SELECT 'x')", SLEEPER),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("partitions")
def test_conditions_on_partitions_select_the_objects(read, condition, expected):
    assert read(f"SELECT run_id FROM rates WHERE {condition}") == expected


@pytest.mark.usefixtures("partitions")
def test_a_parameter_selects_the_objects(read):
    assert read("SELECT run_id FROM rates WHERE suite = ?", "'sleeper'") == SLEEPER


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM (SELECT suite AS s, sum(value) FROM rates GROUP BY suite) "
         "WHERE s = 'sleeper'", SLEEPER),
        ("WITH a AS (SELECT * FROM rates), b AS (SELECT * FROM a WHERE year = 2026) "
         "SELECT * FROM b WHERE suite = 'sleeper'", {("sleeper", "2026")}),
        ("SELECT * FROM (SELECT suite, row_number() OVER (PARTITION BY suite ORDER BY year) AS n "
         "FROM rates) WHERE suite = 'sleeper'", SLEEPER),
        # Excluded rows would change the others.
        ("SELECT * FROM (SELECT suite, row_number() OVER (ORDER BY year) AS n FROM rates) "
         "WHERE suite = 'sleeper'", EVERYTHING),
        ("SELECT * FROM (SELECT suite FROM rates LIMIT 1) WHERE suite = 'sleeper'", EVERYTHING),
        ("SELECT * FROM (SELECT max(suite) AS s FROM rates) WHERE s = 'sleeper'", EVERYTHING),
        ("WITH a AS (SELECT * FROM rates) SELECT 1 FROM a, a AS b WHERE a.suite = 'sleeper'",
         EVERYTHING),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("partitions")
def test_conditions_of_an_outer_query_select_the_objects(read, query, expected):
    assert read(query) == expected


@pytest.mark.parametrize(
    ("join", "others"),
    [
        ("JOIN rates AS b ON a.year = b.year AND b.suite = 'sleeper'", SLEEPER),
        ("LEFT JOIN rates AS b ON a.year = b.year AND b.suite = 'sleeper'", SLEEPER),
        ("FULL JOIN rates AS b ON a.year = b.year AND b.suite = 'sleeper'", EVERYTHING),
        ("RIGHT JOIN rates AS b ON a.year = b.year AND b.suite = 'sleeper'", EVERYTHING),
        ("CROSS JOIN rates AS b", EVERYTHING),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("partitions")
def test_a_join_reads_the_partitions_that_can_meet_its_condition(read, join, others):
    assert read(f"SELECT 1 FROM (SELECT 0 AS year) AS a {join}") == others


@pytest.mark.usefixtures("partitions")
def test_the_null_rows_of_an_outer_join_are_not_lost(ask):
    query = (
        "SELECT count(*) FROM (VALUES 2026, 2027) AS a(year) LEFT JOIN rates AS b "
        "ON a.year = b.year AND b.suite = 'sleeper' WHERE b.suite IS NULL"
    )
    assert ask(query) == [["1"]]


@pytest.mark.usefixtures("partitions")
def test_the_bytes_scanned_are_the_sizes_of_the_objects_read(run, objects):
    result = run("SELECT count(*) FROM rates WHERE suite = 'sleeper'")
    assert result.scanned_bytes == sum(
        len(body) for name, body in objects.bodies.items() if "sleeper" in name
    )


@pytest.mark.usefixtures("partitions")
def test_a_query_above_the_scan_limit_reads_nothing(run, objects):
    with pytest.raises(athena.ScanLimitExceeded, match=r"^Bytes scanned limit was exceeded$"):
        run("SELECT count(*) FROM rates", most_bytes=10)
    assert objects.read_locations == []


@pytest.mark.usefixtures("partitions")
def test_only_the_common_prefix_of_partitions_is_listed(run, objects):
    run("SELECT count(*) FROM rates WHERE suite = 'sleeper' AND year = 2026")
    assert objects.listed == [f"{LOCATION}suite=sleeper/year=2026/"]


def test_hidden_objects_and_objects_outside_the_projection_are_not_read(ask, objects):
    objects.put(place("other", 2026), ROW)
    objects.put(place("sleeper", 1999), ROW)
    objects.put(place("sleeper", 2026, "_temporary"), ROW)
    objects.put(place("sleeper", 2026, ".hidden"), ROW)
    objects.put(place("sleeper", 2026, "deeper/run.gz"), ROW)
    objects.put(f"{LOCATION}run.jsonl.gz", ROW)
    assert ask("SELECT count(*) FROM rates") == [["1"]]


def test_a_template_gives_the_place_of_partitions(ask, objects, rates):
    rates["Parameters"]["storage.location.template"] = "s3://results/old/${year}-${suite}"
    objects.put("s3://results/old/2026-sleeper/x.gz", ROW)
    assert ask("SELECT suite, year FROM rates") == [["sleeper", "2026"]]


def test_all_objects_of_a_table_without_partitions_are_read(ask, objects, catalogue):
    catalogue["tidemark"]["plain"] = table_description("plain", "s3://results/plain", COLUMNS)
    objects.put("s3://results/plain/a.gz", ROW)
    objects.put("s3://results/plainer/b.gz", ROW)
    assert ask("SELECT count(*) FROM plain") == [["1"]]


def test_a_row_has_every_column_with_its_partitions_last(ask, objects):
    objects.put(place("sleeper", 2026), ROW)
    assert ask("SELECT * FROM rates") == [
        [
            *("r", "1.5", "3", "5000000000", "2026-11-20 12:44:55.678", "false"),
            *("[9.0.0, null]", "sleeper", "2026"),
        ]
    ]


def test_missing_values_are_null_and_unknown_values_are_not_read(ask, objects):
    objects.put(place("sleeper", 2026), {"run_id": None, "unknown": {"a": [1]}}, "", {})
    assert ask("SELECT run_id, value, versions FROM rates") == [[None] * 3] * 2


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("run_id", 5),
        ("run_id", ["a"]),
        ("value", "1.5"),
        ("value", math.nan),
        ("value", math.inf),
        ("value", True),
        ("samples", 1.5),
        ("samples", 2**31),
        ("samples", "1"),
        ("records", 2**63),
        ("excluded", 0),
        ("started_at", "2026-11-20"),
        ("started_at", "2026-11-20T12:44:55Z"),
        ("started_at", "2026-02-30 00:00:00.000"),
        ("started_at", "2026-11-20 12:44:55.123456"),
        ("versions", "9.0.0"),
        ("versions", [1]),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_that_names_the_object(
    refusal, objects, column, value
):
    objects.put(place("sleeper", 2026), ROW, {column: value})
    message = refusal(f"SELECT {column} FROM rates")
    assert message.startswith(f"HIVE_BAD_DATA: Field {column} of type {COLUMNS[column]} cannot be ")
    assert message.endswith(f" in {place('sleeper', 2026)}")


@pytest.mark.parametrize("line", ["{", "[1]", "no json", '"text"', '{"run_id": "a"} x'])
def test_an_invalid_line_is_an_error_that_names_the_object(refusal, objects, line):
    objects.put(place("sleeper", 2026), line)
    assert refusal("SELECT count(*) FROM rates") == (
        f"HIVE_CURSOR_ERROR: Row is not a valid JSON Object: {place('sleeper', 2026)}"
    )


@pytest.mark.parametrize("body", [b"plain", b"\x1f\x8b\x08damaged"])
def test_an_error_names_the_object_that_is_not_gzipped(refusal, objects, body):
    objects.bodies[place("sleeper", 2026)] = body
    assert refusal("SELECT 1 FROM rates").startswith(
        f"HIVE_CURSOR_ERROR: {place('sleeper', 2026)} is not gzipped UTF-8: "
    )


def test_an_object_is_unpacked_to_its_limit_alone(refusal, objects, monkeypatch):
    monkeypatch.setattr("onebox.athena.catalogue._MOST_BYTES", 1_000)
    objects.bodies[place("sleeper", 2026)] = gzip.compress(b" " * 10_000_000)

    assert refusal("SELECT 1 FROM rates").endswith("its content has more than 1,000 bytes")


@fuzz(50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_doubles_are_read_bit_for_bit(values):
    objects = MemoryObjects()
    objects.put("s3://results/plain/a.gz", *({"value": value} for value in values))
    tables = {"plain": table_description("plain", "s3://results/plain", {"value": "double"})}
    catalogue = {"tidemark": tables}
    rows = athena.run("SELECT value FROM plain", objects, catalogue, database="tidemark").rows
    assert [float(text).hex() for (text,) in rows] == [value.hex() for value in values]


@fuzz(50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_texts_are_read_unchanged(values):
    objects = MemoryObjects()
    objects.put("s3://results/plain/a.gz", *({"s": value} for value in values))
    tables = {"plain": table_description("plain", "s3://results/plain", {"s": "string"})}
    catalogue = {"tidemark": tables}
    rows = athena.run("SELECT s FROM plain", objects, catalogue, database="tidemark").rows
    assert [text for (text,) in rows] == values


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"TableType": "VIRTUAL_VIEW"}, "Table tidemark.rates with TableType VIRTUAL_VIEW"),
        ({"Parameters": {}}, "Table tidemark.rates without projection.enabled = true"),
        ({"PartitionKeys": [{"Name": "day", "Type": "date"}]}, "Column day of tidemark.rates with"),
        ({"PartitionKeys": [{"Name": "day"}]}, "Column day of tidemark.rates with type None"),
    ],
)
def test_an_unsupported_table_is_refused_by_name(refusal, rates, change, message):
    rates.update(change)
    assert refusal("SELECT 1 FROM rates").startswith(f"NOT_SUPPORTED: {message}")


@pytest.mark.parametrize(
    ("serde", "message"),
    [
        (
            {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"},
            "Table tidemark.rates with SerializationLibrary org.openx.data.jsonserde.JsonSerDe",
        ),
        (
            {"Parameters": {"timestamp.formats": "millis"}},
            "Table tidemark.rates with timestamp.formats millis",
        ),
        (
            {"Parameters": {"explicit.null": "true"}},
            "Table tidemark.rates with explicit.null in its SerdeInfo",
        ),
    ],
)
def test_another_reader_of_lines_is_refused_by_name(refusal, rates, serde, message):
    rates["StorageDescriptor"]["SerdeInfo"].update(serde)
    assert refusal("SELECT 1 FROM rates").startswith(f"NOT_SUPPORTED: {message}")


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("projection.year.type", "date", "NOT_SUPPORTED: projection.year.type date"),
        ("projection.year.interval", "2", "NOT_SUPPORTED: projection.year.interval"),
        ("projection.year.range", "0,999999", "NOT_SUPPORTED: Table tidemark.rates with more than"),
        ("projection.suite.values", "a b", "NOT_SUPPORTED: Partition suite=a b"),
        ("storage.location.template", "s3://b/${suite}/",
         "INVALID_TABLE_PROPERTY: storage.location.template of tidemark.rates lacks ${year}"),
    ],
)  # fmt: skip
def test_an_unsupported_projection_is_refused_by_name(refusal, rates, parameter, value, message):
    rates["Parameters"] = {**rates["Parameters"], parameter: value}
    assert refusal("SELECT 1 FROM rates").startswith(message)
