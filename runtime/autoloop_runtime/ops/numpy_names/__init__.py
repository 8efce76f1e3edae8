"""NumPy's names over the ops: what ``np.sum(x, 0, dtype=np.float32)`` means where tensors take part, to the letter.

The room is loaded by a door (``ops/numpy_door.py``) when the first of its names is asked for: never at import.

How to add a function of NumPy's
--------------------------------
1. *The al. function means the same, with all of NumPy's parameters and its dtypes*: ``publish(..., numpy=np.f)`` beside
   the row is enough. The call is bound by NumPy's signature; what ours has no parameter for must have its default.
2. *It is made of public functions*: a counterpart, in the file of this room that holds its kind::

       @counterpart(np.ptp)
       def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Tensor:
           unsupported(np.ptp, out=out)
           ...

   with exactly NumPy's parameters: names, order, kinds, defaults (``NO_VALUE`` is ``<no value>``); a test compares
   them. No ``**_``: an argument that is not supported is refused by its name with ``unsupported(np.ptp, out=out)``,
   which lets the default pass. Operands come as anything NumPy takes: ``as_operand(a)`` makes a tensor of it with
   NumPy's dtype (Python numbers int64, float64; lists may hold tensors), ``as_operands(a, b)`` several of their common
   dtype. Arguments that must be known while the graph is built (axis, order of a norm) are read with
   ``known(np.ptp, axis=axis)``, which refuses a symbolic tensor by the argument's name. What is returned are plain
   tensors, tuples or lists of them.
3. *Its kernel is NumPy's or SciPy's own*: a row, and a counterpart that calls it::

       _interp = library("interp", np.interp, "same", NO_RULE)
       _modf = library("modf", np.modf, ["same", "same"], lambda g, outputs, inputs, attrs: [g[0]])

   ``library(name, kernel, shape, gradient)``: the shape is ``"same"`` (as the first), ``"broadcast"``, ``"reduced"``
   (by the attributes ``axis`` and ``keepdims``), ``"unknown"`` (the rank of what the kernel gives, extents not known),
   or a function of the input tensors and the attributes that gives the extents, None where not known; a list of those
   for several outputs. Dtypes and ranks are found by running the kernel on ones of the same dtypes and ranks, once for
   each combination; ``dtype=`` says it where ones do not do. The gradient is ``vjp(g, outputs, inputs, attrs)``,
   written with the public functions, or NO_GRADIENT (zero), NO_RULE (refused). It is called as ``_interp(x, xp, fp)``:
   inputs by place, attributes by name.
4. Functions that do not ask their arguments (``np.zeros``, ``np.array``: they take no part in NumPy's protocol) are
   reached from converted code, which calls the counterpart where an argument is staged; nothing more is to do.
5. Element-wise functions (``np.ufunc``) are entered by their operands only; ``ufunc_calls.py`` has the other arguments,
   ``in_loop(ufunc, inputs)`` gives the operands in the dtypes of NumPy's loop.
6. A new file is named after its kind, and imported in ``main_namespace.py``; what is large and rarely used
   (``np.linalg``, ``np.fft``, ``scipy.special``) has a namespace file of its own, which ``ops/numpy_door.py`` opens.

Tests: calls as expressions go into ``SAMPLES`` of a file ``tests/numpy/samples_<kind>.py``, functions that cannot take
part into ``NOT_APPLICABLE``, programs with gradients into ``GRADIENTS``, those without into ``WITHOUT_GRADIENTS``: see
``tests/numpy/table.py``, which finds the files by itself; ``python tests/numpy/table.py np.ptp --refused`` tries one.
``tests/numpy/test_signatures_of_numpy.py`` compares the parameters of every counterpart with NumPy's.
"""
