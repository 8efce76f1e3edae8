"""Functions in files: saving a trace, and calling it in another process, or for others."""

from autoloop_runtime.saving.load_errors import LoadError, SaveError

from .loaded_functions import LoadedFunction, load
from .saving_functions import save

__all__ = ["LoadError", "LoadedFunction", "SaveError", "load", "save"]
