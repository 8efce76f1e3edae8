"""Lists, dicts and sets that a loop or branch changes, inside others or under one of several names.

Each is a name, what tells the state, what stands above the function, and its body. One file: whoever adds one sees
which there are.
"""


def programs(text):
    """Return (name, body, what stands above it, state) of each program."""
    for one in text.strip().split("\n---\n"):
        head, _, rest = one.partition("\n")
        top, is_there, body = rest.partition("\n>>>\n")
        name, _, state = head.removeprefix("# ").partition(" | ")
        yield name, body if is_there else rest, top if is_there else "", state


NAMED = """
# in_a_tuple_that_nobody_reads_later
def g(l, x): l[0] = l[0] + x[1]
l = [0.5]; q = (l, 1)
if x[0] > 1:
    g(l, x); q = q[0]
return l
---
# by_a_helper_that_returns_in_a_branch | h.t
class H: pass
h = H(); h.t = {'a': [0.5]}
def g(l, x):
    if x[0] > 1.5:
        l.append(x[0])
        return 1
    return 2
>>>
l = h.t['a']
for k in range(int(x[0])): g(l, x)
return l
---
# two_names_read | L, s
L = [0.0]; M = L; s = 0
>>>
s = 0
for k in range(int(x[0])):
    L[0] += x[k]
    s += M[0]
return s
---
# attr_and_name | L
class H: pass
h = H(); L = [0.0]; h.l = L
>>>
s = 0
for k in range(int(x[0])):
    h.l[0] += x[k]
    s += L[0]
return s
---
# in_dict_read | D
L = [0.0]; D = {'a': L}
>>>
s = 0
for k in range(int(x[0])):
    L[0] += x[k]
    s += D['a'][0]
return s
---
# in_dict_len | D
L = [0.0]; D = {'a': L}
>>>
s = 0
for k in range(int(x[0])):
    L.append(x[k])
    s += len(D['a'])
return s
---
# by_method | L
class H:
    def __init__(s): s.l = L
    def look(s): return s.l[0]
L = [0.0]; h = H()
>>>
s = 0
for k in range(int(x[0])):
    L[0] += x[k]
    s += h.look()
return s
---
# local_alias
I = [0.0]
D = {'a': I}
s = 0
for k in range(int(x[0])):
    D['a'][0] += x[k]
    s += I[0]
return s
---
# local_alias2
I = [0.0]
D = {'a': I}
s = 0
for k in range(int(x[0])):
    I[0] += x[k]
    s += D['a'][0]
return s, D
---
# local_alias3
I = [0.0]
D = {'a': I, 'b': I}
s = 0
for k in range(int(x[0])):
    D['b'][0] += x[k]
    s += D['a'][0]
return s, D
---
# local_alias6
I = [0.0]
D = {'a': I}
def g(): return D['a'][0]
s = 0
for k in range(int(x[0])):
    I[0] += x[k]
    s += g()
return s
---
# local_alias7
I = [0.0]
class H: pass
h = H(); h.l = I
s = 0
for k in range(int(x[0])):
    I[0] += x[k]
    s += h.l[0]
return s
---
# ret_log | h.log
class H: pass
h = H(); h.log = []
>>>
log = h.log
if x[0] > 1.5:
    log.append(1)
    return x * 2
return x
---
# ret_item_else | h.log
class H: pass
h = H(); h.log = [0]
>>>
log = h.log
if x[0] > 1.5:
    log[0] = 5
    return x * 2
else:
    log[0] = 7
    return x
---
# ret_helper | h.log
class H: pass
h = H(); h.log = [0]
def g(l, x):
    if x[0] > 1.5:
        l[0] = 5
        return x * 2
    return x
>>>
return g(h.log, x)
---
# silent_inner
I = [0.0]
D = {'a': I, 'b': I}
s = 0
for k in range(int(x[0])):
    D['b'][0] += x[k]
    s += D['a'][0]
return s
---
# unreturned
L = [1.0]
M = L
s = 0.0
for k in range(int(x[0])):
    L[0] = L[0] + 1
    s += M[0]
return s
---
# log_and_self | h.log, h.n
class H: pass
h = H(); h.log = []; h.n = 0
>>>
log = h.log
for k in range(int(x[0])):
    log.append(x[k])
    h.n += 1
return x
---
# d_and_self | h.d, h.n
class H: pass
h = H(); h.d = {'s': 0.0}; h.n = 0
>>>
d = h.d
for k in range(int(x[0])):
    d['s'] += x[k]
    h.n += 1
return x
---
# d_and_self_read | h.d, h.n
class H: pass
h = H(); h.d = {'s': 0.0}; h.n = 0
>>>
d = h.d
for k in range(int(x[0])):
    d['s'] += x[k]
    h.n += h.d['s']
return x
---
# d_and_self_write | h.d, h.n
class H: pass
h = H(); h.d = {'s': 0.0}; h.n = 0
>>>
d = h.d
for k in range(int(x[0])):
    d['s'] += x[k]
    h.d['s'] += 1
return x
---
# closure_read
d = {'s': 0.0}
def look(): return d['s']
n = 0
for k in range(int(x[0])):
    d['s'] += x[k]
    n += look()
return n
---
# two_args
def g(a, b, x):
    s = 0.0
    for k in range(int(x[0])):
        a[0] += x[k]
        s += b[0]
    return s
l = [0.0]
return g(l, l, x), l
---
# is_inside_d | h.d
class H: pass
h = H(); h.d = {'s': 0.0}
>>>
s = 0
e = h.d
for k in range(int(x[0])):
    h.d['s'] += x[k]
    s += (h.d is e)
return s
---
# default_alias | l
l = [0.0]
def look(v=l): return v[0]
>>>
s = 0
for k in range(int(x[0])):
    l[0] += x[k]
    s += look()
return s
---
# partial_alias | l
l = [0.0]
look = functools.partial(lambda v: v[0], l)
>>>
s = 0
for k in range(int(x[0])):
    l[0] += x[k]
    s += look()
return s
---
# grow_alias_len | l
l = [0.0]
m = l
>>>
s = 0
for k in range(int(x[0])):
    l.append(x[k])
    s += len(m)
return s
---
# grow_alias_two_w | l
l = [0.0]
m = l
>>>
for k in range(int(x[0])):
    l.append(x[k])
    m.append(1)
return x
---
# dict_alias_new
d = {'a': 1.0}
e = d
if x[0] > 1.5:
    d['a'] = x[0]
    s = e['a']
else:
    d['a'] = x[1]
    s = e['a'] * 2
return s, e
---
# inplace_nested_fn | D
D = {'a': [1.0, 2.0]}
def bump(l, v): l[0] += v
>>>
for k in range(int(x[0])): bump(D['a'], x[k])
if x[0] > 1.5: bump(D['a'], 10)
return D['a'][0]
---
# while_cond
d = {'s': 0.0}
e = d
while e['s'] < x[0]:
    d['s'] += 1
return d, e['s'], e is d
---
# grow_alias_two_w | l
l = [0.0]
m = l
>>>
for k in range(int(x[0])):
    l.append(x[k])
    m.append(1)
return x
---
# both_names_if | o.log, o.log is o.d
class O: pass
o = O(); o.d = o.log = []
>>>
if x[0] > 0:
    o.log.append(x[0])
    o.d.append(x[1])
return x
---
# ret_dict | h.d
class H: pass
h = H(); h.d = {'a': {'b': 1.0}}
>>>
d = h.d
if x[0] > 1.5:
    d['a']['b'] = x[0]
    return x * 2
return x
---
# ret_in_loop | h.log
class H: pass
h = H(); h.log = []
>>>
log = h.log
for k in range(int(x[0]) + 2):
    log.append(k)
    if k > x[0]: return x * 2
return x
---
# ret_rebound | h.log
class H: pass
h = H(); h.log = [1.0]
>>>
log = h.log
if x[0] > 1.5:
    log = [4]
    return x * 2
return x
---
# ifexp | h.log
class H: pass
h = H(); h.log = [1.0]
def a(v):
    h.log[0] = v
    return v
>>>
return a(3.0) if x[0] > 1.5 else a(4.0)
---
# ifexp2
l = [1.0]
def a(v):
    l[0] = v
    return v
y = a(3.0) if x[0] > 1.5 else a(4.0)
return y, l
---
# dl_append | (T,)
T = {'a': [], 'b': []}
>>>
for k in range(int(x[0])):
    T['a'].append(x[k] * 2)
return x
---
# h_table | h.table
class H: pass
h = H(); h.table = {'a': [], 'b': [1.0]}
>>>
for k in range(int(x[0])):
    h.table['a'].append(x[k] * 2)
    if x[k] > 1: h.table['b'].append(k)
return x
---
# h_table_if | h.table
class H: pass
h = H(); h.table = {'a': [], 'b': [1.0]}
>>>
if x[0] > 1: h.table['a'].append(x[1])
return x
---
# grid | h.grid
class H: pass
h = H(); h.grid = [[0.0, 1.0], [2.0, 3.0]]
>>>
for k in range(int(x[0])):
    h.grid[1][0] += x[0]
return x
---
# dict_lists_arrays_rebind | D
D = {'w': [np.zeros(3), np.ones(3)], 'b': [np.zeros(2)]}
>>>
for k in range(int(x[0])):
    D['w'][0] = D['w'][0] + x
return x
---
# layers | L
L = [{'w': np.ones((3, 3)), 'b': np.zeros(3)}, {'w': np.ones((3, 3)), 'b': np.zeros(3)}]
>>>
for k in range(int(x[0])):
    for p in L:
        p['w'] = p['w'] - 0.1
        p['b'] -= 0.5
return x
---
# layers_if | L
L = [{'w': np.ones((3, 3)), 'b': np.zeros(3)}, {'w': np.ones((3, 3)), 'b': np.zeros(3)}]
>>>
if x[0] > 1.5:
    for p in L:
        p['w'] = p['w'] - 0.1
        p['b'] -= 0.5
return x
---
# list_of_lists_append | L
L = [[], []]
>>>
for k in range(int(x[0])):
    L[0].append(x[k])
    if x[k] > 1: L[1].append(k)
return x
---
# local_nested
T = {'a': [], 'b': []}
for k in range(int(x[0])):
    T['a'].append(x[k])
    if x[k] > 1: T['b'].append(k)
return T
---
# local_stats
s = {'a': {'n': 0, 's': 0.0}}
for k in range(int(x[0])):
    s['a']['n'] += 1
    s['a']['s'] += x[k]
return s
---
# local_objs
class P: pass
ps = {'a': P(), 'b': P()}
ps['a'].n = 0
for k in range(int(x[0])):
    ps['a'].n += k
return ps['a'].n
---
# while_stats | S
S = {'a': {'n': 0, 'v': []}}
>>>
k = 0
while x[0] > k:
    k += 1
    S['a']['n'] += 1
    S['a']['v'].append(k)
return k
---
# tuple_in | T
T = ({'n': 0}, [0.0, 1.0])
>>>
for k in range(int(x[0])):
    T[0]['n'] += 1
    T[1][0] += x[k]
return x
---
# three_deep | D
D = {'a': {'b': {'c': [1.0, np.zeros(2)]}}}
>>>
for k in range(int(x[0])):
    D['a']['b']['c'][0] += x[k]
    D['a']['b']['c'][1][0] += x[k]
if x[0] > 1: D['a']['b']['c'][0] = 0
return x
---
# alias_in | (D, I, D['a'] is I)
I = [0.0]
D = {'a': I}
>>>
for k in range(int(x[0])):
    D['a'][0] += x[k]
    I[0] += 1
return x
---
# alias_twice | (D, D['a'] is D['b'])
I = [0.0]
D = {'a': I, 'b': I}
>>>
for k in range(int(x[0])):
    D['a'][0] += x[k]
    D['b'][0] += 1
return x
---
# name_in_loop | D
D = {'a': {'n': 0}}
>>>
for k in range(int(x[0])):
    d = D['a']
    d['n'] += 1
return x
---
# values_loop | D
D = {'a': [0.0], 'b': [1.0]}
>>>
for k in range(int(x[0])):
    for l in D.values(): l[0] += x[k]
return x
---
# items_loop | D
D = {'a': {'n': 0}, 'b': {'n': 2}}
>>>
for k in range(int(x[0])):
    for key, d in D.items():
        d['n'] += 1
        if key == 'a' and x[k] > 1: d['n'] += 10
return x
---
# method_nested | m.d
class M:
    def __init__(s): s.d = {'h': {'loss': [], 'n': 0}}
    def note(s, v):
        s.d['h']['loss'].append(v)
        s.d['h']['n'] += 1
m = M()
>>>
for k in range(int(x[0])): m.note(x[k])
return x
---
# read_len | D
D = {'a': {'v': [1.0]}}
>>>
s = 0
for k in range(int(x[0])):
    D['a']['v'].append(x[k])
    s += len(D['a']['v']) + D['a']['v'][-1]
return s
---
# arg_nested
def g(p, x):
    for k in range(int(x[0])):
        p['w'][0] += x[k]
        p['m'].append(k)
    return p
return g({'w': [x[1], 2.0], 'm': []}, x)
---
# inner_setdefault | D
D = {'a': {}}
>>>
for k in range(int(x[0])):
    D['a'].setdefault('n', 0)
    D['a']['n'] += 1
return x
---
# extend_inner | D
D = {'a': [[], []]}
>>>
for k in range(int(x[0])):
    D['a'][0].extend([x[k], x[0]])
    D['a'][1].insert(0, k)
return x
---
# pop_inner | D
D = {'a': [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10., 11., 12.]}
>>>
for k in range(int(x[0])): D['a'].pop()
return x
---
# clear_inner | D
D = {'a': [1.0, 2.0]}
>>>
if x[0] > 1.5: D['a'].clear()
return x
---
# returning_inside_a_branch | o
class O: pass
o = O(); o.log = [1.0]
>>>
log = o.log
if x[0] > 1.5:
    if x[1] > 3:
        log.append(1)
        return x * 2
    return x * 3
return x
"""

#: which is whose only a run knows
UNTOLD = """
# silent_rebound
I = [0.0]
D = {'a': I}
if x[0] > 1.5:
    D['a'][0] += 1
    D = {'a': [5.0]}
return I[0]
---
# both_names | o.log, o.log is o.d
class O: pass
o = O(); o.d = o.log = []
>>>
i = 0
while x.sum() > i:
    i += 1
    o.log.append(x[0])
    o.d.append(i)
return x
---
# helper_append_kept | h.log
class H: pass
h = H(); h.log = [0.5]
def g(l, x):
    if x[0] > 1.5:
        l.append(x[1])
        return x * 2
    l[0] = 7
    return x
>>>
g(h.log, x)
return g(h.log, x + 5)
---
# grid_dyn | h.grid
class H: pass
h = H(); h.grid = [[0.0, 1.0], [2.0, 3.0]]
>>>
for k in range(int(x[0])):
    h.grid[k % 2][1] += x[0]
return x
---
# list_of_lists_dyn | L
L = [[], []]
>>>
for k in range(int(x[0])):
    L[k % 2].append(x[k])
return x
---
# local_grid_dyn
g = [[0.0, 0.0], [0.0, 0.0]]
for k in range(int(x[0])):
    g[k % 2][0] += x[k]
return g
---
# default_dict | D
D = collections.defaultdict(list)
>>>
for k in range(int(x[0])):
    D['a'].append(x[k])
return x
---
# default_dict_n | D
D = collections.defaultdict(int)
>>>
for k in range(int(x[0])):
    D['a'] += 1
return x
---
# ordered | D
D = collections.OrderedDict(a=[0, 1.5], b=[2])
>>>
for k in range(int(x[0])):
    D['a'][0] += 1
    D['b'].append(k)
return x
---
# replace_inner | D
D = {'a': [0.0, 1.0]}
>>>
for k in range(int(x[0])):
    D['a'] = [x[k], k]
return x
---
# replace_inner_if | D
D = {'a': [0.0, 1.0]}
>>>
if x[0] > 1: D['a'] = [x[0], 3]
return x
---
# replace_inner_dict | D
D = {'a': {'p': 1.0}}
>>>
if x[0] > 1: D['a'] = {'p': x[0]}
return x
---
# new_key_inner_if | D
D = {'a': {}}
>>>
if x[0] > 1: D['a']['n'] = x[1]
return x
---
# returning_and_a_set | o
class O: pass
o = O(); o.s = {1}
>>>
s = o.s
if x[0] > 1.5:
    s.add(5)
    return x * 2
return x
---
# cleared_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
q.clear()
return x
---
# cleared_under_another_name_inside | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.d["a"].append(x[0])
q.clear()
return x
---
# set_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
q[0] = 2
return x
---
# deleted_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
del q[0]
return x
---
# by_the_class_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
list.clear(q)
return x
---
# reversed_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
q.reverse()
return x
---
# asked_under_another_name | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
for k in range(int(x[0])): h.l.append(x[0])
h.k = q.index(0.5)
return x
---
# cleared_under_another_name_in_a_branch | vars(h), h.l is h.d["a"]
class H: pass
h = H(); h.l = [0.5, 1.5, 2.0]; h.d = {"a": h.l}
>>>
q = h.l
if x[1] > 0:
    for k in range(int(x[0])): h.l.append(x[0])
    del q[:]
return x
"""
