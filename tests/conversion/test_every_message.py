"""Each message that the front end raises stands in a test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import autoloop

FRONT_END = Path(autoloop.__file__).parent
TESTS = Path(__file__).resolve().parent.parent
SPAN = 14  # characters in a row that a test must share with a message


def pieces(message: ast.expr) -> Iterator[str]:
    """Yield the texts that a message is made of, without what is filled in."""
    for node in ast.walk(message):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def messages() -> Iterator[tuple[str, list[str]]]:
    """Yield place and text of what is raised, or made to be raised, with a text of its own."""
    for path in sorted(FRONT_END.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name.endswith(("Error", "Warning", "_refusal")) and node.args:
                texts = [text for text in pieces(node) if len(text) >= SPAN]
                if texts:
                    yield f"{path.relative_to(FRONT_END)}:{node.lineno}", texts


def is_in(tested: str, text: str) -> bool:
    return any(text[start : start + SPAN] in tested for start in range(len(text) - SPAN + 1))


def test_every_message_stands_in_a_test():
    # as they are written: to parse them takes longer than all the rest
    tested = "\n".join(path.read_text().replace("\\", "") for path in TESTS.rglob("test_*.py"))
    missing = [f"{place}: {texts[0]}" for place, texts in messages() if not any(is_in(tested, text) for text in texts)]
    assert not missing, "no test holds the text of\n" + "\n".join(missing)
