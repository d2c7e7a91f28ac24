"""The tests of the harness over an engine that is a list of records."""

import shutil
import subprocess
import sys

import pytest
from harness import clocks, log
from harness.engine import Tally
from harness.measurement import Compaction, Ingest
from harness.storage import Storage
from harness.task import CheckFailedError, Configuration

from tests.unit.workloads.fake_bucket import Bucket
from tidemark.model.task import HARNESS

RECORDS = 2500


class Store:
    """A store that keeps its records in one file for each batch."""

    def __init__(self, folder, faults):
        self._folder, self._faults = folder, faults
        self._read = 0

    def batch(self, records):
        return b"".join(records)

    def write(self, batches):
        for number, batch in enumerate(batches):
            (self._folder / str(number)).write_bytes(batch)

    def compact(self):
        self._read = self._faults.get("read", RECORDS)
        if "lost" in self._faults:
            (self._folder / "0").unlink()

    def tally(self):
        content = b"".join(path.read_bytes() for path in self._folder.iterdir())
        records = sorted(content[at : at + 116] for at in range(0, len(content), 116))
        return Tally.of(records)

    def close(self):
        pass

    def records_read(self):
        return self._read


class Engine:
    title = "Lists"

    def __init__(self, version="1.0.0", **faults):
        self._version, self._faults = version, faults

    def open_store(self, folder):
        return Store(folder, self._faults)

    def version(self, folder):
        return self._version

    def files(self, folder):
        return sorted(folder.iterdir())


@pytest.fixture
def variables():
    return {
        "TIDEMARK_VERSION": "1.0.0",
        "TIDEMARK_PACKAGE": "lists==1.0.0",
        "TIDEMARK_RECORDS": str(RECORDS),
        "TIDEMARK_JOBS": "2",
        "TIDEMARK_SEED": "7",
        "TIDEMARK_TASK": "0",
        "TIDEMARK_DATA": "s3://results/work",
    }


@pytest.fixture
def configuration(variables):
    return Configuration.from_environment(variables)


@pytest.fixture
def storage(configuration):
    return Storage(Bucket(), configuration.bucket, configuration.prefix)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "_SYSTEM", "lists")
    # Children of the tests before it may be busy in this process; test_clocks.py tests the wait.
    monkeypatch.setattr(clocks, "wait_until_idle", lambda: None)
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def do(work, engine, configuration, storage, scratch):
    test = work(engine, configuration, storage, scratch)
    for number in range(configuration.jobs):
        for line in test.job(number).lines:
            log.info(test.name, line)


def test_each_job_logs_the_rates_of_engine_and_upload_and_of_both_and_of_its_compaction(
    configuration, storage, scratch, capsys
):
    do(Ingest, Engine(), configuration, storage, scratch)
    do(Compaction, Engine(), configuration, storage, scratch)

    lines = capsys.readouterr().out.splitlines()
    rates = [line for line in lines if line.endswith(" per second")]
    assert [line.split(" - ")[0] for line in rates] == [
        *6 * ["[main] lists.Ingest INFO "],
        *2 * ["[main] lists.Compaction INFO "],
    ]
    used = [
        line
        for line in lines
        if line.endswith(f" CPU microseconds per record for {RECORDS} records")
    ]
    assert [line.split(" used ")[0].split("INFO  - ")[1][:10] for line in used] == [
        *2 * ["Engine"],
        *2 * ["Compaction"],
    ]
    assert f"Engine ingested {RECORDS} records in " in rates[0]
    assert f"Uploaded {RECORDS} records in " in rates[1]
    assert f"Wrote {RECORDS} records to S3 in " in rates[2]
    assert f"compaction read {RECORDS} records at " in rates[7]
    engine, upload, whole = (float(line.split()[-3]) for line in rates[:3])
    assert 1 / whole == pytest.approx(1 / engine + 1 / upload, rel=1e-4)


def test_a_job_of_several_units_logs_one_rate_of_the_work_that_each_unit_did(
    configuration, storage, scratch
):
    ingest = Ingest(Engine(), configuration, storage, scratch).job(1, units=3)
    compaction = Compaction(Engine(), configuration, storage, scratch).job(1, units=3)

    assert [line.split()[0] for line in ingest.lines] == ["Engine", "Engine", "Uploaded", "Wrote"]
    assert [line.split()[0] for line in compaction.lines] == ["Compaction", "Compaction"]
    for done, line in ((ingest, ingest.lines[0]), (compaction, compaction.lines[0])):
        assert f" {RECORDS} records " in line
        assert float(line.split()[-3]) == pytest.approx(RECORDS / done.seconds, rel=1e-3)
    assert {path.name for path in scratch.iterdir()} == {"loaded"}


def test_in_a_round_the_first_measured_slice_alone_uploads_what_compaction_then_reads(
    variables, storage, scratch
):
    in_round = Configuration.from_environment({**variables, "TIDEMARK_ROUND": "{}"})
    ingest = Ingest(Engine(), in_round, storage, scratch)

    words = [[line.split()[0] for line in ingest.job(number).lines] for number in range(3)]
    rates = ["Engine", "Engine"]
    assert words == [rates, [*rates, "Uploaded", "Wrote"], rates]
    assert Compaction(Engine(), in_round, storage, scratch).job(1).lines


def test_a_system_that_writes_to_s3_by_itself_has_no_rate_of_an_upload(
    configuration, storage, scratch, capsys, monkeypatch
):
    monkeypatch.setattr(Engine, "files", lambda *_: [])
    do(Ingest, Engine(), configuration, storage, scratch)

    assert "Uploaded" not in capsys.readouterr().out


def test_a_compaction_that_loses_records_has_no_rate(configuration, storage, scratch, capsys):
    do(Ingest, Engine(), configuration, storage, scratch)

    with pytest.raises(CheckFailedError, match="The store after compaction holds 1500 records"):
        do(Compaction, Engine(lost=True), configuration, storage, scratch)
    assert "compaction read" not in capsys.readouterr().out


def test_a_slice_of_several_units_that_loses_records_has_no_rate(configuration, storage, scratch):
    do(Ingest, Engine(), configuration, storage, scratch)
    compaction = Compaction(Engine(lost=True), configuration, storage, scratch)

    with pytest.raises(CheckFailedError, match="The store after compaction holds 1500 records"):
        compaction.job(1, units=3)


def test_in_a_round_the_uploaded_slice_and_each_fourth_after_it_are_checked(
    variables, storage, scratch
):
    in_round = Configuration.from_environment({**variables, "TIDEMARK_ROUND": "{}"})
    Ingest(Engine(), in_round, storage, scratch).job(1)
    compaction = Compaction(Engine(lost=True), in_round, storage, scratch)

    assert all(compaction.job(number, units=2).lines for number in (0, 2, 3, 4, 6))
    for number in (1, 5, 13):
        with pytest.raises(CheckFailedError, match="The store after compaction holds 1500 records"):
            compaction.job(number, units=2)
        shutil.rmtree(scratch / "store-1-0")


def test_a_compaction_that_reads_too_little_has_no_rate(configuration, storage, scratch):
    do(Ingest, Engine(), configuration, storage, scratch)

    with pytest.raises(CheckFailedError, match=r"^Lists read 1000 records: 2500 were expected\.$"):
        do(Compaction, Engine(read=1000), configuration, storage, scratch)


@pytest.mark.parametrize(
    ("field", "variable", "value"),
    [
        ("version", "TIDEMARK_VERSION", "1.0.1"),
        ("package", "TIDEMARK_PACKAGE", "lists@file:lists-1.0.0.whl"),
        ("seed", "TIDEMARK_SEED", "8"),
        ("records", "TIDEMARK_RECORDS", "2501"),
    ],
)
def test_files_of_another_configuration_are_not_compacted(
    variables, storage, scratch, capsys, field, variable, value
):
    do(Ingest, Engine(), Configuration.from_environment(variables), storage, scratch)
    other = Configuration.from_environment({**variables, variable: value})

    with pytest.raises(CheckFailedError, match=rf"of the {field} \S+: {value} was expected"):
        do(Compaction, Engine(), other, storage, scratch)
    assert "compaction read" not in capsys.readouterr().out


FULL_DISK = """import sys
from harness import measurement
sys.excepthook = measurement.name_failure
open("/dev/full", "w", buffering=1).write("line\\n")
"""


def test_a_full_disk_is_named_in_one_sentence_after_the_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK],
        cwd=tmp_path,
        env={"PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stdout == (
        f"[main] {tmp_path.name}.Task ERROR  - OSError: [Errno 28] No space left on device\n"
    )
