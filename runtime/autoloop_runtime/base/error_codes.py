"""Codes at the end of messages, as ``[AL105]``: they stay when the words become better; docs/errors.md explains them.

Most messages end with theirs where they are written. What NumPy or Python says itself, word for word, has none.
"""

from __future__ import annotations

#: what stands before the number of a code, and behind it
_BEFORE, _BEHIND = " [AL", "]"


def coded(code: str, text: str) -> str:
    """Return a message with a code at its end, unless it has one.

    Parameters
    ----------
    code : str
        Such as ``"AL105"``.
    text : str
        What is said.
    """
    return text if text.endswith(_BEHIND) and text[-9:-4] == _BEFORE else f"{text} [{code}]"


def without_code(text: str) -> str:
    """Return a message without the code at its end, if it has one."""
    return text[:-8] if text.endswith(_BEHIND) and text[-9:-4] == _BEFORE else text
