"""Other people's names for what this library does."""

from . import v1

__all__ = ["v1"]
