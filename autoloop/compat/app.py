"""``tf.app`` of 1.x: how a program begins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoloop_runtime.base.doors import listing

from . import flags as flags

__all__ = [
    "flags", "run",
]  # fmt: skip
__dir__ = listing(globals())


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Read the flags, call ``main`` with what is left of the command line, and end the program with what it gives.

    Parameters
    ----------
    main : callable, optional
        By default ``main`` of the program.
    argv : sequence of str, optional
        By default ``sys.argv``.

    Raises
    ------
    SystemExit
        Always.
    """
    words = list(sys.argv if argv is None else argv)
    if any(word in ("--help", "-help", "-h") for word in words[1:]):
        print(f"{words[0]}\n\nflags:\n{flags.FLAGS.help()}")
        sys.exit(1)
    try:
        rest = flags.FLAGS(words)
    except ValueError as error:
        print(f"FATAL Flags parsing error: {error}\nPass --help to see the flags.", file=sys.stderr)
        sys.exit(1)
    sys.exit((sys.modules["__main__"].main if main is None else main)(rest))
