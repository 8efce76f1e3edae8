"""The dependency rules of the two packages, read from their import statements.

One file: every rule is asked of the same trees, which are parsed and listed once.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {"autoloop": ROOT / "autoloop", "autoloop_runtime": ROOT / "runtime" / "autoloop_runtime"}
#: package -> room -> the rooms, and modules beside them, that it imports from: these and no others
ARROWS = {
    "autoloop_runtime": {
        "base": "",
        "ir": "base",
        "ops": "base ir",
        "analysis": "base ir ops",
        "collections": "base ir ops analysis",
        "passes": "base ir ops analysis",
        # three executors side by side: none imports another
        "dataflow": "base ir ops analysis passes",
        "python_code": "base ir ops analysis passes",
        "native": "base ir ops analysis collections passes",
        "saving": "base ir ops collections",
        # which kernel computes an op over arrays of another library
        "namespaces": "base ir ops analysis collections dataflow saving",
        # loaded where Dask is asked for alone
        "distributed": "base ir ops analysis collections passes dataflow namespaces saving",
        "running": "base ir analysis collections passes dataflow namespaces python_code native saving distributed",
        "control": "base ir ops analysis collections namespaces distributed running",
        "gradients": "base ir ops analysis collections distributed running",
    },
    "autoloop_runtime.native": {
        "ir": "",
        "toolchain": "ir",
        "kernels": "ir toolchain",
        "typing": "ir toolchain",
        "writer": "ir toolchain typing",
        "rules": "ir kernels typing writer",
        "blocked_factors": "typing written_loops",
        "blocked_loops": "typing written_loops",
        "blocked_nests": "typing written_loops",
        "graph_forms": "blocked_factors blocked_loops blocked_nests",
        "given_away": "typing writer",
        "argument_places": "ir typing writer",
        "native_function": "ir toolchain kernels typing writer rules graph_forms given_away argument_places",
        "variable_runs": "native_function",
        "call_memory": "typing native_function",
        "told_loops": "writer native_function call_memory",
        "failed_runs": "toolchain kernels typing writer native_function call_memory",
        "decided_calls": "typing native_function",
        "entered_calls": "ir toolchain kernels typing native_function",
        "lying_arguments": "typing",
        "packed_words": "typing argument_places",
        "recorded_calls": "typing writer",
        "linked_code": "ir toolchain kernels writer native_function",
        "told_code": "",
        "core_code": "kernels toolchain",
        "native_call": "ir toolchain kernels typing native_function linked_code decided_calls variable_runs "
        "failed_runs entered_calls lying_arguments packed_words recorded_calls call_memory told_loops told_code",
        "single_kernels": "typing native_call",
        "step_code": "ir toolchain kernels typing argument_places native_function linked_code",
    },
    "autoloop": {
        "conversion": "errors",
        "operators": "bound_function conversion errors given_arrays left_to_python returned_views sent_by_name",
        "state": "operators conversion concrete errors given_arrays keys left_to_python parameters retold_errors "
        "returned_views sent_by_name tracing written_arguments",
        "saving": "the package operators state bound_function call_form concrete function known_traces parameters "
        "traceable written_arguments",
        "array_api": "",
        "fft": "array_api",
        "linalg": "array_api",
        "debugging": "bound_function concrete function plain_python text_tables",
        "profiler": "text_tables",
        "drawing": "",
        "viewing": "conversion profiler drawing bound_function concrete derivative_functions explanation function keys "
        "plain_python text_tables traceable",
        "compat": "viewing",
        "onnx_export": "the package concrete state traceable",
        "distributed": "",
        "cli": "the package versions profiler drawing viewing bound_function concrete derivative_functions explanation "
        "function rich_tables traceable",
    },
    "autoloop.operators": {
        "staging": "the package",  # numbers of which only the run tells the type load the operators they have
        "mutation": "staging",
        "constructs": "mutation staging the package",
    },
}
#: what most processes do without, and what would be felt at every start: (module, what it may import inside a function)
LAZY = {
    ("autoloop.concrete", "autoloop.asked_errors"),
    ("autoloop.concrete", "autoloop.retold_errors"),
    ("autoloop.concrete", "autoloop.foreign_results"),
    ("autoloop.differentiation", "autoloop.foreign_results"),
    ("autoloop.plain_python", "autoloop.foreign_calls"),
    ("autoloop.plain_python", "autoloop.conversion.pipeline"),
    ("autoloop.function", "autoloop.given_containers"),
    ("autoloop.operators.staging.mixed_numbers", "autoloop_runtime.namespaces"),
    ("autoloop.operators.staging.list_columns", "autoloop_runtime.namespaces"),
    ("autoloop.operators.constructs.call_expression", "autoloop.operators.constructs.library_calls"),
    ("autoloop.tracing", "autoloop_runtime.ir.foreign_values"),
    ("autoloop.tracing", "autoloop.foreign_namespaces"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.foreign_runs"),
    ("autoloop_runtime.running.prepare", "autoloop_runtime.running.lazy_inputs"),
    ("autoloop_runtime.running.prepare", "autoloop_runtime.running.eager_elsewhere"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.passes.results_apart"),
    ("autoloop_runtime.control.kept_kinds", "autoloop_runtime.control.chunked_rows"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.engine"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.mapped_loops"),
    ("autoloop_runtime.gradients.build", "autoloop_runtime.gradients.mapped_vjp"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.chunk_files"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.loop_recovery"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.loops_apart"),
    ("autoloop_runtime.running.foreign_runs", "autoloop_runtime.distributed.lost_clusters"),
    ("autoloop_runtime.running.eager_elsewhere", "autoloop_runtime.distributed.lost_clusters"),
    ("autoloop.hunted_runs", "autoloop_runtime.dataflow.checked_kernels"),
    ("autoloop.known_traces", "autoloop.state.known_refusals"),
    ("autoloop.state.replays", "autoloop.retold_errors"),
    ("autoloop_runtime.ir.numpy_arguments", "autoloop_runtime.ir.odd_arguments"),
    ("autoloop_runtime.ir.tracers", "autoloop_runtime.ir.numpys_faults"),
    ("autoloop_runtime.ir.tracers", "autoloop_runtime.ir.overlapping_copies"),
    ("autoloop_runtime.ir.array_attributes", "autoloop_runtime.ir.overlapping_copies"),
    ("autoloop_runtime.ir.array_references", "autoloop_runtime.ir.overlapping_copies"),
    ("autoloop.operators.constructs.library_calls", "autoloop_runtime.ir.overlapping_copies"),
    ("autoloop_runtime.running.prepare", "autoloop_runtime.running.runner"),
    ("autoloop_runtime.running.prepare", "autoloop_runtime.running.progress_bars"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.shown_runs"),
    ("autoloop_runtime.running.shown_runs", "autoloop_runtime.running.progress_bars"),
    ("autoloop_runtime.running.progress_bars", "tqdm.auto"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.open_frames"),
    ("autoloop_runtime.python_code.loop_sites", "autoloop_runtime.base.odometers"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.base.odometers"),
    ("autoloop.function", "autoloop.tracing"),
    ("autoloop.tracing", "autoloop.explained_traces"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.told_code"),
    ("autoloop_runtime.base.callbacks", "autoloop_runtime.base.logs"),
    ("autoloop.function", "autoloop.state.retrials"),
    ("autoloop.function", "autoloop.input_signature"),
    ("autoloop.function", "autoloop.joined_arguments"),
    ("autoloop.function", "autoloop.switched_calls"),
    ("autoloop.known_traces", "autoloop.switched_calls"),
    ("autoloop.function", "autoloop.operators.staging.staged_blocks"),
    ("autoloop.number_inputs", "autoloop.extent_inputs"),
    ("autoloop.number_inputs", "autoloop.new_kinds"),
    ("autoloop.known_traces", "autoloop.call_form"),
    ("autoloop.known_traces", "autoloop.fast_path"),
    ("autoloop.known_traces", "autoloop.path_text"),
    ("autoloop.known_traces", "autoloop.named_calls"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.dataflow.compile_dataflow"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.remote_programs"),
    ("autoloop_runtime.running.remote_programs", "autoloop_runtime.distributed.remote_regions"),
    ("autoloop_runtime.running.remote_programs", "autoloop_runtime.distributed.remote_driver"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.checkpointed_runs"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.python_code.compile_python"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.automatic"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.tier_up"),
    ("autoloop_runtime.running.automatic", "autoloop_runtime.dataflow.compile_dataflow"),
    ("autoloop_runtime.running.tier_up", "autoloop_runtime.running.trials"),
    ("autoloop_runtime.running.tier_up", "autoloop_runtime.running.rival"),
    ("autoloop_runtime.running.on_stack_replacement", "autoloop_runtime.running.trials"),
    ("autoloop_runtime.dataflow.compile_dataflow", "autoloop_runtime.passes.parts_in_place"),
    ("autoloop_runtime.dataflow.compile_dataflow", "autoloop_runtime.dataflow.part_kernels"),
    ("autoloop_runtime.dataflow.compile_dataflow", "autoloop_runtime.dataflow.reads_first"),
    ("autoloop_runtime.dataflow.compile_dataflow", "autoloop_runtime.dataflow.memory_limit"),
    ("autoloop_runtime.dataflow.compile_dataflow", "autoloop_runtime.dataflow.started_together"),
    ("autoloop_runtime.dataflow.started_together", "autoloop_runtime.dataflow.split_loops"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.loops_alone"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.split_plans"),
    ("autoloop_runtime.dataflow.split_plans", "autoloop_runtime.dataflow.pipelined_loops"),
    ("autoloop_runtime.dataflow.split_loops", "autoloop_runtime.dataflow.pipeline_stages"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.memory_limit"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.faster_kernels"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.loop_pieces"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.loop_parts"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.gradient_products"),
    ("autoloop_runtime.dataflow.loop_code", "autoloop_runtime.dataflow.loop_parts"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.pieces"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.running.machine_kernels"),
    ("autoloop_runtime.dataflow.execution_plan", "autoloop_runtime.dataflow.overlap"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.dataflow.overlap"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.workers"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.seen_runs"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.seen_runs"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.seen_steps"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.limited_plans"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.memory_limit"),
    ("autoloop_runtime.dataflow.overlapped_loops", "autoloop_runtime.dataflow.limited_plans"),
    ("autoloop_runtime.base.profiler", "autoloop_runtime.base.trace_curves"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.first_failure"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.batch_parts"),
    ("autoloop_runtime.dataflow.one_thread", "autoloop_runtime.dataflow.ready_kernels"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.dataflow.loop_code"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.dataflow.batched_loops"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.dataflow.batches"),
    ("autoloop_runtime.dataflow.whole_loops", "autoloop_runtime.dataflow.shared_bodies"),
    ("autoloop_runtime.dataflow.batch_step", "autoloop_runtime.dataflow.batch_walk"),
    ("autoloop_runtime.dataflow.batch_step", "autoloop_runtime.dataflow.batch_code"),
    ("autoloop_runtime.python_code.compile_python", "autoloop_runtime.ir.failures"),
    ("autoloop_runtime.python_code.compile_python", "autoloop_runtime.passes.given_places"),
    ("autoloop_runtime.python_code.compile_python", "autoloop_runtime.passes.parts_in_place"),
    ("autoloop_runtime.python_code.emitter", "autoloop_runtime.python_code.emitted_branches"),
    ("autoloop_runtime.python_code.emitter", "autoloop_runtime.python_code.emitted_loops"),
    ("autoloop_runtime.running.runner", "autoloop_runtime.native"),
    ("autoloop_runtime.running.heeding", "autoloop_runtime.native"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.lying_arguments"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.recorded_calls"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.told_loops"),
    ("autoloop.compat.session_parts", "autoloop.viewing.tensorboard_graph"),
    ("autoloop.viewing.stage_texts", "autoloop_runtime.native"),
    ("autoloop.viewing.stage_texts", "autoloop_runtime.native.toolchain.compile_ir"),
    ("autoloop.viewing.stage_texts", "autoloop_runtime.native.toolchain.debug_lines"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.main_namespace"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.numpy_linalg"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.numpy_fft"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.ufunc_methods"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.special_compositions"),
    ("autoloop_runtime.ops.numpy_door", "autoloop_runtime.ops.numpy_names.scipy_calls"),
    ("autoloop_runtime.base.background", "threading"),
    ("autoloop_runtime.base.forks", "threading"),
    ("autoloop_runtime.base.locations", "bisect"),
    ("autoloop_runtime.base.nest", "dataclasses"),
    ("autoloop_runtime.base.profiler", "threading"),
    ("autoloop_runtime.native.recorded_calls", "threading"),
    ("autoloop.sent_by_name", "copy"),
    ("autoloop.sent_by_name", "autoloop.sent_by_value"),
    ("autoloop.sent_by_name", "autoloop.arrived_before"),
    ("autoloop.derivative_functions", "autoloop.sent_by_value"),
    ("autoloop.fresh_results", "copy"),
    ("autoloop_runtime.base.nest", "optree"),
    ("autoloop_runtime.analysis.cost", "threadpoolctl"),
    ("autoloop_runtime.base.profiler", "json"),
    ("autoloop.operators.constructs.text", "string"),
    ("autoloop.operators.constructs.library_calls", "autoloop.operators.constructs.numpy_callbacks"),
    ("autoloop_runtime.dataflow.workers", "threadpoolctl"),
    ("autoloop.conversion.pipeline", "autoloop.conversion.converting"),
    ("autoloop.conversion.converting", "autoloop.conversion.printing"),
    ("autoloop.conversion.source", "autoloop.conversion.changed_files"),
    ("autoloop.conversion.source", "autoloop.conversion.texts_elsewhere"),
    ("autoloop.conversion.jumps", "autoloop.conversion.matching"),
    ("autoloop.conversion.block_statements", "autoloop.conversion.matching"),
    ("autoloop.tracing", "autoloop.conversion.advice"),
    ("autoloop.tracing", "autoloop.operators.staging.array_origins"),
    ("autoloop.tracing", "autoloop.operators.staging.told_arrays"),
    ("autoloop.tracing", "autoloop.told_results"),
    ("autoloop.operators.staging.raising", "autoloop_runtime.control.while_loop"),
    ("autoloop.operators.staging.branch_merge", "autoloop_runtime.control.while_loop"),
    ("autoloop.operators.staging.maybe_numbers", "autoloop_runtime.control.while_loop"),
    ("autoloop.operators.constructs.while_statement", "autoloop.operators.constructs.counted_whiles"),
    ("autoloop.operators.constructs.staged_fors", "autoloop_runtime.analysis.number_spans"),
    ("autoloop.operators.constructs.for_statement", "autoloop.operators.constructs.staged_fors"),
    ("autoloop.operators.constructs.iterables", "autoloop_runtime.ops.int_bounds"),
    ("autoloop.operators.constructs.while_statement", "autoloop.operators.constructs.staged_whiles"),
    ("autoloop.operators.constructs.while_statement", "autoloop.operators.constructs.for_statement"),
    ("autoloop.operators.staging.taken_containers", "autoloop.operators.staging.moved_lists"),
    ("autoloop.operators.staging.maybe_same", "autoloop.operators.staging.moved_lists"),
    ("autoloop.operators.staging.loop_variables", "autoloop.operators.staging.instances"),
    ("autoloop.operators.constructs.staged_loops", "autoloop.operators.staging.instances"),
    ("autoloop.operators.constructs.staged_loops", "autoloop.operators.staging.twins"),
    ("autoloop.operators.mutation.heap_snapshot", "autoloop.operators.mutation.library_objects"),
    ("autoloop.state.retrials", "autoloop.operators.staging.twins"),
    ("autoloop.operators.mutation.parts_of_objects", "autoloop.operators.mutation.written_by_methods"),
    ("autoloop.operators.constructs.call_expression", "autoloop.operators.constructs.called_special_methods"),
    ("autoloop.operators.staging.loop_variables", "autoloop.operators.staging.blank_values"),
    ("autoloop_runtime.passes.strictness", "autoloop_runtime.analysis.needed"),
    ("autoloop_runtime.python_code.block_chains", "autoloop_runtime.analysis.part_updates"),
    ("autoloop_runtime.python_code.inlining", "autoloop_runtime.analysis.part_updates"),
    ("autoloop.operators.staging.containers_of_blocks", "autoloop.operators.staging.places_of_containers"),
    ("autoloop.state.changes", "autoloop.operators.staging.copied_elements"),
    ("autoloop.state.changes", "autoloop.operators.staging.array_choices"),
    ("autoloop.operators.staging.optional", "autoloop.operators.staging.array_choices"),
    ("autoloop.state.changes", "autoloop.operators.mutation.attribute_orders"),
    ("autoloop.operators.mutation.side_effects", "autoloop.operators.mutation.attribute_orders"),
    ("autoloop.operators.mutation.side_effects", "autoloop.operators.mutation.named_places"),
    ("autoloop.operators.staging.list_lengths", "autoloop.operators.staging.begun_lists"),
    ("autoloop.operators.staging.staged_values", "autoloop.operators.staging.maybe_numbers"),
    ("autoloop.operators.staging.undefined", "autoloop.operators.staging.optional"),
    ("autoloop.operators.staging.list_columns", "autoloop_runtime.collections.tensor_array"),
    ("autoloop_runtime.running.prepare", "autoloop_runtime.running.session"),
    ("autoloop_runtime.running.automatic", "autoloop_runtime.passes.regions"),
    ("autoloop_runtime.running.on_stack_replacement", "autoloop_runtime.passes.resume"),
    ("autoloop_runtime.python_code.compile_python", "autoloop_runtime.python_code.timeline"),
    ("autoloop_runtime.python_code.emitter", "autoloop_runtime.python_code.fused_function"),
    ("autoloop_runtime.python_code.node_expressions", "autoloop_runtime.python_code.buffer_reuse"),
    # through the package only: two threads that import different modules of it first wait for each other in a circle
    ("autoloop_runtime.running.tier_up", "autoloop_runtime.native"),
    ("autoloop_runtime.running.tier_up", "autoloop_runtime.native.writer.called"),
    ("autoloop_runtime.running.tier_up", "autoloop_runtime.analysis.shape_classes"),
    ("autoloop_runtime.native.toolchain.compile_ir", "autoloop_runtime.native.toolchain.process"),
    ("autoloop_runtime.native.toolchain.shared_libraries", "ctypes.util"),
    ("autoloop_runtime.native.kernels.swap_file", "tempfile"),
    ("autoloop_runtime.native.typing.exact_shapes", "autoloop_runtime.native.typing.collection_types"),
    ("autoloop_runtime.native.typing.exact_shapes", "autoloop_runtime.native.typing.moving_extents"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.decided_calls"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.typing.deciding_values"),
    ("autoloop_runtime.native.native_function", "autoloop_runtime.native.rules.variable_rules"),
    ("autoloop_runtime.native.graph_forms", "autoloop_runtime.native.blocked_factors"),
    ("autoloop_runtime.native.graph_forms", "autoloop_runtime.native.blocked_loops"),
    ("autoloop_runtime.native.graph_forms", "autoloop_runtime.native.blocked_nests"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.variable_runs"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.failed_runs"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.entered_calls"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.linked_code"),
    ("autoloop_runtime.native.linked_code", "autoloop_runtime.native.ir.strict_floats"),
    ("autoloop_runtime.native.linked_code", "autoloop_runtime.native.ir.kept_lock"),
    ("autoloop_runtime.running.machine_kernels", "autoloop_runtime.native.single_kernels"),
    ("autoloop_runtime.running.machine_steps", "autoloop_runtime.native.step_code"),
    ("autoloop_runtime.running.machine_kernels", "autoloop_runtime.running.machine_cores"),
    ("autoloop_runtime.running.machine_cores", "autoloop_runtime.native.core_code"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.overlapped_loops"),
    ("autoloop_runtime.dataflow.executable", "autoloop_runtime.dataflow.overlapped_parts"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.toolchain.fp_flags"),
    ("autoloop_runtime.native.linked_code", "autoloop_runtime.native.kernels.thread_pool"),
    ("autoloop_runtime.native.linked_code", "autoloop_runtime.native.kernels.block_reuse"),
    ("autoloop_runtime.native.native_call", "autoloop_runtime.native.kernels.swap_file"),
    ("autoloop_runtime.native.rules.while_rules", "autoloop_runtime.native.writer.shared_loops"),
    ("autoloop_runtime.native.writer.polling", "autoloop_runtime.native.typing.intervals"),
    ("autoloop_runtime.native.writer.storage_plan", "autoloop_runtime.native.typing.moving_extents"),
}


@cache
def _parsed(text: str) -> ast.Module:
    """The tree of a source; most of this file asks for all there are."""
    return ast.parse(text)


@cache
def _nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree but those that say whether a name is read or written."""
    found = [tree]
    for node in found:
        for field in node._fields:
            child = getattr(node, field, None)
            if isinstance(child, list):
                found += [one for one in child if isinstance(one, ast.AST)]
            elif isinstance(child, ast.AST) and field != "ctx":
                found.append(child)
    return found


@cache
def _definitions(tree: ast.AST) -> list[ast.AST]:
    """All classes and functions in a tree, which is as little of it as statements are."""
    found = [tree]
    for node in found:
        for child in (getattr(node, field, None) for field in node._fields):
            if isinstance(child, list):
                found += [one for one in child if isinstance(one, (ast.stmt, ast.excepthandler, ast.match_case))]
    return [node for node in found if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))]


@pytest.fixture(scope="module", autouse=True)
def _no_tree_is_kept():
    yield
    _parsed.cache_clear()
    _nodes.cache_clear()
    _definitions.cache_clear()


def _modules() -> dict[str, Path]:
    """Every module of both packages by its dotted name."""
    found = {}
    for package, folder in SOURCES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


MODULES = _modules()
#: those that are no packages
FILES = {module for module, path in MODULES.items() if path.name != "__init__.py"}


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "_typing.TYPE_CHECKING")


def _imports(node: ast.AST, inside: bool = False):
    """Each import statement below ``node``, and whether it stands inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # most of what there is
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, inside
        elif _is_type_checking(child):
            for other in child.orelse:
                yield from _imports(other, inside)
        else:
            yield from _imports(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _targets(module: str, node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names that an import statement needs: modules where they are ours."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = module.split(".")
        if MODULES[module].name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - node.level + 1]
        base = ".".join([*package, *([base] if base else [])])
    inner = [f"{base}.{alias.name}" for alias in node.names]
    return [name if name in MODULES else base for name in inner]


@cache
def _all_imports() -> list[tuple[str, str, bool, str]]:
    """Who imports what, whether inside a function, and where."""
    found = []
    for module, path in MODULES.items():
        for node, inside in _imports(_parsed(path.read_text())):
            for target in _targets(module, node):
                found.append((module, target, inside, f"{path.relative_to(ROOT)}:{node.lineno}"))
    return found


def test_runtime_never_imports_the_front_end():
    wrong = [w for m, t, _, w in _all_imports() if m.startswith("autoloop_runtime") and t.split(".")[0] == "autoloop"]
    assert not wrong


def _room(module: str, below: str) -> str | None:
    """The folder directly ``below`` a package that ``module`` is in."""
    head, _, rest = module.partition(f"{below}.")
    return rest.split(".")[0] if not head and rest else None


def _arrows(package: str) -> dict[str, set[str]]:
    """Which rooms of a package there are, and from which of its rooms and modules each imports."""
    found: dict[str, set[str]] = {}
    for module, target, _, _ in _all_imports():
        room = _room(module, package)
        if room is not None and (room in ARROWS[package] or f"{package}.{room}" not in FILES):
            other = "package" if target == package else _room(target, package)
            found.setdefault(room, set()).update({other} - {room, None})
    return found


@pytest.mark.parametrize("package", ARROWS)
def test_rooms_import_from_those_in_the_table_and_no_others(package):
    allowed = {room: set(names.replace("the package", "package").split()) for room, names in ARROWS[package].items()}
    assert _arrows(package) == allowed
    for k, names in enumerate(allowed.values()):
        assert not names & set(list(allowed)[k:]), "rooms stand in an order: each imports from those before it"


def test_the_runtime_does_not_draw():
    marks = ("<svg", "<html", "digraph", "\\x1b[")
    wrong = [
        f"{path.relative_to(ROOT)}: {mark}"
        for module, path in MODULES.items()
        for mark in marks
        if module.startswith("autoloop_runtime") and mark in path.read_text().lower()
    ]
    assert not wrong, "pictures, pages and colours are the front end's"


def test_a_file_name_stands_once_in_the_tree():
    names = [path.name for path in MODULES.values() if path.name not in ("__init__.py", "__main__.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_op_is_told_apart_where_ops_are_priced():
    """What an op costs stands in its row."""
    priced = {"autoloop_runtime.analysis.cost", "autoloop_runtime.analysis.weight"}
    found = {(m, t) for m, t, _, _ in _all_imports() if m in priced}
    assert {m for m, _ in found} == priced
    assert not [t for _, t in found if _room(t, "autoloop_runtime") == "ops"]


def test_what_shares_memory_is_asked_in_one_place():
    """Who follows views and fresh arrays asks ``analysis.aliasing``; a price may depend on being a view."""
    asking = {m for m, path in MODULES.items() if "traits.memory" in path.read_text()}
    assert asking == {"autoloop_runtime.analysis.aliasing", "autoloop_runtime.analysis.cost"}


#: texts that begin as a name of ours and are none
OTHER_TEXTS = {"autoloop.expanded"}  # a namespace of optree's


def _may_import(module: str, target: str) -> bool:
    """Return whether two modules are of one room, or the tables have an arrow from one room to the other."""
    package = module.split(".")[0]
    room, other = _room(module, package), _room(target, package)
    return room == other or other in ARROWS[package].get(room, "").split()


def test_modules_that_are_named_in_texts_are_there():
    """Doors load modules by their names; none of them points upwards."""
    wrong = []
    for module, path in MODULES.items():
        for text in re.findall(r'"(autoloop(?:_runtime)?(?:\.\w+)+)"', path.read_text()):
            allowed = module == "autoloop" or text in OTHER_TEXTS or _may_import(module, text)
            wrong += [f"{module} names {text}"] * (text not in {*MODULES, *OTHER_TEXTS} or not allowed)
    assert not wrong


def test_files_that_are_told_apart_by_their_names_are_there():
    errors = importlib.import_module("autoloop.errors")
    texts = importlib.import_module("autoloop.operators.mutation.texts_of_tracers")
    front = SOURCES["autoloop"]
    files = [p for p in map(Path, errors._STAGING_FILES) if front in p.parents]
    files += [front / name for name in texts._FOR_THE_USER]
    assert len(files) > 10 and not [path for path in files if not path.exists()]


def _circle(needs: dict[str, set[str]]) -> list[str]:
    try:
        list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def test_no_circular_imports():
    needs: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, target, _, _ in _all_imports():
        if target in MODULES and target != module:
            needs[module].add(target)
    assert _circle(needs) == []


#: what a tensor, a node and a graph are is said of each by the others: the only modules whose types refer in a circle
KNOT = {
    f"autoloop_runtime.ir.{name}"
    for name in ("argument_types", "array_methods", "graph", "naming", "node", "tensor", "tensor_operators")
}  # fmt: skip


def _every_import(node: ast.AST):
    """Each import statement below ``node``, those for type checkers included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _every_import(child)


def test_types_refer_to_each_other_in_one_knot_only():
    needs: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        if module.startswith("autoloop_runtime"):
            found = {t for n in _every_import(_parsed(path.read_text())) for t in _targets(module, n)}
            found = {"the knot" if t in KNOT else t for t in found & MODULES.keys() - {module}}
            needs.setdefault("the knot" if module in KNOT else module, set()).update(found)
    needs["the knot"].remove("the knot")
    assert _circle(needs) == []


def test_imports_stand_at_the_top():
    wrong = [
        f"{where} imports {target}"
        for module, target, inside, where in _all_imports()
        if inside and (module, target) not in LAZY
    ]
    assert not wrong


def _own_by_full_name(module: str, text: str) -> list[int]:
    """The lines where a module names one of its own package by its full name."""
    package = module.split(".")[0]
    return [
        node.lineno for node in _nodes(_parsed(text))
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else
                     [node.module] if isinstance(node, ast.ImportFrom) and not node.level else [])
        if name.split(".")[0] == package
    ]  # fmt: skip


def test_a_package_imports_its_own_modules_by_relative_names():
    wrong = {m: lines for m, path in MODULES.items() if (lines := _own_by_full_name(m, path.read_text()))}
    assert not wrong


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("from autoloop.cli import main", [1]), ("import os\nimport autoloop.cli", [2]), ("from .cli import main", []),
        ("from autoloop_runtime.ir.op import Op", []), ("def f():\n from autoloop import cli", [2]),
    ],
)  # fmt: skip
def test_full_names_of_own_modules_are_found(text, lines):
    assert _own_by_full_name("autoloop.function", text) == lines


#: what is called by a name that is bound later: below ``ops`` all of it must be, above only where two need each other
LATE_CALLS = {
    "autoloop_runtime.ops.broadcasting": {
        "sum",  # the gradient of broadcasting, whose gradient is broadcasting
        "names_of",  # of extents that no trace knows, which the ops behind them give
    },
    "autoloop_runtime.ops.indexing": {"names_of", "part_names"},  # as above
    "autoloop_runtime.ops.elementwise": {"conj"},  # in the gradients of what works element by element, as conj does
    "autoloop_runtime.ops.extents": {"stack", "reshape"},  # of shapes, which those two take
    "autoloop_runtime.collections.variables": {"eval", "get_default_graph"},  # of sessions
    "autoloop_runtime.collections.sparse.sparse_tensor": {
        "sparse_add", "sparse_multiply", "sparse_divide", "sparse_matmul", "sparse_left_matmul", "sparse_getitem",
    },  # the operators of the class that the functions take
}  # fmt: skip


def test_functions_are_imported_wherever_they_can_be():
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        if module.startswith("autoloop_runtime.") and not module.startswith(
            ("autoloop_runtime.ir.", "autoloop_runtime.base.")
        ):
            text = path.read_text()
            imported = any(
                isinstance(node, ast.ImportFrom) and (node.module or "").endswith("ir.op")
                and "call" in [alias.name for alias in node.names] for node in _nodes(_parsed(text))
            )  # fmt: skip
            for node in _nodes(_parsed(text)) if imported else ():
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "call":
                    found.setdefault(module, set()).add(getattr(node.args[0], "value", "?"))
    assert found == LATE_CALLS


#: lines of a file, a class, a function
MOST_LINES = {"file": 450, "class": 250, "function": 60}
#: how the sentence begins by which the docstring of a longer file says why it is one
WHY_LONG = "One file:"


def _lines_of_examples(tree: ast.AST) -> int:
    """How many lines the examples in docstrings take, which are no part of what is done: they count for nothing."""
    count = 0
    for node in _definitions(tree):
        _, shown, examples = (ast.get_docstring(node) or "").partition("\n\nExamples\n--------\n")
        count += 3 + len(examples.splitlines()) if shown else 0
    return count


def _lines_of_texts(node: ast.AST) -> int:
    """How many lines the programs in texts of a function take, but for the first of each."""
    texts = [one for one in _nodes(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return sum(one.end_lineno - one.lineno for one in texts)


def _too_long(text: str, holds_programs: bool = False) -> list[str]:
    """What of a module is longer than it may be; tests hold programs in texts, which count for nothing."""
    tree = _parsed(text)
    lines = len(text.splitlines()) - _lines_of_examples(tree)
    says_why = WHY_LONG in (ast.get_docstring(tree) or "")
    found = [f"the file: {lines} lines"] if lines > MOST_LINES["file"] and not says_why else []
    for node in _definitions(tree):
        most = MOST_LINES["class" if isinstance(node, ast.ClassDef) else "function"]
        lines = node.end_lineno - node.lineno + 1
        if lines > most:
            lines -= _lines_of_examples(node)
        if lines > most and lines - holds_programs * _lines_of_texts(node) > most:
            found.append(f"{node.name}: {lines} lines")
    return found


def test_nothing_is_too_long():
    found = {module: _too_long(path.read_text()) for module, path in MODULES.items()}
    for folder in ("tests", "samples"):
        files = {path.relative_to(ROOT): path for path in (ROOT / folder).rglob("*.py")}
        found |= {str(name): _too_long(path.read_text(), holds_programs=True) for name, path in files.items()}
    wrong = {module: what for module, what in found.items() if what}
    assert not wrong, f"split it by ideas; a file that has to be one says so in a sentence: {WHY_LONG} ..."


def test_what_is_too_long_is_found():
    body = "    x = 1\n"
    assert _too_long("def f():\n" + 59 * body) == []
    assert _too_long("async def f():\n" + 60 * body) == ["f: 61 lines"]
    assert _too_long("class A:\n" + 249 * body) == []
    assert _too_long("class A:\n    class B:\n" + 250 * ("    " + body)) == ["A: 252 lines", "B: 251 lines"]
    assert _too_long(450 * "x = 1\n") == []
    program = 'def f():\n    run("""' + 60 * body + '""")\n'
    assert _too_long(program) == ["f: 62 lines"] and _too_long(program, holds_programs=True) == []
    assert _too_long(program + 60 * body, holds_programs=True) == ["f: 122 lines"]
    assert _too_long('"""Say it."""\n' + 450 * "x = 1\n") == ["the file: 451 lines"]
    shown = '    """Do it.\n\n    Examples\n    --------\n    >>> f()\n    """\n'
    assert _too_long("def f():\n" + shown + 56 * body) == []
    assert _too_long("def f():\n" + shown + 59 * body) == ["f: 62 lines"]
    assert _too_long(f'"""Say it.\n\n{WHY_LONG} a table."""\n' + 450 * "x = 1\n") == []


#: attributes of others that begin with an underscore and are documented, or have no other name
FOREIGN_PRIVATE = {
    "_fields",  # of ast's nodes
    "_getframe", "_exit", "_lru_cache_wrapper", "_is_owned", "_at_fork_reinit", "_local",  # the standard library's
    "_dispose",  # llvmlite's
}  # fmt: skip


def _private_reads(text: str) -> list[str]:
    """The names with one underscore that a module reads of something of another module's."""
    tree = _parsed(text)
    own = {"_"}
    for node in _nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            of_self = isinstance(node, ast.Name) or getattr(node.value, "id", None) in ("self", "cls")
            own |= {getattr(node, "attr", None) or node.id} if of_self else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            own.add(node.value)  # __slots__
    found = []
    for node in _nodes(tree):
        names = []
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) not in ("self", "cls"):
            names = [node.attr] if node.attr not in own and node.attr not in FOREIGN_PRIVATE else []
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        found += [name for name in names if name.startswith("_") and not name.startswith("__")]
    return found


def test_no_module_reads_what_is_private_to_another():
    wrong = {module: names for module, path in MODULES.items() if (names := _private_reads(path.read_text()))}
    assert not wrong, "let the class that owns it say it: a method, a property, a public attribute"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("graph._control", ["_control"]), ("graph._control = []", ["_control"]), ("self._control", []),
        ("from .define import _ruled", ["_ruled"]), ("from .define import ruled as _ruled", []),
        ("class A:\n def f(self, other): self._x = other._x", []), ("sys._getframe(1)", []), ("x.__dict__", []),
        ("class A:\n __slots__ = ('_x',)\ndef f(a): return a._x", []),
    ],
)  # fmt: skip
def test_what_is_private_to_another_is_found(text, found):
    assert _private_reads(text) == found


#: names under which 1.x collects what belongs to a graph; and any ``name``, as users ask for them
COLLECTIONS = {"variables", "name"}


def _keys_of_collections(text: str) -> set[str]:
    """The keys of ``collections`` of graphs; what is no word is found as its code."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        asked, owner = None, getattr(node, "value", None)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("get", "setdefault", "pop"):
            owner, asked = node.func.value, next(iter(node.args), None)
        elif isinstance(node, ast.Subscript):
            asked = node.slice
        if asked is not None and isinstance(owner, ast.Attribute) and owner.attr == "collections":
            found.add(asked.value if isinstance(asked, ast.Constant) else ast.unparse(asked))
    return found


def test_collections_of_a_graph_are_those_of_1_x():
    texts = {module: path.read_text() for module, path in MODULES.items()}
    found = {module: _keys_of_collections(text) for module, text in texts.items() if ".collections" in text}
    assert set.union(*found.values()) == COLLECTIONS, "keep a record of a class of its own: Graph.record"
    assert _keys_of_collections("g.root.collections.setdefault('a', []); h.collections[KEY] = 1") == {"a", "KEY"}


#: dunders of our own: how a value becomes a tensor, and of which kind it is; and marks on what is not ours
OUR_DUNDERS = {
    "tensor",
    "kind",
    "calls_back",
    "traces",
    "node",
    "told",
    "programs",
    "refusal",
    "raised_anyway",
    "ruled",
    "unbuilt",
    "surely",
    "do_not_convert",
}


def test_no_private_protocol_beside_those_that_are_typed():
    found = set[str]()
    for path in MODULES.values():
        found |= set(re.findall(r"__autoloop_(\w+?)__", path.read_text()))
    assert found == OUR_DUNDERS, "a value of several tensors says so by a Composite, see ir/composite.py"


#: methods of a string that say what it is
DECIDES = {"startswith", "endswith", "find", "index", "count", "__eq__", "__contains__"}
#: what takes a string to choose by
LOOKS_UP = {"get", "startswith", "endswith", "match", "fullmatch", "search", "fnmatch", "getattr"}
#: whose ``type`` is something else than the op of a node
OTHER_TYPES = {"token", "dtype"}


def _attribute(node: ast.AST) -> tuple[ast.AST | None, str | None]:
    """The owner and the name of an attribute, also of one that ``getattr`` reads."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "getattr" and len(node.args) > 1:
        return node.args[0], getattr(node.args[1], "value", None)
    return None, None


def _last_name(node: ast.AST | None) -> str | None:
    """The last word of a dotted name."""
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _gives_op_name(node: ast.AST, known: set[str]) -> bool:
    """Whether an expression is the name of an op: ``op.name``, ``node.op.name``, ``node.type``, or a variable that was
    given one."""
    owner, name = _attribute(node)
    if name == "name":
        return _last_name(owner) == "op"
    if name == "type":
        return _last_name(owner) not in OTHER_TYPES
    return isinstance(node, ast.Name) and node.id in known


def _given_op_names(nodes: list[ast.AST]) -> set[str]:
    """The variables that are given the name of an op."""
    pairs = []
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                both = (target, node.value)
                several = all(isinstance(one, ast.Tuple | ast.List) for one in both)
                pairs += zip(*[one.elts for one in both]) if several else [both]
    return {
        target.id for target, value in pairs
        if isinstance(target, ast.Name) and _gives_op_name(value, set())
        and (_attribute(value)[1] == "name" or _last_name(_attribute(value)[0]) in ("node", "op"))
    }  # fmt: skip


def _uses_of_op_names(tree: ast.AST) -> list[int]:
    """The lines where something depends on what an op is called."""
    nodes = list(_nodes(tree))
    known = _given_op_names(nodes)
    found = []
    for node in nodes:
        asked: list[ast.AST] = []
        if isinstance(node, ast.Compare) and not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.Attribute) and node.attr in DECIDES:
            asked = [node.value]
        elif isinstance(node, ast.Call) and _last_name(node.func) in LOOKS_UP:
            asked = node.args
        elif isinstance(node, ast.Call) and _last_name(node.func) == "attrgetter":
            asked = [ast.parse(str(a.value), mode="eval").body for a in node.args if isinstance(a, ast.Constant)]
        if any(_gives_op_name(part, known) for one in asked for part in ast.walk(one)):
            found.append(node.lineno)
    return found


def _reaches_by_name(tree: ast.AST, names: set[str]) -> list[int]:
    """The lines where an op, or its public function, is reached by a string."""
    froms = [n for n in _nodes(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").endswith("ir.op")]
    imported = {a.asname or a.name: a.name for n in froms for a in n.names}
    found = []
    for node in _nodes(tree):
        owner, name = _attribute(node)
        if imported.get(getattr(node, "id", "")) in ("OPS", "FUNCTIONS") or name in ("OPS", "FUNCTIONS"):
            found.append(node.lineno)
        if isinstance(node, ast.Call):
            by_name = isinstance(node.func, ast.Attribute) and node.func.attr == "call"
            if by_name or imported.get(getattr(node.func, "id", "")) == "call":
                asked = node.args[0] if node.args else None
                if isinstance(asked, ast.Constant) and asked.value in names:
                    found.append(node.lineno)
            elif owner is not None and _last_name(owner) == "ops":
                found.append(node.lineno)  # getattr(ops, ...)
    return found


def _op_names() -> set[str]:
    importlib.import_module("autoloop_runtime.native")
    importlib.import_module("autoloop_runtime.ops.numpy_names.main_namespace")  # which has rows of its own
    importlib.import_module("autoloop_runtime.ops.later_rows").load_all()
    return set(importlib.import_module("autoloop_runtime.ir.op").OPS)


def _tables_of_op_names(tree: ast.AST, names: set[str], others: Sequence[str] = ()) -> list[int]:
    """The lines of collections, and of keys of dicts, that name several ops; ``others`` name something else, and what a
    module makes public are names of functions."""
    found, assigned = [], [node for node in _nodes(tree) if isinstance(node, ast.Assign | ast.AugAssign)]
    targets = {id(one.value): one.targets[0] if isinstance(one, ast.Assign) else one.target for one in assigned}
    for node in _nodes(tree):
        if id(node) in targets and ast.unparse(targets[id(node)]) in ("__all__", "_NOT_OF_A_STAR"):
            continue
        listed = isinstance(node, ast.Set | ast.Tuple | ast.List)
        members = node.elts if listed else node.keys if isinstance(node, ast.Dict) else []
        words = {m.value for m in members if isinstance(m, ast.Constant) and isinstance(m.value, str)} & names
        if len(words) > 1 and words not in [set(other.split()) for other in others]:
            found.append(node.lineno)
    return found


#: module -> names of ops that mean something else there
OTHER_NAMES = {
    # functions of the array API that NumPy computes
    "autoloop": ("nextafter positive signbit",),
    # kinds of guards
    "autoloop.state.guards": ("equal length",),
    "autoloop.state.noted": ("equal length",),
    # Python's builtins
    "autoloop.conversion.expressions": ("all any max min sum", "all any", "length shape size stack"),
    "autoloop.conversion.scopes": ("all any max min sum",),
    # attributes and methods of arrays
    "autoloop.conversion.mutated_parameters": ("shape size",),
    "autoloop.operators.constructs.attributes": ("shape size",),
    "autoloop_runtime.ir.foreign_values": ("repeat size sort transpose view", "max min argmax argmin"),
    "autoloop_runtime.collections.variables": ("reshape sum mean max min size",),
    "autoloop_runtime.ir.numpy_results": ("byteswap conj imag real reshape squeeze", "transpose view"),
    # attributes and methods of Python's numbers
    "autoloop_runtime.ir.number_attributes": ("real imag",),
    # arguments of NumPy's functions
    "autoloop_runtime.ir.numpy_arguments": ("max min",),
    "autoloop_runtime.ir.odd_arguments": ("mean where",),
    # Python's operators
    "autoloop.operators.constructs.mixed_operators": ("mod pow matmul",),
    "autoloop.operators.staging.standins": ("add mod pow matmul", "abs invert getitem"),
    "autoloop_runtime.ir.tensor_operators": ("add mod pow matmul",),
    "autoloop_runtime.ir.number_operators": ("matmul mod", "add mod pow"),
    # what the command line calls arrays
    "autoloop.cli.arguments": ("linspace range",),
    # the forms of values in a file
    "autoloop_runtime.saving.value_form": ("complex shape",),
}
#: 1.x has all functions that there are
EVERY_FUNCTION = "autoloop.compat.v1"
#: where ops are defined
_ROWS = ("autoloop_runtime.ops", "autoloop_runtime.ir.op")
#: whose operators are functions of the modules above, bound late
_BELOW = ("autoloop_runtime.ir", "autoloop_runtime.collections.sparse.sparse_tensor")
#: the templates of rows name other rows
_READS_TEMPLATES = "autoloop_runtime.native.writer.elementwise_ir"
#: files name rows
_READS_FILES = "autoloop_runtime.saving.op_table"
#: what a text has that asks something for its name
_READS_NAMES = re.compile(r"\.(name|type)\b|[\"'](name|type)[\"']")


def test_ops_are_not_told_apart_by_their_names():
    names, wrong = _op_names(), []
    for module, path in MODULES.items():
        if not module.startswith(_ROWS):
            tree = _parsed(text := path.read_text())
            lines = {
                *(_uses_of_op_names(tree) if _READS_NAMES.search(text) else ()),
                *_tables_of_op_names(tree, names, OTHER_NAMES.get(module, ())),
            }
            if not module.startswith((*_BELOW, _READS_TEMPLATES, _READS_FILES, EVERY_FUNCTION)):
                lines.update(_reaches_by_name(tree, names))
            wrong += [f"{path.relative_to(ROOT)}:{line}" for line in sorted(lines)]
    assert not wrong, f"import the Op and ask what it states of itself: {wrong}"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("node.op.name == 'While'", True), ("op.name in TABLE", True), ("TABLE[x.op.op.name]", True),
        ("RULES.get(node.op.name)", True), ("kind = op.name\nkind != 'add'", True),
        ("op.name.startswith('random_')", True), ("node.op is WHILE", False), ("f'{op.name!r}'", False),
        ("variable.name == 'add'", False), ("apply(op, [x], {'dtype': d, 'shape': s})", False),
        ("FLAT = {'add', 'multiply'}", True), ("RULES = {'add': 1, 'multiply': 2}", True), ("{'add': x}", False),
        ("if node.op.name in {'add', s}: pass", True), ("if op.name in ('add', 'multiply'): pass", True),
        ("match node.op.name:\n  case 'add': pass", True), ("FLAT = frozenset(['add', 'multiply'])", True),
        ("from ..ir.op import OPS\nOPS['add']", True), ("from ..ir.op import call\ncall('add', x, y)", True),
        ("from ..ir.op import call\ncall('sparse_add', x, y)", False),
        ("from ..ir.op import OPS\nmake(OPS[name])", True), ("from ..ir.op import FUNCTIONS\nFUNCTIONS[name](x)", True),
        ("call('add', x)", False),
        # ways round
        ("node.type == 'add'", True), ("x.op.type in TABLE", True), ("RULES[node.type]", True),
        ("n.type != 'add'", True),
        ("kind = node.type\nkind == 'add'", True), ("handler.type is not None", False), ("token.type == OP", False),
        ("TABLE[dtype.type]", False), ("getattr(node.op, 'name') == 'add'", True), ("getattr(n, 'type') in T", True),
        ("op.name[:3] == 'add'", True), ("op.name.lower() == 'add'", True), ("T[op.name.lower()]", True),
        ("f'{op.name}' == 'add'", True), ("str(op.name) in T", True), ("starts = op.name.startswith", True),
        ("'a' in [n.op.name for n in nodes]", True), ("re.match('add', op.name)", True), ("op.name.count('a')", True),
        ("(kind := op.name) == 'add'", True), ("kind, x = op.name, 1\nkind == 'add'", True),
        ("kind: str = op.name\nkind in T", True), ("getattr(self, op.name)(x)", True),
        ("match node.type:\n  case 'add': pass", True), ("key = attrgetter('op.name')", True),
        ("from ..ir import op as rows\nrows.OPS[k]", True), ("ir.op.FUNCTIONS.values()", True),
        ("getattr(rows, 'OPS')", True), ("from ..ir.op import OPS as rows\nrows[k]", True),
        ("from ..ir.op import call as f\nf('add', x)", True), ("rows.call('add', x)", True),
        ("getattr(ops, name)", True), ("getattr(runtime.ops, 'add')", True), ("getattr(options, name)", False),
        ("{'add', 'multiply', 'other'}", True), ("['add', 'multiply', k]", True),
        ("{'add': 1, 'multiply': 2, k: 3}", True),
        ("('add', 'other')", False), ("f(name, unique_name(op.name.lower()))", False),
    ],
)  # fmt: skip
def test_what_the_name_of_an_op_decides_is_found(text, is_found):
    tree, names = _parsed(text), {"add", "multiply", "shape"}
    found = _uses_of_op_names(tree) or _tables_of_op_names(tree, names) or _reaches_by_name(tree, names)
    assert bool(found) is is_found


def test_names_that_mean_something_else_are_there():
    for module, others in OTHER_NAMES.items():
        tree, names = _parsed(MODULES[module].read_text()), _op_names()
        lines = len(_tables_of_op_names(tree, names))
        for other in others:
            rest = [one for one in others if one != other]
            assert len(_tables_of_op_names(tree, names, rest)) > 0, (module, other)
        assert lines and not _tables_of_op_names(tree, names, others)


#: what makes something that changes, besides displays with nothing in them
MAKES_MUTABLE = {"list", "dict", "set", "deque", "defaultdict", "count", "local", "WeakKeyDictionary", "WeakSet"}
#: one of these words is in the sentence that says why threads do not mind
GUARDS = ("lock", "atomic", "import", "thread", "races", "one such")


def _is_mutable(value: ast.AST | None) -> bool:
    """Whether a value is an empty display, or made by a call."""
    if isinstance(value, ast.Call):
        made = value.func.value if isinstance(value.func, ast.Subscript) else value.func
        return _last_name(made) in MAKES_MUTABLE
    members = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", None)
    return isinstance(value, ast.List | ast.Set | ast.Dict) and not members


def _unguarded(text: str) -> list[str]:
    """The names at the top of a module that are filled or replaced later, without a word of what guards them."""
    tree, lines, found = _parsed(text), text.splitlines(), []
    replaced = {name for node in _nodes(tree) if isinstance(node, ast.Global) for name in node.names}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        constant = isinstance(node, ast.AnnAssign) and "Mapping" in ast.unparse(node.annotation)
        if constant or not (_is_mutable(node.value) or replaced & set(names)):
            continue
        first = node.lineno - 1
        while first and lines[first - 1].strip():
            first -= 1
        said = " ".join(line.partition("#")[2] for line in lines[first : node.end_lineno])
        if not any(word in said for word in GUARDS):
            found += names
    return found


def test_state_of_a_module_says_what_guards_it():
    wrong = {m: names for m, path in MODULES.items() if (names := _unguarded(path.read_text()))}
    assert not wrong, f"say in a comment above it which lock, or why none: {wrong}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("_known = {}", ["_known"]), ("#: guarded by ``_lock``\n_known = {}", []),
        ("_known: list[int] = []", ["_known"]), ("_known = dict[int, str]()", ["_known"]),
        ("_next = count()", ["_next"]), ("_own = threading.local()  # of each thread", []), ("_names = ('a',)", []),
        ("# under a lock\n\n_known = set()", ["_known"]), ("NONE: Mapping[str, str] = {}", []),
        ("_now = 1\ndef f():\n global _now\n _now = 2", ["_now"]), ("_now = 1\ndef f(): _now = 2", []),
        ("#: filled while modules are imported\na = {}\nb = []", []), ("def f():\n x = []", []),
    ],
)  # fmt: skip
def test_state_that_nothing_guards_is_found(text, found):
    assert _unguarded(text) == found


def test_samples_need_only_autoloop_numpy_and_the_standard_library():
    samples = sorted((ROOT / "samples").glob("*.py"))
    allowed = {"autoloop", "numpy", *sys.stdlib_module_names, *(path.stem for path in samples)}
    for path in samples:
        for node in _nodes(_parsed(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in allowed, f"{path.name}:{node.lineno} imports {name}"


def test_a_name_of_a_file_of_tests_stands_once():
    """pytest imports each by its bare name: of two, one would not be run, or both not."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert not [name for name, number in names.items() if number > 1]


#: what looks at the packages as such
KNOWS_PACKAGES = dict.fromkeys(("runtime/program_server.py", "runtime/test_fork_registry.py"), {"autoloop_runtime"})


def test_tests_import_the_inside_from_one_module():
    """A program in a text, for another process, may import what it likes."""
    folder, wrong = ROOT / "tests", []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        text = path.read_text()
        if "autoloop_runtime" not in text or name == "runtime/api.py" or name.startswith("benchmarks/"):
            continue
        for node in _nodes(_parsed(text)):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            inside = {m for m in modules if m.split(".")[0] == "autoloop_runtime"}
            if inside - KNOWS_PACKAGES.get(name, set()):
                wrong.append(f"{name}:{node.lineno}")
    assert not wrong
