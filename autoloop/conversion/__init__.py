"""From a function object to converted code: source, analyses, rewriting, code object."""

from autoloop_runtime.base.doors import door

__getattr__ = door(globals(), {"written_for": "autoloop.conversion.generated_methods"})
