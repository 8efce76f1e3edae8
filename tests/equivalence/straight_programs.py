"""Writes to arrays in straight lines, through names, views and functions; each line is a program."""

PROGRAMS = """
a += 1
a[1:3] *= x
a[...] = 7
a[np.array([1, 1, 3])] = np.array([5.,6.,7.])
a[np.array([1, 1, 3])] += 1
a[a>2] = 0
a[a>2] += x
m.T[0] = 9
m.T[-1, ::-1] = np.arange(3.)
m.T[1:3] = m.T[0:2]
m.T[1:3] = [m[1, :3], m[2, :3]]
t = m.reshape(3, 2, 2).transpose(1, 2, 0); t[0] = 5; t[:, 1, 2] = np.array([1., 2.]); t[...] += 1; t[..., -1] *= 2
t = m.reshape(3, 2, 2).transpose(1, 2, 0); t[1, :, :] = np.array([[1., 2., 3.], [4., 5., 6.]]); t[:, n - 2] = x
t = m.reshape(3, 2, 2).swapaxes(0, 2); t[1][0] = 3; t.T[0][:, 1] = x; t.ravel()[0] = 9
p = np.zeros(2); p += (x, a[1]); q = p[:1]; p -= [x, 1]; a[0] = p @ [x, n]; a[1] = q[0]; b = p
p = [np.ones(2)]; p[0] *= [a[1], x]; b = p[0] + [(0, 1), (x, 0)][n - 2]; c = np.arange(3) < [x, 1, 5]; a[2] = b[0]
k = m[0, 1]; m.ravel()[1] = 7; m.flat[2] = k + m[0, 1]; m.T[0] = m.sum() + k
r = m.T[1]; k = r.sum(); m.T[1] = 5; m[0, 0] = r.sum() + k
b = m.T; b += b.T.T; b[:] = b[::-1]; b *= x
b = m.reshape(-1); s = b[:6]; m.reshape(4, 3)[1] = s[:3]; s += b[6:]
m.T[0], m.T[1] = m.T[1], m.T[0]
m[:2] = m[1], m[0]
m[...] = [m[1] + 0, m[0], m[n - 2]]
m[:2, :2] = [[m[0, 1], m[0, 0]], m[0, :2]]
m[None, :2] = [[m[1], m[0]]]
m[:2] = [m[1].copy(), m[0].copy()]
m[[0, 1]] = [m[1], m[0]]
m[:] = [row for row in m[::-1]]
m[:] = list(reversed(m))
a[:2] = a[1], a[0]
np.copyto(m[:2], [m[1], m[0]])
m.flat[3] = 9
m.flat[1:4] = x
m.ravel()[2] = 8
m.reshape(2,6)[1,2] = 8
m.T.reshape(-1)[1] = 8
m.T.ravel()[1] = 8
m[1][2] = 4
m[1:][0][2] = x
m[:,1][2] = 4
m[1:,2:][0] = np.array([1.,2.])
m[:, ::-1][0] = np.arange(4.)
np.add(a, x, out=a)
np.add(a, 1, out=a, where=a>2)
np.sqrt(a, a)
np.add(a[1:], a[:-1], out=a[1:])
np.clip(a, 1, 3, out=a)
np.cumsum(a, out=a)
np.sum(m, axis=0, out=m[0])
a.sum(out=m[0,0:1].reshape(()))
m.cumsum(axis=1, out=m)
np.dot(m, m[0], out=a[:3])
np.matmul(m, m.T[:, :3], out=m[:, :3])
np.copyto(a, x)
np.copyto(m, a[:4])
np.copyto(a, 5, where=a>2)
np.put(a, [1,2,7], x)
np.put(a, [1,2], [3,4,5])
np.put(a, [1,8], [3.,4.], mode='wrap')
np.put(a, [1,8], [3.,4.], mode='clip')
np.place(a, a>2, [7,8])
np.putmask(a, a>2, a*10)
np.putmask(a, a>2, [1,2])
np.fill_diagonal(m, x)
np.fill_diagonal(m, [1,2,3])
np.put_along_axis(m, np.array([[0],[2],[1]]), 9., 1)
np.add.at(a, np.array([1, 1, 3]), 1)
np.subtract.at(a, np.array([1, 1, 3]), x)
np.multiply.at(a, np.array([1, 1, 3]), 2)
np.maximum.at(a, np.array([1, 1, 3]), x)
a.fill(3)
a.sort()
m.sort(axis=0)
m[::-1].sort(axis=0)
a.partition(2)
a.put([0,1], 9)
i += 0.5
i += 2
i /= 2
i //= 2
i **= 2
i[0] = 2.7
a[0], a[1] = a[1], a[0]
m[0], m[1] = m[1], m[0]
a[:-1] = a[1:]
a[1:] = a[:-1]
t = (a, 1); t[0] += 1
for r in m: r += 1
for r in m: r[0] = 5
for r in a: r += 1
for r, s in zip(m, a): r[0] = s
for k, r in enumerate(m): r[k] = x
b = a; b[0] = x
b = a[:]; b[0] = x
b = a.copy(); b[0] = x
b = +a; b[0] = x
b = np.asarray(a); b[0] = x
b = np.array(a); b[0] = x
b = np.ascontiguousarray(a); b[0] = x
b = np.ascontiguousarray(m.T); b[0] = x
b = np.atleast_2d(a); b[0,0] = x
b = np.squeeze(a); b[0] = x
b = m.swapaxes(0,1); b[0] = x
b = np.moveaxis(m, 0, 1); b[0] = x
b = np.rot90(m); b[0] = x
b = np.flipud(m); b[0] = x
b, c = np.split(a, 2); b[0] = x; c[:] = b
b = m.diagonal(); m[0,0] = x; s = b.sum()
b = m.diagonal(); b[0] = x
b = np.broadcast_to(a, (2,6)); b[0] = x
b = np.expand_dims(a, 0); b[0, 1] = x
b = a[None]; b[0, 1] = x
b = a[:, None]; b += a[:3]
b = a.real; b[0] = x
c.real[0] = x
c.imag = 3
c.real *= 2
b = c.conj(); b[0] = x
b = a.conj(); b[0] = x
b = a.astype(float, copy=False); b[0] = x
b = a.astype(float); b[0] = x
b = a.view(); b[0] = x
l = [a, m]; l[0][1] = x; l[1] += 1
d = {'k': a}; d['k'][2] = x; d['k'] += 1
a[5] = a[4]; a[4] = x; a += a
a -= a[::-1]
m += m.T[:3,:3].sum()
m @= np.eye(4)
m @= m.T
a += np.ones(3)
a += np.ones((2,6))
a[0] = np.ones(3)
a[10] = 1
a[:, 1] = 2
a &= 1
i &= 1
i <<= 1
flags |= a > 2
a[flags] = -1
m[[0,2]] = m[[2,0]]
m[:, [0,2]] += 1
m[0, [1,1]] += 1
row = m[0]; row[[0,1]] = x
row = m[1]; row[row > 5] = 0
m[1:3, 1:3][1, 0] = x
m[..., 0] = x
v = m[..., 0]; v[1] = x
v = m[0, ...]; v[1] = x
np.negative(a, out=a); np.multiply(a, 2, out=a)
r = np.add(a, 1, out=a); r[0] = 100
np.concatenate([a[:3], a[:3]], out=a)
np.take(a, [1,1], out=a[:2])
np.mean(m, axis=0, out=a[:4])
np.add.reduce(m, axis=0, out=a[:4])
np.add.accumulate(a, out=a)
a.clip(1, 2, out=a)
a.round(out=a)
np.round(m, out=m)
np.maximum(a, 2, out=a)
np.minimum(m, m.T.max(), out=m)
a[a.argmax()] = 0
i.sort(); i[::-1].sort()
a.byteswap(inplace=True); a.byteswap(inplace=True)
x += 1
""".strip().splitlines()
