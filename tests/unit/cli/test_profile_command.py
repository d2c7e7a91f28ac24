"""`tidemark profile`: profiles on their way into the store, and the shares that it prints."""

import csv
import gzip
import io
import json
import re
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.client.drawn_graphs import flamegraph_pl
from tests.unit.fakes import FakeBucket
from tidemark.cli import profile
from tidemark.cli.profile import command, function_shares, growth_table, options
from tidemark.model.profile import Profile
from tidemark.model.refusal import Refused
from tidemark.store.columns import TABLES
from tidemark.store.stored_profile import read_profiles, read_stacks

OLD = {"low;BG;ns::Process": 4030, "low;ns::Process;ns::Next": 547, "one;commit;Iterate": 5423}
NEW = {"low;BG;ns::Process": 3000, "low;ns::Process;ns::Next<int>": 1172, "one;commit;Write": 5828}


@pytest.fixture
def bucket(monkeypatch):
    bucket = FakeBucket()

    @contextmanager
    def stored(_target, **_):
        yield SimpleNamespace(bucket=bucket, tables=None)

    for module in (profile, function_shares, growth_table):
        monkeypatch.setattr(module, "stored", stored)
    return bucket


def invoke(*words):
    done = CliRunner().invoke(command, list(map(str, words)))
    if isinstance(done.exception, Refused):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def folded(stacks):
    return "".join(f"{stack} {samples}\n" for stack, samples in stacks.items())


def add(folder, version, content, *words, name="all.folded"):
    file = folder / name
    file.write_text(content)
    day = () if "--date" in words else ("--date", "2023-08-17")
    return invoke("import", file, "--suite", "rocksdb", "--version", version, *day, *words)


def figures(*words):
    done = invoke("show", "rocksdb", "--format", "csv", *words)
    return list(csv.reader(io.StringIO(done.stdout))), done.stderr


def rows(bucket):
    for key in bucket.keys("tables/profiles/suite=rocksdb/year=2023/"):
        yield from map(json.loads, gzip.decompress(bucket.read(key)).splitlines())


def test_a_profile_is_stored_with_its_origin_and_its_rows(bucket, tmp_path):
    svg = flamegraph_pl({"main;ns::f": 9990, "main": 9, "tiny": 1})
    source = ("--source", "https://example.org/all.svg")
    done = add(tmp_path, "v8.8.1", svg, "--test", "l.i1", *source, name="all.svg")

    assert done.stdout.splitlines()[-1] == "1 profile added, 0 stored already."
    stacks, origin = sorted(bucket.keys("profiles/rocksdb/"))
    assert gzip.decompress(bucket.read(stacks)) == b"main 9\nmain;ns::f 9990\ntiny 1\n"
    profile = Profile.model_validate_json(bucket.read(origin))
    assert (profile.version, profile.test, str(profile.profiled_on)) == (
        "8.8.1",
        "l.i1",
        "2023-08-17",
    )
    assert (profile.samples, profile.unit, profile.form) == (10_000, "samples", "SVG")
    assert profile.origin.startswith("all.svg of https://example.org/all.svg, imported 20")
    first, second = rows(bucket)
    assert set(first) == set(TABLES["profiles"])
    assert (first["path"], first["self"], first["inclusive"]) == ("main", 0.0009, 0.9999)
    assert (second["path"], second["function"]) == ("main;ns::f", "ns::f")
    assert (second["samples"], second["samples_of_all"], second["least_share"]) == (
        9990,
        10_000,
        0.001,
    )


def test_a_stored_profile_is_not_added_again_whatever_its_name_day_or_form(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    before = dict(bucket.objects)

    again = add(tmp_path, "8.8.1", flamegraph_pl(OLD), "--date", "2024-01-01", name="again.svg")

    assert again.stdout == "0 profiles added, 1 stored already.\n"
    assert bucket.objects == before
    add(tmp_path, "8.8.1", folded(OLD), "--test", "ingest")
    add(tmp_path, "9.8.4", folded(OLD))
    assert len(list(bucket.keys("profiles/"))) == 6


def test_names_with_control_characters_are_kept_and_shown_escaped(bucket, tmp_path):
    odd = {"a\x85b;\u2028;c\x1b[1m": 5, "a b;c x": 5}
    add(tmp_path, "8.8.1", folded(odd))
    add(tmp_path, "9.8.4", folded({"a b;c x": 19, "a b": 1}))

    stored = [read_stacks(bucket, each) for each in read_profiles(bucket, "rocksdb")]
    assert odd in stored
    table, said = compared()
    assert "c\\u001b[1m (50.00 % itself)" in table
    assert "\x1b" not in table + said


def test_an_import_that_is_cut_off_at_any_moment_is_completed_by_its_repetition(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    whole, moments = dict(bucket.objects), 0
    for last in range(20):
        bucket.objects.clear()
        moments = 0

        def die(last=last):
            nonlocal moments
            moments += 1
            if moments > last:
                raise KeyboardInterrupt

        bucket.moment = die
        died = CliRunner().invoke(
            command, ["import", str(tmp_path / "all.folded"), "--suite", "rocksdb", "--version",
                      "8.8.1", "--date", "2023-08-17"],
        )  # fmt: skip
        bucket.moment = lambda: None
        # Whoever reads meanwhile finds a whole profile or none.
        for each in read_profiles(bucket, "rocksdb"):
            assert read_stacks(bucket, each) == OLD
        add(tmp_path, "8.8.1", folded(OLD))
        assert bucket.objects == whole
        if died.exit_code == 0:
            break
    assert died.exit_code == 0
    assert last > 4


def test_a_profile_is_removed_and_can_be_imported_again(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    before = dict(bucket.objects)
    add(tmp_path, "9.8.4", folded(NEW), "--test", "ingest")
    (name,) = {each.name for each in read_profiles(bucket, "rocksdb") if each.test}

    removed = invoke("remove", name, "--suite", "rocksdb")

    assert removed.stdout == "Removed all.folded, a profile of 9.8.4 of test ingest.\n"
    assert bucket.objects == before
    with pytest.raises(Refused, match=rf"^PROFILE: '{name}' is not stored; there are 2023"):
        invoke("remove", name, "--suite", "rocksdb")
    assert add(tmp_path, "9.8.4", folded(NEW)).stdout.endswith(
        "1 profile added, 0 stored already.\n"
    )


def test_nothing_is_stored_if_one_of_several_files_cannot_be_read(bucket, tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(folded(OLD))
    bad.write_text("main;f")

    with pytest.raises(
        Refused, match=r"^FILE: bad: line 1: 'main;f' is not a stack with its samples"
    ):
        invoke("import", good, bad, "--suite", "rocksdb", "--version", "8.8.1")
    assert not bucket.objects


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--version", "none"), "--version: 'none' is not a version"),
        (
            ("--date", "1999-12-31"),
            "--date: 1999-12-31 is not accepted; expected a day from 2000-01-",
        ),
        (("--date", "2999-12-31"), "--date: 2999-12-31 is not accepted"),
        (("--test", "a b"), "--test: 'a b' is not accepted; expected a name such as l.i1"),
        (("--suite", "mysql"), "suite: 'mysql' is not known"),
        (("--records", "5"), "--cpu-seconds and --records go together"),
        (
            ("--cpu-seconds", "nan", "--records", "5"),
            "--cpu-seconds: nan is not accepted; expected a number of seconds",
        ),
        (("--cpu-seconds", "inf", "--records", "5"), "--cpu-seconds: inf is not accepted"),
    ],
)
def test_an_option_that_is_not_accepted_is_one_sentence(bucket, tmp_path, words, sentence):
    with pytest.raises(Refused) as refused:
        add(tmp_path, "8.8.1", folded(OLD), *words)
    assert sentence in str(refused.value)
    assert not bucket.objects


def test_a_time_is_stored_by_million_records(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD), "--cpu-seconds", "30", "--records", "20000000")

    (profile,) = read_profiles(bucket, "rocksdb")
    assert profile.seconds == 1.5


def test_shares_are_shown_by_version_as_people_read_them_off_a_flame_graph(bucket, tmp_path):
    # Versions are in the order of their numbers, and a version's profiles are added up.
    add(tmp_path, "10.1.0", folded(NEW))
    for half in (folded(OLD).replace("4030", "3030"), "low;BG;ns::Process 1000\n"):
        add(tmp_path, "9.8.4", half)

    table, sentence = figures(
        "--function", "low", "--function", "Process", "--function", "Iterate / Write"
    )
    assert table == [
        ["Version", "low", "Process", "Iterate / Write"],
        ["9.8.4", "45.77", "40.30", "54.23"],
        ["10.1.0", "41.72", "30.00", "58.28"],
    ]
    assert sentence == (
        "% of all samples, for the largest frame of the name; x: the version has none.\n"
    )
    table, sentence = figures("--under", "low", "--outside", "BG", "--function", "Process")
    assert [row[1] for row in table[1:]] == ["5.47", "11.72"]
    assert "for the largest frame of the name under low outside BG; x" in sentence
    table, sentence = figures("--function", "Process", "--sum", "--version", "10.1.0")
    assert table[1:] == [["10.1.0", "41.72"]]
    assert "for all frames of the name; x" in sentence


def test_versions_with_one_place_in_the_order_keep_all_their_profiles(bucket, tmp_path):
    # Names begin with the day, so that the profiles of both versions alternate.
    for day, version in enumerate(("1.00", "1.0", "1.00", "1.0"), start=1):
        add(tmp_path, version, f"low {day}\none 10\n", "--date", f"2024-01-0{day}")

    table, _ = figures("--function", "low", "--function", "low")
    assert table == [["Version", "low"], ["1.0", "23.08"], ["1.00", "16.67"]]


def test_a_version_without_the_function_has_an_x_and_null_in_json(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    add(tmp_path, "9.8.4", folded(NEW))

    table, _ = figures("--under", "commit", "--function", "Iterate")
    assert table[1:] == [["8.8.1", "54.23"], ["9.8.4", "x"]]
    found = invoke("show", "rocksdb", "--function", "Iterate", "--format", "json").stdout
    assert [row["Iterate"] for row in json.loads(found)] == ["54.23", None]
    page = invoke("show", "rocksdb", "--function", "Iterate", "--format", "markdown").stdout
    assert "| 9.8.4   |       x |" in page or "| x" in page


def test_towers_are_walked_up_by_children(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    add(tmp_path, "9.8.4", folded(NEW))

    assert figures()[0][0] == ["Version", "one", "low"]
    assert figures("--children-of", "low")[0] == [
        ["Version", "BG", "ns::Process"],
        ["8.8.1", "40.30", "5.47"],
        ["9.8.4", "30.00", "11.72"],
    ]
    assert figures("--children-of", "low", "--least", "12")[0][0] == ["Version", "BG"]
    below = figures("--children-of", "Process", "--under", "low", "--outside", "BG")[0]
    assert below[0] == ["Version", "ns::Next"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--under", "low"), "--under: low has no effect without --function or --children-of"),
        (("--function", "a", "--children-of", "b"), "--children-of: not accepted with --function"),
        (("--sum",), "--sum has no effect without --function"),
        (("--function", "Nothing"), "--function: no version has a frame of 'Nothing'"),
        (("--children-of", "Nothing"), "--children-of: no version has a frame of 'Nothing'"),
        (("--least", "99"), "--least: no function has 99 % of all samples in any version"),
        (("--version", "9.8.5"), "version: '9.8.5' has no profile; there are 8.8.1, 9.8.4"),
        (
            ("--test", "q100"),
            "suite: rocksdb has no profile of test q100; `tidemark profile import",
        ),
    ],
)
def test_a_question_without_an_answer_is_one_sentence(bucket, tmp_path, words, sentence):
    add(tmp_path, "8.8.1", folded(OLD))
    add(tmp_path, "9.8.4", folded(NEW))

    with pytest.raises(Refused) as refused:
        invoke("show", "rocksdb", *words)
    assert sentence in str(refused.value)


def test_a_version_with_profiles_of_another_test_is_refused_for_this_test(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD), "--test", "l.i1")
    add(tmp_path, "9.8.4", folded(NEW), "--test", "q100")

    with pytest.raises(
        Refused, match=r"^version: '9\.8\.4' has no profile of test l\.i1; there are 8\.8\.1$"
    ):
        compared("--test", "l.i1")


def test_profiles_of_several_tests_are_not_mixed(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD), "--test", "l.i1")
    add(tmp_path, "8.8.1", folded(NEW))

    with pytest.raises(
        Refused, match=r"^--test: the profiles of rocksdb are of no test, l\.i1; exp"
    ):
        invoke("show", "rocksdb")
    assert figures("--test", "l.i1", "--function", "low")[0][1] == ["8.8.1", "45.77"]


def test_profiles_of_several_units_are_not_mixed(bucket, tmp_path):
    add(tmp_path, "8.8.1", flamegraph_pl(OLD, unit="ms"), name="all.svg")
    add(tmp_path, "9.8.4", folded(OLD))

    for words in (("show", "rocksdb"), ("compare", "8.8.1", "9.8.4", "--suite", "rocksdb")):
        with pytest.raises(
            Refused, match=r"^unit: the profiles of rocksdb count ms, samples; expected one unit; "
        ):
            invoke(*words)
    # Only those of the wanted versions have to count the same.
    assert figures("--version", "8.8.1", "--function", "low")[0][1] == ["8.8.1", "45.77"]


def compared(*words, base="8.8.1", new="9.8.4"):
    done = invoke("compare", base, new, "--suite", "rocksdb", *words)
    return done.stdout, done.stderr


def test_one_profile_a_side_shows_changes_and_tells_none(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))
    add(tmp_path, "9.8.4", folded(NEW))

    table, said = compared("--format", "csv")

    first = next(csv.DictReader(io.StringIO(table)))
    assert (first["Function"], first["Time"]) == ("ns::Next", "self")
    assert (first["8.8.1 (%)"], first["9.8.4 (%)"]) == ("5.47", "11.72")
    assert first["Change (points)"] == "+6.25"
    assert {first[name] for name in ("Low (points)", "High (points)", "p")} == {""}
    assert first["Verdict"] == "cannot tell"
    (first, *_) = json.loads(compared("--format", "json")[0])
    assert [first[name] for name in ("Low (points)", "High (points)", "p")] == [None] * 3
    assert said.splitlines() == [
        "The profiles cannot tell whether a function changed, which takes 2 or more of each "
        "version: 1 profile of 8.8.1, 1 of 9.8.4.",
        "Only the profiles of 8.8.1 have Iterate (54.23 % itself).",
        "Only the profiles of 9.8.4 have Write (58.28 % itself).",
    ]


# Compaction of MyRocks: AddToOutput came in 2023 and calls what was called before.
BUILDS = {
    "2022-03-07": {"low;Process;Builder::Add": 146, "low;Process;Next": 254, "low": 9600},
    "2022-08-09": {"low;Process;Builder::Add": 194, "low;Process;Next": 318, "low": 9488},
    "2023-05-29": {
        "low;Process;Outputs::AddToOutput;Builder::Add": 400, "low;Process;Next": 581,
        "low;Process;Outputs::AddToOutput": 143, "low": 8876,
    },
}  # fmt: skip


def test_a_table_over_several_builds_has_pairs_of_names_and_the_largest_growths_first(
    bucket, tmp_path
):
    for version, stacks in BUILDS.items():
        add(tmp_path, version, folded(stacks))
    pairs = tmp_path / "pairs"
    pairs.write_text("# renamed\nOutputs::AddToOutput / Builder::Add\n\n")

    done = invoke(
        "compare", *BUILDS, "--suite", "rocksdb", "--pairs", pairs, "--format", "csv", "--all"
    )

    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    of_calls = [row for row in rows if row["Time"] == "inclusive"]
    first = [row["Function"] for row in of_calls][:3]
    assert first == ["Process", "Outputs::AddToOutput / Builder::Add", "Next"]
    assert [of_calls[1][f"{version} (%)"] for version in BUILDS] == ["1.46", "1.94", "5.43"]
    assert [row["Function"] for row in rows][:2] == [first[1], "Next"]
    assert "Only the profiles" not in done.stderr

    pairs.write_text("Gone / Never\n")
    with pytest.raises(Refused, match=r"^--pairs: no version has a function of 'Gone / Never'$"):
        compared("--pairs", pairs, base="2022-03-07", new="2023-05-29")


def test_several_profiles_a_side_tell_the_function_that_grew(bucket, tmp_path):
    for trial in range(5):
        for version, added in (("8.8.1", 0), ("9.8.4", 3000)):
            stacks = {**OLD, "low;ns::Process;ns::Next": 547 + added + 20 * trial}
            words = ("--cpu-seconds", 100 + trial + added / 100, "--records", 10_000_000)
            add(tmp_path, version, folded(stacks), *words)

    table, said = compared("--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert (rows[0]["Function"], rows[0]["Time"], rows[0]["Verdict"]) == (
        "ns::Next",
        "self",
        "grew",
    )
    assert (rows[0]["8.8.1 (%)"], rows[0]["9.8.4 (%)"]) == ("5.85", "27.51")
    assert {row["Function"]: row["Verdict"] for row in rows if row["Time"] == "self"}[
        "Iterate"
    ] == "cannot tell"
    # Programs get numbers, and people a text.
    assert all(re.fullmatch(r"[-+]?[\d.]+", number) for number in list(rows[0].values())[2:-1])
    low, high = (float(rows[0][f"{end} (points)"]) for end in ("Low", "High"))
    assert low < float(rows[0]["Change (points)"]) < high
    low, high = (float(rows[0][f"{end} (s/M records)"]) for end in ("Low", "High"))
    assert low < 3.631 - 0.5967 < high
    assert "95 % interval (points)" in compared("--format", "markdown")[0]
    assert said.startswith(
        "ns::Next itself grew from 0.5967 to 3.631 s of CPU time per million records (+"
    )


def test_flame_graphs_of_versions_and_of_a_change_are_written_as_one_page(
    bucket, tmp_path, monkeypatch
):
    monkeypatch.setattr(options, "flame_graph_scripts", lambda: "")
    add(tmp_path, "8.8.1", folded(OLD))
    add(tmp_path, "9.8.4", folded(NEW))
    page = tmp_path / "page.html"

    shown = invoke("show", "rocksdb", "--function", "low", "--output", page).stdout
    assert shown.splitlines()[-1] == str(page)
    assert re.findall("<h2>(.*?)</h2>", page.read_text()) == ["8.8.1", "9.8.4"]
    compared("--output", page)
    assert re.findall("<h2>(.*?)</h2>", page.read_text()) == [
        "9.8.4, coloured by its change since 8.8.1",
        "8.8.1, coloured by its change to 9.8.4",
    ]
    assert "<p>Only the profiles of 8.8.1 have Iterate (54.23&nbsp;% itself).</p>" in (
        page.read_text()
    )
    # The graph of each version has the frames that the other one lacks.
    assert page.read_text().count('"n":"Iterate"') == page.read_text().count('"n":"Write"') == 1
    for words in (("show", "rocksdb"), ("compare", "8.8.1", "9.8.4", "--suite", "rocksdb")):
        done = invoke(*words, "--output", page, "--format", "csv")
        assert str(page) not in done.stdout
        assert done.stderr.splitlines()[-1] == str(page)
    with pytest.raises(Refused, match=r"^--output: there is no folder "):
        compared("--output", tmp_path / "none" / "page.html")


def test_a_version_without_profiles_is_refused_and_so_is_a_version_against_itself(bucket, tmp_path):
    add(tmp_path, "8.8.1", folded(OLD))

    with pytest.raises(Refused, match=r"^BASE NEW: '8\.8\.1' is given twice; name each"):
        compared(new="8.8.1")
    with pytest.raises(Refused, match=r"^version: '9\.8\.4' has no profile; there are 8\.8\.1$"):
        compared()
