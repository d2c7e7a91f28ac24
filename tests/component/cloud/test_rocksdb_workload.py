"""The RocksDB workload in a real process, with real versions and S3 on this machine."""

import gzip
import json
import re
import subprocess
from collections import Counter
from functools import partial

import pytest
from moto.moto_api._internal.models import moto_api_backend

from onebox.cloud import objects
from onebox.cloud.processes import BARE_PYTHON
from onebox.cloud.server import Server
from tidemark.model.checkout import ROOT
from tidemark.model.profile import PROFILE_FILE
from tidemark.model.suite_files import read_suites
from tidemark.model.task import PREPARATION
from tidemark.one_machine.app import workload_environment

FOLDER = ROOT / "workloads" / "rocksdb"
ENTRY_POINT = read_suites()["rocksdb"].task.entry_point
RECORDS = 3000
WROTE = re.compile(
    r"\[main\] rocksdb\.Ingest INFO  - "
    r"Wrote (?P<records>\d+) records to S3 in \d+\.\d seconds at (?P<rate>\d+\.\d) per second"
)
READ = re.compile(
    r"\[main\] rocksdb\.Compaction INFO  - Compaction job (?P<job>[0-9a-f-]{36}): "
    r"compaction read (?P<records>\d+) records at (?P<rate>\d+\.\d) per second"
)
ENVIRONMENT = re.compile(r"\[main\] rocksdb\.Environment INFO  - Environment: (?P<json>\{.+\})")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    installed = objects.install(tmp_path_factory.mktemp("objects"))
    with Server(0) as server:
        yield server.endpoint
    moto_api_backend.reset()
    installed.close()


@pytest.fixture(scope="module")
def s3(endpoint):
    client = endpoint.client("s3")
    client.create_bucket(Bucket="results")
    return client


@pytest.fixture
def data(request, s3):
    return f"work/{request.node.name.replace('[', '/').strip(']')}"


@pytest.fixture(scope="module")
def start(tmp_path_factory, cache, endpoint):
    """Return a way to run a test over some data; it returns the exit code and the lines."""
    scratch = tmp_path_factory.mktemp("scratch")

    def start(data, test, **variables):
        environment = {
            **workload_environment(),
            "TMPDIR": str(scratch),
            **endpoint.environment(),
            "TIDEMARK_CACHE": str(cache),
            "TIDEMARK_VERSION": "9.0.0",
            "TIDEMARK_PACKAGE": "rocksdict==0.3.23",
            "TIDEMARK_RECORDS": str(RECORDS),
            "TIDEMARK_JOBS": "2",
            "TIDEMARK_SEED": "1",
            "TIDEMARK_TASK": "0",
            "TIDEMARK_DATA": f"s3://results/{data}",
            "TIDEMARK_DEADLINE_SECONDS": "120",
        }
        done = subprocess.run(
            [BARE_PYTHON, *PREPARATION[1:], *ENTRY_POINT, test],
            cwd=FOLDER,
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert list(scratch.iterdir()) == []
        return done.returncode, done.stdout.splitlines()

    return start


@pytest.fixture
def run(start, data):
    return partial(start, data)


def matches(pattern, lines):
    return [found for found in map(pattern.fullmatch, lines) if found]


@pytest.mark.parametrize(
    ("version", "package"),
    [
        # In `make test` a round measures it.
        pytest.param("7.4.4", "rocksdict==0.3.2", marks=pytest.mark.systems),
        ("9.8.4", "rocksdict==0.3.29"),
    ],
)
def test_ingest_and_compaction_log_one_rate_for_each_job(run, version, package):
    variables = {"TIDEMARK_VERSION": version, "TIDEMARK_PACKAGE": package}

    ingest_code, ingest = run("ingest", **variables)
    compaction_code, compaction = run("compaction", **variables)

    assert (ingest_code, compaction_code) == (0, 0), ingest + compaction
    wrote, read = matches(WROTE, ingest), matches(READ, compaction)
    assert [int(line["records"]) for line in wrote + read] == [RECORDS] * 4
    assert all(float(line["rate"]) > 0 for line in wrote + read)
    assert len({line["job"] for line in read}) == 2
    # No other line may be taken for a rate.
    assert sum("per second" in line for line in ingest + compaction) == 8
    for lines in (ingest, compaction):
        (environment,) = matches(ENVIRONMENT, lines)
        found = json.loads(environment["json"])
        assert found["version"] == found["engine_version"] == version
        assert found["package"] == package
        assert re.fullmatch(r"[0-9a-f]{64}", found["package_digest"])
        assert set(found) == {
            "arch",
            "cores",
            "cpu_model",
            "engine_version",
            "host",
            "kernel",
            "memory",
            "package",
            "package_digest",
            "program_rocksdb",
            "python",
            "version",
        }


@pytest.fixture(scope="module")
def stored(start, s3):
    """The keys of an ingested task's files."""
    code, lines = start("work/stored", "ingest", TIDEMARK_JOBS="1")
    assert code == 0, lines
    listed = s3.list_objects_v2(Bucket="results", Prefix="work/stored/")["Contents"]
    return [entry["Key"] for entry in listed]


@pytest.fixture
def ingested(stored, s3, data):
    """The keys of a copy of an ingested task's files, by file name."""
    copies = {key.rpartition("/")[2]: key.replace("work/stored", data) for key in stored}
    for key, copy in zip(stored, copies.values(), strict=True):
        s3.copy_object(Bucket="results", Key=copy, CopySource=f"results/{key}")
    return copies


def test_the_files_of_the_store_and_their_manifest_are_stored(s3, ingested):
    manifest = json.load(s3.get_object(Bucket="results", Key=ingested["manifest.json"])["Body"])

    assert set(manifest["files"]) == set(ingested) - {"manifest.json"}
    assert {"CURRENT"} < set(manifest["files"])
    assert any(name.endswith(".sst") for name in manifest["files"])
    assert not {"LOG", "LOCK"} & set(manifest["files"])
    assert manifest["records"] == RECORDS


def test_a_corrupt_file_in_s3_fails_the_compaction(run, s3, ingested):
    key = next(key for name, key in ingested.items() if name.endswith(".sst"))
    body = bytearray(s3.get_object(Bucket="results", Key=key)["Body"].read())
    body[len(body) // 2] ^= 1
    s3.put_object(Bucket="results", Key=key, Body=bytes(body))

    code, lines = run("compaction")

    assert code == 1
    assert f"{key} has the SHA-256" in lines[-1]
    assert matches(READ, lines) == []


def test_records_with_another_checksum_fail_the_compaction(run, s3, ingested):
    key = ingested["manifest.json"]
    manifest = json.load(s3.get_object(Bucket="results", Key=key)["Body"])
    manifest["checksum"] += 1
    s3.put_object(Bucket="results", Key=key, Body=json.dumps(manifest).encode())

    code, lines = run("compaction")

    assert code == 1
    assert "The store after compaction has the checksum" in lines[-1]
    assert matches(READ, lines) == []


def test_files_of_another_version_fail_the_compaction(run, ingested):
    code, lines = run("compaction", TIDEMARK_VERSION="9.8.4", TIDEMARK_PACKAGE="rocksdict==0.3.29")

    assert code == 1
    assert lines[-1].endswith("The stored files are of the version 9.0.0: 9.8.4 was expected.")


def test_a_compaction_without_an_ingest_fails(run, data):
    code, lines = run("compaction")

    assert code == 1
    assert f"s3://results/{data}/task-0000/manifest.json is missing" in lines[-1]


def test_an_engine_of_another_version_fails_the_test(run):
    code, lines = run("ingest", TIDEMARK_VERSION="9.0.1")

    assert code == 1
    assert lines[-1].endswith("The system that was measured is RocksDB 9.0.0: 9.0.1 was expected.")
    assert matches(WROTE, lines) == []


@pytest.mark.systems  # Maven fetches the profiler
def test_a_profiled_task_leaves_stacks_whose_native_functions_have_names(run, s3, data):
    place = f"{data}/artefacts/ingest/0/"
    profiled = {
        "TIDEMARK_PROFILER": "async-profiler",
        "TIDEMARK_PROFILE_HZ": "997",
        "TIDEMARK_ARTEFACTS": f"s3://results/{place}",
        "TIDEMARK_RECORDS": "200000",
    }

    code, lines = run("ingest", **profiled)

    assert code == 0, lines
    assert len(matches(WROTE, lines)) == 2
    body = s3.get_object(Bucket="results", Key=f"{place}{PROFILE_FILE}")["Body"].read()
    stacks = [line.rpartition(" ") for line in gzip.decompress(body).decode().splitlines()]
    samples = Counter()
    for stack, _, count in stacks:
        samples.update(dict.fromkeys(stack.split(";"), int(count)))
        samples["all"] += int(count)
        # A thread begins at one of these frames: a stack without them was cut.
        samples["whole"] += int(count) * stack.startswith(("[unknown];_start;", "clone3;"))
        samples["named"] += int(count) * (not re.search(r"(^|;)(\[\w+\]|/[^;]*)$", stack))
    assert samples["all"] > 500
    assert samples["rocksdb::MemTable::Add"] > 20
    assert samples["rocksdb::DBImpl::BackgroundCallFlush"] > 20
    assert samples["whole"] >= 0.95 * samples["all"]
    assert samples["named"] >= 0.95 * samples["all"]


@pytest.mark.systems  # uv fetches py-spy
def test_a_task_under_py_spy_leaves_the_stacks_of_its_python_functions(run, s3, data):
    place = f"{data}/artefacts/ingest/0/"
    profiled = {
        "TIDEMARK_PROFILER": "py-spy",
        "TIDEMARK_PROFILE_HZ": "199",
        "TIDEMARK_ARTEFACTS": f"s3://results/{place}",
        "TIDEMARK_RECORDS": "200000",
    }

    code, lines = run("ingest", **profiled)

    assert code == 0, lines
    assert [line for line in lines if "No profile" in line] == []
    body = s3.get_object(Bucket="results", Key=f"{place}{PROFILE_FILE}")["Body"].read()
    samples = Counter()
    for line in gzip.decompress(body).decode().splitlines():
        stack, _, count = line.rpartition(" ")
        samples.update(dict.fromkeys(stack.split(";"), int(count)))
    assert samples["_write (harness/measurement.py)"] > 20, samples.most_common(30)


def test_a_missing_bucket_fails_the_test(run):
    code, lines = run("ingest", TIDEMARK_DATA="s3://nowhere/work")

    assert code == 1
    assert "NoSuchBucket" in lines[-1]
    assert matches(WROTE, lines) == []


def test_a_test_beyond_its_deadline_fails(run):
    code, lines = run("ingest", TIDEMARK_RECORDS="10000000", TIDEMARK_DEADLINE_SECONDS="2")

    assert code == 124
    assert lines[-1].endswith("The task was ended because it took more than 2 seconds.")


def test_an_unreleased_package_is_refused(run):
    code, lines = run("ingest", TIDEMARK_PACKAGE="rocksdict==0.0.0")

    assert code == 2
    assert "TIDEMARK_PACKAGE has 'rocksdict==0.0.0': the packages of pins/9.0.0.txt " in lines[-1]


def test_a_package_without_a_version_is_refused(run):
    code, (line,) = run("ingest", TIDEMARK_PACKAGE="rocksdict")

    assert code == 2
    assert "TIDEMARK_PACKAGE is 'rocksdict'" in line


def test_versions_of_a_round_take_turns_in_one_task(run):
    versions = [
        {"name": version, "version": version, "package": f"rocksdict=={package}"}
        for version, package in (("7.4.4", "0.3.2"), ("9.8.4", "0.3.29"), ("9.0.0", "0.3.22"))
    ]
    asked = json.dumps({"repetition": 1, "slices": 3, "versions": versions})

    ingest_code, ingest = run("ingest", TIDEMARK_ROUND=asked)
    compaction_code, compaction = run("compaction", TIDEMARK_ROUND=asked)

    lines = ingest + compaction
    assert (ingest_code, compaction_code) == (0, 0), lines
    # The first slice alone uploads.
    for pattern, slices in ((WROTE, 1), (READ, 3)):
        named = re.compile(pattern.pattern.replace("main", r"(?P<version>[0-9.]+)"))
        measured = [found["version"] for found in matches(named, lines)]
        blocks = [measured[at : at + 2] for at in range(0, len(measured), 2)]
        assert list(map(sorted, blocks)) == slices * [["7.4.4", "9.8.4"]]
    environments = [line for line in ingest if "Environment: " in line]
    assert {
        line[1:6]: json.loads(line.partition("ment: ")[2])["engine_version"]
        for line in environments
    } == {"7.4.4": "7.4.4", "9.8.4": "9.8.4"}
    (lost,) = (line for line in ingest if " ERROR " in line)
    assert lost.startswith("[9.0.0] rocksdb.Preparation ERROR  - TIDEMARK_PACKAGE has")
