"""``tidemark profile`` over a state folder: the commands of docs/profiles.md, and the table."""

import csv
import io
from contextlib import closing

from click.testing import CliRunner

from onebox.store.object_files import ObjectFiles
from tidemark.cli import profile, sql
from tidemark.model.checkout import ROOT
from tidemark.one_machine.contents import rebuilding
from tidemark.one_machine.stored import FileBucket, own_bucket


def invoke(command, state, *words):
    done = CliRunner().invoke(command, [*map(str, words), "--state", str(state)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_profile_of_a_state_folder_is_queried_and_its_rows_are_written_again(tmp_path):
    state = tmp_path / "state"
    for version in ("2022-03-07", "2023-05-29"):
        file = ROOT / "docs" / "profiles" / f"{version}.folded"
        invoke(profile.command, state, "import", file, "--suite", "rocksdb", "--version", version)

    shown = invoke(
        profile.command, state, "show", "rocksdb", "--under", "ha_commit_trans", "--function",
        "WriteBatchInternal::Iterate", "--format", "csv",
    )  # fmt: skip
    assert [row[1] for row in csv.reader(io.StringIO(shown))][1:] == ["7.96", "8.83"]
    statement = (
        "SELECT version, self, inclusive FROM profiles WHERE path = 'rocksdb:low' ORDER BY version"
    )
    assert invoke(sql.command, state, statement, "--format", "csv").splitlines()[1:] == [
        "2022-03-07,0.0021,0.4741",
        "2023-05-29,8.0E-4,0.4667",
    ]
    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, own_bucket("Tidemark"))
        for key in list(bucket.keys("tables/profiles/")):
            rows = bucket.read(key)
            bucket.delete(key)
            again = rebuilding(bucket, key)
            again.write()
            assert (again.source, bucket.read(key)) == ("its profile", rows)
