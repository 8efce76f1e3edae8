"""Tells tests when iterations over Dask's arrays have been computed."""

from __future__ import annotations

import api


def watched(monkeypatch, computed):
    """Call ``computed`` on the thread of each run, with how many iterations of all loops are done, when more are."""
    real, total = api.windows.Windows.done, 0

    def done(self, sent):
        nonlocal total
        real(self, sent)
        if sent:
            total += sum(sent.values())
            computed(total)

    monkeypatch.setattr(api.windows.Windows, "done", done)
