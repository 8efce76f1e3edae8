"""Variables that functions share."""

from __future__ import annotations

import types
from typing import Any


def value_in(cell: types.CellType, default: Any = None) -> Any:
    """Return the value of a variable that functions share, ``default`` as long as it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return default
