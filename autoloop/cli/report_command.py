"""``autoloop report``: one page with everything there is to see of a function."""

from __future__ import annotations

import argparse

from ..derivative_functions import DerivativeFunction
from ..viewing.report import report
from .output import write
from .run_command import call_of
from .target import load_target


def write_report(options: argparse.Namespace) -> None:
    """Write the page."""
    target = load_target(options.target)
    function, args, kwargs = call_of(target, options)
    shown = target.found if isinstance(target.found, DerivativeFunction) else function
    write(options.output, report(shown, *args, **kwargs).html)
