"""Programs that look at and change more than their arguments: (name, body of ``f(x)``, what stands above it, state)."""

ITERATOR = "it = iter(range(100))"
COUNTING = "def G():\n    k = 0\n    while True:\n        v = yield k\n        k += 1 + (v or 0)\ng = G(); next(g)"
COUNTER = "class I:\n    n = 0\n    def __next__(self):\n        self.n += 1\n        return self.n\nit = I()"
CACHED = "@functools.lru_cache\ndef h(n):\n    print(n)\n    return n*2"
FACTORY = "import collections, dataclasses\ndef h(k=2.0):\n    print('made')\n    return k\n"
OBJECT = "class O: pass\no = O()\n"

#: a loop that only the run ends
LOOP = "n = x[0]\ni = 0\nwhile i < n:\n    i += 1\n    "
BAR = """
class bar:
    def __init__(self, of, desc=''):
        self.of, self.n = of, 0
        print('start', desc, len(of))
    def __iter__(self):
        for one in self.of:
            yield one
            self.update(1)
        self.close()
    def update(self, n=1):
        self.n += n
        print('bar', self.n)
    def set_description(self, text): print(text)
    def close(self): print('close', self.n)
"""
TALKING = """
class Talking:
    def __init__(self): self.v = 2; self.say('made')
    def say(self, what): print(what)
    def items(self):
        print('items')
        yield from (1, 2)
    def __iter__(self):
        self.say('iter')
        yield from (1, 2)
    def __enter__(self): self.say('enter')
    def __exit__(self, *error): self.say('exit')
@contextlib.contextmanager
def cm():
    print('enter')
    yield
    print('exit')
o = Talking()
"""
STREAM = """
class Stream:
    def __init__(self): self.found = []
    def write(self, text): self.found.append(text)
    def flush(self): self.found.append('flushed')
F = Stream()
"""
OWN = (
    "class Own(DeprecationWarning):\n    def __init__(self, n):\n        self.n = n\n"
    "    def __str__(self):\n        return f'{self.n} of them'"
)
DEEP = "def h(x, k):\n    if k:\n        return h(x, k - 1)\n    warnings.warn('deep', stacklevel=3)\n    return x"
#: what each run does: (name, body, top, state)
EACH = [
    ("generator_that_prints", "s = 0.0\nfor i in track(range(4)):\n    s += i*x[0]\nreturn s",
     "def track(of):\n    print('begin')\n    yield from of\n    print('done')"),
    ("generator_method", "s = 0.0\nfor v in o.items():\n    s += v*x[0]\nreturn s", TALKING),
    ("generator_of_a_class", "s = 0.0\nfor v in o:\n    s += v*x[0]\nreturn s", TALKING),
    ("context_manager", "with cm():\n    y = x*2\nreturn y", TALKING),
    ("printed_with_sep", "print('a', x.sum(), sep='-', end='!\\n')\nreturn x"),
    ("printed_to_buf", "print('a', x.sum(), file=buf)\nreturn x"),
    ("printed_to_stderr", "print('a', x.sum(), file=sys.stderr)\nreturn x"),
    ("printed_in_pieces", "print('a', x.sum(), 2, file=F, flush=True)\nreturn x", STREAM, "F.found"),
    ("printed_in_a_loop", LOOP + "print(i, x.sum(), file=buf)\nreturn i"),
    ("written", "n = buf.write('hello')\nreturn x + n"),
    ("written_text", "buf.write(f'{x.sum()}\\n')\nreturn x"),
    ("written_lines", "buf.writelines(['a\\n', 'b\\n'])\nreturn x"),
    ("written_to_stdout",
     "for i in range(int(x[0])):\n    sys.stdout.write(f'{i} {x.sum()}\\n')\nsys.stdout.flush()\nreturn x"),
    ("logged", "logging.info('plain')\nlogging.warning('x %s %d', x.sum(), 3)\nreturn x"),
    ("logged_by_logger", "log.info('plain')\nlog.debug('x %.2f', x.sum())\nlog.log(35, 'level %r', x)\nreturn x"),
    ("logged_by_partial", "P('x %s', x.sum())\nreturn x", "P = functools.partial(log.warning)"),
    ("printed_wrongly", "print('a', x.sum(), sep=3)"),
    ("logged_extra", "log.info('plain', extra={'key': 5})\nreturn x"),
    ("logged_text", "log.error(f'v {x.sum():.1f}')\nreturn x"),
    ("logged_in_a_loop", LOOP + "log.info('at %d', i)\nreturn i"),
    ("logged_in_a_branch",
     "if x.sum() > 4:\n    log.warning('big %s', x.sum())\nelse:\n    log.info('small')\nreturn x"),
    ("logged_if_enabled", "if log.isEnabledFor(10):\n    log.info('e')\nreturn x"),
    ("logged_by_name", "log.info('%(a)s', {'a': x.sum()})\nreturn x"),
    ("warned", "warnings.warn('w')\nreturn x"),
    ("warned_of_a_kind", "warnings.warn('w', DeprecationWarning)\nwarnings.warn(UserWarning('a'))\nreturn x"),
    ("warned_with_an_object", "if x.sum() > 2:\n    warnings.warn(Own(3), stacklevel=2)\nreturn x", OWN),
    ("warned_with_a_value", "warnings.warn(f'w {x.sum()}')\nreturn x"),
    ("warned_in_a_loop", LOOP + "warnings.warn(f'at {i}', RuntimeWarning)\nreturn i"),
    ("warned_in_a_branch", "if x.sum() > 4:\n    warnings.warn('big', RuntimeWarning, stacklevel=1)\nreturn x"),
    ("warned_of_a_caller", "y = h(x, 1)\nreturn y", DEEP),
    ("filtered", "warnings.simplefilter('ignore')\nwarnings.warn('w')\nreturn x"),
    ("clocks",
     "a = time.perf_counter_ns()\nb = time.perf_counter_ns()\nreturn b >= a, isinstance(a, int), time.time() > 1e9"),
    ("slept", "t = time.monotonic()\ntime.sleep(0.001)\nreturn time.monotonic() - t >= 0.001"),
    ("shuffled", "random.shuffle(x)\nreturn x"),
    ("shuffled_by_numpy", "np.random.shuffle(x)\nrng.shuffle(x)\nrs.shuffle(x)\nreturn x"),
    ("shuffled_rows", "m = np.arange(6.).reshape(3, 2) + x[0]\nnp.random.shuffle(m)\nrng.shuffle(m, axis=1)\nreturn m"),
    ("shuffled_in_a_loop", LOOP + "np.random.shuffle(x)\nreturn x"),
    ("permuted_in_place", "rng.permuted(x, out=x)\nreturn x"),
    ("drawn_into", "rng.random(out=x)\nreturn x"),
    ("drawn", "return x + random.gauss(0, 1), rng.choice(x, 2), rs.randn(2), R.random(), np.random.permutation(5)"),
    ("drawn_by_what_is_given", "return x*sum(map(rng.normal, [0., 1.])) + functools.reduce(random.uniform, [1., 2.])"),
    ("drawn_by_a_partial", "return x*sum(map(P, [1., 2.]))", "P = functools.partial(random.uniform, 0.0)"),
    ("logged_by_what_is_given", "list(map(log.warning, ['a', 'b']))\nlist(map(buf.write, 'ba'))\nreturn x"),
    ("logged_by_what_numpy_calls", "k = np.arange(3.)\na = np.vectorize(h)(k), V(k), np.apply_along_axis(h, 0, k)\n"
     "return x*sum(map(np.sum, a)), np.piecewise(k, [k > 1], [h, 0.])", "def h(v):\n    log.info('h')\n    return v*2\n"
     "V = np.vectorize(h)"),
    ("in_order",
     "print('a')\na = random.random()\nprint(a)\nsys.stdout.write(f'{a}\\n')\nprint('end', x.sum())\nreturn x"),
    ("in_order_in_a_loop", LOOP + "print('p', i)\n    sys.stdout.write(f'w {i}\\n')\nprint('q')\nreturn i"),
]  # fmt: skip
#: what only plain Python can do again: (name, body, top, state)
LEFT = [
    ("text_that_counts", "print(p, [p])\nlog.info('%r %s', p, p)\nreturn x",
     "class P:\n    n = 0\n    def __repr__(self):\n        self.n += 1\n        return f'P{self.n}'\np = P()",
     "vars(p)"),
    ("format_that_counts", "p.v = x[0]\nif x[1] > 2: print(p)\nreturn x",
     "class P:\n    n = 0\n    def __str__(self): return f'{self.v}'\n    def __format__(self, s):\n"
     "        self.n += 1\n        return s\np = P()", "vars(p)"),
    ("printed_if_chosen", "return np.piecewise(x, [x < 0.5, x > 9.0], [h, h, 1.0])",
     "def h(v):\n    print('chosen')\n    return v"),
    ("factory_of_a_dict", "d = collections.defaultdict(h)\nreturn x*d['a']", FACTORY, "0"),
    ("factory_of_the_worlds_dict", "return x*D[len(D)]", FACTORY + "D = collections.defaultdict(h)", "D"),
    ("factory_of_a_field", "return x*E().v", FACTORY + "@dataclasses.dataclass\nclass E:\n"
     "    v: float = dataclasses.field(default_factory=functools.partial(h, 3.0))", "0"),
    ("iterator_of_calls", "for v in iter(h, 3): x = x + v\nreturn x", "L = []\ndef h():\n    print('asked')\n"
     "    L.append(0)\n    return len(L) % 4", "L"),
    ("next", "return x*next(it)", ITERATOR, "next(it)"),
    ("next_default", "return x*next(it, 7)", "it = iter([1])"),
    ("next_of_generator", "return x*next(g)", COUNTING),
    ("drawn_by_what_numpy_calls", "return x*np.vectorize(random.uniform)([0., 1.], 2.).sum()"),
    ("drawn_later", "return x*collections.defaultdict(random.random)['a']"),
    ("drawn_until", "return x*len(list(itertools.islice(iter(random.random, 2), 3)))"),
    ("next_mapped", "return x*sum(map(next, [it, it]))", ITERATOR),
    ("cache_mapped", "return x*sum(map(h, [1, 2]))", CACHED, "h.cache_info()"),
    ("environment_as_key", "os.environ['WORLD'] = 'a'\nreturn x*len(max(['WORLD', 'HOME'], key=os.getenv))"),
    ("variable_of_the_environment", "return x*len(os.environ['HOME'])"),
    ("file_of_a_path", "return x*pathlib.Path('.').exists(), pathlib.Path.cwd()", "import pathlib"),
    ("file_there", "return x*os.path.exists('.')"),
    ("file_of_numpys", "b = io.BytesIO()\nnp.save(b, np.ones(2))\nb.seek(0)\nreturn np.load(b)"),
    ("text_run", "builtins.exec('L.append(1)')\nreturn x*len(L)", "import builtins\nL = []", "L"),
    ("text_run_by_an_alias", "return x*e('L.append(1) or len(L)')", "e, L = eval, []", "L"),
    ("text_run_by_an_element", "return x*E[0]('L.append(1) or len(L)')", "E, L = [eval], []", "L"),
    ("texts_mapped", "return x*list(map(E[0], ['L.append(1) or len(L)']))[0]", "E, L = [eval], []", "L"),
    ("globals_by_an_alias", "g()['K'] += 1\nreturn x*g()['K']", "g, K = globals, 0", "K"),
    ("send", "g.send(2.0)\nreturn x*next(g)", COUNTING),
    ("for", "s = 0.0\nfor v in it:\n    s += v*x[0]\n    if v % 3 == 2:\n        break\nreturn s", ITERATOR),
    ("for_to_the_end", "s = 0.0\nfor v in it:\n    s += v*x[0]\nreturn s", "it = iter(range(5))"),
    ("zip_in_comprehension", "return [a*b for a, b in zip(x, it)]", ITERATOR),
    ("zip_in_for", "s = 0.0\nfor a, b in zip(it, range(3)):\n    s += a*b*x[0]\nreturn s", ITERATOR),
    ("sum_of_islice", "return x*sum(itertools.islice(it, 3))", ITERATOR),
    ("list", "return x*len(list(it))", "it = iter(range(5))"),
    ("count", "return x*next(C)", "C = itertools.count(2)"),
    ("cycle", "return x*next(C)", "C = itertools.cycle([1, 2])"),
    ("enumerate", "k, v = next(C)\nreturn x*k + v", "C = enumerate([5, 6, 7, 8])"),
    ("lines", "return x*len(next(F))", "F = io.StringIO('a\\nbb\\nccc\\nddd\\n')"),
    ("readline", "return x*len(F.readline())", "F = io.StringIO('a\\nbb\\nccc\\nddd\\n')"),
    ("popitem", "k, v = D.popitem()\nreturn x*v", "D = {'a': 1, 'b': 2, 'c': 3, 'd': 4}", "D"),
    ("unpacked", "a, b = itertools.islice(it, 2)\nreturn x*a + b", ITERATOR),
    ("starred", "a, *b = itertools.islice(it, 5)\nreturn x*a + len(b)", ITERATOR),
    ("in", "return x if 3 in it else -x", "it = iter(range(5))"),
    ("starred_argument", "return x*max(*itertools.islice(it, 2))", ITERATOR),
    ("extend", "l = []\nl.extend(itertools.islice(it, 2))\nreturn x*l[0] + l[1]", ITERATOR),
    ("fromiter", "return x + np.fromiter(it, float, 3)", ITERATOR),
    ("generator_expression", "return x*sum(v for v in itertools.islice(it, 2))", ITERATOR),
    ("dict_comprehension", "return x*len({v: 1 for v in itertools.islice(it, 2)}) + next(it)", ITERATOR),
    ("method", "return x*it.__next__()", ITERATOR),
    ("attribute", "return x*next(o.it)", OBJECT + "o.it = iter(range(100))"),
    ("item", "return x*next(D['it'])", "D = {'it': iter(range(100))}"),
    ("helper", "return h(x)", ITERATOR + "\ndef h(x):\n    return x*next(it)"),
    ("class", "return x*next(it)", COUNTER, "it.n"),
    ("found_late", "print('a')\ny = x*random.random()\nnext(it)\nprint('b')\nreturn y", ITERATOR),
    ("cache", "return x*h(3)", CACHED, "h.cache_info()"),
    ("cache_by_number", "return x*h(x.sum())", CACHED, "h.cache_info()"),
    ("cache_by_array", "return h(x)", CACHED, "h.cache_info()"),
    ("cache_cleared", "h.cache_clear()\nreturn x*h(3)", CACHED, "h.cache_info()"),
    ("context_variable", "v.set(v.get() + 1)\nreturn x*v.get()", "v = contextvars.ContextVar('v', default=0)"),
    ("weak_reference", "o = w()\nreturn x if o is None else x*2", OBJECT + "w = weakref.ref(o)"),
    ("lock", "with lock:\n    return x*lock.locked()", "lock = threading.Lock()", "lock.locked()"),
    ("hash", "h.update(b'abc')\nreturn h.hexdigest()", "h = hashlib.sha256()", "h.hexdigest()"),
    ("scanner", "return x*len(sc.match().group())", "sc = re.compile('a+b').scanner('abaabaaabaaaab')"),
    ("unpack_iterator", "return x*next(it)[0]", "it = struct.iter_unpack('<i', bytes(range(16)))"),
    ("array", "A.append(1.0)\nreturn x*len(A)", "A = array.array('d')", "A.tolist()"),
    ("memoryview", "M[0] = M[0] + 1\nreturn x*M[0]", "B = bytearray(4)\nM = memoryview(B)", "bytes(B)"),
    ("bytearray", "B[0] += 1\nB.append(3)\nreturn x*B[0]", "B = bytearray(4)", "bytes(B)"),
    ("cursor", "c.execute('insert into t values (1)')\nreturn x*c.execute('select count(*) from t').fetchone()[0]",
     "c = sqlite3.connect(':memory:').cursor()\nc.execute('create table t (a)')"),
    ("rotated", "Q.rotate(1)\nreturn x*Q[0]", "Q = collections.deque([1, 2, 3])", "Q"),
    ("queue", "return x*q.get()", "q = queue.Queue()\nfor k in range(9): q.put(k)", "q.qsize()"),
    ("event", "e.set()\nreturn x", "e = threading.Event()", "e.is_set()"),
    ("environment", "v = os.environ.get('WORLD', '')\nos.environ['WORLD'] = v + 'a'\nreturn len(v)",
     "os.environ.pop('WORLD', None)"),
    ("urandom", "S.add(os.urandom(4))\nreturn x", "S = set()", "len(S)"),
    ("uuid", "S.add(uuid.uuid4())\nreturn x", "S = set()", "len(S)"),
    ("token", "S.add(secrets.token_hex(4))\nreturn x", "S = set()", "len(S)"),
    ("now", "S.append(datetime.datetime.now())\nreturn x", "S = []", "len(set(S))"),
    ("text_drawn", "return random.choice(['a', 'b', 'c'])"),
    ("list_shuffled", "random.shuffle(L)\nreturn x + L[0]", "L = [1, 2, 3, 4]", "L"),
    ("buffer_filled", "b = np.zeros(3)\nrng.standard_normal(out=b)\nreturn b + x"),
    ("bytes_drawn", "return rng.bytes(4)"),
    ("state_set", "s = random.getstate()\na = random.random()\nrandom.setstate(s)\nreturn a == random.random()"),
    ("fresh_seed", "return np.random.default_rng().random() < 2"),
    ("filters",
     "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    warnings.warn('w')\nreturn x"),
    ("redirected", "with contextlib.redirect_stdout(buf):\n    print('a', x.sum())\nreturn x"),
    ("handled", "log.info('x', exc_info=True)\nreturn x"),
    ("bar", "s = x\nfor i in bar(range(4), desc='d'):\n    s = s * 0.5 + i\nreturn s", BAR),
    ("bar_left", "s = 0.0\nfor i in bar(range(10)):\n    s += x[0]\n    if s > 4:\n        break\nreturn s", BAR),
    ("bar_told",
     "s = 0.0\nb = bar(range(5))\nfor i in b:\n    s += x[0]\n    b.set_description(f'{s}')\nreturn s", BAR),
    ("bar_of_array", "s = 0.0\nfor k, v in enumerate(bar(x)):\n    s += v*k\nreturn s", BAR),
    ("thread", "t = threading.Thread(target=lambda: L.append(x*2))\nt.start()\nt.join()\nreturn L[-1]", "L = []", "L"),
    ("entered", "with o:\n    y = x*2\nreturn y", TALKING),
    ("made", "o = Talking()\nreturn x*o.v", TALKING),
    ("logged_list", "l = []\n" + LOOP + "l.append(i*x.sum())\nlog.info('%s', l)\nreturn i"),
]  # fmt: skip
#: NumPy's settings, which a call leaves as plain Python does; each takes one of its own away again
SETTINGS = [
    ("seterr", "np.seterr(all='ignore')\nreturn x/0", "", "np.geterr()"),
    ("seterr_and_geterr", "old = np.seterr(over='raise')\nnew = np.geterr()\nnp.seterr(**old)\nreturn new, x"),
    ("seterrcall", "np.seterrcall(h)\nreturn x", "def h(*_): pass", "np.geterrcall() is h"),
    ("setbufsize", "np.setbufsize(np.getbufsize() + 16)\nreturn x", "", "np.getbufsize()"),
    ("set_printoptions", "np.set_printoptions(precision=3)\nreturn str(x/3)", "", "np.get_printoptions()['precision']"),
    ("printoptions", "with np.printoptions(precision=2):\n    return str(x/3)"),
    ("set_when_made", "A()\nreturn x/0", "class A:\n    def __init__(self): np.seterr(all='ignore')", "np.geterr()"),
    *((f"errstate_{how}", f"y = x*3\nwith np.errstate({how}):\n    y = y/0\nreturn y")
      for how in ("divide='raise'", "all='warn'", "invalid='raise', divide='ignore'", "all='call', call=print")),
    ("errstate_over", "with np.errstate(over='raise'):\n    return np.exp(x*9)"),
    ("errstate_under", "with np.errstate(under='raise'):\n    return np.exp(x*-999)"),
    ("errstate_decorates", "return h(x)", "@np.errstate(divide='raise')\ndef h(v): return v/0"),
    ("errstate_around_a_loop",
     "with np.errstate(divide='raise'):\n    " + LOOP.replace("\n", "\n    ") + "x = x/(i - 1)\nreturn x"),
    ("errstate_found", "with E:\n    return x/0", "E = np.errstate(divide='raise')"),
]  # fmt: skip
#: what begins anew at each call, and may be done while tracing, or only has the name of something else
FRESH = [
    ("own_eval", "return eval(1.0, x)", "def eval(p, x):\n    if x[0] > p: return x*2\n    return x"),
    ("own_dir", "return dir(x)", "def dir(x):\n    while x[0] < 9: x = x*2\n    return x"),
    ("own_globals", "return x*globals['k']", "globals = {'k': 2}"),
    ("iterator", "it = iter([1., 2., 3.])\na = next(it)\nreturn x*a + next(it)"),
    ("generator", "g = (v*2 for v in [1., 2.])\nreturn x*next(g)"),
    ("count", "c = itertools.count()\nnext(c)\nreturn x*next(c)"),
    ("hash", "h = hashlib.sha256()\nh.update(b'abc')\nreturn h.hexdigest()"),
    ("pattern", "return x*len(re.findall('a', 'banana'))"),
    ("zip", "s = 0.0\nfor a, b in zip([1, 2], itertools.count()):\n    s += a*b*x[0]\nreturn s"),
    ("object_given", "o = O()\no.a = x*2\nreturn o", OBJECT),
    ("object_made", "return O(x*2)", "class O:\n    def __init__(self, a): self.a = a"),
]
#: the same under a condition that only a run knows: plain Python's, and refused before anything has moved elsewhere
STAGED = [
    ("is advanced", "if x.sum() > 4:\n    v = next(it)\nelse:\n    v = 0\nreturn x*v", ITERATOR, "next(it)"),
    ("is advanced", LOOP + "x = x + next(it)\nreturn x", ITERATOR, "next(it)"),
    ("the count 'c' is advanced", LOOP + "x = x + next(c)\nreturn x", "c = itertools.count()", "next(c)"),
    ("is advanced", LOOP + "x = x + next(g)\nreturn x", COUNTING, "next(g)"),
    ("send() is called", LOOP + "x = x + g.send(1)\nreturn x", COUNTING, "next(g)"),
    ("is advanced", LOOP + "for v in g:\n        x = x + v\n        break\nreturn x", COUNTING, "next(g)"),
    ("is called", "if x.sum() > 4:\n    np.seterr(all='ignore')\nreturn x", "", "np.geterr()"),
    ("is entered", "if x.sum() > 4:\n    with np.errstate(all='raise'):\n        x = x/0\nreturn x", "", "np.geterr()"),
    ("is entered", LOOP + "with L:\n        x = x + 1\nreturn x", "L = threading.Lock()", "L.locked()"),
]  # fmt: skip
