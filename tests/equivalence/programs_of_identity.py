"""Programs in which it is seen which lists, dicts and objects are one: by ``is``, by a change through another name, or
in what is left and given back, of which the run decides what holds what.
"""

#: ``ties`` tells of some values which of their parts are one object
TOP = """import copy
import dataclasses
class P:
    def __init__(self, v): self.v = v
    def add(self, one):
        self.v.append(one)
        return self
@dataclasses.dataclass
class D:
    a: object
    b: object
class H: pass
h = H()
h.ll, h.m, h.d, h.l2, h.o = [], None, {}, [[1.], [2.]], P([1.])
def ties(value, seen):
    if not isinstance(value, (list, tuple, dict, P, D, H)): return None
    if not isinstance(value, tuple):
        if id(value) in seen: return seen[id(value)]
        seen[id(value)] = len(seen)
    held = value if isinstance(value, (list, tuple, dict)) else vars(value)
    parts = held.values() if isinstance(held, dict) else held
    return [ties(one, seen) for one in parts]
"""

#: each body, with what it gives; in these the run tells nothing of it
TOGETHER = [
    'm = [1.]\nr = (m, m)\nif x[0] > 1: r = (m, m)\nreturn r',
    'm=[1.]; r=[m,2.]\ns=0.\nif x[0] > 1:\n    m[0]=x[1]\n    s = r[0][0]\nreturn s, r, m',
    'm=[1.]; r=[m,m]\ns=0.\nif x[0] > 1:\n    r[0][0]=x[1]\n    s = r[1][0]\nreturn s, r',
    'm=[1.]; r=[m,m]\ni=0\nwhile i < x[0]:\n    r[0][0]+=x[1]\n    i+=1\n    s=r[1][0]\nreturn r',
    'm=[1.]; r=[m,m]\ni=0\nt=0.\nwhile i < x[0]:\n    m[0]+=x[1]\n    t+=r[1][0]\n    i+=1\nreturn r, m, t',
]  # fmt: skip

#: in these it does
TOLD_APART = [
    'm = [1.]\nif x[0] > 1: h.ll.append(m)\nh.m = m\nreturn x',
    'm = [1.]\nfor k in range(int(x[0])): h.ll.append(m)\nreturn x',
    'm = [1.]\nif x[0] > 1: h.ll = [m, m]\nreturn x',
    'for k in range(int(x[0])):\n    h.ll.append([1.5])\n    h.m = h.ll[-1]\nreturn x',
    'm = [1.]\nr = None\nif x[0] > 1: r = (m, m)\nelse: r = (m, [2.])\nreturn r',
    "m = [1.]\nif x[0] > 1: r = {'a': m, 'b': m}\nelse: r = {'a': m, 'b': m}\nreturn r",
    'm = [1.]\nif x[0] > 1: return (m, m)\nreturn (m, [3.])',
    'm = [1.]\nr = [m, m]\nif x[0] > 1: r[0] = [3.]\nreturn r',
    'p = P([1.])\nfor k in range(int(x[0])): h.ll.append(p)\nreturn x',
    'p = P([1.])\nif x[0] > 1: h.ll = [p, p]\nreturn x',
    'm = [1.]\nt = (m, 1)\nif x[0] > 1: h.ll.append(t)\nh.m = m\nreturn x',
    "m = [1.]\nt = {'a': m}\nif x[0] > 1: h.ll.append(t)\nh.m = m\nreturn x",
    "m = [1.]\nh.d['k']=[2.]\nif x[0] > 1: h.d['k'] = m\nh.m = m\nreturn x",
    "m = [1.]\nif x[0] > 1: h.m = m\nh.d['k'] = m\nreturn x",
    'm = [1.]\nout=[]\nfor k in range(int(x[0])): out.append(m)\nreturn out',
    'm = [1.]\nout=[]\nfor k in range(int(x[0])): m=[k]; out.append(m); out.append(m)\nreturn out',
    'm = [1.]\nout=[]\nfor k in range(int(x[0])): m=[k*1.]; out.append(m)\nreturn out, m',
    'm = [1.]\nout=[]\nfor k in range(int(x[0])): m=[k*1.]; out.append(m)\nm.append(5.)\nreturn out',
    'm = [1.]\nout=[m]\nfor k in range(int(x[0])): out.append([1.*k])\nreturn out, m',
    'm = [1.]\nout=[m, m]\nfor k in range(int(x[0])): out.append([1.*k])\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append(out[-1])\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nout[-1].append(7.)\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nout[-1][0] = 7.\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.]); out[-1][0] += 7.\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nreturn out, out[-1]',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nq = out[-1]\n'
    'return q is out[len(out)-1], out[0] is q',
    'm = [1.]\nout=[]\nfor k in range(int(x[0])): out.append(m)\nreturn out[0] is m if out else 0',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nreturn out + out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nreturn out, out[:1]',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nfor q in out: q[0] = 3.\nreturn out',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nc = out.copy()\nc[0][0] = 9.\nreturn out, c',
    'out=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nc = list(out)\nreturn out, c',
    'm = [1.]\nout=[[0.]]\nfor k in range(int(x[0])): out.append([k*1.])\nq=out.pop()\nq.append(2.)\nh.m=q\n'
    'return out, q',
    "m=[1.]; r={'a':m,'b':[0.]}\ni=0\nwhile i < x[0]:\n    r['b'] = m\n    i+=1\nreturn r, m",
    'p=D([1.],[2.])\nif x[0]>1: p.a = p.b\nreturn p',
    'p=D([1.],[2.])\nh.m=p.a\nif x[0]>1: p.a = p.b\nreturn p',
    'm=[1.]\np=D(m,m)\nif x[0]>1: p.a = [x[1]]\nreturn p',
    'm=[1.]\np=D(m,m)\nif x[0]>1: p = D([2.],[3.])\nreturn p',
    'm=[1.]\nif x[0]>1: p = D(m,m)\nelse: p = D(m,m)\nreturn p',
    'm=[1.]\nif x[0]>1: p = P(m)\nelse: p = P([2.])\nreturn p, m',
    'm=[1.]\nif x[0]>1: p = P(m)\nelse: p = P(m)\nm.append(2.)\nreturn p',
    'm=[1.]\nif x[0]>1: r = P(m), m\nelse: r = P(m), m\nreturn r',
    'm=[x[0]]\nq=[0.]\nfor k in range(int(x[0])):\n    q = m\nreturn m, q',
    'l=[[1.],[2.]]\nr = l[int(x[0]) % 2]\nreturn r, l',
    'l=[[1.],[2.]]\nr = l[int(x[0]) % 2]\nreturn r is l[0]',
    'm=[1.]\nr = m if x[0]>1 else [2.]\nreturn r is m',
    'm=[1.]\nr = m if x[0]>1 else [2.]\nreturn r, m',
    'm=[1.]\nr = m if x[0]>1 else m\nreturn r is m',
    'm=[1.]\nif x[0]>1: r = m\nelse: r = [2.]\nreturn r == m, r is m',
    'm=[1.]\nr=[2.]\nif x[0]>1: r = m\nreturn id(r) == id(m)',
    'm=[1.]\nr=[m,m]\nif x[0]>1: r = [m, [2.]]\nc = copy.deepcopy(r)\nreturn c',
    'm=[1.]\nr=[m,m]\nif x[0]>1: r = [m, [2.]]\nreturn len(set(map(id, r)))',
    'def put(l, v):\n    l.append(v)\n    return l\nm=[1.]\nout=[]\n'
    'for k in range(int(x[0])): out = put(out, m)\nreturn out',
    'def pick(a, b):\n    if x[0] > 1: return a\n    return b\nm=[1.]\nreturn pick(m, [2.]), m',
    'def pick(a, b):\n    if x[0] > 1: return a, b\n    return b, a\nm=[1.]\nq=[2.]\nr=pick(m, q)\n'
    'return r, m, q',
    'r=[]\nm=[0.]\nfor k in range(3):\n    if x[k] > 1: r.append(m)\nreturn r',
    'r=[]\nfor k in range(3):\n    if x[k] > 1:\n        v=[x[k]]\n        r.append(v)\n        h.m=v\nreturn r',
    'best=None\nvs=[[x[k], k] for k in range(3)]\nfor v in vs:\n'
    '    if best is None or v[0] > best[0]: best = v\nreturn best, vs',
    'vs=[[x[k], k] for k in range(3)]\nq=[v for v in vs if v[0] > 1]\nreturn vs, q',
    'a=[1.]\nb=[2.]\nc=a\nif x[0]>1: a, b = b, a\nreturn c is a, c is b',
]  # fmt: skip
