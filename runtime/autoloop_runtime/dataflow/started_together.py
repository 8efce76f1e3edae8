"""Loops of light kernels that would be run as one if all that they are given came at one time: they wait for it.

What a sum over much gives comes at a time of its own, and so do two of them. A loop whose variables begin with one and
need the other in each iteration could begin with nothing but its counter before both are there; to be able to, it would
move tokens in each iteration.
"""

from __future__ import annotations

from ..base.forks import undivided
from .dependence import Dependence
from .flat_graph import Kind, Lowered, started_late
from .whole_loops import as_light, heavy_alone, light_kernels

#: nodes of a graph that is looked at
MANY = 5000


def with_starts_together(lowered: Lowered) -> Lowered:
    """Return ``lowered`` in which such loops wait; itself if there is none."""
    if len(lowered.nodes) > MANY:
        return lowered
    light = light_kernels(lowered)
    light |= as_light(lowered, light, False)
    light |= heavy_alone(lowered, light)
    frames = _of_light_kernels(lowered, light)
    if started_late(lowered).isdisjoint(frames):
        return lowered
    before = Dependence(lowered, light).whole
    frames = [k for k in frames if not before[k]]
    made, whole = _waiting(lowered, light, frames)
    if gained := [k for k in frames if whole[k]]:
        return made if len(gained) == len(frames) else _waiting(lowered, light, gained)[0]
    return lowered


def _of_light_kernels(lowered: Lowered, light: set[int]) -> list[int]:
    """Return the loops in which nothing takes long, nor in loops in them; of loops in each other the outermost."""
    own = [True] * len(lowered.frames)
    own[0] = False
    for node in lowered.nodes:
        own[node.frame] &= node.kind is not Kind.KERNEL or node.index in light
    for k in range(len(own) - 1, 0, -1):
        own[lowered.frames[k].parent] &= own[k]
    return [k for k, is_light in enumerate(own) if is_light and not own[lowered.frames[k].parent]]


def _waiting(lowered: Lowered, light: set[int], frames: list[int]) -> tuple[Lowered, list[bool]]:
    """Return a graph in which loops wait for all that they are given, and which loops can be run as one there."""
    with undivided():  # which few graphs need
        from .split_loops import with_parts

    members = {k: [{node.index for node in lowered.nodes if node.frame == k}] for k in frames}
    made, origins = with_parts(lowered, members)
    return made, Dependence(made, {k for k, origin in enumerate(origins) if origin in light}).whole
