"""The longest Collatz chain: a ``while`` and an ``if`` inside a ``for``, all on scalars.

Halve an even number, triple an odd one and add one: every start that was ever tried comes down to 1. Which start
below a limit takes longest?
"""

import time

import autoloop
import numpy as np


@autoloop.function
def longest_chain(limit):
    best, best_length, total = 1, 1, 0
    for start in range(2, limit):
        n, length = start, 1
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            length += 1
        if length > best_length:
            best, best_length = start, length
        total += length
    return best, best_length, total


def timed(f, *args):
    begin = time.perf_counter()
    result = f(*args)
    return result, time.perf_counter() - begin


def main():
    functions = [longest_chain, autoloop.function(longest_chain.python_function, executor="native")]
    try:
        functions[1](np.int32(10))
    except ImportError:
        functions.pop()  # machine code needs: pip install -e '.[native]'
    longest_chain(np.int32(10))  # traced and compiled here, for every limit of this dtype
    print("longest Collatz chain of all starts below a limit")
    print(
        "  limit   start   length   steps in all   plain Python   autoloop"
        + "   as machine code" * (len(functions) > 1)
    )
    for limit in (100, 1_000, 10_000):  # no chain from below 10,000 leaves 32 bits
        expected, seconds = timed(longest_chain.python_function, limit)
        times = f"{seconds * 1e3:11.1f} ms"
        for f, width in zip(functions, (7, 14)):
            result, seconds = timed(f, np.int32(limit))
            times += f" {seconds * 1e3:{width}.1f} ms"
            assert tuple(map(int, result)) == expected
        best, length, total = expected
        print(f"{limit:7,d} {best:7,d} {length:8d} {total:14,d} {times}")
    print("results agree with plain Python")


if __name__ == "__main__":
    main()
