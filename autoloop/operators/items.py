"""Setting items: in place on Python objects, as a new value on tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autoloop_runtime.registry import call
from autoloop_runtime.tensor import Tensor

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


def set_item(array: Any, index: Any, value: Any) -> Any:
    """Do ``array[index] = value`` and return what the name is bound to afterwards.

    A tensor does not change: the result is a new one, and other names keep the old value.
    """
    if isinstance(array, Tensor):
        return call("set_item", array, index, value)
    array[index] = value
    return array


def update_item(array: Any, index: Any, sign: str, value: Callable[[], Any]) -> Any:
    """Do ``array[index] += value()`` (or another ``sign``) and return what the name is bound to afterwards."""
    old = array[index]
    return set_item(array, index, _IN_PLACE[sign](old, value()))


def set_item_of(owner: Any, name: str, index: Any, value: Any) -> None:
    """Do ``owner.name[index] = value``; an attribute that is a tensor is set to a new one."""
    array = getattr(owner, name)
    if isinstance(array, Tensor):
        setattr(owner, name, call("set_item", array, index, value))
    else:
        array[index] = value


def update_item_of(owner: Any, name: str, index: Any, sign: str, value: Callable[[], Any]) -> None:
    """Do ``owner.name[index] += value()`` (or another ``sign``)."""
    array = getattr(owner, name)
    new = _IN_PLACE[sign](array[index], value())
    if isinstance(array, Tensor):
        setattr(owner, name, call("set_item", array, index, new))
    else:
        array[index] = new
