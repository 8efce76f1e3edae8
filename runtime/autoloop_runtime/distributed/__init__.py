"""Runs a flat dataflow graph whose values are collections of Dask.

In reading order: ``crossings`` marks in the graph where a loop hands values over and where a condition is waited for;
``laters`` is a value that a run has made and that Dask may not have computed yet; ``windows`` says how far loops run
ahead of what is computed, and ``read_arrays`` what they read of NumPy's; ``submissions`` is what is sent to Dask at
once, and ``locally`` and ``on_cluster`` send it;
``engine`` is the driver, a single thread over the tokens of ``dataflow.frames``. ``mapped_chunks`` is for no graph that
runs here: a map or scan that is called over such arrays is tasks of Dask's. ``row_loops`` finds the loops over rows in
a graph that does, of which ``mapped_loops`` makes such tasks, too, by the operation of ``mapped_rows``.

It is loaded for the first call with such values.
"""
