"""Calls with arrays of other libraries: the graph runs over these, with their library's functions, and what comes of
them comes back as theirs. Where that would not do what the undecorated function does, that one runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoloop_runtime.base.dtypes import is_own
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.namespaces import Namespace, NamespaceRefusal, namespace_of

from .given_arrays import ForeignArray, may_be_foreign

#: leaves a call to plain Python for one of its arguments, of which it is told the name and what that is
Leave = Callable[[str, str], NoReturn]


def as_foreign(
    name: str, executor: str, leaves: list[Any], names: Callable[[], Sequence[str]], leave: Leave
) -> list[Any]:
    """Return the leaves of a call with a ``ForeignArray`` in place of each array of another library.

    Parameters
    ----------
    name, executor : str
        Of the function.
    leaves : list
        It comes back as it is if there is none among them.
    names : callable
        Gives a name for each of them.
    leave : callable
        Leaves the call to plain Python, or refuses it.

    Raises
    ------
    TypeError
        If the executor takes none but NumPy's.
    """
    made, first = list(leaves), dict[int, int]()
    known: tuple[str, Namespace] | None = None
    for place, leaf in enumerate(leaves):
        if not may_be_foreign(type(leaf)):
            continue
        try:
            namespace = namespace_of(leaf)
            spec = None if namespace is None else namespace.spec(leaf)
        except NamespaceRefusal as refusal:
            leave(names()[place], _said(refusal))
        if namespace is None or spec is None:
            continue
        if executor in ("native", "sequential"):
            raise TypeError(coded("AL614", _needs_numpys(name, executor, names()[place], namespace)))
        if known is not None and (known[1].name, known[1].device) != (namespace.name, namespace.device):
            leave(names()[place], f"{_article(namespace)}, and {known[0]!r} is {_article(known[1])}")
        known = known or (names()[place], namespace)
        dtype, shape = spec
        if not is_own(dtype):
            leave(names()[place], f"{_article(namespace)} of dtype {dtype}, which graphs do not have")
        if None in shape:
            unknown = "of which the extents are not known; call x.compute_chunk_sizes() before"
            leave(names()[place], f"{_article(namespace)} {unknown}")
        again = first.setdefault(id(leaf), place)
        extents = tuple([n or 0 for n in shape])
        made[place] = ForeignArray(leaf, namespace, dtype, extents, None if again == place else again)
    return leaves if known is None else made


def _said(refusal: NamespaceRefusal) -> str:
    """Return what a refusal says, without its code."""
    return str(refusal).rpartition(" [")[0] or str(refusal)


def _article(namespace: Namespace) -> str:
    is_here = namespace.device is None or "cpu" in str(namespace.device).lower()
    return f"an array of {namespace.name}" + ("" if is_here else f" on {namespace.device}")


def _needs_numpys(name: str, executor: str, argument: str, namespace: Namespace) -> str:
    what = "machine code needs" if executor == "native" else "generated Python needs"
    return (
        f"executor={executor!r} cannot run {name}: {what} NumPy's arrays, and argument {argument!r} is "
        f"{_article(namespace)}; give np.asarray({argument}), or say executor='dataflow'"
    )
