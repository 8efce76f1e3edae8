"""Writes to arrays as NumPy does them, odd ones too, each in a straight line, loops, branches and functions."""

WRITES = """
m[:2] = m[1], m[0]
m[0], m[1] = m[1], m[0]
a[0], a[1] = a[1], a[0]
t = (a, 1); t[0][1:] += 1
a[[1, 1]] += 1
a[:-1] = a[1:]
a[1:] = a[:-1]
a[1:] += a[:-1]
a[::2] += a[1::2]
for r in m: r += x
for r in m: r[0] = x; r = r + 1
for e in a: e += 1
m.T[...] += m.T[::-1]
m.T[1:3, :2] = m[:2, 1:3].T
m.swapaxes(0, 1)[1, :] = m[:, 2]
m.reshape(2, 6).T[3] = [x, 7]
m.flat[[1, 1, 2]] = [5., 6., 7.]
m.flat[::3] += 1
m.ravel()[1::4] *= 2
np.moveaxis(m, 0, 1)[2, 1] = 99
np.rollaxis(m, 1)[0] = 4
np.squeeze(m[:, None])[1] = a[:4]
np.expand_dims(a, 1)[2] = 6
a[:, None][3] = 7
a[None, 2:][0, 1] = 8
np.split(m, [1])[1][0] = 3
np.hsplit(m, 2)[1][:, 0] = x
np.flip(m)[0, 0] = 5
np.fliplr(m)[1] = np.arange(4.)
np.rot90(m)[0] = 4
m[::-1, ::2][1] = x
v = m[1:]; v = v[:, 1:]; v[0] = 5; m[1, 1] += v.sum()
b = a; b += 1; b = b + 1; b[0] = 100
b = a[:]; a[0] = 9; b[1] = b[0]
b = a.copy(); a[0] = 9; b[1] = b[0]; a[2] = b[1]
b = np.asarray(a); b[0] = 7
d = {'k': a, 'l': [a, m]}; d['l'][0][1] = 5; d['k'][2] += d['l'][1][0, 0]
l = [a, a]; l[0][0] = 5; l[1][1] = l[0][0]
s = slice(1, n); a[s] = x; a[s] += a[s]
k = i[1]; a[k] = 5; a[i[:2]] = a[i[1:3]]
a[a > x] = a[a > x][::-1]
a[a > x] *= -1
m[m > 5] = m.sum()
m[1, m[1] > 5] = 0
m[[0, 2], [1, 3]] = m[[2, 0], [3, 1]]
m[np.ix_([0, 2], [1, 3])] += 1
m[..., 0] = a[:3]; m[0, ...] = x
a[-1] = a[-2]; a[-3:] = a[:3]
np.add(a[1:], a[:-1], out=a[1:])
np.multiply(m, m.T[:4, :3].T, out=m)
np.cumsum(m, axis=1, out=m); np.cumsum(a[::-1], out=a[::-1])
np.copyto(m.T[0], a[:3]); np.copyto(m, m[::-1])
np.put(m, [1, 1, 5], [1., 2., 3.]); np.place(m, m > 8, [0.5])
np.putmask(a, a > 2, a[::-1])
np.fill_diagonal(m[:, 1:], a[:3])
np.add.at(a, [1, 1, 3], x); np.subtract.at(m, (slice(None), [0, 0]), 1)
m.sort(axis=0); m[1].sort(); m.T[0].sort()
a.partition(2); a[:3].fill(x)
c.real[1] = 5; c.imag[:] += 1; c.real += c.imag
c[0] = 1j; c *= 2; c.real[...] = c.imag[::-1]
i += 2; i[1:] *= i[:-1]; i //= 2
i[0] = x; i[1] = 2.9
flags[0] = a[0] > 0; flags[1:] &= flags[:-1]; flags ^= True
np.einsum('ii->i', m[:, :3])[:] = 0
m.diagonal()
w = a.reshape(2, 3); w[1] = w[0]; a[0] = w[1, 2]
w = m.reshape(-1)[2:8].reshape(3, 2); w[1, 1] = 77; w.T[0] += 1
np.clip(a, 1, 3, out=a); np.sqrt(a, out=a, where=a > 2)
a[:], m[0] = a[::-1] * 1, a[:4]
a[:3], a[3:] = a[3:], a[:3]
a += a[::-1]
m += m[::-1]; m -= m.T[:4, :3].T
m @= np.ones((4, 4)); m **= 2
z = np.zeros(3); z += a[:3]; a[:3] = z; z[0] = 50; a[3] = z[0]
m[1:, 1:] = m[:-1, :-1]; m[:-1, 1:] += m[1:, :-1]
np.swapaxes(m[None], 0, 2)[1, 2, 0] = 6
m.T.copy()[0] = 5; m.T.reshape(-1)[3] = 7
q = m.T.reshape(2, 6); q[0] = 5
u = np.atleast_2d(a); u[0, 1] = 4; h = np.broadcast_to(a, (2, 6)).copy(); h[1] = 0; a[0] += h.sum()
a[np.argsort(-a)] = a; m[np.argmax(m[:, 0])] = 0
m[:, 1], m[:, 2] = m[:, 2].copy(), m[:, 1]
m[m[:, 0].argsort()] = m
m[:] = m[[2, 0, 1]]; m[[2, 0, 1]] = m
m[1:][m[1:] > 5] = 1; m[1:][:, 0][1] = 4
m.T[1][2] = 6; m.T[1:][0][1:] = x; m.T[0, 1:] += m.T[1, :-1]
""".strip().splitlines()

#: (where a write may stand, a program with it there)
PLACES = (
    ("straight", "{0}"),
    ("for", "for kk in range(n):\n    {0}"),
    ("while", "kk = 0\nwhile kk < n:\n    kk += 1\n    {0}"),
    ("branch", "if x > 2:\n    {0}\nelse:\n    a += 1"),
    ("function", "def h(a, m, i, c, flags):\n    {0}\nh(a, m, i, c, flags)\nfor kk in range(n): h(a, m, i, c, flags)"),
    ("mixed", "for kk in range(n):\n    if a[0] > kk:\n        {0}\n    else:\n        a[0] += 3"),
)
PROGRAMS = [place.format(write) for write in WRITES for _, place in PLACES]
