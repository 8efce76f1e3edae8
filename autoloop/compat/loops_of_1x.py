"""``while_loop`` with the results of 1.x, and the maps and folds that are made of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autoloop_runtime.base.callbacks import calls_back
from autoloop_runtime.control import map_scan
from autoloop_runtime.control import vectorized_map as vectorize
from autoloop_runtime.control import while_loop as control_flow

from .building import building

__all__ = ["foldl", "foldr", "map_fn", "scan", "vectorized_map", "while_loop"]


@calls_back("cond", "body")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: Any = True,
    swap_memory: Any = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: Any = False,
) -> Any:
    """Repeat ``body`` while ``cond`` is true, as ``autoloop.while_loop`` does, with the result convention of 1.x.

    Returns
    -------
    Tensor, TensorArray or list
        The one variable by itself; else a list where ``loop_vars`` and the body's value are lists, else the
        body's structure. With ``return_same_structure`` the structure of ``loop_vars``.
    """
    seen: list[Any] = []

    @functools.wraps(body)
    def recording(*args: Any) -> Any:
        seen.append(body(*args))
        return seen[-1]

    result = building(control_flow.while_loop)(
        cond, recording if callable(body) else body, loop_vars, shape_invariants, parallel_iterations,
        back_prop, swap_memory, maximum_iterations, name,
    )  # fmt: skip
    if return_same_structure or not isinstance(result, (list, tuple)):
        return result
    if len(result) == 1:
        return result[0]
    made = seen[-1]
    if hasattr(made, "_fields"):
        return type(made)(*result)
    return type(made)(result)


map_fn, scan = building(map_scan.map_fn), building(map_scan.scan)
foldl, foldr = building(map_scan.foldl), building(map_scan.foldr)
vectorized_map = building(vectorize.vectorized_map)
