"""What a user gets wrong: checkers find each marked line, and say so of marks that nothing needs. Nobody runs it."""

# what comes of a mistake is unknown
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false
from __future__ import annotations

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@al.function
def f(x: al.Tensor, by: float = 2.0) -> al.Tensor:
    """Return it scaled."""
    return x * by


@al.function(executor="sequential")
def kept(x: Array) -> Array:
    """Return what NumPy gives."""
    return x + 1


class Model:
    """Has a decorated method."""

    @al.function
    def step(self, x: al.Tensor) -> al.Tensor:
        """Return the next one."""
        return x + 1


t, a = al.ones(2), np.ones(2)
# names
print(al.nosuchname)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
print(v1.nosuchname)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
print(al.config.nosuchname)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
print(t.nosuchname)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
print(al.Variable(t).nosuchname)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
# arguments
print(f("wrong", 1, 2))  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
print(f("wrong", 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(f(t, of=2.0))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
print(f())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
print(kept(t))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(Model().step(1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(Model().step())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
print(al.add(t, None))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(al.sum(t, axis="rows"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(al.function(f, executer="auto"))  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
print(al.cond(t, 1, 2))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
al.while_loop(al.less, al.add, (t, t), window=2)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
print(al.grad(f)(t, by="2"))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
al.config.set_num_threads("2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
print(al.config(threads=1))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
print(al.config(num_threads="1"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
# results
number: int = f(t)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
text: str = f.tracing_count  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
tensor: al.Tensor = kept(a)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
array: Array = t + a  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
gradient: int = al.grad(f)(t)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
rows: list[int] = al.scan(lambda total, x: total + x, t, t)  # pyright: ignore[reportAssignmentType]
branch: str = al.cond(True, lambda: 1, lambda: 2)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
