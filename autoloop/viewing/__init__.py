"""What people see of a function: the texts and pictures of its stages, for a terminal, a page and a notebook."""

from __future__ import annotations

from .code_text import to_code as to_code
from .pictures import Drawing as Drawing
from .pictures import draw as draw

__all__ = ["Drawing", "draw", "to_code"]
