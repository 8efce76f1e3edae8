"""What is said where another library's arrays cannot take the place of NumPy's."""

from __future__ import annotations

from ..base.stand_ins import ShownByRun


class NamespaceRefusal(TypeError, ShownByRun):
    """A graph cannot be computed over the arrays of another library as it is over NumPy's."""


def no_function(op: str, library: str, why: str = "") -> NamespaceRefusal:
    """Return the refusal of an operation that ``library`` has no function for."""
    because = f" ({why})" if why else ""
    return NamespaceRefusal(
        f"{op} cannot be computed over arrays of {library}{because}; give NumPy's arrays, or write it with functions "
        f"that {library} has [AL612]"
    )


def needs_value(what: str, library: str) -> NamespaceRefusal:
    """Return the refusal of what looks at the elements of an array that is not computed yet."""
    return NamespaceRefusal(
        f"{what} needs the value of an array of {library}, which is not computed yet; compute it before the call "
        f"[AL612]"
    )


def other_dtype(op: str, library: str, given: object, numpys: object) -> NamespaceRefusal:
    """Return the refusal of an operation whose result has another dtype than NumPy's."""
    return NamespaceRefusal(
        f"{op} gives {given} over arrays of {library}, and {numpys} over NumPy's; cast the operands to one dtype first "
        f"[AL613]"
    )


def other_shape(op: str, library: str, given: object, numpys: object) -> NamespaceRefusal:
    """Return the refusal of an operation whose result has another shape than NumPy's."""
    return NamespaceRefusal(f"{op} gives the shape {given} over arrays of {library}, and {numpys} over NumPy's [AL613]")
