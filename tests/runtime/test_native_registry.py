"""The files of machine-code rules, which are loaded by need: which of them has the rule of an op."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from api import OPS, registry, rules


def named(table: dict) -> dict:
    """Op -> the file that a table names for it."""
    found = {}
    for file, modules in table.items():
        for module, names in modules.items():
            for name in names.split():
                op = getattr(importlib.import_module(f"autoloop_runtime.{module}"), name)
                assert OPS[op.name] is op and op not in found
                found[op] = file
    return found


def test_each_file_registers_what_the_table_says():
    files = {path.stem for path in Path(rules.__file__).parent.glob("*.py")} - {"__init__"}
    for file in sorted(files):
        registry.load(file)
    tables = {**registry.RULES, **registry.GROWING}
    assert not set(tables) - files
    told, growing = named(registry.RULES), named(registry.GROWING)
    entries = {op: registry.entry_of(op) for op in OPS.values()}
    written = {op: entry.write.__module__.rpartition(".")[2] for op, entry in entries.items() if entry is not None}
    from_templates = {
        op for op, entry in entries.items() if entry is not None and entry.write in registry._OF_TEMPLATES
    }
    assert {op: file for op, file in written.items() if op not in from_templates} == told
    assert {op: f.__module__.rpartition(".")[2] for op, f in registry._GROWING_RULES.items()} == growing
    assert {file for op in from_templates for file in [written[op]]} == {registry.TEMPLATES}
    # the others hold what several of those use
    assert files - set(tables) == {"lapack_calls"}


def test_an_op_has_one_rule():
    op = next(iter(named({"while_rules": registry.RULES["while_rules"]})))
    assert registry.entry_of(op) is not None
    with pytest.raises(ValueError, match="op 'While' has a rule already"):
        registry.rule(op)(lambda *_: [])
