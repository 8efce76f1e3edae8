"""``report``: everything there is to see of a function, in one html page that needs nothing from elsewhere.

The front end, ``page.js`` and ``page.css``, is built from ``tools/report-page``.
"""

from __future__ import annotations

from .reports import Report as Report
from .reports import report as report

__all__ = ["Report", "report"]
