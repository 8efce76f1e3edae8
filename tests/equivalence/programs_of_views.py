"""What NumPy gives as a view and what as a copy, and writes of many kinds: each may be told from the other."""

#: views that are hard to tell from copies
VIEWS = """
y = a[: i[0]] if i[0] > 1 else a[1:]
return y.sum(), y * 2, len(y)
---
if x > 1:
    y = m.reshape(i[2] + 1, 4)
else:
    y = m.reshape(i[2] + 4, 2)
y[0, 0] = 9
return m, y + 0
---
if x > 1:
    y = m.T.reshape((i[2] + 2, 3), order="F")
else:
    y = np.reshape(m.T, (i[2] + 1, 4), "F")
y[1] += x
return m, y + 0
---
k = 0
while k < 3:
    y = m.reshape(i[3] - k + k, 4)
    y[k] += k
    k += 1
return m, y + 0
---
b = False
for k in range(i[3]):
    b = not b
y, z = a[:b], m[b:]
y += x
return z + 0, a[::b] + 0
---
y = max(a[3, ...], a[i[2], ...])
y[...] = x
return a
---
if i[1] > 1:
    y = m[: i[1]].T
else:
    y = m[i[1] : i[1] + 2].T
y += x
return m, y.sum()
---
v, k = a[1:], 0
a += 1
while k < 3 and v[0] > x - k:
    k += 1
return k, v[0]
---
v, k = m[1:], 0
a[::-1].sort()
m[:, 1] = 5
while k < 4 and v.T.sum() > x * (k + 8):
    k += 1
    v -= 1
return k, v.T * 1
---
np.einsum('ii->i', m[:, :3])[:] = 1
return m
---
d = np.einsum('ij->ji', m); d[0] = x
return m
---
g = (row for row in m)
for row in g: row *= x
return m
---
for r in m: a[0] += r[0]
r[1] = x; m[-1, 0] = 7
return r * 1, m
---
for j, (r, s) in enumerate(zip(m, m.T)):
    if a[0] > 3: continue
    a[0] += r[0] + s[0]
r += s[0]
return r * 1, j
---
for j, r in enumerate(m): r[0] = j
m[:] = m[::-1]
return r * 2
---
r = a
for r in m[::-1]:
    m[:] = m[::-1] * 2
r[0] = 1
return r * 1, m
---
for r in m: a[0] += r[0]
for s in m: s[...] += r
return r * 1, s * 1
---
for r in m.T:
    for e in r: a[0] += e
r[...] = e
return m
---
b = np.reshape(m, (-1,), order='F'); b[1] = x
return m
---
b = np.reshape(m, (2, n * 2)); b[1] = x
return m
---
b = np.einsum('i', a); b[0] = 3
return a
---
b = np.einsum('i->i', a); b[0] = 3
return a
---
b = np.einsum('ij->j', m); b[0] = 3
return m
---
b = np.einsum(m, [0, 1], [1, 0]); b[0] = 3
return m
---
b = np.einsum('...->...', m); b[0] = 3
return m
---
b = np.linalg.matrix_power(m[:, :3], 1); b[0] = 3
return m
---
b = np.block(a); b[0] = 3
return a
---
b = list(m); b[0][0] = 3
return m
---
b = [*m][1]; b[0] = 3
return m
---
b = np.reshape(m, (4, 3), order='F'); b[1] = x
return m, b
---
b = m.reshape(4, 3, order='F'); b[1] = x
return m, b
---
b = a.reshape((2, 3), order='F'); b[1] = x
return a, b
---
b = m.T.reshape((12,), order='F'); b[1] = x
return m, b
---
b = m.ravel(order='F'); b[1] = x
return m
---
b = np.einsum('ii', m[:, :3]); m[0] = 5
return b
---
b = np.einsum('ij->ji', m)[1:]; b += x
return m
---
for r in [*m]: r += x
return m
---
p, *q = [r for r in m if True]
q[0][:] = x
return m
---
rows = [r for r in m]
if x > 1:
    for r in rows: r[0] = x
return m
---
g = (r for r in m)
m[0] = 7
s = 0.0
for r in g: s += r[0]
return s
---
l = list(m)
m[0] = x
return l[0]
---
z = np.ndarray(n + 1, dtype=np.float64)
z[:] = x
z[0] = 5
return z
---
z = np.ndarray((2, 3)); z.fill(1)
for k in range(n): z[0, k] = a[k]
return z
---
z = m.copy(order='F')
z[0] = x
return z
---
z = np.ndarray((2, n)); z.fill(1)
return z
---
z = np.ndarray(shape=3, dtype=np.int32, order='F'); z[:] = n
return z
---
z = np.ndarray((3,), float, np.arange(6.0)); z[0] = 9
return z
---
return isinstance(a, np.ndarray)
---
t = np.ndarray
return isinstance(a, t), t(3).shape
""".strip().split("\n---\n")

#: writes in straight lines, each line a program
WRITES = """
a[0], a[1] = a[1], a[0]; return a
m[0], m[1] = m[1], m[0]; return m
m[[0, 1]] = m[[1, 0]]; return m
a[:-1] = a[1:]; return a
a[1:] += a[:-1]; return a
a[n:] = 0; return a
a[:n] = a[n:]; return a
a[::-1][:n] = x; return a
i *= 2.5; return i
i[0] = x; return i
i[:] = a[:5] * x; return i
flags |= True; return flags
flags += 1; return flags
a[0] = c[0]; return a
i /= 2; return i
i[n] += x; return i
b = np.asarray(a); b[0] = x; return a
b = np.array(a, copy=False); b[0] = x; return a
b = np.array(a, copy=None); b[0] = x; return a
b = np.array(a, ndmin=2, copy=None); b[0] = x; return a
b = np.array(a); b[0] = x; return a, b
b = np.asfortranarray(m); b[0] = x; return m
b = np.asanyarray(m); b[0] = x; return m
b = np.atleast_2d(a); b[0, 1] = x; return a
b = np.squeeze(a[None]); b[1] = x; return a
b = np.expand_dims(a, 0); b[0, 1] = x; return a
b = np.broadcast_to(a, (2, 6)); b[0, 1] = x; return a
b = np.swapaxes(m, 0, 1); b[0, 1] = x; return m
b = np.moveaxis(m, 0, 1); b[0, 1] = x; return m
b = np.rollaxis(m, 1); b[0, 1] = x; return m
b = np.rot90(m); b[0, 1] = x; return m
b = np.flip(m); b[0, 1] = x; return m
b = np.fliplr(m); b[0, 1] = x; return m
b = np.diagonal(m); b[0] = x; return m
b = np.diag(m); b[0] = x; return m
b = np.split(a, 3); b[1][0] = x; return a
b = np.hsplit(m, 2)[1]; b[0] = x; return m
b = np.array_split(a, 4); b[1][0] = x; return a
b = a.view(); b[1] = x; return a
b = a.astype(float, copy=False); b[1] = x; return a
b = a.astype(float); b[1] = x; return a
b = np.real(a); b[1] = x; return a
b = np.imag(c); b[1] = x; return c
b = np.real(c); b[1] = x; return c
b = np.ravel(m); b[1] = x; return m
b = np.ravel(m.T); b[1] = x; return m
b = m.flatten(); b[1] = x; return m
b = np.require(a); b[1] = x; return a
b = np.where(a > 2, a, 0); b[0] = 5; return a, b
b = np.choose([0], [a[:1]]); b[0] = 55; return a, b
b = m.T.copy(); b[0] = 7; return m, b
a.fill(n); return a
m.fill(x); return m
a.put([0, 1], x); return a
np.fill_diagonal(m, x); return m
np.put_along_axis(m, np.array([[1], [0], [2]]), x, 1); return m
b = np.divmod(a, x, out=(a, np.empty(6))); return a, b[1]
b, e = np.modf(a); b[0] = 5; return a, b, e
a.itemset(0, 5); return a
a[np.newaxis, :, None][0, 2] = x; return a
a[True] = x; return a
a[...][1] = x; return a
m[..., n - 1] = x; return m
m[n - 1][n - 1] = x; return m
m[n-1, :][1:][0] += x; return m
m[[0, 2]][0] = 100; return m
m[[0, 2], 1:3] += x; return m
m[np.ix_([0, 2], [1, 3])] *= x; return m
m[m > x] = m[m > x] * 2; return m
m[:, a[:4] > 1] = 0; return m
m[n - 3:, np.array([True, False, True, False])] = 9; return m
a.__iadd__(1); return a
operator = __import__('operator'); operator.setitem(a, 0, x); return a
setter = a.__setitem__; setter(n, x); return a
m[0, 0], *_ = a; return m
a %= 0.0; return a
np.copyto(a, np.arange(6)); np.copyto(i, a[:5], casting='unsafe'); return i
np.copyto(i, a[:5]); return i
np.clip(i, 1, 3, out=i); np.clip(a, None, x, out=a); return a
np.add(i, 1.5, out=i, casting='unsafe'); return i
np.add(i, 1.5, out=i); return i
b = np.add(a, 1, out=a); b[0] = 7; return b is a
b = a.sum(keepdims=True); b[0] = 3; return a
b = np.concatenate([a]); b[0] = 3; return a
b = np.take(a, [0, 1], out=a[2:4]); return a
b = np.array([a, a]); b[0] = 3; return a
b = np.stack((a, a)); b[0] = 3; return a
b = np.broadcast_arrays(a, m[:, :1])[0]; return b.sum()
b = np.unwrap(a); b[0] = 3; return a
b = np.atleast_1d(a); b[0] = 3; return a
b = np.vstack((a,)); b[0] = 3; return a
b = np.resize(a, 6); b[0] = 3; return a
b = np.sort(a); b[0] = 3; return a
b = a.squeeze(); b[0] = 3; return a
b = a.swapaxes(0, 0); b[0] = 3; return a
b = +a; b[0] = 3; return a
b = a.conj(); b[0] = 3; return a
b = np.conj(a); b[0] = 3; return a
b = a.round(); b[0] = 3; return a
b = np.round(i); b[0] = 3; return i
b = np.around(i, 0); b[0] = 3; return i
b = np.floor(i); b[0] = 3; return i
b = np.positive(a); b[0] = 3; return a
b = a.clip(); b[0] = 3; return a
b = np.ascontiguousarray(m.T); b[0] = 3; return m
b = np.matrix_transpose(m); b[0] = 3; return m
b = m.mT; b[0] = 3; return m
b = np.permute_dims(m, (1, 0)); b[0] = 3; return m
b = np.unstack(m)[1]; b[0] = 3; return m
b = np.delete(a, []); b[0] = 3; return a
b = np.triu(m); b[0] = 3; return m
b = np.select([a > 100], [a], a); b[0] = 3; return a
b = np.interp(a, a, a); b[0] = 3; return a
b = np.linalg.matrix_transpose(m); b[0] = 3; return m
b = np.linalg.diagonal(m); b[0] = 3; return m
b = np.fft.fftshift(a); b[0] = 3; return a
b = np.roll(a, 0); b[0] = 3; return a
b = np.tile(a, 1); b[0] = 3; return a
b = np.repeat(a, 1); b[0] = 3; return a
b = np.pad(a, 0); b[0] = 3; return a
b = np.linalg.multi_dot([m, m.T]); b[0] = 3; return m
b = np.iterable(a); m[:] = b; return m
b = np.lib.stride_tricks.broadcast_to(a, (6,)); b = b + 1; b[0] = 3; return a
b = np.hstack([a]); b[0] = 3; return a
b = np.block([a]); b[0] = 3; return a
b = np.extract(a > 0, a); b[0] = 3; return a
b = np.piecewise(a, [a > 1], [lambda q: q.__imul__(2), 0]); return a, b
b = np.vectorize(lambda q: q + 1)(a); b[0] = 3; return a
b = tuple(m)[1]; b[0] = 3; return m
b = sorted(m, key=lambda r: -r[0])[0] if 0 else m[2]; b[0] = 3; return m
b = next(iter(m)); b[0] = 3; return m
b = list(map(lambda r: r[1:], m))[1]; b[0] = 3; return m
b = list(reversed(m))[0]; b[0] = 3; return m
i[0] = 2**70; return i
a[0] = [1, 2]; return a
a[0] = a[1:2]; return a
m[0] = a; return m
a[:2] = [x, n]; return a
a[:] = range(6); return a
a[:3] = (x for x in range(3)); return a
a[1.0] = 5; return a
a["x"] = 5; return a
a[n, n] = 5; return a
a[-7] = 5; return a
a[n + 10] = 5; return a
a[-n - 10] = 5; return a
a[np.array([0, n + 10])] = 5; return a
m[n] = a[:4]; return m
b = m.T.reshape(12); b[1] = x; return m, b
b = m[:, :2].reshape(3, 2, 1); b[1] = x; return m, b
b = m[:, :2].reshape(-1); b[1] = x; return m, b
b = m[1:, ::2].squeeze()[..., None]; b[1] = x; return m
a[:3], a[3:] = a[3:] * 1, a[:3] * 1; return a
list(map(lambda k: a.__setitem__(k, x), range(3))); return a
_ = [a.fill(k) for k in range(3)]; return a
a[0] = y = x + 1; return a, y
a[0] = a[1] = m[0, 0] = x; return a, m
(a[0], m[0, 1]), i[0] = (x, 2), n; return a, m, i
np.matmul(m[:, :3], m[:, :3], out=m[:, 1:]); return m
np.dot(m[:, :3], m[:, :3].copy(), out=np.zeros((3, 3))); return m
np.take(a, [2, 1, 0], out=a[:3], mode='clip'); return a
return a if x > 0 else a
b = np.atleast_1d(x, a)[1]; b[0] = 9; return a, b
b, k = np.atleast_2d(a, m); b[0, 0] = 9; m[1] = x; return a, m, b, k
b = np.atleast_3d(n, m)[1]; b += x; return m
b = np.broadcast_arrays(x, a)[1]; b[1] = 7; a[2] = x; return a, b
b, k = np.broadcast_arrays(m[0], m); m[1, 1] = x; return b + 0, k + 0
b, k = np.meshgrid(a, m[0]); b[0] = 9; k[1] += x; a[0] = 5; return a, b, k
b, k = np.meshgrid(a, m[0], copy=False); return b + k
return m.sum((i[1] - 1, i[2] - 1)), m.transpose(i[1], i[1] - 1), np.fft.fft2(m, axes=(i[0], i[1]))
return m.sum((0, i[0] > 1))
return [(p * 2, q + 1) for p, q in np.nditer([int(i[2]), a], order="C")], [*np.broadcast(float(x), a[:2])]
return m.astype(float(x))
return [*np.ndenumerate([int(i[2]), x])], [*np.ndenumerate(tuple(m))], [*np.ndenumerate(float(x))]
return np.linalg.cholesky(np.eye(3) + a[0], upper=i[3] - 3), np.linalg.cholesky(np.eye(3) + a[0], upper=x > 2)
return np.mgrid[0 : i[2], 1:5:2], np.mgrid[i[3] : 0 : -1, :2], np.mgrid[0:1:3j, 0 : i[2]], np.mgrid[: i[1], 0.5:x]
return np.diag_indices(x), np.diag_indices(i[2]), np.diag_indices(int(i[2]), 3)
return int(i[2]).to_bytes(2, "big"), hasattr(int(i[2]), "to_bytes"), getattr(int(i[2]), "tolist", 3)
return np.zeros(2, int(i[2]))
return m.sum(dtype=float(x)), a.view(int(i[3]))
""".strip().splitlines()
