"""Programs whose loops push to lists, pop from them and change what is there, for as long as the data says."""

import numpy as np


def flood_fill(grid, i, j):
    n, m = grid.shape
    stack, count = [(i, j)], 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= n or j >= m or grid[i, j] != 1:
            continue
        grid[i, j] = 2
        count += 1
        stack += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return count


def depth_first(begins, ends, start):
    seen, order, stack = np.zeros(len(begins) - 1, bool), [], [start]
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for k in range(begins[u], begins[u + 1]):
            if not seen[ends[k]]:
                stack.append(ends[k])
    return order


def breadth_first(begins, ends, start):
    far, queue = np.full(len(begins) - 1, -1), [start]
    far[start] = 0
    while queue:
        u = queue.pop(0)
        for k in range(begins[u], begins[u + 1]):
            if far[ends[k]] < 0:
                far[ends[k]] = far[u] + 1
                queue.append(ends[k])
    return far


def quicksort(a):
    stack = [(0, len(a) - 1)]
    while stack:
        first, last = stack.pop()
        if first >= last:
            continue
        pivot, i, j = a[(first + last) // 2], first, last
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        stack.append((first, j))
        stack.append((i, last))
    return a


def matched(codes):
    stack = []
    for code in codes:
        if code < 3:
            stack.append(code)
        elif not stack or stack.pop() != code - 3:
            return False
    return len(stack) == 0


def calculated(codes, numbers):
    stack = []
    for k in range(len(codes)):
        if codes[k] == 0:
            stack.append(numbers[k])
            continue
        b = stack.pop()
        a = stack.pop()
        stack.append(a + b if codes[k] == 1 else a * b)
    return stack[-1]


def run_lengths(x):
    out = []
    for v in x:
        if out and out[-1][0] == v:
            out[-1] = (v, out[-1][1] + 1)
        else:
            out.append((v, 1))
    return out


def scaled(x):
    losses = [1.0]
    for v in x:
        losses.append(v)
        if v > 0.5:
            losses[-1] *= 2
    return losses


def merged(x):
    out = []
    for k in range(len(x)):
        first, last = x[k], x[k] + 0.3
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return out


def next_greater(x):
    out, stack = np.full(len(x), -1), []
    for k in range(len(x)):
        while stack and x[stack[-1]] < x[k]:
            out[stack[-1]] = k
            del stack[-1]
        stack.append(k)
    return out


def largest_rectangle(x):
    """Python counts how often: the test asks for nothing but the count, which is all that has to be told."""
    stack, best, i = [], 0, 0
    while i <= len(x):
        now = x[i] if i < len(x) else 0
        while stack and x[stack[-1]] >= now:
            height = x[stack.pop()]
            best = max(best, height * (i - (stack[-1] + 1 if stack else 0)))
        stack.append(i)
        i += 1
    return best


def two_stacks(codes):
    a, b, total = [], [], 0
    for code in codes:
        if code >= 3:
            a.append(code)
            continue
        if not b:
            while a:
                b.append(a.pop())
        if b:
            total += b.pop()
    return total


def versions(x, n):
    """Others hold what is changed: a copy of before, and what was made of it."""
    now, i = [x[0], x[1]], 0
    first, kept = list(now), []
    while i < n:
        kept = now.copy()
        kept.append(x[i])
        kept[0] = -x[i]
        now.pop()
        now.append(x[i] * 10)
        now.append(x[i])
        i += 1
    made = np.array(now)
    now.pop()
    now[0] = 99.0
    return first, kept, made, now


def taken_from_the_middle(x, n):
    queue, i, total = [x[0], x[1], x[2]], 0, 0.0
    while i < n:
        total = total * 2 + queue.pop(1)
        queue += [x[i], x[i]]
        queue.append(x[i] + 1)
        del queue[0]
        i += 1
    return total, queue


def rows(x, n):
    """Of arrays the memory of one that is looked at stays."""
    stack, i, total = [x * 1.0], 0, x * 0
    while i < n:
        last = stack[-1]
        stack[-1] = x + i
        stack.append(last * 2)
        if i % 2:
            gone = stack.pop()
            stack.append(x * 0)
            total = total + gone
        i += 1
    return total + last, len(stack)


def popped_empty(x, n):
    stack, i = [x[0]], 0
    while i < n:
        stack.pop()
        i += 1
    return stack


def popped_beyond(x, n):
    stack, i = [x[0], x[1]], 0
    while i < n:
        stack.append(x[i])
        stack.pop(i + 3)
        i += 1
    return stack


def read_beyond(x, n):
    stack, i, total = [x[0]], 0, 0.0
    while i < n:
        total += stack[-2]
        stack.append(x[i])
        i += 1
    return total


X = np.random.default_rng(1).random(12)
CODES = np.array([0, 1, 4, 2, 5, 3, 0, 3])
BEGINS, ENDS = np.arange(0, 21, 2), np.random.default_rng(2).integers(0, 10, 20)
#: those that machine code takes, and what they are called with
PROGRAMS = [
    (flood_fill, ((np.random.default_rng(3).random((6, 7)) < 0.7).astype(int), 2, 3)),
    (depth_first, (BEGINS, ENDS, 0)),
    (breadth_first, (BEGINS, ENDS, 0)),
    (quicksort, (X,)),
    (matched, (CODES,)),
    (calculated, (np.array([0, 0, 1, 0, 2, 0, 0, 1, 2]), X[:9])),
    (run_lengths, (np.array([1, 1, 1, 2, 3, 3]),)),
    (scaled, (X,)),
    (merged, (np.sort(X),)),
    (next_greater, (X,)),
    (largest_rectangle, (np.random.default_rng(4).integers(0, 9, 40),)),
    (two_stacks, (np.array([4, 5, 1, 3, 0, 0, 0, 7, 1, 1]),)),
    (versions, (X, np.array(4))),
    (taken_from_the_middle, (X, np.array(4))),
    (rows, (X[:3], np.array(5))),
    (popped_empty, (X, np.array(3))),
    (popped_beyond, (X, np.array(3))),
    (read_beyond, (X, np.array(3))),
]


def products(x, n):
    """A number."""
    stack, i = [x[0], x[1]], 0
    while i < n:
        if i % 3 == 0:
            stack.append(x[i] * stack[-1])
        elif i % 3 == 1:
            a = stack.pop()
            b = stack.pop()
            stack.append(a * b + x[i])
        else:
            stack[-1] *= x[i]
            stack.append(np.sin(x[i]))
        i += 1
    return stack[-1] * stack[0] + len(stack)


def places_used_again(x, n):
    """A number; what was at a place before has a gradient of its own."""
    stack, i, total = [x[0]], 0, x[0] * 0.0
    while i < n:
        stack.append(x[i] ** 2)
        total = total + stack.pop() * stack[0]
        stack[0] = stack[0] * x[i] + 1.0
        i += 1
    return total


def queued(x, n):
    """A number."""
    queue, i, total = [x[0], x[1] * 2, x[2]], 0, x[0] * 0.0
    while i < n:
        total = total * 0.5 + queue.pop(0) * queue[1]
        queue.append(x[i] * total)
        queue.append(np.cos(x[i]))
        if i % 2 == 0:
            total = total + queue.pop(1)
        i += 1
    return total + queue[-1] * queue[0]


#: those that have a gradient by their first argument
SMOOTH = [products, places_used_again, queued]
