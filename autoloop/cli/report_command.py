"""``autoloop report``: one page with everything there is to see of a function."""

from __future__ import annotations

import argparse

from ..viewing.report import report
from .output import write
from .run_command import call_of
from .target import load_target


def write_report(options: argparse.Namespace) -> None:
    """Write the page."""
    function, args, kwargs = call_of(load_target(options.target), options)
    write(options.output, report(function, *args, **kwargs).html)
