"""Each code at the end of a message has a section in docs/errors.md; its example raises it, what mends it does not."""

from __future__ import annotations

import ast
import re
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

import autoloop
import pytest
from autoloop import nest

PAGE = (Path(autoloop.__file__).parent.parent / "docs" / "errors.md").read_text(encoding="utf-8")
ROOTS = [Path(autoloop.__file__).parent, Path(nest.__file__).parent.parent]
CODE = re.compile(r"AL\d{3}")
#: where something is called that is an error or a warning by its name
RAISED = re.compile(r"(Error|Warning)\s*\(")
SECTIONS = {
    part[:5]: re.findall(r"^```python\n(.*?)^```", part, re.S | re.M)
    for part in re.split(r"^### ", PAGE, flags=re.M)[1:]
}
BEFORE = "import autoloop as al\nimport autoloop.compat.v1 as tf\nimport numpy as np\n\n"

#: words of NumPy's and Python's own
PLAIN = (
    "__len__() should return >= 0", "len() of unsized object", " object is not callable",
    "iteration over a 0-d array", "__init__() should return None, not '", " must be None or a string, not ",
    "the number is not in range", "range() arg 3 must not be zero", "setting an array element with a sequence.",
    "Cannot construct a dtype from an array", "first operand must be array", " has no attribute ",
    "Cannot apply_along_axis when any iteration dimensions are 0",
    "function is not returning an array of the correct shape (",
    "cannot call `vectorize` on size 0 inputs unless `otypes` ",
    "operand type(s) all returned NotImplemented from __array_", "range object index out of range", "zip() argument ",
    "The truth value of an array with more than one element is", "must be real number, not complex",
    ": expected str instance, ", "exceptions must derive from BaseException",
    "The truth value of an empty array is ambiguous. Use `arra", "unhashable type: 'numpy.ndarray'",
    " objects is not writable", "cannot copy a ", "cannot pickle ", " where it is not associated with a value",
    "list index out of range", "incorrect number of indices for array", "an integer is required",
    "can only convert an array of size 1 to a Python scalar", " cannot be interpreted as an integer",
    "matrix transpose with ndim < 2 is undefined", "Cannot cast the output of ", "cannot delete array elements",
    "' object does not support item assignment", "assignment destination is read-only",
    "non-broadcastable output operand with shape ", "unsupported operand type(s) for ",
    " not supported between instances of ", "type complex doesn't define __round__ method",
    " object is not subscriptable", "bad operand type for unary ~: ", "to_device() argument 1 must be str, not ",
    "diff: order must be non-negative but got ", "arange: cannot compute length", "negative shift count",
    "an index can only have a single ellipsis ('...')", " is out of bounds for axis ", "slice step cannot be zero",
    "shape mismatch: indexing arrays could not be broadcast to",
    "boolean index did not match indexed array along axis ",
    "NumPy boolean array indexing assignment requires a 0 or 1", "index can't contain negative values",
    "too many indices for array: array is ", "cannot reshape array of size ",
    "'list' argument must have no negative elements", "cannot select an axis to squeeze out which has size not e",
)  # fmt: skip
#: what only who changes autoloop may see
INSIDE = (
    "an empty sequence has", "keeps the cells that", "has a value: that takes", "grows in place was used",
    "the file ends at byte", "placeholder of a backward", "is not available on tensors", "used up by looking",
    "is declared with ", " exists already", "the row of the op ", "the kernel of op ",
    "a structured node has no kernel", "nobody has said what", "is in a register", "has a rule already",
)  # fmt: skip


def codes(text: str) -> Iterator[str]:
    """Yield the codes in the texts of a module, docstrings aside."""
    for node in ast.walk(ast.parse(text)) if CODE.search(text) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 1000:
            if CODE.fullmatch(node.value):
                yield node.value
            yield from re.findall(r"\[(AL\d{3})\]$", node.value)


def said(block: str, path: Path) -> list[str]:
    """Return what a block of the page warns of and raises."""
    path.write_text(BEFORE + block, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(path))
        except Exception as error:
            return [str(error), *(str(one.message) for one in caught)]
    return [str(one.message) for one in caught]


def test_codes_and_sections_are_the_same():
    found = {code for root in ROOTS for path in root.rglob("*.py") for code in codes(path.read_text())}
    assert found == SECTIONS.keys()
    assert list(SECTIONS) == sorted(SECTIONS)


@pytest.mark.parametrize("code", [code for code, blocks in SECTIONS.items() if blocks])
def test_an_example_says_its_code_and_its_mend_does_not(code, tmp_path):
    example, *mends = SECTIONS[code]
    told = said(example, tmp_path / "example.py")
    assert any(f"[{code}]" in one for one in told), told
    for mend in mends:
        assert not said(mend, tmp_path / "mend.py")


def uncoded() -> Iterator[str]:
    """Yield place and longest piece of each text without a code that is raised, or made to be raised."""
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            if path.parent.name == "numpy_names":  # whose words are NumPy's
                continue
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if RAISED.search(text) else ():  # most have none
                name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
                if not name.endswith(("Error", "Warning")):
                    continue
                texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                longest = max(texts, key=len, default="")
                if len(longest) >= 14 and not any(CODE.search(text) for text in texts):
                    yield f"{path.relative_to(root)}:{node.lineno}: {longest}"


def test_what_has_no_code_is_said_by_numpy_or_python_or_to_who_changes_autoloop():
    strange = [one for one in uncoded() if not any(words in one for words in (*PLAIN, *INSIDE))]
    assert not strange, "a message of our own ends with a code, which docs/errors.md explains:\n" + "\n".join(strange)
