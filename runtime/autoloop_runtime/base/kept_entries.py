"""Entries in a folder on disk, of what the next process then need not make again.

A folder of the user's own, closed to others. An entry is the hash of its content and the content; it is written under a
temporary name and renamed, so a reader sees all of it or nothing, and what does not have its hash is made again.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable

from .cache_folder import content_of, problem, put

#: when the folder holds more bytes than ``LIMIT`` the entries used least recently go, and make ``ROOM`` for others
LIMIT = 256 << 20
ROOM = LIMIT // 8
#: how much may be stored, on the average, between two looks at all that there is; and what an entry takes at least
LOOK, BLOCK = LIMIT // 64, 4096


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
    ending : str
        Of the files; others in the folder are another's.
    hashed : callable
        The hash of what stands in an entry.
    part : int
        It takes this part of ``LIMIT``.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        ending: str = ".o",
        hashed: Callable[[bytes], bytes] = sha256,
        part: int = 1,
    ) -> None:
        self.folder = os.fspath(folder)
        self._ending, self._hashed, self._part = ending, hashed, part

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}{self._ending}")

    def load(self, key: str) -> bytes | None:
        """Return the entry ``key``; ``None`` if there is none that is whole."""
        path = self._path(key)
        try:
            if problem(self.folder):
                return None
            data = content_of(path)
        except OSError:
            return None
        size = len(self._hashed(b""))
        found, content = data[:size], data[size:]
        if self._hashed(key.encode() + content) != found:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def store(self, key: str, content: bytes) -> None:
        """Keep ``content``; a disk that is full or read-only is no error."""
        found = self._hashed(key.encode() + content)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if problem(self.folder):
                return
            put(self._path(key), found + content)
            # to look at all there is takes long: so that is done now and then, as the hash has it
            if int.from_bytes(found[:8], "big") * (LOOK // self._part) < max(len(content), BLOCK) << 64:
                self._trim()
        except OSError:
            pass

    def _trim(self) -> None:
        """Remove what was used least recently if there is too much."""
        entries = []
        for entry in os.scandir(self.folder):
            if not entry.name.endswith((self._ending, ".tmp")):
                continue
            with contextlib.suppress(OSError):  # another process trims, too
                found = entry.stat(follow_symlinks=False)
                entries.append((found.st_mtime, max(found.st_size, BLOCK), entry.path))
        total = sum(size for _, size, _ in entries)
        if total * self._part <= LIMIT:
            return
        for _, size, path in sorted(entries):
            if total * self._part <= LIMIT - ROOM:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
