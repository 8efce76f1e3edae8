"""Attributes that methods of the user's set, ask for and delete, tried as plain Python and on tensors."""

from __future__ import annotations

from cases import Cases

CASES = Cases()
on = CASES.on


class Signed:
    """A value that its setter, getter and deleter look at; the private one beside it is another."""

    def __init__(self):
        self.w = 0.0
        self.__rows = [0.0, 0.0]

    @property
    def v(self):
        return self.w if self.w > 1 else self.w - 1

    @v.setter
    def v(self, x):
        if x > 1:
            self.w = x
        else:
            self.w = -x

    @v.deleter
    def v(self):
        if self.w > 1:
            self.w = 7.0

    @property
    def __level(self):
        return self.w if self.w > 2 else 2.0

    @__level.setter
    def __level(self, x):
        while x < 5:
            x += 2
        self.w = x

    def run(self, x):
        self.__level = x
        self.__rows[1] = self.__level
        self.__rows[0] += x
        self.__level += 1
        return self.__rows, self.w


class Doubled:
    """A descriptor that doubles what is small."""

    def __get__(self, owner, kind=None):
        return owner.held if owner.held < 30 else 30.0

    def __set__(self, owner, x):
        while x < 10:
            x = x * 2
        owner.held = x


class Holding:
    d = Doubled()


class Watching:
    def __setattr__(self, name, x):
        if x > 1:
            x = x + 2
        object.__setattr__(self, name, x)

    def __delattr__(self, name):
        if self.z > 3:
            self.z = 0.0
        object.__delattr__(self, name)


@on((3.0,), (0.5,))
def property_is_assigned(n):
    o = Signed()
    o.v = n
    first = o.w
    o.v += n
    a, o.v = n * 2, o.v
    b = o.v = n - 4
    o.v: float = o.w + b
    del o.v
    return first, a, o.w, o.v


@on((3.0,), (0.5,))
def private_names(n):
    return Signed().run(n)


@on((3.0,), (0.5,))
def attributes_of_a_class_that_watches_them(n):
    o = Watching()
    o.z = n
    setattr(o, "y", n)
    first = o.y
    del o.y
    return first, o.z, hasattr(o, "y")


@on((3.0,), (0.5,), (15.0,))
def descriptor(n):
    o = Holding()
    o.d = n
    o.d += n
    return o.d, o.held


@on((4,), (1,))
def property_in_a_loop(n):
    o = Signed()
    i = 0
    while i < n:
        o.v += i
        if o.v > 3:
            o.v = i - 1
        i += 1
    return o.v, o.w


@on((4.0,), (0.5,))
def class_inside(n):
    class Inner:
        @property
        def v(self):
            return self.w

        @v.setter
        def v(self, x):
            if x > 1:
                x = x * 3
            self.w = x

    o = Inner()
    o.v = n
    return o.v


class Order:
    """What is evaluated first."""

    def __init__(self, log):
        object.__setattr__(self, "log", log)

    def __setattr__(self, name, x):
        if x > 1:
            self.log.append(name)
        object.__setattr__(self, name, x)


@on((4.0,), (0.5,))
def order_of_evaluation(n):
    log = []

    def said(what, value):
        log.append(what)
        return value

    one, other = Order(log), Order(log)
    one.first = 1
    o = one
    said("owner", o).a = said("value", 2)
    o.b = len((o := other).log) and 3
    said("owner", o).b += said("other", 1)
    return log, o.b, n
