"""Commands on a state folder in which one object or file is damaged."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from onebox.logs.segments import MIN_FILES
from onebox.logs.store import LogStore, LogStoreError
from onebox.store.object_files import ObjectFiles
from tests.checks.bench.commands import BUCKET, store_runs
from tidemark.cli import tidemark
from tidemark.model.outcome import Acknowledgement, LevelAlarm, Outcome
from tidemark.model.refusal import Refused
from tidemark.model.task import KeptFile
from tidemark.one_machine.stored import FileBucket, results_bucket
from tidemark.store import claims, keys
from tidemark.store.claims import Claim
from tidemark.store.run_ends import read_alarms
from tidemark.store.run_objects import read_trial

RUNS = [f"20261120T1{hour}0000Z-00000{hour - 2}" for hour in (2, 3, 4)]
FIRST, SECOND, THIRD = RUNS


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A state folder with three complete runs, which no test changes."""
    state = tmp_path_factory.mktemp("state")
    store_runs(state)
    return state


@pytest.fixture
def state(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "state")


def damage(state, key):
    files = ObjectFiles(state / "objects")
    body = files.find(BUCKET, key)
    body.path.write_bytes(bytes(body.size))
    files.close()


def run(state, *words):
    return CliRunner().invoke(tidemark, [*words, "--state", str(state)])


def listed(done):
    return [row["run_id"] for row in json.loads(done.stdout)]


def test_a_damaged_table_object_is_named_and_hides_no_other_run(state):
    run(state, "runs")  # keeps the rows of batches
    key = keys.table("runs", "rocksdb", SECOND)
    damage(state, key)

    done = run(state, "runs", "--format", "json")

    assert done.exit_code == 1
    assert listed(done) == [THIRD, FIRST]
    assert f"s3://{BUCKET}/{key} is damaged: " in done.stderr
    assert "`tidemark doctor` says what can be rebuilt" in done.stderr


def test_damaged_objects_are_counted_and_the_page_names_them(state):
    damaged = [keys.table("runs", "rocksdb", run_id) for run_id in (SECOND, THIRD)]
    for key in damaged:
        damage(state, key)

    done = run(state, "dashboard")

    assert done.exit_code == 1
    assert done.stderr.endswith("2 objects are damaged; all others are shown.\n")
    page = (state / "dashboard.html").read_text(encoding="utf-8")
    assert "2 damaged objects left out: " in page
    assert all(f"s3://{BUCKET}/{key} is damaged: " in page for key in damaged)
    assert FIRST in page


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (keys.report("rocksdb", SECOND, f"report.{keys.BLOCKS}"), ["show", SECOND]),
        (keys.plan(SECOND), ["report", SECOND]),
        (keys.trial(SECOND, 1), ["report", SECOND]),
        (keys.plan(SECOND), ["exclude", SECOND, "--reason", "noisy"]),
    ],
)
def test_a_damaged_object_of_one_run_is_named_and_leaves_the_others_readable(state, key, words):
    damage(state, key)

    done = run(state, *words)
    runs = run(state, "runs", "--format", "json")

    assert (done.exit_code, done.stdout) == (1, "")
    assert f"s3://{BUCKET}/{key} is damaged: " in done.stderr
    assert (runs.exit_code, listed(runs)) == (0, [THIRD, SECOND, FIRST])
    assert run(state, "show", FIRST).exit_code == 0


def test_a_damaged_claim_hides_no_run(state):
    files = ObjectFiles(state / "objects")
    files.save(BUCKET, keys.claim("rocksdb"), files.write([b"{}"]), {})
    files.close()
    damage(state, keys.claim("rocksdb"))

    done = run(state, "runs", "--format", "json")

    assert (done.exit_code, listed(done)) == (1, [THIRD, SECOND, FIRST])
    assert f"{keys.claim('rocksdb')} is damaged: " in done.stderr


def test_the_doctor_finds_a_whole_folder_whole_and_changes_nothing(state):
    run(state, "runs")
    before = {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}

    done = run(state, "doctor", "--repair")

    assert (done.exit_code, done.stdout) == (0, f"Everything in {state} is whole.\n")
    assert {path: path.read_bytes() for path in state.rglob("*") if path.is_file()} == before


def test_the_doctor_writes_again_what_follows_from_the_trials(state):
    runs = run(state, "runs").stdout
    history = run(state, "history", "rocksdb").stdout
    shown = run(state, "show", SECOND).stdout
    damaged = [
        keys.table("runs", "rocksdb", SECOND),
        keys.table("rates", "rocksdb", SECOND),
        keys.table("task_rates", "rocksdb", SECOND),
        keys.report("rocksdb", SECOND, "report.md"),
    ]
    for key in damaged:
        damage(state, key)

    found = run(state, "doctor")
    assert found.exit_code == 1
    for key in damaged:
        assert f"s3://{BUCKET}/{key} is damaged: " in found.stdout
    assert found.stdout.count("--repair writes it again from the trials of its run.") == 3
    assert found.stdout.count("--repair writes it again from the outcome of its run.") == 1
    assert f"4 damaged; `tidemark doctor --repair --state {state}`" in found.stderr

    mended = run(state, "doctor", "--repair")
    assert (mended.exit_code, mended.stdout.splitlines()[-1]) == (0, "All 4 are mended.")
    assert len([*(state / "damaged" / "objects" / "bodies").iterdir()]) == 4
    assert run(state, "doctor").exit_code == 0
    assert run(state, "runs").stdout == runs
    assert run(state, "history", "rocksdb").stdout == history
    assert run(state, "show", SECOND).stdout == shown


def test_a_repair_needs_room_for_another_index_and_changes_nothing_without_it(state, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=64 << 20))
    damage(state, keys.report("rocksdb", SECOND, "report.md"))

    refused = run(state, "doctor", "--repair").exception

    assert isinstance(refused, Refused)
    assert " 64 MiB are free on the disk of " in str(refused)
    assert run(state, "doctor").exit_code == 1  # it only reads


def test_the_doctor_writes_a_damaged_outcome_again_from_the_row_of_its_run(state):
    def outcome():
        files = ObjectFiles(state / "objects")
        with closing(files):
            return json.loads(files.find(BUCKET, keys.outcome(SECOND)).read("outcome"))

    whole = outcome()
    damage(state, keys.outcome(SECOND))

    done = run(state, "doctor", "--repair")

    assert (done.exit_code, "writes it again from the row of its run." in done.stdout) == (0, True)
    again = outcome()
    assert again.pop("report") == keys.report("rocksdb", SECOND, "report.md")
    assert again.pop("ended_at")[:22] == whole["ended_at"][:22]  # a row has milliseconds
    assert again.items() <= whole.items()
    assert run(state, "doctor").exit_code == 0


def test_the_doctor_does_not_make_up_an_outcome_without_a_row(state):
    damage(state, keys.outcome(SECOND))
    damage(state, keys.table("runs", "rocksdb", SECOND))

    done = run(state, "doctor", "--repair")

    assert done.exit_code == 1
    assert f"2 of 2 could not be mended; see {state}/damaged" in done.stderr


def test_the_doctor_moves_aside_what_nothing_else_has(state):
    damage(state, keys.trial(SECOND, 1))

    done = run(state, "doctor", "--repair")

    assert done.exit_code == 1
    assert "--repair moves it aside; its content is lost." in done.stdout
    assert f"1 of 1 could not be mended; see {state}/damaged" in done.stderr
    assert run(state, "doctor").exit_code == 0
    assert listed(run(state, "runs", "--format", "json")) == [THIRD, SECOND, FIRST]


def test_cached_rows_that_a_power_failure_cut_off_are_no_damage(state):
    rows = state / "tables" / "0a" / "1b.parquet"
    rows.parent.mkdir(parents=True)
    rows.touch()

    found = run(state, "doctor", "--repair")
    assert (found.exit_code, f"{rows} is of no use: " in found.stdout) == (0, True)
    assert not rows.exists()
    assert run(state, "doctor").stdout == f"Everything in {state} is whole.\n"


def test_the_doctor_names_a_body_that_a_killed_process_left(state):
    orphan = state / "objects" / "bodies" / "orphan"
    orphan.write_bytes(b"rows")

    found = run(state, "doctor")
    sentence = f"Everything else in {state} is whole.\n"
    assert (found.exit_code, found.stdout.endswith(sentence)) == (0, True)
    assert "objects: 1 body belongs to no object, such as orphan; --repair moves such" in (
        found.stdout
    )

    assert run(state, "doctor", "--repair").exit_code == 0
    assert not orphan.exists()
    (aside,) = (state / "damaged" / "objects" / "bodies").iterdir()
    assert aside.read_bytes() == b"rows"
    assert run(state, "doctor").stdout == f"Everything in {state} is whole.\n"


def test_the_doctor_names_a_run_without_an_outcome_and_what_its_tasks_left(state):
    claim = Claim(run_id=FIRST, execution_arn="arn:gone", claimed_at=datetime.now(UTC))
    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, results_bucket(files, "Tidemark"))
        claims.take(bucket, "rocksdb", claim)
        bucket.write(f"{keys.data_of(FIRST)}001/a\0b", b"")

    found = run(state, "doctor")

    assert found.exit_code == 0
    assert f"run {FIRST} of rocksdb is unfinished: its cloud ended before it" in found.stdout
    assert (
        "and its tasks left 1 object; --repair leaves the run to the next command" in found.stdout
    )
    assert found.stdout.endswith(f"\nEverything else in {state} is whole.\n")


def test_the_doctor_keeps_the_names_on_the_whole_pages_of_a_damaged_index(state):
    before = shown(state)
    index = state / "objects" / "index.sqlite"
    content = bytearray(index.read_bytes())
    content[-4096:] = bytes(4096)
    index.write_bytes(content)

    found = run(state, "doctor")
    assert found.exit_code == 1
    assert "index.sqlite is damaged: " in found.stdout
    assert "names the runs and trials again by what their files say" in found.stdout
    run(state, "doctor", "--repair")
    assert shown(state) == before
    assert run(state, "doctor").exit_code == 0


def change_key(state, key):
    """Give an object another key in the index, as changed bits do."""
    with closing(sqlite3.connect(state / "objects" / "index.sqlite")) as index:
        index.execute("UPDATE objects SET key = 'sables' WHERE key = ?", [key])
        index.commit()


def test_an_export_ends_at_a_key_with_a_changed_bit_and_copies_nothing(state, tmp_path):
    change_key(state, keys.table("runs", "rocksdb", SECOND))

    done = run(state, "export", str(tmp_path / "copy"))

    assert (done.exit_code, (tmp_path / "copy").exists()) == (1, False)
    assert "the row of sables is not as it was written; `tidemark doctor`" in done.stderr


def test_the_doctor_names_a_key_with_a_changed_bit_and_keeps_all_other_objects(state):
    key = keys.table("runs", "rocksdb", SECOND)
    with closing(ObjectFiles(state / "objects")) as files:
        whole = {key: body.read(key) for key, body, _ in files.objects(BUCKET)}
        plan = files.find(BUCKET, keys.plan(FIRST)).path.stat().st_ino
    change_key(state, key)

    assert "the row of sables is not as it was written" in run(state, "doctor").stdout
    assert run(state, "doctor", "--repair").exit_code == 0
    with closing(ObjectFiles(state / "objects")) as files:
        assert {
            key: body.read(key) for key, body, _ in files.objects(BUCKET)
        }.keys() == whole.keys()
        assert files.find(BUCKET, keys.plan(FIRST)).path.stat().st_ino == plan  # not copied


def test_a_damaged_translation_of_a_statement_is_not_used(state):
    history = run(state, "history", "rocksdb").stdout
    for translation in (state / "tables" / "translations").iterdir():
        translation.write_bytes(translation.read_bytes().replace(b"max", b"min"))

    assert run(state, "history", "rocksdb").stdout == history


def shown(state):
    return [run(state, *words).stdout for words in (["runs"], ["history", "rocksdb"])]


def test_the_doctor_names_the_runs_of_a_store_without_an_index_again(state):
    run(state, "exclude", f"{SECOND}/1", "--reason", "noisy")
    before = shown(state)
    for file in (state / "objects").glob("*.*"):
        file.unlink()

    done = run(state, "runs")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "but not their index; restore " in done.stderr
    assert "or let `tidemark doctor --repair` name runs and trials" in done.stderr

    # The trial stays excluded; the words of the reason are lost.
    assert run(state, "doctor", "--repair").exit_code == 1
    assert shown(state) == before


def test_the_doctor_names_what_a_task_left_by_its_trial_and_not_by_its_content(state):
    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, BUCKET)
        whole = bucket.read(keys.trial(FIRST, 1))
        forged = whole.replace(b'"status":"ok"', b'"status":"failed"')
        digest = hashlib.sha256(forged).hexdigest()
        trial = read_trial(bucket, SECOND, 1)
        test, *others = trial.tests
        kept = KeptFile(task=0, name="trial.json", size=len(forged), sha256=digest)
        tests = (test.model_copy(update={"artefacts": (kept,)}), *others)
        changed = trial.model_copy(update={"tests": tests})
        bucket.write(keys.trial(SECOND, 1), changed.model_dump_json().encode())
        left = keys.artefact(SECOND, 1, test.test, 0, kept.name)
        bucket.write(left, forged)
    for file in (state / "objects").glob("*.*"):
        file.unlink()

    assert run(state, "doctor", "--repair").exit_code == 0

    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, results_bucket(files, "Tidemark"))
        assert forged != whole
        assert (bucket.read(keys.trial(FIRST, 1)), bucket.read(left)) == (whole, forged)


def test_the_doctor_remembers_which_changes_of_level_a_message_reported(state):
    told = LevelAlarm(
        test="ingest", metric="ingest_rate", name="ingest_rate", run_id=FIRST, version="9.8.4",
        version_before="9.0.0", verdict="slower", change=-0.1, told_by=SECOND,
    )  # fmt: skip
    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, BUCKET)
        outcome = Outcome.model_validate_json(bucket.read(keys.outcome(SECOND)))
        body = outcome.model_copy(update={"level_changes": (told,)}).model_dump_json()
        bucket.write(keys.outcome(SECOND), body.encode())
    for file in (state / "objects").glob("*.*"):
        file.unlink()

    assert run(state, "doctor", "--repair").exit_code == 0

    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, results_bucket(files, "Tidemark"))
        assert read_alarms(bucket, "rocksdb") == (told,)


def test_the_doctor_says_that_an_acknowledgement_is_lost_with_its_name(state):
    decision = Acknowledgement(reason="safer", until="2027-01-31", at="2026-11-20T12:00:00Z")
    with closing(ObjectFiles(state / "objects")) as files:
        key = keys.acknowledgement("rocksdb", FIRST, "ingest", "ingest_rate")
        FileBucket(files, BUCKET).write(key, decision.model_dump_json().encode())
    for file in (state / "objects").glob("*.*"):
        file.unlink()

    assert run(state, "doctor", "--repair").exit_code == 1


@pytest.mark.parametrize("name", ["assemblies", "functions"])
def test_the_doctor_moves_a_damaged_folder_aside(state, name):
    folder = state / name / ("0" * 16)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")

    done = run(state, "doctor", "--repair")

    assert done.exit_code == 0
    assert f"{folder} is damaged: " in done.stdout
    assert [*(state / name).iterdir()] == []


def test_the_doctor_reads_every_log_line(state):
    logs = LogStore(state / "logs")
    logs.append("group", "stream", [(1, "first")], 1)
    logs.close()
    with closing(LogStore(state / "logs")) as logs:
        logs.append("group", "stream", [(2, "second")], 2)
        logs.append("group", "stream", [(3, "third")], 3)
    folder = state / "logs" / "group"
    for lines in folder.glob("*.ndjson"):
        lines.unlink()
    parquet = max(folder.glob("*.parquet"))
    parquet.write_bytes(bytes(parquet.stat().st_size))
    (folder / "damaged.ndjson").write_text("not an event\n")

    done = run(state, "doctor", "--repair")

    assert f"{parquet} is damaged: " in done.stdout
    assert "--repair moves it aside; its log lines are lost." in done.stdout
    assert "damaged.ndjson is damaged: line 1 is not an event; " in done.stdout
    assert run(state, "doctor").exit_code == 0
    assert [event.message for event in LogStore(state / "logs").read("group")] == ["first"]


def test_the_doctor_loses_nothing_of_damaged_lines_that_a_segment_has(state):
    with closing(LogStore(state / "logs")) as logs:
        logs.append("group", "stream", [(1, "line")], 1)
    (lines,) = (state / "logs" / "group").glob("*.ndjson")
    lines.write_text("not an event\n")

    done = run(state, "doctor", "--repair")

    assert (done.exit_code, lines.exists()) == (0, False)
    assert f"aside; its log lines are read from {lines.stem}.parquet" in done.stdout
    assert run(state, "doctor").stdout == f"Everything in {state} is whole.\n"
    assert [event.message for event in LogStore(state / "logs").read("group")] == ["line"]


def replaced_segment(state):
    """Return the segment of a log group, with the content of another group's."""
    for message in ("first", "other"):
        with closing(LogStore(state / "logs")) as logs:
            logs.append(message, "stream", [(1, message)], 1)
    (segment,), (other,) = (
        (state / "logs" / name).glob("*.parquet") for name in ("first", "other")
    )
    shutil.copy(other, segment)
    return segment


def test_the_doctor_finds_a_segment_that_can_be_read_but_is_not_as_it_was_written(state):
    segment = replaced_segment(state)

    found = run(state, "doctor", "--repair")

    assert f"{segment} is damaged: it does not have the digest of {segment.stem}.sha256" in (
        found.stdout
    )
    assert "--repair moves it aside; its log lines are read from " in found.stdout
    assert run(state, "doctor").exit_code == 0
    assert [event.message for event in LogStore(state / "logs").read("first")] == ["first"]


def test_the_doctor_writes_a_damaged_digest_of_a_segment_again_and_loses_no_line(state):
    with closing(LogStore(state / "logs")) as logs:
        logs.append("group", "stream", [(1, "line")], 1)
    (digest,) = (state / "logs" / "group").glob("*.sha256")
    digest.with_suffix(".ndjson").unlink()
    whole = digest.read_text()
    digest.write_text(f"!{whole[1:]}")

    done = run(state, "doctor", "--repair")

    assert (done.exit_code, f"{digest} is of no use: it is not an SHA-256" in done.stdout) == (
        0,
        True,
    )
    assert digest.read_text() == whole
    assert run(state, "doctor").stdout == f"Everything in {state} is whole.\n"
    assert [event.message for event in LogStore(state / "logs").read("group")] == ["line"]


def test_the_doctor_writes_a_damaged_list_of_merged_segments_again(state):
    numbers = [str(number) for number in range(MIN_FILES)]
    folder = state / "logs" / "group"
    for number in numbers:
        LogStore(state / "logs").append("group", "stream", [(int(number), number)], 1)
    LogStore(state / "logs").fold()
    for lines in folder.glob("*.ndjson"):
        lines.unlink()
    LogStore(state / "logs").fold()
    (sources,) = folder.glob("*.sources")
    whole = json.loads(sources.read_text())
    sources.write_text("[")

    query = ["query", "fields @message | sort @timestamp", "--format", "csv"]
    done = CliRunner().invoke(tidemark, [*query, "--state", str(state)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{sources} is damaged: it is not a list of segments; `tidemark doctor`" in done.stderr

    assert run(state, "doctor", "--repair").exit_code == 0
    assert sorted(json.loads(sources.read_text())) == sorted(whole)
    assert [event.message for event in LogStore(state / "logs").read("group")] == numbers


@pytest.fixture
def damaged_segment(state):
    """A log group with one segment, which is damaged."""
    with closing(LogStore(state / "logs")) as logs:
        logs.append("group", "stream", [(1, "line")], 1)
    (lines,) = (state / "logs" / "group").glob("*.ndjson")
    lines.unlink()
    segment = lines.with_suffix(".parquet")
    content = bytearray(segment.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    segment.write_bytes(content)
    return segment


def test_a_query_names_a_damaged_segment_of_logs(state, damaged_segment):
    done = CliRunner().invoke(tidemark, ["query", "fields @message", "--state", str(state)])

    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{damaged_segment} is damaged: " in done.stderr
    assert "`tidemark doctor` says what can be done" in done.stderr


def test_a_query_names_a_segment_that_can_be_read_but_is_not_as_it_was_written(state):
    segment = replaced_segment(state)
    query = ["query", "fields @message", "--format", "csv", "--state", str(state)]

    damaged = CliRunner().invoke(tidemark, [*query, "--log-group", "first"])
    whole = CliRunner().invoke(tidemark, [*query, "--log-group", "other"])

    assert (damaged.exit_code, damaged.stdout) == (1, "")
    assert f"{segment} is damaged: it does not have the digest of " in damaged.stderr
    assert "`tidemark doctor` says what can be done" in damaged.stderr
    assert (whole.exit_code, whole.stdout) == (0, "@message\nother\n")


def test_lines_are_still_written_beside_a_damaged_segment(state, damaged_segment):
    with closing(LogStore(state / "logs")) as logs:
        logs.append("group", "stream", [(2, "new")], 2)
        with pytest.raises(LogStoreError, match=f"{damaged_segment} is damaged: "):
            logs.streams("group")
    damaged_segment.unlink()

    assert [event.message for event in LogStore(state / "logs").read("group")] == ["new"]
