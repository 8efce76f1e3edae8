"""Samples of NumPy's reductions and running sums."""

from __future__ import annotations

_REDUCED = ("{f}(x)", "{f}(x, 0)", "{f}(x, axis=(0, 1))", "{f}(cube, axis=(0, -1))", "{f}(x, axis=-1, keepdims=True)",
            "{f}(x, None, None, None, True)", "{f}(x, axis=5)", "{f}([x[0], x[1]], axis=0)",
            "{f}(x, axis=0, out=y[0])")  # fmt: skip
_WIDE = ("{f}(x, dtype=np.float32)", "{f}(x, 1, np.float64)", "{f}(x, dtype=int)")
_MASKED = ("{f}(x, where=b, initial=2)", "{f}(x, axis=0, where=b, initial=1)", "{f}(x, 0, initial=3)")


def _calls(f: str, *families: tuple[str, ...]) -> list[str]:
    return [call.format(f=f) for family in families for call in family]


SAMPLES = {
    "np.sum": _calls("np.sum", _REDUCED, _WIDE, _MASKED, ("{f}(x, where=b)", "{f}(x, axis=())", "{f}(a=x, axis=1)")),
    # "np.prod": _calls("np.prod", _REDUCED, _WIDE, _MASKED, ("{f}(x, where=b)",)),
}
