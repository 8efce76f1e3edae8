"""The devices that values live on: there is one, the machine's own memory."""

from __future__ import annotations

#: what ``x.device`` is, and what may be asked for
DEVICE = "cpu"


def check_device(device: str | None, name: str) -> None:
    """Raise ``ValueError`` if ``device`` is not None and not the one there is."""
    if device is not None and device != DEVICE:
        raise ValueError(f"{name}: there is no device {device!r}; the only one is {DEVICE!r}")
