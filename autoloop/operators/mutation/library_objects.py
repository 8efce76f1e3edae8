"""What tells whether an object of an installed library has changed, which converted code does not see."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import numpy as np


def mark_of(value: Any) -> bytes | None:
    """Return what tells whether such an object has changed; None if nothing does."""
    own = getattr(value, "__dict__", None)
    digest = hashlib.blake2b()
    try:
        _write_down(value, digest)
    except Exception:  # not all can be written down
        if not isinstance(own, dict):
            return None
        digest = hashlib.blake2b()
        for name, one in own.items():
            digest.update(name.encode() + _mark_of_part(one))
    return digest.digest()


def _write_down(value: Any, digest: Any) -> None:
    parts: list[Any] = []
    digest.update(pickle.dumps(value, 5, buffer_callback=parts.append))
    for one in parts:
        digest.update(one.raw())


def _mark_of_part(value: Any) -> bytes:
    """Return what an attribute holds, or which object it is if that cannot be written down."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return str(id(value)).encode()
    digest = hashlib.blake2b()
    try:
        _write_down(value, digest)
    except Exception:
        return str(id(value)).encode()
    return digest.digest()
