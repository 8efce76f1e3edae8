"""Pieces of work, each for every library that can do it.

A module has ``TITLE`` and ``UNIT`` (one, or one per case); ``CASES``, keyword arguments of all below, by name; and

``loop(tf, **case)``
    for autoloop and TensorFlow, which share their source: a function, the arguments with regard to which it is
    differentiated if ``GRADIENT`` is true, and the other ones;
``numpy_(np, **case)``, ``jax_(jax, ...)``, ``torch_``, ``numba_``, ...
    a function without arguments that does the work;
``count(**case)``
    how many units of work one run does.

Optional: ``MEMORY`` (report it, too), ``QUICK`` (smaller sizes), ``RTOL``, ``ATOL``, ``EQUAL`` (the share of elements
that must be close), ``PINNED`` (False: libraries may use several threads in an operation), ``WITHOUT`` (columns).
"""
