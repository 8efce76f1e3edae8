"""``docs/dtypes.md`` says which dtypes results have."""

from __future__ import annotations

import re
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from each_case import each

PAGE = (Path(__file__).parent.parent / "docs" / "dtypes.md").read_text()
ROWS = re.findall(r"^\| `(.+?)` \| (\w+) \|", PAGE, re.MULTILINE)
NAMES = {
    "b1": "bool", "i8": "int8", "u1": "uint8", "i2": "int16", "i4": "int32", "l8": "int64", "u8": "uint64",
    "f4": "float32", "c8": "complex64",
}  # fmt: skip
REFUSED = {"OverflowError": OverflowError, "TypeError": TypeError}


@each([(*row, traced) for row in ROWS for traced in (False, True)])
def test_each_row(expression, wanted, traced):
    values = [al.constant(np.ones(2, dtype)) for dtype in NAMES.values()]
    f = eval(f"lambda {', '.join(NAMES)}: {expression}", {"al": al, "np": np})
    compute = al.function(f, autograph=False) if traced else f
    if wanted in REFUSED:
        with pytest.raises(REFUSED[wanted]):
            compute(*values)
    else:
        assert compute(*values).dtype == wanted


def test_the_page_has_rows():
    assert len(ROWS) > 25
    assert len(re.findall(r"^\| `", PAGE, re.MULTILINE)) == len(ROWS)
