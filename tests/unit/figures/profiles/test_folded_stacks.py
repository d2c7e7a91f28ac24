"""Plain names of functions, over compilers, demanglers and profilers."""

import pytest

from tidemark.figures.profiles.folded_stacks import is_library, is_start, named, plain_name


@pytest.mark.parametrize(
    ("frame", "plain"),
    [
        ("MYSQLparse", "MYSQLparse"),
        ("rocksdb::DBIter::Next(int, char) const", "rocksdb::DBIter::Next"),
        ("rocksdb::DBIter::Next(std::function<void (int)>&&) &", "rocksdb::DBIter::Next"),
        ("void ns::BlockIter<ns::IndexValue>::Seek<int>(int)", "ns::BlockIter::Seek"),
        ("std::vector<int>* ns::f<char>(char)", "ns::f"),
        ("rocksdb::(anonymous namespace)::SkipListRep::Allocate", "rocksdb::SkipListRep::Allocate"),
        ("F(int)::{lambda(int)#1}::operator()(int) const", "F::{lambda#1}::operator()"),
        ("bool ns::operator< <char>(A const&, B const&)", "ns::operator< <char>"),
        ("ns::A::operator->() const", "ns::A::operator->"),
        ("std::ostream& operator<<(std::ostream&, int)", "operator<<"),
        ("operator new(unsigned long)", "operator new"),
        ("ns::A::operator bool() const", "ns::A::operator bool"),
        ("foo.isra.0", "foo"),
        ("foo(int) [clone .constprop.0] [clone .cold]", "foo"),
        ("main.(*T).func3", "main.(*T).func3"),
        ("main.Sort[go.shape.int]", "main.Sort"),
        ("java/lang/String.indexOf_[j]", "java/lang/String.indexOf"),
        ("<Vec<T> as ops::Drop>::drop::h0123456789abcdef", "<Vec as ops::Drop>::drop"),
        ("handle (app.py:12)", "handle (app.py)"),
        ("<module> (app.py:12)", "<module> (app.py)"),
        ("App$$Lambda$469/0x00007fb8a5acdd00.call", "App$$Lambda$469.call"),
        ("[libc.so.6]", "[libc.so.6]"),
        ("[unknown]", "[unknown]"),
        ("rocksdb:low", "rocksdb:low"),
        ("C2 CompilerThre", "C2 CompilerThre"),
        ("f(", "f("),
        ("clock_gettime@@GLIBC_2.17", "clock_gettime"),
        ("non-virtual thunk to ns::A::f(int)", "ns::A::f"),
        ("memcmp@plt", "memcmp"),
        ("ns::f<int (*)(char) -> bool>(char)", "ns::f"),
        ("f<a<b", "f<a<b"),
        ("f)>]", "f)>]"),
    ],
)  # fmt: skip
def test_a_plain_name_has_no_arguments_types_or_marks(frame, plain):
    assert plain_name(frame) == plain
    assert plain_name(plain) == plain


@pytest.mark.parametrize("marks", ["<" * 100_000, "<a" * 50_000, "(" + "&" * 100 + "x"])
def test_a_name_with_many_marks_is_read_at_once(marks):
    # Twice the marks would take four times as long, or 2^50 times.
    assert plain_name(f"f{marks}") == f"f{marks}"


@pytest.mark.parametrize(
    ("wanted", "frame", "is_it"),
    [
        ("DBIter::Seek", "rocksdb::DBIter::Seek(int)", True),
        ("DBIter::Seek", "rocksdb::ArenaWrappedDBIter::Seek", False),
        ("PutCFImpl / PutCF", "rocksdb::(anonymous namespace)::MemTableInserter::PutCF", True),
        ("func3", "main.(*T).func3", True),
        ("f<int>(int)", "f<int>(int)", True),
        ("String.indexOf", "java/lang/String.indexOf_[j]", True),
        ("rocksdb:low", "rocksdb:low", True),
        ("low", "rocksdb:low", False),
        ("my-oneconnection", "my-oneconnectio", True),
    ],
)
def test_a_function_is_named_by_the_end_of_its_name(wanted, frame, is_it):
    assert named(wanted)(frame) is is_it


@pytest.mark.parametrize(
    ("frame", "starts"),
    [
        ("_start", True),
        ("Py_RunMain", True),
        ("_PyEval_EvalFrameDefault", True),
        ("run (harness/rounds.py:12)", True),
        ("_bootstrap (threading.py:1002)", True),
        ("JavaThread::thread_main_inner()", True),
        ("java/lang/Thread.run_[j]", True),
        ("rocksdb::DB::Put", False),
        ("filter (tcms/testcases/api.py:7)", False),
        ("sleeper/ingest/Writer.write_[j]", False),
        ("PythonThing", False),
        ("mysql_insert", False),
    ],
)
def test_a_frame_of_a_start_is_known_by_its_name(frame, starts):
    assert is_start(frame) is starts


@pytest.mark.parametrize(
    ("frame", "is_of_a_system"),
    [
        ("rocksdb::MemTable::Add(int)", True),
        ("filter (tcms/testcases/api.py:7)", True),
        ("run (harness/rounds.py:12)", False),
        ("gc_collect_main", False),
        ("std::thread::_State_impl::_M_run", False),
        ("DwarfParser::addRecord", False),
    ],
)
def test_a_library_is_known_by_its_namespaces_in_a_process_of_python(frame, is_of_a_system):
    assert is_library(frame) is is_of_a_system
