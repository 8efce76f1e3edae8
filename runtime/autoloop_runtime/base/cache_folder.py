"""The folder where is kept what can be made again: the user's own, closed to others."""

from __future__ import annotations

import contextlib
import os
import stat
import sys

from .env_switches import switch

#: set to 0 to keep nothing on disk
OPT_OUT = "AUTOLOOP_CACHE"
#: a folder for the cache, instead of the usual one
FOLDER = "AUTOLOOP_CACHE_DIR"
#: bytes of the largest file that is read
LARGEST = 64 << 20


def cache_folder(kind: str) -> str | None:
    """Return where the environment has ``kind`` kept; ``None`` if nothing, or nowhere."""
    if not switch(OPT_OUT, True):
        return None
    if is_named():
        try:
            return os.path.abspath(os.environ[FOLDER])
        except OSError:  # it is relative to a folder that is not there any more
            return None
    usual = _usual()
    return None if usual is None else os.path.join(usual, "autoloop", kind)


def is_named() -> bool:
    """Return whether the environment names the folder."""
    return bool(os.environ.get(FOLDER))


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


def problem(folder: str) -> str:
    """Return why nothing is kept in a folder that is there; empty if nobody else can have written to it."""
    found = os.lstat(folder)
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        return f"belongs to user {found.st_uid}, and this process to user {os.getuid()}"
    if hasattr(os, "getuid") and found.st_mode & 0o077:
        return f"is open to others (mode {stat.S_IMODE(found.st_mode):04o}; chmod 700 closes it)"
    return ""


def content_of(path: str) -> bytes:
    """Return the content of a file; anything else that goes by its name has none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return b""
        return file.read(found.st_size)  # not LARGEST: so much would be set aside for a small file


def put(path: str, content: bytes) -> None:
    """Have a file with ``content`` appear at once: a reader sees all of it or nothing.

    Raises
    ------
    OSError
        On a disk that is full or read-only.
    """
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):  # it need not have been made
            os.unlink(temporary)
        raise
