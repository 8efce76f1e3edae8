"""Random programs that read and write what is outside their arguments, with changes from outside between the calls.

To the array programs comes a world: numbers, strings, None, arrays and a list as globals, an object with a class, a
dict, a closure and helpers that write to them. What is said of it stands in loops, branches and straight lines alike.
"""

from __future__ import annotations

import random

import numpy as np
from random_array_programs import HEAD, HELPERS, Writer

#: what a program finds; ``V`` is an array of its own, the same as ``W``, or a part of it
WORLD = """
class Held:
    rate, total, w = 0.5, 0, np.ones(6)
    def __init__(self, u, v):
        self.u, self.v, self.n, self.s, self.log, self.last, self.tag = u, v, 0, 0.5, [], None, 'a'
    def move(self, g):
        self.u = self.u + self.rate * g
        self.n += 1
    def put(self, j, v):
        self.u[j] = v
        self.s += v
    def turn(self):
        self.tag = 'b' if self.tag == 'a' else 'a'
    @property
    def norm(self):
        return abs(self.u).max()
    @classmethod
    def add(cls, k):
        cls.total += k
    def __call__(self, v):
        self.log.append(v)
        return v + self.n
def make():
    n, w, seen = 0, np.zeros(6), []
    def count(v):
        nonlocal n
        n += 1
        w[0] += v
        return n
    def see(v):
        seen.append(v)
        return len(seen)
    return count, see, lambda: (n, w, seen)
W = np.arange(6.0) + 0.5
V = {V}
K, C, S, MODE, LAST, LOG = 2.0, 0, 0.25, 'add', None, []
D = {{'n': 0, 's': 0.5, 'w': np.ones(6), 'p': [1]}}
h = Held(np.zeros(6), {v})
count, see, look = make()
def gain(v):
    return v * K
def note(v):
    LOG.append(v)
def tick():
    global C
    C += 1
    return C
def shift(v):
    global S, W
    S = S + v
    W[1:] += v
def kept(v, acc=[]):
    acc.append(v)
    return len(acc)
def by_mode(q):
    if MODE == 'add':
        q += 1
    else:
        q -= h.n
    return q
def state():
    return W, V, K, C, S, MODE, LAST, LOG, D, h, Held.total, Held.w, look(), kept.__defaults__
"""
GLOBALS = "    global W, V, K, C, S, MODE, LAST, LOG, D, h\n"
VS = ("W.copy()", "W.copy()", "W", "W[1:]", "W[::-1]", "np.arange(5.0)")
#: what arrays the world holds beside its globals
PLACES = ("h.u", "h.v", "Held.w", "D['w']")
WRITES = (
    "C += 1", "C = C + 2", "S += {k}", "S = {k}", "h.n += 1", "h.n = n", "h.s += {k}", "h.s = {k} + h.n",
    "h.s = 0.5 * h.s", "D['n'] += 1", "D['s'] = {k}", "D['s'] += {k}", "D['z'] = {k}", "D['n'] = D.get('m', 0) + 1",
    "LOG.append({k})", "LOG.append({a} * 2)", "h.log.append({k})", "LOG.append(h.n)", "D['p'].append(C)",
    "MODE = 'sub'", "MODE = 'add' if MODE == 'sub' else 'sub'", "h.turn()", "h.tag += 'c'", "Held.total += 1",
    "h.add(2)", "Held.w[0] += {k}", "h.w[1:] = {k}", "tick()", "note({k})", "note({a}.sum())", "shift({k})",
    "count({k})", "see({k})", "kept({k})", "by_mode({a})", "h.move({k})", "h.put({j}, {k})", "h(2)",
    "{new} = gain({a})", "LAST = {a} * 1", "h.last = {a}", "h.last = h.s", "W = W + {k}", "h.u = h.u * 0.5",
    "h.u, h.v = h.v, h.u", "h.u = {u}", "D['w'] = {a} + 0", "D['q'] = {a}", "LOG.clear()", "if LOG: LOG.pop()",
    "del D['s']; D['s'] = 1.5", "setattr(h, 'n', h.n + 1)", "h.both = (h.n, {k})", "K = K + 1", "{new} = h.u",
    "{new} = W", "{new} = h.u[1:]", "{new} = D['w']", "V = W", "V = W[1:]", "h.v = V", "LOG = [C]", "LOG += [{k}]",
    "{new} = h", "if h.last is not None: h.s += 1", "LAST = None", "D = {{**D, 'n': C}}",
)  # fmt: skip
NUMBERS = (
    "K", "C", "S", "h.n", "h.s", "D['n']", "D['s']", "len(LOG)", "h.rate", "Held.total", "h.norm", "tick()", "K",
    "S",
)  # fmt: skip
TESTS = (
    "C % 2 == 0", "MODE == 'add'", "LAST is None", "h.n > 2", "S > 1", "h.s > 1", "len(LOG) > 2", "h.tag == 'a'",
    "LOG", "h.last is None", "D['n'] > 1", "W[0] > x", "h.u.sum() > 2", "count(1) > 2", "'z' in D", "K > 2",
    "isinstance(S, float)", "tick() % 2",
)  # fmt: skip
#: what happens to the world between two calls
CHANGES = (
    "K = {k}", "K = {k}.5", "W[1] = {k}", "W = np.full(6, {k}.25)", "W = np.ones(4)", "h.u = np.full(6, {k}.0)",
    "h.u[2] = {k}", "MODE = 'sub'", "MODE = 'add'", "gain = lambda v: v - {k}", "gain = np.negative", "LOG.clear()",
    "LOG.append({k})", "LAST = None", "LAST = np.ones(3)", "D['n'] = {k}", "D['w'] = np.arange(6.0)",
    "D['m'] = {k}", "h = Held(np.full(6, {k}.0), W)", "h.n = {k}", "h.s = {k}", "V = W", "V = W[1:]",
    "V = W.copy()", "C = {k}", "count, see, look = make()", "S = {k}.5", "S = np.float64({k})", "Held.rate = {k}.5",
    "h.rate = 1", "Held.move = lambda self, g: None", "h.u = W", "h.v = h.u", "note = lambda v: None",
    "W = W.astype(np.float32)", "C = True", "shift = gain", "h.log = LOG", "h.tag = 'a'", "D.pop('z', 0)",
)  # fmt: skip


class StatefulWriter(Writer):
    """Writes a program with a world.

    Parameters
    ----------
    choices : random.Random
        What decides.
    layout : str
        How the second argument lies to the first.
    world : str
        The text of the world.
    """

    def __init__(self, choices: random.Random, layout: str, world: str) -> None:
        super().__init__(choices, layout)
        exec(HELPERS + world, self.world)
        self.find_places()

    def find_places(self) -> None:
        """Let what the world's containers hold be arrays like others."""
        for place in PLACES:
            self.world.pop(place, None)
            value = self.value_of(place)
            if isinstance(value, np.ndarray):
                self.world[place] = value

    def run(self, text: str) -> bool:
        done = super().run(text)
        self.find_places()
        return done

    def scalar(self) -> str:
        return self.choices.choice(NUMBERS) if self.chance(0.25) else super().scalar()

    def test(self) -> str:
        return self.choices.choice(TESTS) if self.chance(0.4) else super().test()

    def simple(self) -> None:
        if self.chance(0.45) and self.say(self.on_the_world()):
            return
        super().simple()

    def on_the_world(self) -> str:
        """Return a statement about the world."""
        a, u = self.array(kinds="f"), self.array(kinds="f")
        where = self.position(len(self.world["h.u"])) if "h.u" in self.world else "0"
        form = self.choices.choice(WRITES)
        return form.format(a=a, u=u, k=super().scalar(), j=where, new=self.new())

    def changes(self) -> str:
        """Return the text of what happens between the calls."""
        text = "def change(k):\n    global gain, count, see, look, note, shift\n" + GLOBALS
        for call in (1, 2):
            if self.chance(0.7):
                text += f"    if k == {call}:\n"
                for _ in range(self.choices.randrange(1, 3)):
                    text += f"        {self.choices.choice(CHANGES).format(k=self.choices.randrange(5))}\n"
        return text + "    return None\n"


def program(choices: random.Random) -> tuple[str, str]:
    """Return the text of a random program with a world, and how its arguments lie."""
    layout = choices.choice(("apart", "apart", "apart", "same", "view", "the world's"))
    world = WORLD.format(V=choices.choice(VS), v=choices.choice(("W", "np.ones(6)")))
    writer = StatefulWriter(choices, "apart" if layout == "the world's" else layout, world)
    for _ in range(choices.randrange(1, 5)):
        writer.statement(2, False)
    body = "\n".join(writer.lines) + "\n    return " + writer.results() + "\n"
    return HELPERS + world + HEAD + GLOBALS + body + writer.changes(), layout
