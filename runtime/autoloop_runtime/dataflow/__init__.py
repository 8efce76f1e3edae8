"""Runs flat dataflow graphs, on one thread or several.

In reading order: ``plan`` turns the graph into tables once, with ``estimate`` and ``overlap`` to say what is worth a
thread; ``frames`` is the state of a run, tokens and iterations, and knows no threads; ``kernels`` calls one kernel;
``workers`` has the threads; ``run`` puts feeds in and takes fetches out.
"""

from .executable import Executable
from .execution_plan import Plan

__all__ = ["Executable", "Plan"]
