"""What the tests know of the library's inside, and where it is: they import it from here and nowhere else.

Modules are modules here, for what is replaced in them.
"""

from __future__ import annotations

from autoloop_runtime import native, ops
from autoloop_runtime.analysis import cost, ownership, sizes, weight
from autoloop_runtime.analysis.aliasing import is_fresh, looked_at, only_looks, with_views
from autoloop_runtime.analysis.cost import TRIPS, choose, estimate, expected_trips
from autoloop_runtime.analysis.failure import can_fail, graph_can_fail
from autoloop_runtime.analysis.induction import Induction, constant_step, most_trips, trip_count
from autoloop_runtime.analysis.inside import count_nodes, graphs_inside, loops_inside, nodes_inside
from autoloop_runtime.analysis.observable import effects, has_effect, is_barrier, is_pure, may_repeat, only_computes
from autoloop_runtime.analysis.ownership import Ownership as Ownership
from autoloop_runtime.analysis.passed_on import Origins, is_fixed
from autoloop_runtime.analysis.positions_within import can_fail_in
from autoloop_runtime.analysis.sizes import LARGE, SMALL, bytes_of, is_large, may_hold_memory
from autoloop_runtime.analysis.uses import CONTROL, END, Readers, place_of, places, readers
from autoloop_runtime.analysis.weight import Weight as Weight
from autoloop_runtime.base import (
    background,
    collector,
    config,
    dtypes,
    enumeration,
    forks,
    fp_warnings,
    locations,
    native_extra,
    nest,
    parsing,
    profiler,
    threads,
    trace_curves,
)
from autoloop_runtime.base import dataclass as lean
from autoloop_runtime.base import kept_entries as caching
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.deadlines import DEADLINE as DEADLINE
from autoloop_runtime.base.dtypes import float32, float64, variant
from autoloop_runtime.base.kept_entries import DiskCache
from autoloop_runtime.base.kept_modules import ENOUGH, Finder
from autoloop_runtime.base.locations import Places
from autoloop_runtime.base.native_extra import why_not
from autoloop_runtime.base.shapes import SCALAR, UNKNOWN, TensorShape, broadcast_shapes
from autoloop_runtime.collections import accumulators, adjoint_table, array_buffer, swap
from autoloop_runtime.collections.array_buffer import ArraySpec
from autoloop_runtime.collections.checkpoint_store import Growing, Limited
from autoloop_runtime.collections.swap import SwapStack
from autoloop_runtime.collections.tensor_array import TensorArray
from autoloop_runtime.collections.variables import Variable
from autoloop_runtime.collections.versioned_array import ArrayValue
from autoloop_runtime.control import while_loop as control_flow
from autoloop_runtime.control.cond import cond
from autoloop_runtime.control.map_scan import map_fn, scan
from autoloop_runtime.control.while_loop import while_loop
from autoloop_runtime.dataflow import batch_step as batch_step
from autoloop_runtime.dataflow import batches as batches
from autoloop_runtime.dataflow import core_calls as core_calls
from autoloop_runtime.dataflow import core_events as core_events
from autoloop_runtime.dataflow import core_kernels as core_kernels
from autoloop_runtime.dataflow import core_runs as core_runs
from autoloop_runtime.dataflow import core_workers as core_workers
from autoloop_runtime.dataflow import executable, faster_kernels, kept_memory, loop_code, loop_walk, pieces, workers
from autoloop_runtime.dataflow import flat_rules as flat_rules
from autoloop_runtime.dataflow import gradient_products as gradient_products
from autoloop_runtime.dataflow import memory_limit as memory_limit
from autoloop_runtime.dataflow import one_thread as one_thread
from autoloop_runtime.dataflow import overlapped_loops as overlapped_loops
from autoloop_runtime.dataflow import overlapped_parts as overlapped_parts
from autoloop_runtime.dataflow import packed_bundles as packed_bundles
from autoloop_runtime.dataflow import pipeline_runs as pipeline_runs
from autoloop_runtime.dataflow import running_loops as running_loops
from autoloop_runtime.dataflow import seen_cores as seen_cores
from autoloop_runtime.dataflow import seen_runs as seen_runs
from autoloop_runtime.dataflow import shared_bodies as shared_bodies
from autoloop_runtime.dataflow import token_core as token_core
from autoloop_runtime.dataflow import whole_loops as whole_loops
from autoloop_runtime.dataflow.batch_doors import ALWAYS
from autoloop_runtime.dataflow.batch_parts import BatchParts as BatchParts
from autoloop_runtime.dataflow.core_calls import UNKNOWN as NO_OBJECT
from autoloop_runtime.dataflow.core_handover import gone_on as gone_on
from autoloop_runtime.dataflow.core_handover import reached as reached
from autoloop_runtime.dataflow.core_runs import CoreRun as CoreRun
from autoloop_runtime.dataflow.core_tables import LoopTables as LoopTables
from autoloop_runtime.dataflow.critical_path import CriticalPaths as CriticalPaths
from autoloop_runtime.dataflow.dependence import Dependence as Dependence
from autoloop_runtime.dataflow.executable import Executable
from autoloop_runtime.dataflow.execution_plan import MISSING, FramePlan, Plan, Step
from autoloop_runtime.dataflow.first_failure import FirstFailure
from autoloop_runtime.dataflow.flat_graph import FlatNode, Kind, Lowered
from autoloop_runtime.dataflow.frames import Frame, Item, Iteration, State
from autoloop_runtime.dataflow.independent_parts import independent_parts as independent_parts
from autoloop_runtime.dataflow.kernels import Arguments as Arguments
from autoloop_runtime.dataflow.kernels import Until as Until
from autoloop_runtime.dataflow.kernels import Unwanted as Unwanted
from autoloop_runtime.dataflow.kernels import Watch
from autoloop_runtime.dataflow.kernels import call as call_kernel
from autoloop_runtime.dataflow.loops_alone import alone as alone
from autoloop_runtime.dataflow.loops_alone import enters as enters
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.dataflow.memory_limit import MemoryLimit
from autoloop_runtime.dataflow.overlap import VERY_MANY, overlapping
from autoloop_runtime.dataflow.overlapped_loops import forms_of_tokens as forms_of_tokens
from autoloop_runtime.dataflow.packed_bundles import unpacked
from autoloop_runtime.dataflow.pieces import pieces_of
from autoloop_runtime.dataflow.ready_kernels import ByPath as ByPath
from autoloop_runtime.dataflow.started_together import with_starts_together
from autoloop_runtime.dataflow.step_forms import StepCode, step_forms
from autoloop_runtime.dataflow.testing import SeededExecutor
from autoloop_runtime.dataflow.token_forms import TokenForm
from autoloop_runtime.dataflow.token_replay import Enough as Enough
from autoloop_runtime.dataflow.token_replay import TokenReplay as TokenReplay
from autoloop_runtime.dataflow.whole_loops import light_kernels as light_kernels
from autoloop_runtime.dataflow.whole_loops import with_joined_steps as with_joined_steps
from autoloop_runtime.dataflow.whole_loops import with_whole_loops as with_whole_loops
from autoloop_runtime.distributed import (
    anchors,
    loop_recovery,
    lost_clusters,
    on_cluster,
    remote_cluster,
    remote_costs,
    remote_driver,
    remote_regions,
    remote_values,
    stopped_runs,
    windows,
)
from autoloop_runtime.distributed import chunk_programs as chunk_programs
from autoloop_runtime.distributed import engine as dask_engine
from autoloop_runtime.distributed import fresh_names as fresh_names
from autoloop_runtime.distributed import fused_chunks as fused_chunks
from autoloop_runtime.distributed import read_arrays as read_arrays
from autoloop_runtime.distributed import task_templates as task_templates
from autoloop_runtime.distributed.crossings import with_crossings
from autoloop_runtime.distributed.submissions import Statistics
from autoloop_runtime.gradients import checkpoints, compiled_calls, extension_rules
from autoloop_runtime.gradients.api import gradients, value_and_grad
from autoloop_runtime.gradients.mincut import cheapest_cut
from autoloop_runtime.gradients.rewriting import FIXED
from autoloop_runtime.ir import apply as apply_module
from autoloop_runtime.ir import naming as naming
from autoloop_runtime.ir import numpy_protocols
from autoloop_runtime.ir import verify as verifying
from autoloop_runtime.ir.apply import apply, apply_several
from autoloop_runtime.ir.array_storage import Storage as Storage
from autoloop_runtime.ir.composite import Composite, composite_of
from autoloop_runtime.ir.composite import register as register_composite
from autoloop_runtime.ir.convert import constant, convert_to_tensor
from autoloop_runtime.ir.graph import CONST, PARAMETER, Graph, Node, current_graph, default_graphs
from autoloop_runtime.ir.numpy_arguments import SIGNATURES, Counterpart
from autoloop_runtime.ir.numpy_protocols import NUMPY_FUNCTIONS, NUMPY_UFUNCS
from autoloop_runtime.ir.op import FUNCTIONS, OPS, Op, call, register
from autoloop_runtime.ir.prices import Price, Products
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.records import LoopRecord, call_records, loop_records, record_call, record_loop
from autoloop_runtime.ir.run_state import EAGER, RunState
from autoloop_runtime.ir.stages import Stage, watch
from autoloop_runtime.ir.structured import COND, WHILE
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.ir.traits import (
    ELEMENTS,
    MADE,
    NO_GRADIENT,
    NO_RULE,
    OPAQUE,
    VIEWING,
    Batching,
    Fails,
    Memory,
    NoRule,
    Traits,
)
from autoloop_runtime.ir.verify import verify
from autoloop_runtime.namespaces import Namespace, NamespaceRefusal, in_namespace, namespace_of
from autoloop_runtime.namespaces import foreign_kernels as foreign_kernels
from autoloop_runtime.namespaces import foreign_rows as foreign_rows
from autoloop_runtime.namespaces.chunk_kernels import ChunkKernel
from autoloop_runtime.native import (
    NativeRefusal,
    blocked_factors,
    compile_native,
    decided_calls,
    failed_runs,
    linked_code,
    native_call,
    recorded_calls,
    rules,
    single_kernels,
)
from autoloop_runtime.native import core_code as core_code
from autoloop_runtime.native import step_code as step_code
from autoloop_runtime.native.blocked_loops import with_blocks
from autoloop_runtime.native.blocked_nests import with_nests
from autoloop_runtime.native.ir.elements import FLOAT as FLOAT
from autoloop_runtime.native.kernels import (
    block_reuse,
    called_kernel,
    elimination,
    gemm,
    ll_files,
    quick_sort,
    stack_code,
    subnormal_products,
    swap_file,
    thread_pool,
)
from autoloop_runtime.native.kernels.block_reuse import CLASSES as BLOCK_CLASSES
from autoloop_runtime.native.kernels.block_reuse import SMALLEST as SMALLEST_BLOCK
from autoloop_runtime.native.kernels.block_reuse import ReusedBlocks, reused_blocks
from autoloop_runtime.native.native_function import write_function
from autoloop_runtime.native.rules import growing_table, lapack_calls, linalg_rules, products, sorting_rules
from autoloop_runtime.native.toolchain import child, compiler, interpreter, linker, process, shared_libraries
from autoloop_runtime.native.toolchain import compile_ir as compiling
from autoloop_runtime.native.toolchain import debug_lines as debug_lines
from autoloop_runtime.native.toolchain.cache import default_cache
from autoloop_runtime.native.toolchain.compile_ir import compile_ir, host
from autoloop_runtime.native.typing import told_extents
from autoloop_runtime.native.typing.exact_shapes import infer
from autoloop_runtime.native.writer import elementwise_ir, outlining, registry, shared_loops, storage_plan
from autoloop_runtime.native.writer.polling import polling_period
from autoloop_runtime.native.writer.registry import entry_of
from autoloop_runtime.native.writer.storage_plan import make_plan
from autoloop_runtime.native.writer.values import Buffer
from autoloop_runtime.ops import (
    argsort,
    cholesky,
    direct_calls,
    einsum,
    exp,
    inv,
    later_rows,
    matmul,
    searchsorted,
    solve,
    sort,
    tanh,
)
from autoloop_runtime.ops import random as random_ops
from autoloop_runtime.ops.define import primitive
from autoloop_runtime.ops.extents import known_int
from autoloop_runtime.ops.index import Index
from autoloop_runtime.ops.index import parse as parse_index
from autoloop_runtime.ops.numpy_door import HOLDS
from autoloop_runtime.ops.numpy_names import main_namespace  # noqa: F401  (all names, whichever test is the first)
from autoloop_runtime.ops.placing import placed
from autoloop_runtime.ops.python_math import defined
from autoloop_runtime.passes import fold as fold_pass
from autoloop_runtime.passes import regions as regions_pass
from autoloop_runtime.passes import resume as resume_pass
from autoloop_runtime.passes.cse import eliminate_common
from autoloop_runtime.passes.fold import fold
from autoloop_runtime.passes.invariant import hoist_invariants, hoisted
from autoloop_runtime.passes.optimize import PASSES, optimize
from autoloop_runtime.passes.prune import prune
from autoloop_runtime.passes.regions import form_regions
from autoloop_runtime.passes.resume import resumable
from autoloop_runtime.passes.rewrite import gathered
from autoloop_runtime.passes.strength import reduce_strength
from autoloop_runtime.python_code import block_chains, block_loop, compile_python, templates
from autoloop_runtime.python_code.block_loop import Between, in_blocks
from autoloop_runtime.python_code.buffer_reuse import ReusedArrays
from autoloop_runtime.python_code.compile_python import compile_graph, compile_region, emit
from autoloop_runtime.python_code.counted_loops import find_counted
from autoloop_runtime.python_code.names import Names, identifier
from autoloop_runtime.running import (
    automatic,
    machine_kernels,
    machine_steps,
    on_stack_replacement,
    rival,
    segmented_run,
    tier_up,
    trials,
)
from autoloop_runtime.running import remote_programs as remote_programs
from autoloop_runtime.running import runner as execution
from autoloop_runtime.running import session as session_module
from autoloop_runtime.running.machine_steps import step_codes
from autoloop_runtime.running.prepare import prepare, run_graph, run_now, set_outputs
from autoloop_runtime.saving import loop_checkpoints
from autoloop_runtime.saving.attribute_table import ATTRIBUTES
from autoloop_runtime.saving.op_table import load_rows

later_rows.load_all()  # all rows, whichever test is the first
