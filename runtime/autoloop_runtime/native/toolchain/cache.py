"""Compiled code on disk, so that the next process need not compile it again.

A folder of the user's own, closed to others. An entry is the hash of its content and the content; it is written under a
temporary name and renamed, so a reader sees all of it or nothing, and what does not have its hash is made again.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import warnings

from ...base import background
from ...base.cache_folder import FOLDER, OPT_OUT, cache_folder, content_of, is_named, problem, put
from ...base.native_extra import UnusableCacheWarning

#: when the folder holds more bytes than ``LIMIT`` the entries used least recently go, and make ``ROOM`` for others
LIMIT = 256 << 20
ROOM = LIMIT // 8
#: how much may be stored, on the average, between two looks at all that there is; and what an entry takes at least
LOOK, BLOCK = LIMIT // 64, 4096
_HASH = 32


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 of ``data``.

    ``hashlib`` loads OpenSSL for it, which takes longer than to read an entry; where the interpreter has it itself, in
    a module that was renamed in 3.12, that is not needed.
    """
    for name in ("_sha2", "_sha256"):
        with contextlib.suppress(ImportError, AttributeError):
            return bytes(importlib.import_module(name).sha256(data).digest())
    return bytes(importlib.import_module("hashlib").sha256(data).digest())


class DiskCache:
    """The cache in one folder.

    Parameters
    ----------
    folder : str or os.PathLike
        Made with mode 0700 when the first entry is stored.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.o")

    def load(self, key: str) -> bytes | None:
        """Return the entry ``key``; ``None`` if there is none that is whole."""
        path = self._path(key)
        try:
            if problem(self.folder):
                return None
            data = content_of(path)
        except OSError:
            return None
        found, content = data[:_HASH], data[_HASH:]
        if sha256(key.encode() + content) != found:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def store(self, key: str, content: bytes) -> None:
        """Keep ``content``; a disk that is full or read-only is no error."""
        found = sha256(key.encode() + content)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if problem(self.folder):
                return
            put(self._path(key), found + content)
            # to look at all there is takes long: so that is done now and then, as the hash has it
            if int.from_bytes(found[:8], "big") * LOOK < max(len(content), BLOCK) << 64:
                self._trim()
        except OSError:
            pass

    def _trim(self) -> None:
        """Remove what was used least recently if there is too much."""
        entries = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):  # another process trims, too
                found = entry.stat(follow_symlinks=False)
                entries.append((found.st_mtime, max(found.st_size, BLOCK), entry.path))
        total = sum(size for _, size, _ in entries)
        if total <= LIMIT:
            return
        for _, size, path in sorted(entries):
            if total <= LIMIT - ROOM:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def default_cache() -> DiskCache | None:
    """Return the cache that the environment asks for; ``None`` if it wants none, or there is no place for it."""
    folder = cache_folder("native")
    if folder is None:
        return None
    if is_named():
        _say_once(folder)
    return DiskCache(folder)


#: folders of which it was said what is wrong with them; of two threads at the same time each may say it
_said: set[str] = set()


def _say_once(folder: str) -> None:
    """Warn of a folder that the user named and that will not do."""
    if folder in _said:
        return
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        why = problem(folder)
        if not why and not os.access(folder, os.W_OK | os.X_OK):
            why = "cannot be written to"
    except OSError as error:
        why = f"cannot be used: {error.strerror}"
    if not why:
        return
    _said.add(folder)
    told = f"{FOLDER}={folder} {why}; compiled code is not kept ({OPT_OUT}=0 if that is what you want)"
    try:
        warnings.warn(told, UnusableCacheWarning, stacklevel=2)
    except UnusableCacheWarning:  # warnings are errors here; for a job there is nobody to catch it
        if not background.is_here():
            raise
