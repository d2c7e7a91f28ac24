"""Templates in a store: the same answers with fewer messages read, and no event changed."""

import random
import re

import duckdb
import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from written_logs import COLUMNS, CONDITIONS, KINDS, QUERY, records

from cwli.insights import run
from cwli.insights.templates import CONSTANT, MARK
from onebox.logs.store import LogStore
from onebox.logs.value_cache import ValueCache

MEAN = "filter @message like 'to S3' | parse '* - * at * per' as a, b, rate | stats avg(rate)"
QUERIES = [
    MEAN,
    "parse '* *' as a, b | stats count(*), max(b) by a",
    "filter @message like 'level=ERR' or @message like '7' | stats count(*) by bin(1m)",
    "filter not (@message like '1' and @message like ' ') | stats count(*), sum(strlen(@message))",
    "filter @message not like '2024' | parse 'level=* latency=* ' as l, n | stats sum(n) by l",
    "parse '=*' as rest | stats min(rest), max(rest), count_distinct(rest)",
    "parse '**:*' as a, b, c | stats count(a), count(b), max(c)",
    "fields @message, @ptr | limit 50",
]


def lines(seed):
    """Return the messages of a log, some of them of no template."""
    chance = random.Random(seed)
    kind = KINDS[chance.choice(list(KINDS))]
    rates = [f"main INFO - Wrote {n}{n % 3} rows to S3 at {n / 4} per s" for n in range(99)]
    odd = [f"{MARK}1", f"{CONSTANT}2{CONSTANT}", "", "é 1\n2", "1" * 30, "1 " * 30]
    other = [chance.choice([*rates, *odd]) for _ in range(60)]
    return [*(kind.write(record) for record in records(seed)), *other, *rates]


def stored(folder, messages, templated_bytes=0, cache=None):
    store = LogStore(folder, cache=cache, templated_bytes=templated_bytes)
    if not folder.exists():
        chance = random.Random(1)
        store.append("g", "s", [(chance.randrange(10**6), each) for each in messages], 0)
        store.close()
    return store


def columns_of(folder):
    return duckdb.read_parquet(str(folder / "g" / "*.parquet")).columns


@fuzz(20)
@given(seed=st.integers(0, 10**6))
def test_a_query_returns_the_same_rows_with_and_without_templates(tmp_path_factory, seed):
    folder, messages = tmp_path_factory.mktemp("logs"), lines(seed)
    plain, templated = stored(folder / "a", messages, 10**9), stored(folder / "b", messages)
    chance = random.Random(seed)
    condition, _ = chance.choice(CONDITIONS)
    parse = chance.choice([kind.parse for kind in KINDS.values()])
    drawn = QUERY.format(parse=parse, condition=condition, columns=", ".join(COLUMNS))
    window = chance.choice([(None, None), (10, 500)])
    for query in (*chance.sample(QUERIES, 3), drawn):
        expected = run(query, plain.events(["g"]), *window)
        found = run(query, templated.events(["g"]), *window)
        assert ordered(found) == ordered(expected), query


def ordered(result):
    """Return a result without the ids of events, which differ between stores."""
    rows = [[cell for cell in row if cell["field"] != "@ptr"] for row in result.rows]
    return rows, result.statistics, result.warnings


@fuzz(20)
@given(seed=st.integers(0, 10**6))
def test_a_message_is_its_template_with_its_variables(tmp_path_factory, seed):
    folder, messages = tmp_path_factory.mktemp("logs") / "logs", lines(seed)
    store = stored(folder, messages)
    assert sorted(event.message for event in store.read("g")) == sorted(messages)
    rows = duckdb.read_parquet(str(folder / "g" / "*.parquet")).project(
        "timestamp, message, template_1, rest, COLUMNS('v[0-9]+')"
    )
    for _, message, template, rest, *variables in (found := rows.fetchall()):
        values = iter(variables)
        pattern = f"{MARK}|{CONSTANT}[^{CONSTANT}]*{CONSTANT}"
        made = template and re.sub(pattern, lambda _, values=values: next(values), template)
        assert message == made if rest is None else (template is None and rest == message)
    assert [row[0] for row in found] == sorted(row[0] for row in found)


def test_no_message_is_read_if_the_templates_tell_enough(tmp_path):
    messages = [f"Wrote {n} rows to S3 - x at {n / 4} per s" for n in range(2000)]
    store = stored(tmp_path / "logs", messages)
    expected = run(MEAN, store.events(["g"]))
    (file,) = (tmp_path / "logs" / "g").glob("*.parquet")
    file.with_suffix(".sha256").unlink()
    (tmp_path / "logs" / "g" / file.stem).with_suffix(".ndjson").unlink()
    duckdb.execute(
        f"COPY (SELECT * REPLACE ('' AS message) FROM '{file}') TO '{file}.new' (FORMAT parquet)"
    )
    (tmp_path / "logs" / "g" / f"{file.name}.new").replace(file)
    assert run(MEAN, stored(tmp_path / "logs", []).events(["g"])) == expected


@pytest.mark.parametrize("templated_bytes", [10**9, 0])
def test_a_file_without_or_with_other_templates_is_read_by_its_messages(tmp_path, templated_bytes):
    messages = [f"Wrote {n} rows to S3 - x at {n / 4} per s" for n in range(2000)]
    expected = run(MEAN, stored(tmp_path / "logs", messages, templated_bytes).events(["g"]))
    assert ("template_1" in columns_of(tmp_path / "logs")) == (templated_bytes == 0)
    (file,) = (tmp_path / "logs" / "g").glob("*.parquet")
    file.with_suffix(".sha256").unlink()
    other = "* EXCLUDE template_1, 'other' AS template_2" if templated_bytes == 0 else "*"
    duckdb.execute(f"COPY (SELECT {other} FROM '{file}') TO '{file}.new' (FORMAT parquet)")
    (tmp_path / "logs" / "g" / f"{file.name}.new").replace(file)
    assert run(MEAN, stored(tmp_path / "logs", []).events(["g"])) == expected


def test_lines_that_share_no_template_get_none(tmp_path):
    chance = random.Random(3)
    words = ["".join(chance.choices("ghijkl", k=12)) for _ in range(3000)]
    stored(tmp_path / "logs", words)
    assert "template_1" not in columns_of(tmp_path / "logs")


def test_merged_files_get_templates_of_their_own(tmp_path):
    messages = [f"Wrote {n} rows to S{n // 10} - x at {n / 4} per s" for n in range(80)]
    for first in range(0, 80, 10):
        events = enumerate(messages[first : first + 10], first)
        store = LogStore(tmp_path / "logs", templated_bytes=0)
        store.append("g", "s", events, 0)
        store.close()
    for kept in (tmp_path / "logs" / "g").glob("*.ndjson"):
        kept.unlink()
    store.fold()
    (merged,) = (tmp_path / "logs" / "g").glob("*-merged.parquet")
    texts = duckdb.sql(f"SELECT DISTINCT template_1 FROM '{merged}'").fetchall()
    assert texts == [(f"Wrote {MARK} rows to S{MARK} - x at {MARK} per s",)]
    assert [event.message for event in store.read("g")] == messages
    query = "parse 'S* ' as s | stats count(*) by s | sort s"
    rows = run(query, store.events(["g"])).rows
    assert [[cell["value"] for cell in row] for row in rows] == [[str(n), "10"] for n in range(8)]


def test_the_cache_keeps_the_rows_that_templates_give(tmp_path):
    messages = [f"Wrote {n} rows to S3 - x at {n / 4} per s" for n in range(2000)]
    plain = run(MEAN, stored(tmp_path / "logs", messages).events(["g"]))
    cache = ValueCache(tmp_path / "parsed", worthwhile_bytes=0)
    for _ in range(3):
        assert run(MEAN, stored(tmp_path / "logs", [], cache=cache).events(["g"])) == plain
    assert list((tmp_path / "parsed").glob("*.parquet"))
