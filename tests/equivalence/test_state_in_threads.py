"""What others see of a function that is traced: other threads, read-only arrays, and what conversions keep alive."""

import gc
import threading
import types
import weakref

import autoloop as al
import numpy as np
import pytest

LOOKS = {
    "sum": lambda o: o.a.sum(), "function": lambda o: np.sum(o.a), "element": lambda o: o.a[0],
    "part": lambda o: o.a[1:],
    "float": lambda o: float(o.a[0]), "operator": lambda o: o.a + 1, "product": lambda o: o.a @ o.a,
    "number": lambda o: o.n + 1, "comparison": lambda o: o.n > 3, "of a number": lambda o: float(o.n),
    "list": lambda o: o.a.tolist(), "elements": lambda o: list(o.a), "text": lambda o: str(o.a * 2),
    "in a list": lambda o: o.l[0] * 2, "written": lambda o: o.a.__setitem__(2, 7.0),
}  # fmt: skip


def test_other_threads_wait_and_find_values():
    o = types.SimpleNamespace(a=np.ones(3), n=1, l=[np.ones(2)], new=np.ones(2))
    begun, found = threading.Event(), {}

    def look(name, f):
        begun.wait(10)
        try:
            found[name] = type(f(o))
        except RuntimeError as error:
            found[name] = str(error)

    looks = {**LOOKS, "what is made": lambda o: o.new + 1}
    threads = [threading.Thread(target=look, args=one) for one in looks.items()]

    @al.do_not_convert
    def pause():
        begun.set()
        for one in threads:
            one.join(0.01)

    @al.function
    def step(x):
        o.n += 1
        o.a[:2] += x
        o.new = o.new * x
        pause()
        o.l[0] += 1
        return o.a * o.n

    for one in threads:
        one.start()
    step(np.ones(2))
    for one in threads:
        one.join()
    told = found.pop("what is made")
    assert told is np.ndarray or "is just making" in told
    kinds = {name: type(f(types.SimpleNamespace(a=np.ones(3), n=1, l=[np.ones(2)]))) for name, f in LOOKS.items()}
    assert found == kinds
    assert o.a[2] == 7


def test_a_read_only_array_that_is_not_written_to_is_no_error():
    x = np.ones(3)
    x.flags.writeable = False

    @al.function
    def perhaps(x, k):
        if k > 2:
            x[0] = 5
        return x * 2

    assert perhaps(x, np.float64(1)).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        perhaps(x, np.float64(3))
    with pytest.raises(ValueError, match=r"read-only \(argument 'x'\)"):
        perhaps.get_concrete_function(x, np.float64(1))(x, np.float64(1))

    @al.function
    def looped(x, k):
        for _ in range(k):
            x[...] -= 1
        return x * 2

    assert looped(x, np.int64(0)).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="read-only"):
        looped(x, np.int64(1))
    assert looped(x * 1, np.int64(1)).tolist() == [0, 0, 0]


def test_conversions_keep_nothing_alive():
    class Held:
        factor = 2

    def made():
        held = Held()

        @al.function
        def scaled(x):
            return x * held.factor

        return scaled, weakref.ref(held)

    scaled, held = made()
    assert scaled(np.float64(3)) == 6
    del scaled
    gc.collect()
    assert held() is None
