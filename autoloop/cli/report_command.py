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
    if isinstance(target.found, DerivativeFunction):
        write(options.output, report(target.found, *args, **kwargs).html)
    else:
        write(options.output, report(function, *args, **kwargs).html)
