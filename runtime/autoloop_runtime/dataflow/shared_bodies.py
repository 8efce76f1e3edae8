"""Loops whose iterations are shared out: many light kernels that do not all need each other.

A loop without heavy kernels can be run as one, by one thread. Where its body falls into parts that are worth another
thread, and can be run beside each other (``batches``), its tokens are moved, and the parts with them.
"""

from __future__ import annotations

from collections.abc import Collection

from .batch_step import is_worth_a_thread
from .batches import Grouping, Machine
from .dependence import Dependence
from .flat_graph import Kind, Lowered
from .overlap import overlapping


def shared(
    joined: Lowered, lowered: Lowered, found: Dependence, light: Collection[int], frames: Collection[int],
    machine: Machine | None,
) -> set[int]:  # fmt: skip
    """Return those of ``frames`` that are shared out.

    Parameters
    ----------
    joined, lowered : Lowered
        With whole loops, and without.
    found : Dependence
        What nodes need, where no frame of ``frames`` is run as one.
    light : collection of int
        What batches are made of.
    frames : collection of int
    machine : mapping, optional
        See ``with_batches``.
    """
    grouping, worth = Grouping(joined, found, light, machine), dict[int, int]()
    for group in grouping.groups():
        times = [grouping.times[k] for k in group if lowered.nodes[k].kind is Kind.KERNEL]
        frame = lowered.nodes[group[0]].frame
        if frame in frames and is_worth_a_thread(times, machine is None or tuple(group) in machine):
            worth[group[0]] = frame
    return {worth[k] for k in overlapping(lowered, worth)}
