"""Control groups of versions 1 and 2, in folders that look like the kernel's."""

import subprocess
import sys
from pathlib import Path

import pytest

from onebox.cloud.cgroups import Groups, Limits, NotWritableError, hierarchy, remove_left

QUOTAS = {"cpu.max", "cpu.cfs_quota_us"}
HALF = Limits(cpu=0.5, memory_bytes=1 << 30)


@pytest.fixture
def kernel(tmp_path):
    """Return a function that makes the files of a kernel."""

    def kernel(groups, mounts, *folders):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
        (tmp_path / "proc/self/mounts").write_text(mounts)
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True)
        return tmp_path

    return kernel


@pytest.fixture
def version_1(kernel):
    return kernel(
        "4:memory:/jobs\n1:cpu,cpuacct:/back\n0::/\n",
        "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0\n"
        "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n",
        *("sys/fs/cgroup/cpu/back", "sys/fs/cgroup/memory/jobs", "sys/fs/cgroup/unified"),
    )


def written(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_version_1_limits_cpu_and_memory_below_the_groups_of_this_process(version_1):
    cpu, memory = Groups.make("a", HALF, version_1).folders

    assert cpu == version_1 / "sys/fs/cgroup/cpu/back/tidemark-a"
    assert written(cpu) == {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
    assert memory == version_1 / "sys/fs/cgroup/memory/jobs/tidemark-a"
    assert written(memory) == {"memory.limit_in_bytes": "1073741824"}


def test_version_2_limits_both_in_one_group_beside_that_of_this_process(kernel):
    root = kernel("0::/user/app\n", "none /cg cgroup2 rw 0 0\n", "cg/user/app")
    (root / "cg/user/cgroup.subtree_control").write_text("cpu memory pids\n")

    (folder,) = Groups.make("a", HALF, root).folders

    assert folder == root / "cg/user/tidemark-a"
    assert written(folder) == {"cpu.max": "50000 100000", "memory.max": "1073741824"}


def test_a_group_has_no_swap_if_the_kernel_counts_it(version_1, monkeypatch):
    make = Path.mkdir

    def make_with_file(folder, **options):
        make(folder, **options)
        (folder / "memory.memsw.limit_in_bytes").touch()

    monkeypatch.setattr(Path, "mkdir", make_with_file)
    (memory,) = Groups.make("a", Limits(memory_bytes=1 << 30), version_1).folders

    assert written(memory)["memory.memsw.limit_in_bytes"] == "1073741824"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"),
        ("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill {}\noom_group_kill 0\n"),
    ],
)
@pytest.mark.parametrize("killed", [0, 2])
def test_the_kernel_tells_whether_memory_ran_out(tmp_path, file, text, killed):
    (tmp_path / file).write_text(text.format(killed))

    assert Groups([tmp_path]).out_of_memory() == bool(killed)


def test_nothing_is_known_of_groups_without_a_limit_of_memory_or_on_an_old_kernel(tmp_path):
    assert not Groups([tmp_path]).out_of_memory()

    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\n")
    assert not Groups([tmp_path]).out_of_memory()


def test_no_limit_needs_no_group(kernel):
    assert Groups.make("a", Limits(), kernel("", "")).folders == []


@pytest.mark.parametrize(
    ("groups", "mounts", "folder"),
    [
        ("", "", "cg"),
        ("0::/app\n", "none /cg cgroup2 rw 0 0\n", "cg/app"),  # no controller is passed on
        ("1:cpu:/gone\n", "cgroup /cg cgroup rw,cpu 0 0\n", "cg"),
    ],
)
def test_a_resource_that_cannot_be_limited_is_named(kernel, groups, mounts, folder):
    with pytest.raises(NotWritableError, match=r"cpu: no group|gone: not writable"):
        hierarchy("cpu", kernel(groups, mounts, folder))


def test_a_second_group_of_a_name_leaves_nothing_behind(version_1):
    taken = version_1 / "sys/fs/cgroup/memory/jobs/tidemark-a"
    taken.mkdir()

    with pytest.raises(NotWritableError, match="File exists"):
        Groups.make("a", HALF, version_1)

    # A real group is removed with its files, and a folder is not.
    assert written(version_1 / "sys/fs/cgroup/cpu/back/tidemark-a").keys() == {
        "cpu.cfs_period_us", "cpu.cfs_quota_us",
    }  # fmt: skip


def test_groups_that_a_killed_process_left_are_removed(version_1):
    left = version_1 / "sys/fs/cgroup/cpu/back/tidemark-b"
    left.mkdir()
    other = left.with_name("other")
    other.mkdir()

    remove_left(version_1)

    assert (left.exists(), other.exists()) == (False, True)


def test_a_program_enters_every_group_before_it_starts(tmp_path):
    groups = Groups([tmp_path / "cpu", tmp_path / "memory"])
    for folder in groups.folders:
        folder.mkdir()

    command = groups.entered([sys.executable, "-c", "print('x  y')"])
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "x  y\n"
    assert [(folder / "cgroup.procs").read_text() for folder in groups.folders] == ["0\n", "0\n"]


def test_the_kernel_limits_what_a_program_starts():
    try:
        hierarchy("cpu")
    except NotWritableError as error:
        pytest.skip(f"this machine limits nobody's CPU: {error}")
    groups = Groups.make("test", Limits(cpu=0.25))
    (folder,) = groups.folders
    nested = ["/bin/sh", "-c", '"$@"; :', "sh", "cat", "/proc/self/cgroup"]

    done = subprocess.run(groups.entered(nested), capture_output=True, text=True, check=True)
    quota = [file.read_text() for file in folder.iterdir() if file.name in QUOTAS]
    groups.remove()

    assert f"/{folder.name}\n" in done.stdout
    assert quota[0].split()[0] == "25000"
    assert not folder.exists()
