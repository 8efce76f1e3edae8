"""Other people's names for what this library does."""

from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.kept_modules import named

from . import v1

named(v1)

__all__ = ["v1"]
__dir__ = listing(globals())
