"""Compiled code on disk, so that the next process need not compile it again.

A folder of the user's own, closed to others. An entry is the hash of its content and the content; it is written under a
temporary name and renamed, so a reader sees all of it or nothing, and what does not have its hash is made again.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import stat
import sys
import warnings

from ...base import background
from ...base.forks import undivided
from ...base.native_extra import UnusableCacheWarning

#: set to 0 to keep nothing on disk
OPT_OUT = "AUTOLOOP_CACHE"
#: a folder for the cache, instead of the usual one
FOLDER = "AUTOLOOP_CACHE_DIR"
#: when the folder holds more bytes than ``LIMIT`` the entries used least recently go, and make ``ROOM`` for others
LIMIT = 256 << 20
ROOM = LIMIT // 8
#: how much may be stored, on the average, between two looks at all that there is; and what an entry takes at least
LOOK, BLOCK = LIMIT // 64, 4096
#: bytes of the largest entry that is read
LARGEST = 64 << 20
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
            data = _read(path)
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
            with undivided():
                from tempfile import mkstemp  # only who stores needs it

            handle, temporary = mkstemp(dir=self.folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(found + content)
                os.replace(temporary, self._path(key))
            except BaseException:
                os.unlink(temporary)
                raise
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


def _read(path: str) -> bytes:
    """Return the content of a file; anything else that goes by its name has none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return b""
        return file.read(LARGEST)


def problem(folder: str) -> str:
    """Return why nothing is kept in a folder that is there; empty if nobody else can have written to it."""
    found = os.lstat(folder)
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if os.name == "posix" and found.st_uid != os.getuid():
        return f"belongs to user {found.st_uid}, and this process to user {os.getuid()}"
    if os.name == "posix" and found.st_mode & 0o077:
        return f"is open to others (mode {stat.S_IMODE(found.st_mode):04o}; chmod 700 closes it)"
    return ""


def default_cache() -> DiskCache | None:
    """Return the cache that the environment asks for; ``None`` if it wants none, or there is no place for it."""
    if os.environ.get(OPT_OUT, "1") == "0":
        return None
    given = os.environ.get(FOLDER)
    if given:
        folder = os.path.abspath(given)
        _say_once(folder)
        return DiskCache(folder)
    usual = _usual()
    return None if usual is None else DiskCache(os.path.join(usual, "autoloop", "native"))


def _usual() -> str | None:
    """Return where this system's programs keep what they can make again; ``None`` for a user without a home."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    if named and sys.platform != "darwin" and os.path.isabs(named):
        return named
    if os.environ.get("HOME") == "":
        return None
    home = os.path.expanduser("~")
    inner = {"win32": ("AppData", "Local"), "darwin": ("Library", "Caches")}.get(sys.platform, (".cache",))
    return os.path.join(home, *inner) if os.path.isabs(home) else None


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
