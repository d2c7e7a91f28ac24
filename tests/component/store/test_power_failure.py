"""The objects of a folder after a power failure at any moment of their changes."""

import os
import shutil
from pathlib import Path
from random import Random

from onebox.store.object_files import ObjectFiles
from tests.system.faults.power.disk import Disk

CUTS = 40


class Recorder:
    """The file operations of this process below a folder; the power may fail at each.

    SQLite's own operations are not seen: a commit is on its disk. ``recorded`` is called at every
    other one.
    """

    def __init__(self, root, monkeypatch, recorded):
        self._root, self._disk, self._recorded = root, Disk(), recorded
        self._known = {}
        for name in ("rename", "replace"):
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name), self._renamed))
        monkeypatch.setattr(os, "unlink", self._wrapped(os.unlink, self._removed))
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name), self._synced))

    def _wrapped(self, operation, record):
        def wrapped(*arguments, **options):
            self._observe()
            operation(*arguments, **options)
            record(*arguments)
            self._recorded(self._disk)

        return wrapped

    def _observe(self):
        """Record the files and folders that are new, and the bytes that were written."""
        for path in sorted(self._root.rglob("*")):
            name = self._name(path)
            if path.name.startswith("index.sqlite"):
                continue
            if path.is_dir():
                if name not in self._known:
                    self._disk.make_folder(name)
                    self._known[name] = None
                continue
            if name not in self._known:
                self._disk.create(name)
            content = path.read_bytes()
            if self._known.get(name) != content:
                self._disk.truncate(name, 0)
                self._disk.write(name, 0, content)
            self._known[name] = content

    def _renamed(self, old, new):
        self._disk.rename(self._name(old), self._name(new))
        self._known[self._name(new)] = self._known.pop(self._name(old))

    def _removed(self, path):
        self._disk.remove(self._name(path))
        self._known.pop(self._name(path))

    def _synced(self, descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        self._disk.sync(self._name(path))

    def _name(self, path):
        return os.path.relpath(path, self._root)


class Scene:
    """Changes of a folder of objects, with an image of the disk at each file operation."""

    def __init__(self, folder, monkeypatch):
        self.root, self.images = folder / "state", []
        self._folder, self._chance = folder, Random(15)
        self.acknowledged, self.next = {}, {}
        self.root.mkdir()
        with monkeypatch.context() as patched:
            Recorder(self.root, patched, self._fail)
            for _ in range(2):
                self._change()

    def _fail(self, disk):
        image = self._folder / f"image-{len(self.images)}"
        image.mkdir()
        disk.fail(image, self._chance)
        if (image / "objects").is_dir():
            for file in (self.root / "objects").glob("index.sqlite*"):
                shutil.copy(file, image / "objects")
        self.images.append((image, self.acknowledged, self.next))

    def _change(self):
        files = ObjectFiles(self.root / "objects")
        self._remove(files, "k3")
        for number in range(3):
            self._put(files, f"k{number % 2}", b"%d" % number)
        self._put(files, "k2", b"removed soon")
        self._remove(files, "k2")
        with files.transaction():
            self._put(files, "k3", b"first", ended=False)
            self._put(files, "k3", b"last", ended=False)
            self._remove(files, "k1", ended=False)
        self.acknowledged = self.next
        files.close()

    def _put(self, files, key, content, *, ended=True):
        self.next = {**self.next, key: content}
        files.save("results", key, files.write([content]), {})
        self.acknowledged = self.next if ended else self.acknowledged

    def _remove(self, files, key, *, ended=True):
        """Remove an object, which need not exist."""
        self.next = {name: content for name, content in self.next.items() if name != key}
        files.remove("results", key)
        self.acknowledged = self.next if ended else self.acknowledged


def contents(folder):
    files = ObjectFiles(folder)
    found = {key: body.read(key) for key, body, _ in files.objects("results")}
    files.close()
    return found


def test_every_acknowledged_change_outlives_a_power_failure_at_any_moment(tmp_path, monkeypatch):
    scene = Scene(tmp_path, monkeypatch)

    assert len(scene.images) > CUTS
    for image, acknowledged, following in scene.images:
        found = contents(image / "objects")
        assert found in (acknowledged, following), image
        files = ObjectFiles(image / "objects")
        files.save("results", "after", files.write([b"after"]), {})
        files.close()
        assert contents(image / "objects") == {**found, "after": b"after"}
