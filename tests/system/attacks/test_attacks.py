"""No act of an attacker breaks through, and none leaves more than one sentence."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from cwli.cancellation import Cancellation
from onebox.athena import api as athena
from onebox.cloud import objects
from onebox.cloud.cloud_note import announced, make_private
from onebox.cloud.processes import BARE_PYTHON, Guard, Process, begin, clean_environment, kill_left
from onebox.cloud.runtime import Invocation, RuntimeApi
from onebox.cloud.server import Server
from onebox.logs.event_files import LogStoreError
from onebox.logs.store import LogStore
from onebox.store.index import ObjectFilesError
from onebox.store.object_files import ObjectFiles
from tests.system.attacks import attacker, harms
from tests.system.attacks.acts import FILES, HARMED, LEFT, STATEMENTS, of_stranger, of_task
from tests.system.attacks.attacker import FORGED

pytestmark = pytest.mark.systems
NOBODY = 65534, 65534
STATEMENT_SECONDS = 10
MOST_BYTES = 512 << 20


@pytest.fixture(scope="module")
def home():
    """Return a folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="attacked-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cloud(home):
    """Return the names of a cloud of this process for an attacker."""
    state = home / "state"
    make_private(state)
    with ExitStack() as opened:
        opened.enter_context(objects.install(state / "objects"))
        endpoint = opened.enter_context(Server(0)).endpoint
        s3 = endpoint.client("s3")
        s3.create_bucket(Bucket="results")
        s3.put_object(Bucket="results", Key="plan", Body=b"the plan")
        api = RuntimeApi()
        opened.callback(api.close)
        api.submit(Invocation("1", "arn", 0, b"{}"))
        api.serve(os.getpid())
        opened.enter_context(announced(state, endpoint, "stack", {}))
        scratch = state / "scratch" / "1"
        scratch.mkdir(parents=True)
        yield {
            "folder": str(state), "beside": str(home / "mine"), "scratch": str(scratch),
            "cloud": os.getpid(), "port": endpoint.port,
            "runtime": int(api.address.rpartition(":")[2]),
        }  # fmt: skip


def state_of(names):
    folder = Path(names["folder"])
    return [
        (path, path.lstat().st_mode, path.lstat().st_uid, path.lstat().st_size)
        for path in sorted((folder, *folder.rglob("*")))
        if "scratch" not in path.parts
    ]


def test_no_act_of_a_task_breaks_through_and_no_process_outlives_it(cloud, home):
    acts = home / "acts.json"
    acts.write_text(json.dumps([*of_task()]))
    program = shutil.copy(attacker.__file__, home)
    scratch, state, lines = Path(cloud["scratch"]), Path(cloud["folder"]), []
    before = state_of(cloud)
    command = [BARE_PYTHON, program, json.dumps(cloud), str(acts), *map(json.dumps, LEFT)]
    with Guard() as guard:
        environment = {**clean_environment(), "TMPDIR": str(scratch)}
        child = begin(command, home, environment, guard, (state, scratch))
        process = Process(child, lines.extend)
        assert process.done.result() == 0, lines
        killed = kill_left(scratch, process.group)

    assert [line for line in lines if line.startswith("broke ")] == ["broke []"]
    assert state_of(cloud) == before
    assert any("sleep 600" in command for command in killed)
    assert not [
        each
        for each in psutil.process_iter(["cmdline", "create_time"])
        if "600" in (each.info["cmdline"] or ()) and each.info["create_time"] > time.time() - 300
    ]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_no_act_of_another_user_breaks_through(cloud, home):
    before = state_of(cloud)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.chdir("/")
            harms.without_rights(NOBODY)
            broke = attacker.attack({**cloud, "forged": FORGED}, [*map(list, of_stranger())])
            os.write(writer, json.dumps(broke).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        broke = json.loads(answer.read())
    os.waitpid(child, 0)

    assert broke == []
    assert state_of(cloud) == before


@pytest.mark.parametrize("kind", STATEMENTS)
def test_each_statement_has_an_answer_or_one_sentence(kind):
    program = f"from tests.system.attacks.test_attacks import ask_all; ask_all({kind!r})"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)

    # DuckDB shows its progress in a program without a file.
    assert int(printed.split()[-1]) < MOST_BYTES


def ask_all(kind):
    """Ask every statement of a kind, and print the most memory that one took."""
    for statement in STATEMENTS[kind]:
        # A process for each: what one statement has freed would count for the next.
        if child := os.fork():
            assert os.waitpid(child, 0)[1] == 0, statement[:100]
            continue
        with suppress(athena.QueryError):
            athena.run(statement, None, {}, cancellation=Cancellation(STATEMENT_SECONDS))
        os._exit(0)
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a state folder with objects and log lines."""
    state = tmp_path_factory.mktemp("original") / "state"
    files = ObjectFiles(state / "objects")
    for number in range(20):
        files.save("results", f"key{number}", files.write([b"%d" % number]), {})
    files.close()
    logs = LogStore(state / "logs")
    logs.append("group", "stream", [(number, f"line {number}") for number in range(50)], 1)
    logs.close()
    (state / "cloud.json").write_text(json.dumps({"port": 1, "key": "k", "pid": 1, "stack": "s"}))
    return state


@pytest.mark.parametrize("name", HARMED)
@pytest.mark.parametrize("harm", [harm for kind in FILES.values() for harm in kind])
def test_a_harmed_file_of_a_state_folder_ends_in_one_sentence(stored, tmp_path, name, harm):
    pattern = name if name != "logs/*" else "logs/*/*"
    for attempt in (harms.read, harms.examined):
        folder = harms.harmed(stored, pattern, harm, tmp_path / attempt.__name__)
        with suppress(ObjectFilesError, LogStoreError, OSError):
            attempt(folder)
