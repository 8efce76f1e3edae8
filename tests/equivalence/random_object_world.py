"""What random programs of classes and of the standard library find: objects of many kinds, and how they are told."""

from __future__ import annotations

#: what programs may use beside the world of constructs
OBJECTS = """
import abc, bisect, copy, enum, heapq, math, statistics, string
class Base(abc.ABC):
    made, kinds = 0, {}
    def __init__(self, w):
        self.w, self._hidden, self.parts = w, 0.0, []
        Base.made += 1
    def __init_subclass__(cls, kind='', **rest):
        super().__init_subclass__(**rest)
        cls.kind = kind
        Base.kinds[kind] = cls
    @abc.abstractmethod
    def area(self): ...
    def scaled(self, k):
        return type(self)(self.w * k)
    @property
    def hidden(self):
        return self._hidden
    @hidden.setter
    def hidden(self, v):
        if v < -50:
            raise ValueError(f'too low: {v:.1f}')
        self._hidden = v
        self.parts.append(v)
    @hidden.deleter
    def hidden(self):
        self._hidden = 0.0
    @staticmethod
    def mean(*some):
        return sum(some) / len(some)
    @classmethod
    def of(cls, v):
        return cls(v + cls.made)
    def __eq__(self, other):
        return isinstance(other, Base) and self.area() == other.area()
    def __hash__(self):
        return hash(self.kind)
    def __lt__(self, other):
        return self.area() < other.area()
class Square(Base, kind='square'):
    def area(self):
        return self.w * self.w
class Ring(Square, kind='ring'):
    hole = 0.5
    def area(self):
        return super().area() - self.hole ** 2
    def scaled(self, k):
        one = super().scaled(k)
        one.hole = self.hole * k
        return one
class Slots:
    __slots__ = ('at', 'dt', 'next')
    def __init__(self, at=0, dt=0.5, next=None):
        self.at, self.dt, self.next = at, dt, next
    def go(self, k=1):
        self.at += self.dt * k
        return self
class Lazy:
    def __init__(self):
        self.asked = []
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        self.asked.append(name)
        return len(name)
class Times:
    def __set_name__(self, owner, name):
        self.name = '_' + name
    def __get__(self, one, owner=None):
        return self if one is None else getattr(one, self.name, 1) * 2
    def __set__(self, one, v):
        setattr(one, self.name, v)
class Gauge:
    level = Times()
    def __init__(self):
        self.level = 1.0
class Vec:
    __array_ufunc__ = None
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)
    def __radd__(self, other):
        return self if other == 0 else NotImplemented
    def __rmul__(self, k):
        return Vec(self.x * k, self.y * k)
    def __neg__(self):
        return Vec(-self.x, -self.y)
    def __abs__(self):
        return math.hypot(self.x, self.y)
    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y
    def __iter__(self):
        return iter((self.x, self.y))
    def __bool__(self):
        return self.x != 0
    def __float__(self):
        return float(self.x)
class Color(enum.Enum):
    RED, BLUE = 1, 2
    def turn(self):
        return Color.BLUE if self is Color.RED else Color.RED
class Level(enum.IntEnum):
    LOW, HIGH = 0, 5
class Bits(enum.Flag):
    A, B = 1, 2
@dataclasses.dataclass(order=True)
class Job:
    cost: float
    name: str = dataclasses.field(compare=False, default='j')
    needs: list = dataclasses.field(compare=False, default_factory=list)
    def __post_init__(self):
        self.cost = self.cost * 1.0
class Stop(Exception):
    pass
def running(v, least=0.1):
    total = 0
    while True:
        got = yield total
        total += v if got is None else got
        if total > 40:
            return total
def both(u):
    got = yield from up(u)
    yield got
def memo(g, kept={}):
    def inner(v):
        key = round(float(v), 3)
        if key not in kept:
            kept[key] = g(v)
        return kept[key]
    return inner
@memo
def slow(v):
    LOG.append('slow')
    return v * 1.5
@functools.lru_cache(maxsize=None)
def fib(j):
    return j if j < 2 else fib(j - 1) + fib(j - 2)
@functools.singledispatch
def kind_of(v):
    return 'other'
@kind_of.register
def _(v: int):
    return 'int'
@kind_of.register(float)
def _(v):
    return 'float'
def options(v, /, scale=1, *, off=0, **more):
    return v * scale + off + len(more)
SQ, RG = Square(1.5), Ring(2)
SL = Slots(1, 0.5, Slots())
LZ, GA, VE, CO, BI = Lazy(), Gauge(), Vec(1.0, 2), Color.RED, Bits.A
QU, DD, CN = collections.deque([1, 2.5], maxlen=5), collections.defaultdict(list), collections.Counter('aab')
HE, SE, OD = [1, 3, 2.5], {1, 2}, collections.OrderedDict(b=1, a=2)
JO = Job(2.0)
GE = running(2)
state_of_constructs = state
def chain(one):
    return [] if one is None else [one.at, one.dt, *chain(one.next)]
def state():
    return (state_of_constructs(), SQ, RG, Base.made, sorted(Base.kinds), chain(SL), LZ, GA, VE, CO.name, BI.value,
            list(QU), [(k, list(v)) for k, v in DD.items()], [*CN.items()], HE, sorted(SE), [*OD.items()], JO,
            Ring.hole, Base.__init__.__defaults__)
"""
NAMES = "    global SQ, RG, SL, LZ, GA, VE, CO, BI, QU, DD, CN, HE, SE, OD, JO, GE\n"
