"""What runs go by where recurrences of a loop are worth a thread each: they are steps, or stages of one."""

from __future__ import annotations

from ..analysis.ownership import Ownership
from ..base.dataclass import replace
from ..base.forks import undivided
from .flat_graph import Kind, Lowered
from .split_loops import with_split_loops
from .whole_loops import as_light, heavy_alone, light_kernels, with_steps


def joined_apart(lowered: Lowered, owned: Ownership) -> tuple[Lowered, Lowered, Lowered] | None:
    """Return ``lowered`` with loops split, and what ``with_joined_steps`` makes of that, each of those loops being a
    step that is worth another thread; None if there is nothing to split."""
    light = light_kernels(lowered)
    light |= as_light(lowered, light, False)
    heavy = {node.index for node in lowered.nodes if node.kind is Kind.KERNEL and node.index not in light}
    found = with_split_loops(lowered, heavy, owned)
    if found is None:
        return None
    made, origins, frames = found
    alone = heavy_alone(lowered, light)
    where = [node.index for node in made.nodes if node.kind is Kind.KERNEL]
    joined, single = with_steps(
        made, owned, {k for k in where if origins[k] in light}, {},
        {k for k in where if origins[k] in alone or (made.nodes[k].frame in frames and origins[k] in heavy)},
    )  # fmt: skip
    if any(node.frame in frames and node.kind is Kind.KERNEL for node in joined.nodes):
        return None
    nodes = list(joined.nodes)
    for k, node in enumerate(nodes):
        if node.kind is Kind.WHOLE and node.value.frame in frames:
            inside = [one for one in made.nodes if one.frame == node.value.frame and origins[one.index] in heavy]
            node.value.is_heavy = bool(inside)
            node.value.blas = any(one.op is not None and one.op.traits.blas for one in inside)
            if stages := frames.pop(node.value.frame):
                with undivided():
                    from .pipelined_loops import PipelinedLoop

                nodes[k] = replace(node, value=PipelinedLoop(node.value, made, stages, owned))
    if any(frames.values()):
        return None  # a loop around them is one
    return made, replace(joined, nodes=tuple(nodes)), single
