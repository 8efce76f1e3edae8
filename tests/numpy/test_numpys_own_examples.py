"""The examples in NumPy's and SciPy's docstrings: decorated as they are plain, or refused at the example's own line."""

from __future__ import annotations

import numpys_examples
import pytest
import table

EXECUTORS = ("auto", "sequential", "dataflow")
#: by day: functions whose examples are many things at once
SOME = ("np.unwrap", "np.take_along_axis", "np.polynomial.polynomial.polyvalfromroots", "np.interp")


#: what is known to be wrong: the view that ``einsum`` gives of one operand is written to
KNOWN = ("np.einsum('ii->i', a)[:] = 1",)

#: examples that change how all that follows is printed; that leave files in /tmp, and one of them open
SKIPPED = ("np.set_printoptions", "np.load")


def wrong(wanted: tuple[str, ...], executor: str) -> list[str]:
    """Return the examples that are not as plain, each with its words."""
    found = []
    for owner, text in numpys_examples.docstrings(wanted):
        if owner in SKIPPED:
            continue
        for example in numpys_examples.examples(owner, text):
            made = numpys_examples.outcome(example, executor)
            if made.status in (table.WRONG, table.UNCLEAR) and not any(one in example.text for one in KNOWN):
                found.append(f"{owner}\n{example.text}{made.words}")
    return found


def test_some_examples_are_as_in_numpy():
    assert wrong(SOME, "sequential") == []


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("space", list(numpys_examples.SPACES))
def test_all_examples_are_as_in_numpy(space, executor):
    pytest.importorskip("scipy")
    found = wrong((space,), executor)
    assert not found, "\n\n".join(found)
