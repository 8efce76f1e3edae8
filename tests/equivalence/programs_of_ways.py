"""Writes to arrays by the many ways that NumPy has: through views of every function that gives one, ``out=`` of what
has it, methods of ufuncs, iterators, chained indices, containers, closures and buffers that are exchanged."""

#: each line is a program
WAYS = """
b = np.moveaxis(m, 0, -1); b[0] = x; return m
p, q = np.split(a, 2); p += q; q[:] = 1; return a
p, q, r = np.array_split(a, 3); q *= x; return a
p, q = np.hsplit(m, 2); p[:] = q; return m
p, q, r = np.vsplit(m, 3); r += p; return m
p, *q = np.split(m, 3); q[1][0, 1] = x; return m
u, v = np.meshgrid(a[:2], a[:3], copy=False); return u.sum() + v.sum()
u, v = np.broadcast_arrays(a, m[:1, :1]); return u + v
b = np.atleast_2d(a); b[0] += x; return a
b = np.atleast_3d(m); b[0, 1, 0] = x; return m
b = np.ravel(m, order='C'); b[1] = x; return m
b = np.ravel(m, order='F'); b[1] = x; return m, b
b = np.ravel(m.T, order='F'); b[1] = x; return m
b = m.reshape(-1, 2); b[1] += x; return m
b = m.reshape(2, 2, 3); b[0, 1] = x; return m
b = m.reshape(2, 6).T; b[1] = x; return m
b = m.transpose(); b[1:3] *= 2; return m
b = m.transpose(1, 0)[::2]; b[0] = x; return m
b = np.lib.stride_tricks.sliding_window_view(a, 3); return b.sum(axis=1)
b = np.lib.stride_tricks.sliding_window_view(a, 3); a[1] = 50; return b.sum(axis=1)
k = 3; a[k], k = 7, 0; return a, k
k = 1; a[k], k, a[k] = x, n, 8; return a, k
k = 1; (a[k], k), *a[k + 1:] = (x, 2), 1, 2, 3; return a, k
k = 1; a[k], *k = x, 2, 3; return a, k
k = 0; m[k][k], k = x, 1; m[k][k], k = n, 0; return m
b = a; a[0], a = x, a[1:]; a[0], a = x, a * 2; return a, b
p, q = 0, 5; a[p], a[q], p, q = a[q], a[p], p + 1, q - 1; return a, p, q
c.real = x; return c
m.T = x; return m
m.T += x; return m
m.mT = m; return m
a[:3].T[...] = x; return a
x.real = 1; return x
x.imag += 1; return x
x.flat = 1; return x
x.mT = 1; return x
a.sum().T = 1; return a
c.imag[...] = x; return c
c.imag[1:] += x; return c
c.real, c.imag = c.imag * 1, c.real * 1; return c
c.real[...], c.imag[...] = 1, 2; return c
np.einsum('ij,ij->i', m, m, out=a[:3]); return a
np.einsum('ij->j', m, out=a[:4]); return a
np.matmul(m, m.T, out=m[:, :3]); return m
np.dot(m, m.T, out=np.zeros((3, 3))); return m
z = np.zeros((3, 3)); np.dot(m, m.T, out=z); return z
z = np.zeros((3, 3)); y = np.matmul(m, m.T, out=z); y[0] = 1; return z, y is z
np.add(m, m, m); return m
np.add(m, 1, out=(m,)); return m
np.multiply(a, x, out=a[::-1]); return a
np.power(a, 2, out=a); return a
np.divide(i, 2, out=a[:5]); return a
np.floor_divide(a, 2, a); return a
np.subtract(a[1:], a[:-1], a[1:]); return a
np.add(a[:-1], a[1:], a[:-1]); return a
np.add(a, a[::-1], a); return a
np.exp(a, a); return a
np.tanh(m, out=m, where=m > 3); return m
np.absolute(c, out=a[:3]); return a
np.logical_not(flags, out=flags); return flags
np.logical_and(flags, a > 2, flags); return flags
np.greater(a, x, out=flags); return flags
np.isnan(a, out=flags); return flags
np.invert(i, out=i); return i
np.bitwise_and(i, 1, i); return i
np.left_shift(i, 1, out=i); return i
np.remainder(i, 2, out=i); return i
np.maximum(m, x, out=m); return m
np.fmin(a, x, out=a); return a
np.sign(a - 2, out=a); return a
np.hypot(a, x, a); return a
np.rint(a, a); return a
np.cumsum(m, axis=0, out=m); return m
np.cumprod(a, out=a); return a
np.prod(m, axis=1, out=a[:3]); return a
np.max(m, axis=0, out=m[1]); return m
np.min(m, 1, a[:3]); return a
np.any(m > 3, axis=0, out=flags[:4]); return flags
np.argmax(m, axis=1, out=i[:3]); return i
np.median(m, axis=0, out=a[:4]); return a
np.var(m, axis=0, out=a[:4]); return a
np.trace(m, out=a[:1].reshape(())); return a
np.stack([a[:2], a[2:4]], out=m[:2, :2]); return m
np.take(m, [2, 0], axis=0, out=m[:2], mode='clip'); return m
np.choose([0, 1, 0], [a[:3], a[3:]], out=a[:3], mode='clip'); return a
np.add.at(m, ([0, 0], [1, 1]), x); return m
np.add.at(m, 0, a[:4]); return m
np.add.at(a, [0, 0, 5], a[:3]); return a
np.add.at(a, slice(0, 3), x); return a
np.add.at(m, (i[:3] % 3, i[:3] % 2), x); return m
np.multiply.at(m, (i[:3] % 3, slice(1, 3)), a[:3, None]); return m
np.maximum.at(m, [i[:2] % 3, i[1:3] % 3], x); return m
np.add.at(i, [0, 0, 1], 2.75); return i
y = np.asarray(a); y[0] = 1; return a, y is a, np.ascontiguousarray(m) is m, np.atleast_1d(m) is m, np.ravel(a) is a
y = np.nan_to_num(a, copy=False); y[0] = 1; return a, y is a
y = np.nan_to_num(i); y[0] = 5; return i, y is i
np.subtract.at(i, [0, 0, 1], 1); return i
np.minimum.at(a, [4, 4], [x, 0.5]); return a
np.negative.at(a, [0, 2, 2]); return a
np.divide.at(a, [1, 1], 2); return a
np.add.reduce(m, axis=1, out=a[:3]); return a
np.add.accumulate(a, out=a[:]); return a
np.multiply.accumulate(m, axis=1, out=m); return m
np.multiply.outer(a[:3], a[:4], out=m); return m
np.add.outer(a[:3], a[:4], m); return m
np.add.reduceat(a, [0, 3], out=a[:2]); return a
for k in np.ndindex(3, 4): m[k] += 1
for k in np.ndindex(m.shape): m[k] *= k[0]
for k in np.ndindex(2): a[k] = 7
for k, v in np.ndenumerate(m): m[k] = v * 2
for (p, q), v in np.ndenumerate(m): m[p, q] = v + p
for k, v in np.ndenumerate(a): a[k[0]] += v
for (p, q), v in np.ndenumerate(m): m[2 - p, 3 - q] += v
for k, v in np.ndenumerate(a): a[k[0] - 1] += v; b = [a[5] if v > x + 2 else v]
for p, q in np.broadcast(m, m[0]): m[0, 2] += p; a[1] += q
q = np.broadcast(a[:4], m); a[0] = x; return [p * r for p, r in q], [*q]
for v in np.nditer(m, order='C'): m += 1; a[0] += v
for v, w in np.nditer([a, a[::-1]], order='C'): a[3] += v; a[2] -= w
q = [v for v in np.nditer(a, order='C')]; a[0] = x; return q[0] * 1
for v in np.nditer(a, order='C'): v[...] = 2
m[1][2] = x; return m
m[1][1:][0] = x; return m
m[1:][0][1:3] = x; return m
m[[0, 1]][0] = x; return m
m[1, ...][m[1] > 5] = x; return m
m[..., 1][flags[:3]] = x; return m
m[1][[0, 1]] += x; return m
m[1][[0, 0]] += 1; return m
a[i[[0, 1]]] = x; return a
a[i[i > 2]] += x; return a
a[i][0] = x; return a
a[i[1]] = a[i[2]] = x; return a
m[i[0], i[1:3]] = x; return m
m[i[:3], i[:3]] *= x; return m
a[np.flatnonzero(a > 2)] = 0; return a
a[np.where(flags)] += 1; return a
m[np.nonzero(m > 4)] = 0; return m
m[np.ix_([0, 1], [0, 2])] += x; return m
m[np.triu_indices(3)] = 0; return m
m[np.diag_indices(3)] = x; return m
a[~flags] *= -1; return a
a[flags][0] = 100; return a
a[flags & (a > 1)] = x; return a
m[m.sum(axis=1) > 10] = 0; return m
m[:, m.sum(axis=0) > 16] = 0; return m
a[a.argsort()[:2]] = 0; return a
a[-1], a[0] = a[0], a[-1]; return a
a[1:3], a[3:5] = a[3:5].copy(), a[1:3].copy(); return a
m[:, 0], m[:, 1] = m[:, 1], m[:, 0]; return m
m[[0, 2], :] = m[[2, 0], :]; return m
m[::-1] = m; return m
m[:] = m.T[:3, :3].sum(); return m
a[:] = a[::-1]; return a
a[::2] = a[1::2]; return a
a[3:] = a[:3]; return a
a[:] = np.roll(a, 1); return a
a[1:] += a[:-1]; return a
a[:-1] -= a[1:]; return a
m[1:] += m[:-1]; return m
m[:, 1:] *= m[:, :-1]; return m
m += m.T[:3].T[:, :1]; return m
m -= m.mean(axis=0); return m
m /= m.sum(axis=1, keepdims=True); return m
m[:] -= m[0]; return m
a -= a; return a
a *= a; return a
a **= 2; return a
a //= 2; return a
a %= 2; return a
a @= np.eye(6); return a
i -= 1; i *= i; return i
i |= 8; i ^= 1; i >>= 1; return i
i %= 3; i //= 2; return i
flags ^= True; return flags
flags &= a > 1; return flags
c += 1j; c *= c; return c
c /= 2; c -= a[:3]; return c
c[0] = x; c[1] = n; c[2] = 1j; return c
a[0] = n; a[1] = True; return a
i[0] = True; i[1] = np.float32(2.7); i[2] = x; return i
flags[0] = 5; flags[1] = 0.0; return flags
i[:] = x; return i
i[:2] = [1.9, -1.9]; return i
i[:3] = a[:3]; return i
flags[:] = a - 0.25; return flags
t = (a, 1); t[0] += 1
t = ([a], 2); t[0][0] += x; return a
l = [a, m]; l[0] += 1; l[1][0] = l[0][:4]; return m
l = [a, a]; l[0][0] = x; return l[1] * 1
l = [m[0], m[1]]; l[0] += l[1]; return m
l = [r for r in m]; l[1][:] = x; return m
l = [r * 1 for r in m]; l[1][:] = x; return m
l = list(m.T); l[0][:] = x; return m
l = []; l.append(a); l[-1][2] = x; return a
d = dict(p=a, q=m); d['p'][:4] = d['q'][0]; return a
d = {0: a}; d[0] *= 2; d[1] = d[0]; d[1][0] = x; return a
d = {'v': a}; d['v'] = d['v'] * 2; d['v'][0] = x; return a, d['v']
d = {}; d['v'] = a; d['v'] += 1; del d['v']; return a
b = a; del a; b[0] = x; return b * 1
b = a; del b; a[0] = x; return a * 1
b = a; a = m; a[0] = x; b[0] = n; return m * 1
b, a = a, a * 2; b[0] = x; return b * 1, a
b = a if n > 2 else a * 2; return b * 1
b = a; b = b + 1; b[0] = x; return a, b
b = a; b += 1; b = b * 2; b[0] = x; return a, b
b = a[:]; b -= b; return a
b = a[1:]; d = b[1:]; d[0] = x; b[0] = n; return a
b = a[::-1]; d = b[::-1]; d[0] = x; return a
b = m[1:]; d = b.T; e = d[0]; e += x; return m
b = m.T.reshape(2, 6); b[0] = x; return m, b
b = m[:, :2]; b[b > 2] = 0; return m
b = m[::2]; b += 1; b[:, ::2] = x; return m
b = a.reshape(2, 3); b[1] = b[0]; return a
b = a.reshape(2, 3)[:, 1]; b[:] = x; return a
b = a.reshape(3, 2).T.ravel(); b[0] = x; return a, b
b = a.copy(); b[0] = x; a[1] = n; return a, b
b = a.astype(np.float32); b[0] = x; return a, b
b = np.copy(a); b[0] = x; return a, b
b = np.array(a, copy=True); b[0] = x; return a, b
b = np.asarray(a, dtype=np.float64); b[0] = x; return a
b = np.asarray(m.T, dtype=float); b[0] = x; return m
b = np.array(flags[::2], bool, copy=None); b[0] = n > 5; return flags
b = np.asarray(c, complex); b[0] = x; return c
b = np.require(m.T, float); b[0] = x; return m
b = np.asarray(a, dtype=np.float32); b[0] = x; return a, b
b = np.ascontiguousarray(a[::2]); b[0] = x; return a, b
b = np.zeros_like(a); b[1:] = a[:-1]; return b
b = np.empty_like(m); b[:] = m; b[0] += x; return b, m
b = np.ones((2, 3)); b[1] *= x; b[:, 0] = [n, x]; return b
b = np.full((2, 2), x); b[0, 0] = n; return b
b = np.eye(3); b[1] = b[0] + x; return b
b = np.arange(6).reshape(2, 3); b[0] = b[1]; return b
b = np.linspace(0, 1, 4); b[1:3] = x; return b
b = np.array([[1, 2], [3, 4]]); b[0] += n; return b
b = np.diag(a[:3]).copy(); b[0, 1] = x; return b
b = np.tile(a, (2, 1)); b[0] = x; return a, b
b = np.repeat(a, 2); b[::2] = x; return b
b = np.outer(a, a); b[0] = x; b.T[1] = n; return b
b = np.vstack([a, a]); b[0, 0] = x; return a, b
b = np.where(a > x, a, 0); b[0] = n; return a, b
b = np.sort(a)[::-1]; b[0] = x; return a, b
b = np.unique(i); b[0] = 9; return b, i
b = np.flip(a); b[0] = x; return a
b = np.rot90(m, 2); b[0, 0] = x; return m
b = np.diagonal(m); m[0, 0] = x; return b * 1
b = m.diagonal().copy(); b[0] = x; return m, b
b = np.broadcast_to(x, (3,)).copy(); b[0] = n; return b
b = np.squeeze(m[:1]); b[0] = x; return m
b = m[None, :, None]; b[0, 1, 0, 2] = x; return m
b = np.expand_dims(m, (0, 3)); b[0, 0, 0, 0] = x; return m
f2 = a.__setitem__; f2(0, x); f2(slice(1, 3), n); return a
f2 = a.fill; f2(x); return a
f2 = lambda v, k=a: k.__setitem__(0, v); f2(x); return a
f2 = lambda: a; f2()[0] = x; f2().sort(); return a
(lambda q: q.fill(3))(m[0]); return m
a.sort(); a[::-1].sort(); return a
m.sort(axis=1); m.sort(0); return m
m[:, 1].sort(); m.T[2][::-1].sort(); return m
a.partition(3); return np.sort(a)
a[:] = np.sort(a)[::-1]; a[1:].sort(); return a
i[::-1].sort(); return i
np.copyto(m[1:], m[:-1]); return m
np.copyto(m, 0, where=m > 5); return m
np.copyto(m.T, a[:3]); return m
np.copyto(a[::2], a[1::2]); return a
np.put(m, [0, 5, 5], [x, 1, 2]); return m
np.put(m.T, [1], x); return m
np.place(m, m > 3, [x, 1]); return m
np.putmask(m, m > 3, [x, 1, 2]); return m
z = np.zeros(6, np.float32); z[0] = x; np.putmask(z, a > 2, a); return z
z = np.zeros(6, np.float32); z[0] = x; np.place(z, a > 2, a); return z
z = np.zeros(6, np.float32); np.putmask(z, a > 2, x); np.place(z, a > 4, [x, 1]); return z
np.putmask(i, i > 2, x); return i
np.place(i, i > 2, a[:2]); return i
np.fill_diagonal(m[:, 1:], x); return m
np.fill_diagonal(m, a[:3]); return m
np.put_along_axis(m, m.argmax(axis=1)[:, None], x, axis=1); return m
np.clip(m, 1, x, out=m); np.clip(m[0], 0, 1, m[0]); return m
m.clip(1, 5, out=m); return m
m.cumsum(0, out=m); m.round(1, out=m); return m
a.take([0, 1], out=a[4:]); return a
a.cumprod(out=a); a.clip(max=9, out=a); return a
m.sum(axis=1, out=a[:3]); m.min(axis=0, out=a[2:]); return a
m.dot(m.T, out=np.empty((3, 3))); return m
a.view()[1:].fill(x); return a
a.flat[2:4] = x; m.flat[::5] = 0; return a, m
a.flat[[0, 1]] = a.flat[[1, 0]]; return a
np.apply_along_axis(lambda r: r.sum(), 1, m); m[0] = x; return m
return np.apply_along_axis(lambda r: np.add(r, x, out=r).sum(), 1, m), m
b = a[3, ...].copy(); a[3] *= x; c = np.array(m[1, ..., 2]); m[1, 2] = 0; a[3] *= x; return b, c, a[n, ...].copy()
b = a[np.array(3), ...]; a[3] *= x; b += x; return b, +b, m[..., np.array(1), n % 2], m[1, np.array(2)], +a[3, ...]
for k in range(n): b = a[3, ...].copy(); a[3] *= x; a[k] += b
b = a * 1; c = [np.conj(b[2, ...]), b.__setitem__(2, x), +b[2, ...], b.__setitem__(2, 7)]; return c[0], c[2]
return np.apply_over_axes(lambda r, k: np.add(r, x, out=r), m, [0, 1]) is m, m
return np.apply_over_axes(lambda r, k: np.cumsum(r, k, out=r)[:1].sum(k), m, [0]), m
return np.piecewise(a, [a < x, a >= x], [lambda v: a.fill(5), lambda v: v]), a
[a.__setitem__(k, k) for k in range(3)]; return a
any(a.fill(k) for k in range(3)); return a
{k: m[k].fill(k) for k in range(3)}; return m
""".strip().splitlines()
