"""Where compiled code is kept on disk, so that the next process need not compile it again."""

from __future__ import annotations

import os
import warnings

from ...base import background
from ...base.cache_folder import FOLDER, OPT_OUT, cache_folder, is_named, problem
from ...base.kept_entries import DiskCache
from ...base.native_extra import UnusableCacheWarning


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
    told = f"{FOLDER}={folder} {why}; compiled code is not kept ({OPT_OUT}=0 if that is what you want) [AL611]"
    try:
        warnings.warn(told, UnusableCacheWarning, stacklevel=2)
    except UnusableCacheWarning:  # warnings are errors here; for a job there is nobody to catch it
        if not background.is_here():
            raise
