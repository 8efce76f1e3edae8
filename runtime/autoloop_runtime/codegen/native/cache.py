"""Compiled code on disk, so that the next process need not compile it again.

A folder of the user's own, closed to others. An entry is the hash of its content and the content; it is written under a
temporary name and renamed, so a reader sees all of it or nothing, and what does not have its hash is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

#: set to 0 to keep nothing on disk
OPT_OUT = "AUTOLOOP_CACHE"
#: a folder for the cache, instead of the usual one
FOLDER = "AUTOLOOP_CACHE_DIR"
#: when the folder holds more bytes than this the entries used least recently go
LIMIT = 256 << 20
_HASH = 32


class DiskCache:
    """The cache in one folder.

    Parameters
    ----------
    folder : Path
        Made with mode 0700 when the first entry is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.o"

    def load(self, key: str) -> bytes | None:
        """The entry ``key``; ``None`` if there is none that is whole."""
        try:
            if not _is_private(self.folder):
                return None
            path = self._path(key)
            data = path.read_bytes()
        except OSError:
            return None
        found, content = data[:_HASH], data[_HASH:]
        if hashlib.sha256(key.encode() + content).digest() != found:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def store(self, key: str, content: bytes) -> None:
        """Keep ``content``; a disk that is full or read-only is no error."""
        data = hashlib.sha256(key.encode() + content).digest() + content
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not _is_private(self.folder):
                return
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, self._path(key))
            except BaseException:
                os.unlink(temporary)
                raise
            self._trim()
        except OSError:
            pass

    def _trim(self) -> None:
        entries = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in os.scandir(self.folder)]
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= LIMIT:
                break
            os.unlink(path)
            total -= size


def _is_private(folder: Path) -> bool:
    """True if nobody else can have written there."""
    if os.name != "posix":
        return folder.is_dir()
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def default_cache() -> DiskCache | None:
    """The cache that the environment asks for; ``None`` if it wants none."""
    if os.environ.get(OPT_OUT, "1") == "0":
        return None
    given = os.environ.get(FOLDER)
    if given:
        return DiskCache(Path(given))
    home = Path.home()
    usual = {
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
        "darwin": home / "Library" / "Caches",
    }.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache"))
    return DiskCache(usual / "autoloop" / "native")
