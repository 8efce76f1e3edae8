"""``autoloop report``: one page with everything there is to see of a function."""

from __future__ import annotations

import argparse

from ..derivative_functions import DerivativeFunction
from ..viewing.report import report
from ..viewing.report.html_page import html_page
from ..viewing.report.trace_pages import trace_data
from .output import write
from .problems import UsageError
from .run_command import call_of
from .target import load_target


def write_report(options: argparse.Namespace) -> None:
    """Write the page."""
    if options.trace is not None:
        write(options.output, _page_of(options.trace))
    elif options.target is None:
        raise UsageError("which function? FILE.py:FUNC, or --trace FILE of a trace [AL801]")
    else:
        target = load_target(options.target)
        function, args, kwargs = call_of(target, options)
        shown = target.found if isinstance(target.found, DerivativeFunction) else function
        write(options.output, report(shown, *args, **kwargs).html)


def _page_of(trace: str) -> str:
    try:
        return html_page(trace_data(trace))
    except OSError as error:
        raise UsageError(f"cannot read {trace!r}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
