"""Attributes that lines of loops and branches set, through names and ways that are not there where the block begins."""

import itertools

import pytest
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
NODES = """
class Node:
    asked = 0
    def __init__(self, v, next=None):
        self.v, self.next, self.load, self.items = v, next, 0, []
    @property
    def far(self):
        self.asked += 1
        return self.next
class Box:
    pass
head = Node(0, Node(1, Node(2)))
one, box = Node(5), Box()
def told(node):
    return [] if node is None else [node.v, node.load, node.items, node.asked, *told(node.next)]
"""
STATE = "told(head), told(one), sorted(vars(box))"
PROGRAMS = {
    "of_parameters": """
for z in x:
    def put(self, k):
        self.load = k
        self.items.append(k)
    put(one, z)
return one.load""",
    "of_lambdas": """
for z in x:
    put = lambda q, k: q.items.append(k)
    put(one, z)
return len(one.items)""",
    "of_comprehensions": """
both = [Node(1), Node(2)]
for z in x:
    [q.items.append(z) for q in both]
    sum(q.items.clear() or 1 for q in both[1:])
return [q.items for q in both]""",
    "of_methods": """
p = 0
while p < x[1]:
    class Up:
        def go(self, q):
            self.v = q
            return self.v + 1
        @property
        def far(this):
            this.u = 1
            return this.u
    p = Up().go(p) + Up().far
return p""",
    "of_methods_in_a_branch": """
p = 0
if x[0] < 2.5:
    class Up:
        def go(self, q):
            self.v = q
            return self.v + 1
    p = Up().go(x[1])
return p""",
    "of_what_is_none": """
s = 0
for z in x:
    if one.next is not None:
        one.next.next.load = 1
        one.next.next.items.append(z)
    s += z
return s""",
    "of_what_is_not_there": """
s = 0
for z in x:
    if hasattr(box, 'more'):
        box.more.load.here = 1
    s += z
return s""",
    "of_names_without_value": """
s = 0
for z in x:
    if z > 100:
        nowhere.load = 1
        nowhere.next.items.append(1)
    s += z
return s""",
    "of_properties": """
for z in x:
    if z > 1:
        head.far.load += z
        head.far.far.load = z
return head.asked""",
    "along_a_list": """
for z in x:
    n = head
    while n is not None:
        n.load += z
        if n.next is not None:
            n.next.load -= 0.5 * z
            if n.next.next is not None:
                n.next.next.load = z
        n = n.next
return head.load""",
    "in_a_while": """
i = 0
while i < 3 and x[i] < 3:
    head.next.load += x[i]
    head.next.next.v = x[i]
    i += 1
return i""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_places_that_are_not_there_yet_are_found_later(name):
    executor = next(EXECUTORS)
    expected, _ = played(name, module(PROGRAMS[name], NODES, STATE))
    found, _ = played(name, module(PROGRAMS[name], NODES, STATE), executor)
    assert [repr(one) for one in found] == [repr(one) for one in expected], executor
