"""Stacks from the files of profilers."""

import gzip

import pytest

from tests.unit.client.drawn_graphs import flamegraph_pl
from tidemark.client import profile_file
from tidemark.client.profile_file import read_profile
from tidemark.store import folded_file
from tidemark.store.folded_file import Unreadable

# Source of the form: perf-script(1); the frames are those of the RocksDB workload.
PERF = """\
# ========
# captured on: Mon Nov 23 2026

rocksdb:low 4242/4251 [007] 158665.570607:     250000 cpu-clock:pppH:
\t    7f5c8d0a1b2c rocksdb::DBIter::Next(int, char) const+0x1c (/usr/lib/librocksdb.so)
\t    7f5c8d0a1b2d std::function<void (int)>::operator()+0x1c (/usr/lib/librocksdb.so (deleted))
\t    7f5c8d0a1b2e [unknown] (/usr/lib/libc.so.6)

my server 17 [001] 158665.570608:     250000 cpu-clock:pppH:
\tffffffff81 a;b ([kernel.kallsyms])
\tffffffff82 [unknown] ([unknown])

rocksdb:low 4242/4251 [007] 158665.570609:     250000 cpu-clock:pppH:
\t    7f5c8d0a1b2c rocksdb::DBIter::Next(int, char) const+0x1c (/usr/lib/librocksdb.so)
\t    7f5c8d0a1b2d std::function<void (int)>::operator()+0x1c (/usr/lib/librocksdb.so (deleted))
\t    7f5c8d0a1b2e [unknown] (/usr/lib/libc.so.6)

"""
PERF_STACKS = {
    "rocksdb:low;[libc.so.6];std::function<void (int)>::operator();"
    "rocksdb::DBIter::Next(int, char) const": 2,
    "my_server;[unknown];a:b": 1,
}
FOLDED = "main;f (int) 3\nmain;B.run_[j] 4\n\nmain;f (int) 2\n"
FOLDED_STACKS = {"main;f (int)": 5, "main;B.run_[j]": 4}


def varint(number):
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packed(*numbers):
    return b"".join(map(varint, numbers))


def pprof(types=((1, 2), (3, 4)), default=0):
    """Return a profile of two functions, one of them inlined into the other, as Go writes it."""
    texts = [b"", b"samples", b"count", b"cpu", b"nanoseconds", b"main.main", b"main.(*T).func3"]
    return b"".join(
        [
            *(field(1, field(1, kind) + field(2, unit)) for kind, unit in types),
            field(2, field(1, packed(2, 1)) + field(2, packed(3, 30_000_000))),
            # An older writer does not pack numbers.
            field(2, field(1, 3) + field(2, 1) + field(2, 10_000_000)),
            field(4, field(1, 1) + field(4, field(1, 1) + field(2, 12))),
            field(4, field(1, 2) + field(4, field(1, 2)) + field(4, field(1, 1))),
            field(4, field(1, 3) + field(3, 0xABC)),
            *(field(5, field(1, number) + field(2, number + 4)) for number in (1, 2)),
            *(field(6, text) for text in texts),
            varint(9 << 3 | 1) + bytes(8),
            field(14, default),
        ]
    )


GO = "main.main;main.main;main.(*T).func3"


@pytest.fixture
def read(tmp_path):
    def read(content):
        file = tmp_path / "profile"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_profile(file)

    return read


@pytest.mark.parametrize(
    ("content", "form", "stacks"),
    [
        (FOLDED, "folded", FOLDED_STACKS),
        (PERF, "perf script", PERF_STACKS),
        (pprof(), "pprof", {GO: 3, "[0xabc]": 1}),
        (flamegraph_pl({"main;f": 2}), "SVG", {"main;f": 2}),
    ],
)
def test_the_content_tells_the_form_also_if_it_is_packed(read, content, form, stacks):
    content = content if isinstance(content, bytes) else content.encode()
    for body in (content, gzip.compress(content)):
        found = read(body)
        assert (found.form, found.stacks) == (form, stacks)


def perf_table(*samples, time=" 1234.567890:"):
    """Return what perf script prints of samples without stacks: period, and function."""
    return "".join(
        f"{command:>16} 12345 {time} {period} cycles:P:          4005f6 {function}+0x7 (/app)\n"
        for command, period, function in samples
    )


@pytest.mark.parametrize("time", ["1234.567890:", "[003] 1234.567890:", "[003] d..1. 12.3:", ""])
def test_the_samples_of_perf_script_have_their_periods_as_weights(read, time):
    table = perf_table(
        ("app", "36000000", "handle_intel"), ("bad", "60000000", "main"),
        ("app", "4000000", "main"), time=time,
    )  # fmt: skip
    stacked = "".join(
        f"{line.partition(':P:')[0].strip()}:P:\n\t{line.partition(':P:')[2].strip()}\n\n"
        for line in table.splitlines()
    )
    for content in (table, stacked):
        found = read(content)
        assert found.stacks == {
            "app;handle_intel": 36_000_000, "bad;main": 60_000_000, "app;main": 4_000_000,
        }  # fmt: skip
        assert (found.form, found.unit, found.drawn) == ("perf script", "cycles", 3)


@pytest.mark.parametrize("period", ["10101010", ""])
def test_samples_of_equal_periods_or_none_count_once(read, period):
    names = ["foo", "bar", "foo"]
    found = read(perf_table(*[("app", period, name) for name in names]))
    assert (found.stacks, found.unit, found.drawn) == ({"app;foo": 2, "app;bar": 1}, "samples", 3)


def test_a_byte_order_mark_and_remarks_are_no_frames(read):
    assert read("\ufeffmain;a 10\n# remark\nmain;a 2\n").stacks == {"main;a": 12}
    with pytest.raises(Unreadable, match=r"^line 1: 'main;a' is not a stack"):
        read("\ufeffmain;a\n")


def test_counts_with_fractions_are_kept_in_millionths(read):
    found = read("main;a 2\nmain;b 1.5\nmain;a 0.25")

    assert found.stacks == {"main;a": 2_250_000, "main;b": 1_500_000}
    assert (found.unit, found.drawn) == ("millionths of a sample", 3)


def test_the_last_line_of_a_file_needs_no_end(read):
    assert read("main;a 10\nmain;a 12").stacks == {"main;a": 22}


def test_frames_without_names_and_control_characters_of_lines_are_replaced(read):
    content = "main;;f\tg 3\n;main;f\rg; 4\nmain;;f\tg 2\n7 5\nmain;f-1 1\n"

    assert read(content).stacks == {
        "main;[unknown];f g": 5,
        "[unknown];main;f g;[unknown]": 4,
        "7": 5,
        "main;f-1": 1,
    }


def test_a_profile_without_numbers_of_samples_has_its_default_values_or_its_last(read):
    default = read(pprof(types=((3, 4), (2, 2)), default=3))
    assert (default.stacks[GO], default.unit) == (3, "nanoseconds")
    last = read(pprof(types=((3, 4), (2, 2))))
    assert (last.stacks[GO], last.unit) == (30_000_000, "count")


def test_the_unit_of_a_profile_is_that_of_its_values(read):
    assert read(pprof()).unit == "samples"
    assert read(pprof(types=((2, 4), (3, 0)))).unit == "cpu"
    with pytest.raises(Unreadable, match="a part that it names is missing"):
        read(pprof(types=((3, 99),)))


# Without a time of packing: the names of tests have the bytes.
PACKED = gzip.compress(FOLDED.encode() * 50, mtime=0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "it is empty; expected folded stacks, perf script, pprof or a flame graph as an SVG"),
        (" \n\n", "it is empty"),
        (gzip.compress(b"", mtime=0), "it is empty"),
        ("main;f 0\n", "it has no samples"),
        ("main;f 3\nmain;g", "line 2: 'main;g' is not a stack with its samples"),
        ("main;f 3\nmain;g\n", "line 2: 'main;g' is not a stack with its samples"),
        (
            "main;f 3 4\n",
            "line 1: 'main;f 3 4' has two counts, as difffolded.pl writes them; expected one",
        ),
        ("version,rate\n8.8.1,12\n", "line 1: 'version,rate' is not a stack with its samples"),
        ("main;f 3\nmain;\xff 3\n".encode("latin-1"), "line 2: it is not text in UTF-8"),
        (f"{'a' * (1 << 20)} 3\n", "line 1: it has more than 1,048,576 bytes"),
        (PACKED[:-12], "its gzip ends too early; expected a whole file"),
        (PACKED[:20] + b"\xff\xff\xff" + PACKED[23:], "its gzip is damaged"),
        (
            b"PERFILE2" + bytes(90),
            "it is perf.data; `perf script` writes its text; expected folded",
        ),
        (b"FLR\0" + bytes(90), "it is a recording of Java's Flight Recorder"),
        (pprof()[:-40], "its protocol buffer ends too early; expected a whole file"),
        (pprof(types=()), "it is not a profile of pprof: it has no types of values"),
        (pprof().replace(field(1, 3) + field(2, 1), field(1, 9) + field(2, 1)), "a part that it"),
        (b"\x7fELF\x02\x01\x01\x00" + b"\x0f" * 40, "it is neither text nor a profile of pprof"),
        (PERF.replace("\tffffffff82", "\tno frame"), "' is not a frame of perf script"),
        (PERF + "x\n", "line 18: 'x' is not a sample of perf script"),
        (
            PERF.replace("570608:     250000", "570608:"),
            "line 9: only some samples have a period; expected all or none",
        ),
        (
            pprof().replace(
                field(2, field(1, 3) + field(2, 1) + field(2, 10_000_000)),
                field(2, field(1, 3) + field(2, 2**64 - 1) + field(2, 10_000_000)),
            ),
            "it has negative values, as a difference has; expected a profile",
        ),
        (
            PERF.replace("570608:     250000 cpu-clock", "570608: 250000 cycles"),
            "the samples are of cpu-clock:pppH and cycles:pppH; expected one event",
        ),
        (f"main;f {2**62}\nmain;g {2**62}\nmain;h {2**62}\n", "not a stack with its samples"),
        ("".join(f"main;f{n} {10**18 - 1}\n" for n in range(10)), "it has more than 9,223,"),
    ],
)
def test_a_file_that_is_no_whole_profile_is_one_sentence(read, content, sentence):
    with pytest.raises(Unreadable) as refused:
        read(content)

    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 200


def test_the_size_of_a_file_and_of_its_stacks_is_bound(read, monkeypatch):
    monkeypatch.setattr(folded_file, "MOST_BYTES", 1000)
    for body in (FOLDED.encode() * 50, gzip.compress(FOLDED.encode() * 50)):
        with pytest.raises(Unreadable, match=r"^it has more than 1,000 bytes, unpacked$"):
            read(body)
    monkeypatch.setattr(profile_file, "_MOST_AT_ONCE", 100)
    with pytest.raises(Unreadable, match=r"^it has more than 100 bytes, unpacked$"):
        read(pprof())
    monkeypatch.undo()
    with pytest.raises(Unreadable, match=r"^it has a sample of more than 65,536 bytes$"):
        read(pprof() + field(2, field(1, bytes(70_000))))
    monkeypatch.setattr("tidemark.client.pprof._LONGEST_STACK", len(GO))
    with pytest.raises(Unreadable, match=rf"^it has a stack of more than {len(GO)} characters$"):
        read(pprof())
    monkeypatch.setattr("tidemark.client.pprof._LONGEST_STACK", len(GO) + 1)
    assert read(pprof()).stacks[GO] == 3
    monkeypatch.setattr("tidemark.client.pprof._MOST_PARTS", 10)
    with pytest.raises(Unreadable, match=r"^it has more than 10 samples and names$"):
        read(pprof())
    monkeypatch.setattr(folded_file, "_MOST_CHARACTERS", 20)

    assert read("main;f 1\nmain;f 2\nmain;g 1\n").stacks.total() == 4
    with pytest.raises(Unreadable, match="different stacks have more than 20 characters"):
        read("main;f 1\nmain;f 2\nmain;g 1\nmain;much_longer 1\n")
    monkeypatch.setattr(folded_file, "_MOST_STACKS", 1)
    with pytest.raises(Unreadable, match=r"^it has more than 1 different stacks$"):
        read("main;f 1\nmain;f 2\nmain;g 1\n")


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(Unreadable, match=r"^it cannot be read: No such file or directory$"):
        read_profile(tmp_path / "none")
    with pytest.raises(Unreadable, match=r"^it cannot be read: Is a directory$"):
        read_profile(tmp_path)
