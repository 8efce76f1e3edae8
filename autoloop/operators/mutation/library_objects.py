"""What tells whether an object of an installed library has changed, which converted code does not see."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import numpy as np


def mark_of(value: Any) -> bytes | None:
    """Return what tells whether such an object has changed; None if nothing does."""
    parts: list[Any] = []
    try:
        digest = hashlib.blake2b(pickle.dumps(value, 5, buffer_callback=parts.append))
        for one in parts:
            digest.update(one.raw())
    except Exception:  # not all can be written down
        own = getattr(value, "__dict__", None)
        if not isinstance(own, dict):
            return None
        digest = hashlib.blake2b()
        for name, one in own.items():
            held = one.tobytes() if isinstance(one, np.ndarray) and not one.dtype.hasobject else str(id(one)).encode()
            digest.update(name.encode() + held)
    return digest.digest()
