"""``docs/environment.md`` lists what the sources read from the environment, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*(ROOT / "autoloop").rglob("*.py"), *(ROOT / "runtime").rglob("*.py")])
#: what speaks of the environment
MENTIONS = r"\benviron\b|\bgetenv\b"
READS = rf"{MENTIONS}|\bswitch\("


def is_environment(node):
    return ast.unparse(node) in ("os.environ", "environ")


def keys(tree):
    """Each expression that names a variable of the environment which is read."""
    for node in ast.walk(tree):
        readers = ("os.environ.get", "os.getenv", "environ.get", "switch")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in readers and ast.unparse(node.args[0]) != "name":
            yield node.args[0]
        elif isinstance(node, ast.Subscript) and is_environment(node.value):
            yield node.slice
        elif (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and is_environment(node.comparators[0])
        ):
            yield node.left


def values(key, constants):
    """The names that an expression may be."""
    if isinstance(key, ast.IfExp):
        return values(key.body, constants) | values(key.orelse, constants)
    if isinstance(key, ast.Name):
        return {constants[key.id]}
    assert isinstance(key, ast.Constant), f"which variable is {ast.unparse(key)}?"
    return {key.value}


def read():
    found = set()
    for path in SOURCES:
        text = path.read_text()
        if not re.search(READS, text):
            continue
        tree = ast.parse(text)
        constants = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        }
        for key in keys(tree):
            found |= values(key, constants)
    return found


def test_the_table_is_what_the_sources_read():
    text = (ROOT / "docs" / "environment.md").read_text()
    first = text.partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", first, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == read()


def test_what_reads_in_other_ways_would_be_seen():
    """All that speaks of the environment is one of the forms above, hands all of it on, or
    asks whether something is it."""
    for path in SOURCES:
        text = path.read_text()
        forms = r"os\.environ(\.get\(|\[)|os\.getenv\(|\*\*os\.environ|\bis os\.environ\b|\(os, \"environ\"\)"
        assert len(re.findall(MENTIONS, text)) == len(re.findall(forms, text)), path
