"""Programs that raise in some calls, or in all, after they have changed what is outside: what is left is compared."""

TOP = "class O:\n    def __init__(self): self.a, self.n, self.log = np.zeros(4), 0, []\n"
TOP += "o, M, g, L, D = O(), np.zeros((3, 3)), 0, [], {}\n"
ALL = "(o, g, L, D)"

RAISING = [
    ("an_operation", "o.n += 1\nL.append(x.sum())\no.q = x*2\ny = np.linalg.solve(M, x)\no.n += 10\nreturn y"),
    ("after_a_global", "global g\ng += 1\nD['a'] = x.sum()\ny = np.linalg.inv(M)\ng += 10\nreturn y"),
    ("an_index", "o.n += 1\no.log.append(x[0])\no.a[int(x[1]) + 2] = 5\no.n += 100\nreturn x"),
    ("after_a_write", "o.a[0] += 1\no.n += 1\no.a[int(x.sum()) + 9] = 1\no.n += 100\nreturn x"),
    ("a_division", "o.n += 1\nk = int(x[2])\no.s = x[0]\nr = 1 // (k - k)\no.n += 100\nreturn x"),
    ("a_branch", "global g\ng += 1\nL.append(x.sum())\nif x.sum() > 4:\n    o.n += 5\n    raise ValueError('big')\n"
     "o.n += 100\nreturn x"),
    ("an_assertion", "o.n += 1\nL.append(x.sum())\nassert x.sum() < 4, 'no'\no.n += 100\nreturn x"),
    ("several", "o.n += 1\nassert x[0] < 3, 'a'\no.n += 10\nassert x.sum() < 100\nL.append(1)\nassert x[1] < 4, 'c'\n"
     "o.n += 1000\nreturn x"),
    ("after_arrays", "o.a[0] += 1\no.b = o.a + 1\nx[0] += 1\nif x.sum() > 4: raise ValueError('big')\n"
     "o.a[1] += 100\nreturn x"),
    ("caught", "o.n += 1\ntry:\n    y = np.linalg.inv(M)\n    o.n += 1000\nexcept np.linalg.LinAlgError:\n"
     "    o.n += 10\nreturn x"),
    ("finally", "o.n += 1\ntry:\n    if x.sum() > 4: raise ValueError('b')\nfinally:\n    o.n += 10\nreturn x"),
    ("always", "x[0] += 1\no.n += 1\no.q = x*2\nL.append(x.sum())\no.a[1] += 2\nraise ValueError('always')"),
    ("a_name", "x[0] += 1\no.n += 1\no.q = x*2\no.a[1] += 2\nunknown"),
    ("shapes", "x[0] += 1\no.n += 1\no.q = x*2\nreturn x + np.zeros(7)"),
    ("a_key", "o.n += 1\no.k = x[0]\nreturn D['missing']"),
    ("printed_before_it_is_traced", "print(x.sum())\no.n += 1\nreturn D['missing']"),
    ("too_many_pops", "o.n += 1\no.log = [1, 2]\nL.append(x[0])\no.log.pop()\no.log.pop()\no.log.pop()\nreturn x"),
    ("a_negative_shape", "o.n += 1\nn = int(x[0]) - 5\nreturn np.zeros(n)"),
    ("not_definite", "o.n += 1\no.hist = [x[0], x]\nreturn np.linalg.cholesky(np.outer(x, x) - 5)"),
    ("in_the_side_that_raises",
     "if x.sum() > 4:\n    x[1] = 7\n    o.n += 5\n    L.append(x[0])\n    raise ValueError('big')\nreturn x"),
    ("in_a_callee_of_the_side_that_raises",
     "def fail(k):\n    o.log.append(k)\n    o.a[k] = x[0]\n    raise ValueError(k)\nif x.sum() > 4: fail(2)\n"
     "return x"),
    ("in_a_side_with_no_such_key", "if x.sum() > 4:\n    x[1] = 7\n    D['missing']\nreturn x"),
    ("an_item_of_a_tuple", "t = (x, 1)\nt[0] += 1"),
    ("an_item_of_a_tuple_in_a_branch", "t = (x, 1)\nif x.sum() > 4:\n    t[0] += 1\nreturn x"),
    ("an_array_that_is_called", "x[0] = 5\nx()"),
    ("a_truth_that_is_caught", "try:\n    o.n += bool(x)\nexcept ValueError as e:\n    L.append(str(e))\nreturn x"),
    ("numbers_beside_texts", "x[0] = 5\nsorted([1, 'x'])"),
    ("a_list_as_a_key", "x[0] = 5\nD[[]]"),
    ("an_iterator_at_its_end", "x[0] = 5\nnext(iter([]))"),
]  # fmt: skip

#: where the state is what it was before the call, or before the loop: the first two calls leave what they leave
STAGED = [
    ("a_loop", "o.n += 1\ni = 0\nwhile i < x.sum():\n    assert i < 7, i\n    i += 1\no.n += 100\nreturn x"),
    ("after_a_print", "print(x.sum())\no.n += 1\nassert x.sum() < 7\nreturn x"),
]  # fmt: skip

LOOP = "i = 0\nwhile i < x.sum():\n    i += 1\n    "
#: a line that fails while it is traced comes behind what the run does, or raises, before it; a side that raises leaves
#: nothing where it is not taken
BEHIND = [
    ("a_name_behind_a_loop", "L.append(1)\n"
     + LOOP + "print(i)\n    x[0] += 1\n    if i > 9: break\nL.append(2)\nunknown"),
    ("a_key_behind_an_assertion", "for e in x:\n    assert e < 2, 'first'\nreturn D['missing']"),
    ("an_attribute_behind_prints", LOOP + "print(i)\n    if i == 4: raise ValueError('e')\nreturn x.unknown"),
    ("shapes_behind_a_loop", LOOP + "print(i)\n    o.n += 1\nreturn x + np.ones(7)"),
    ("shapes_behind_a_print", "x[0] += 1\nprint(x[0])\nreturn x + np.ones(7)"),
    ("a_callee_behind_a_loop", "def g(v): raise RuntimeError('g')\n" + LOOP + "print(i)\ng(x)"),
    ("python_numbers", "if x.sum() > 4: raise KeyError(len(x), x.sum(), float(x[0]))\nreturn x"),
    ("a_python_number_of_a_loop", LOOP + "if i > 3: raise KeyError(i)\nreturn x"),
    ("an_untaken_side",
     "if x.sum() > 40:\n    L.append(1)\n    o.n += 1\n    D['a'] = x.sum()\n    raise ValueError('big')\n"
     "return x"),
    ("an_untaken_side_that_fails", "if x.sum() > 40:\n    L.append(1)\n    o.n += 1\n    None + 1\nreturn x"),
    ("an_untaken_side_with_other_shapes", "if x.sum() > 40:\n    x[:1] *= x[:2]\nreturn x"),
    ("an_untaken_side_with_a_read_only_array",
     "y = x.copy()\ny.setflags(write=False)\nif x.sum() > 40:\n    y[0] = 1\nreturn x"),
    ("a_loop_that_does_not_run", "for k in range(int(x[0]) - 1):\n    np.add(x[:2], 1, out=x[:1])\nreturn x"),
    ("an_untaken_side_of_a_callee",
     "def g():\n    L.append(1)\n    raise ValueError('big')\nif x.sum() > 40: g()\nreturn x"),
]  # fmt: skip
