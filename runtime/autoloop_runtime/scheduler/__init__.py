"""Runs flat dataflow graphs, on one thread or several.

``plan`` turns the graph into tables once; ``frames`` is the state of a run, tokens and iterations, and knows no
threads; ``workers`` has the threads; ``run`` puts feeds in and takes fetches out.
"""

from .plan import Plan
from .run import Executable

__all__ = ["Executable", "Plan"]
