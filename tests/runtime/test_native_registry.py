"""The files of machine-code rules, which are loaded by need: which of them has the rule of an op."""

from __future__ import annotations

from pathlib import Path

import pytest
from api import OPS, registry, rules


def test_each_file_registers_what_the_ops_say():
    files = {path.stem for path in Path(rules.__file__).parent.glob("*.py")} - {"__init__"}
    for file in sorted(files):
        registry.load(file)
    told, growing = registry.RULE_FILES, registry.GROWING_RULE_FILES
    tables = {*told.values(), *growing.values()}
    assert not tables - files
    entries = {op: registry.entry_of(op) for op in OPS.values()}
    written = {op: entry.write.__module__.rpartition(".")[2] for op, entry in entries.items() if entry is not None}
    from_templates = {
        op for op, entry in entries.items() if entry is not None and entry.write in registry._OF_TEMPLATES
    }
    assert {op: file for op, file in written.items() if op not in from_templates} == told
    assert {op: f.__module__.rpartition(".")[2] for op, f in registry._GROWING_RULES.items()} == growing
    assert {file for op in from_templates for file in [written[op]]} == {registry.TEMPLATES}
    # the others hold what several of those use
    shared = {
        "bounded_sums",
        "called_kernels",
        "changed_parts",
        "complex_products",
        "element_index",
        "index_arrays",
        "indexed_parts",
        "lapack_calls",
    }
    assert files - tables == shared


def test_an_op_has_one_rule():
    op = OPS["While"]
    assert registry.entry_of(op) is not None
    with pytest.raises(ValueError, match="op 'While' has a rule already"):
        registry.rule(op)(lambda *_: [])
