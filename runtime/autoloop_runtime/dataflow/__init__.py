"""Runs flat dataflow graphs, on one thread or several.

In reading order: ``execution_plan`` turns the graph into tables once, with ``analysis.weight`` and ``overlap`` to say
what is worth a thread; ``frames`` is the state of a run, tokens and iterations, and knows no threads; ``kernels`` calls
one kernel; ``workers`` has the threads; ``executable`` puts feeds in and takes fetches out. ``compile_dataflow`` is the
door, which loads the rest for the first graph that takes it: most programs do without.
"""
