"""The acts of the attackers, and the table of them in docs/security.md.

An act of a task or of another user is a Python expression, which breaks through if it raises no
error. `folder` is the state folder, `target` a path in it, `cloud` the id of the cloud's process,
`port` the endpoint's and `runtime` that of a function's Runtime API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TARGETS = (
    *("", "cloud.json", "objects/index.sqlite", "objects/index.sqlite-wal", "objects/bodies"),
)
_OPENED: Mapping[str, Sequence[str]] = {
    "reads and writes": (
        "os.open(target, os.O_RDONLY)", "os.open(target, os.O_WRONLY)",
        "os.truncate(target, 0)", "os.rename(target, beside)", "os.link(target, beside)",
        "(os.rmdir if os.path.isdir(target) else os.unlink)(target)",
    ),
    "modes and owners": (
        "os.chmod(target, 0o777)", "os.chmod(target, 0)", "os.chown(target, 65534, 65534)",
        "os.lchown(target, 65534, -1)",
    ),
    "times and attributes": (
        "os.utime(target, (0, 0))", "os.setxattr(target, 'user.mine', b'1')",
    ),
}  # fmt: skip
_NAMES = (
    "os.mkdir(f'{folder}/new')", "os.mkfifo(f'{folder}/new')", "os.symlink('/', f'{folder}/new')",
    "open(f'{folder}/objects/bodies/new', 'w')", "os.mknod(f'{folder}/new')",
    "os.stat(f'{folder}/cloud.json')", "os.listdir(f'{folder}/objects')",
    "os.chdir(f'{folder}/objects')", "os.rename(folder, folder + '.moved')",
    "os.symlink('/tmp', folder + '.again') or os.rename(folder + '.again', folder)",
)  # fmt: skip
_PATHS = (
    "open(f'/proc/self/root{folder}/cloud.json')", "open(f'/proc/{cloud}/root{folder}/cloud.json')",
    "open(f'{scratch}/../../cloud.json')", "os.chmod(f'{scratch}/../../cloud.json', 0o666)",
    "os.symlink(folder, f'{scratch}/link') or open(f'{scratch}/link/cloud.json')",
    "os.readlink(f'/proc/{cloud}/fd/0')", "os.listdir(f'/proc/{cloud}/cwd')",
)  # fmt: skip
_MOUNTS = (
    "system('umount', folder)", "system('umount', '--lazy', folder)",
    "system('mount', '--bind', '/tmp', folder)", "system('mount', '-o', 'remount,rw', folder)",
    "system('unshare', '--user', '--map-root-user', '--mount', 'umount', folder)",
    "system('nsenter', '--target', str(cloud), '--mount', 'true')",
    "open(f'/proc/{cloud}/ns/mnt')",
)  # fmt: skip
_PROCESSES = (
    "os.kill(cloud, 0)", "os.kill(cloud, signal.SIGSTOP)", "os.kill(cloud, signal.SIGKILL)",
    "open(f'/proc/{cloud}/mem', 'rb')", "traced(cloud)", "open(f'/proc/{cloud}/mem', 'r+b')",
)  # fmt: skip
_REQUESTS = (
    "asked(port, 'GET', '/')", "asked(port, 'GET', '/results/plan')",
    "asked(port, 'POST', '/moto-api/reset')", "asked(port, 'DELETE', '/results/plan')",
    "asked(port, 'GET', '/', Host='localhost')", "asked(port, 'GET', '/', Authorization='AWS4')",
    "asked(port, 'GET', '/', Authorization=forged)",
    "asked(port, 'POST', '/', **{'Content-Length': str(1 << 50)})",
    "asked(runtime, 'GET', '/2018-06-01/runtime/invocation/next')",
    "asked(runtime, 'POST', '/2018-06-01/runtime/invocation/0/response')",
    "asked(runtime, 'POST', '/2018-06-01/runtime/init/error')",
    "garbage(port, b'\\x00' * 100_000)", "garbage(port, b'GET / HTTP/9.9\\r\\n\\r\\n')",
    "garbage(runtime, b'POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n')",
)  # fmt: skip
LEFT = (
    ("setsid", "sleep", "600"),
    ("setsid", "env", "-i", "sleep", "600"),
    ("env", "-i", "nohup", "setsid", "sh", "-c", "sleep 600 & sleep 600"),
    ("setsid", "--fork", "env", "-i", "sh", "-c", "trap '' TERM INT HUP; sleep 600"),
)
"""Programs that a task starts and leaves behind."""


class Act(NamedTuple):
    """An act: its class, its expression and the path in the state folder that it is about."""

    kind: str
    expression: str
    target: str = ""


def of_task() -> Iterator[Act]:
    """Yield the acts of a task, which runs as the user."""
    yield from _on_files()
    for kind, expressions in {
        "new names and listings": _NAMES,
        "other paths to the folder": _PATHS,
        "mounts and namespaces": _MOUNTS,
        "the cloud's process": _PROCESSES,
        "requests": _REQUESTS,
    }.items():
        yield from (Act(kind, expression) for expression in expressions)


def of_stranger() -> Iterator[Act]:
    """Yield the acts of another user."""
    yield from _on_files()
    yield from (Act("new names and listings", expression) for expression in _NAMES)
    yield from (Act("the cloud's process", expression) for expression in _PROCESSES)
    yield from (Act("requests", expression) for expression in _REQUESTS)


def _on_files() -> Iterator[Act]:
    for kind, expressions in _OPENED.items():
        yield from (Act(kind, each, target) for each in expressions for target in TARGETS)


_DEEP = 3_000
_MANY = "(VALUES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"
STATEMENTS: Mapping[str, Sequence[str]] = {
    "depth": [
        f"SELECT {'(' * _DEEP}1{')' * _DEEP}", f"SELECT {'NOT ' * _DEEP}true",
        f"SELECT {'- ' * _DEEP}1", f"SELECT {'CASE WHEN true THEN ' * _DEEP}1{' END' * _DEEP}",
        f"SELECT {'abs(' * _DEEP}1{')' * _DEEP}", f"SELECT 1{' + 1' * _DEEP}",
        f"SELECT {'ARRAY[' * _DEEP}1{']' * _DEEP}",
        f"SELECT {'EXISTS (SELECT ' * _DEEP}1{')' * _DEEP}",
        f"SELECT CAST(NULL AS {'array(' * _DEEP}bigint{')' * _DEEP})",
        f"{'SELECT * FROM (' * _DEEP}SELECT 1 AS a{')' * _DEEP}", f"SELECT ARRAY[1]{'[1]' * _DEEP}",
        f"SELECT 'a'{' || chr(98)' * _DEEP}",
    ],
    "size": [
        f"SELECT count(*) FROM {', '.join(f'{_MANY} AS t{n}(x{n})' for n in range(13))}",
        f"SELECT array_agg(x0 + x1) FROM {', '.join(f'{_MANY} AS t{n}(x{n})' for n in range(9))}",
        f"SELECT x0, x1 FROM {', '.join(f'{_MANY} AS t{n}(x{n})' for n in range(8))}",
        f"SELECT x0 FROM {', '.join(f'{_MANY} AS t{n}(x{n})' for n in range(9))} ORDER BY x8",
        "SELECT lpad('a', 1000000000, 'b')", "SELECT sequence(1, 1000000000)",
        f"SELECT {', '.join(['1'] * _DEEP)}", f"SELECT 1 IN ({', '.join(map(str, range(_DEEP)))})",
        " UNION ALL ".join(["SELECT 1"] * 500),
    ],
    "other files, settings and statements": [
        "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'", "SELECT * FROM \"/etc/passwd\"", "SELECT * FROM glob('/*')",
        "SELECT * FROM duckdb_settings()", "SELECT getenv('HOME')", "SELECT current_setting('a')",
        "COPY (SELECT 1) TO '/tmp/x'", "ATTACH '/tmp/x.db'", "INSTALL httpfs", "LOAD httpfs",
        "SET threads = 99", "PRAGMA database_list", "CREATE TABLE x AS SELECT 1",
        "DROP TABLE rates", "SELECT 1; SELECT 2", "EXPLAIN SELECT 1", "CALL pragma_version()",
        "EXPORT DATABASE '/tmp/x'", "SELECT * FROM sniff_csv('/etc/passwd')", "VACUUM",
    ],
    "odd text": [
        "", " ", ";", "--", "/*", "'", '"', "\x00", "SELECT '\x00'", "SELECT \ud800",
        "SELECT " + "a" * 200_000, "SELECT U&'\\zzzz'", "SELECT X'0'", "SELECT 1e999999999",
        "SELECT 9" + "9" * 5_000, "SELECT '\u202e'", "SELECT 1 " + "/* */ " * _DEEP,
    ],
}  # fmt: skip


def table() -> str:
    """Return the table of all acts, in Markdown: all held, or the test of them fails."""
    counts = {
        "a task": Counter(act.kind for act in of_task()) | {"processes that it leaves": len(LEFT)},
        "another user": Counter(act.kind for act in of_stranger()),
        "a statement": {kind: len(texts) for kind, texts in STATEMENTS.items()},
        "a file": {kind: len(each) * len(HARMED) for kind, each in FILES.items()},
    }
    rows = [
        f"| {attacker} | {kind} | {tries} | {tries} |"
        for attacker, kinds in counts.items()
        for kind, tries in kinds.items()
    ]
    total = sum(sum(kinds.values()) for kinds in counts.values())
    head = ["| attacker | class | tries | held |", "|---|---|--:|--:|"]
    return "\n".join([*head, *rows, f"| | all | {total} | {total} |"])


FILES: Mapping[str, Sequence[str]] = {
    "contents": ("empty", "zeros", "random", "cut", "doubled", "grown", "lines", "brackets"),
    "kinds": ("missing", "folder", "dangling link", "loop of links", "device"),
}
"""The harms to each file of a state folder, by their names in `harms`."""
HARMED = ("objects/index.sqlite", "objects/bodies/*", "logs/*", "cloud.json")


def page(root: Path) -> Path:
    """Return the page with the table."""
    return root / "docs" / "security.md"


if __name__ == "__main__":
    print(table())
