"""Programs that write in place to large arrays, with as many lines as it takes to say what each of them is about."""

import numpy as np

#: (program, what makes its arguments for arrays of about so many elements)
PROGRAMS = []


def vectors(count=1, *more):
    return lambda size: (*[np.arange(size) % 7 + 1.0 for _ in range(count)], *more)


def squares(count=1, *more):
    def made(size):
        n = int(size**0.5)
        return *[np.arange(n * n).reshape(n, n) % 7 + 1.0 for _ in range(count)], *more

    return made


def given(make):
    def noted(program):
        PROGRAMS.append((program, make))
        return program

    return noted


N = np.int64(3)
PLACES = np.arange(1000) * 3


@given(vectors(2))
def stencil(a, b):
    b[1:-1] = 0.5 * (a[:-2] + a[2:])


@given(vectors())
def stencil_of_one(a):
    a[1:-1] = (a[:-2] + a[2:]) / 2


@given(vectors())
def scaled(a):
    a *= 2
    a += 1


@given(vectors())
def moved(a):
    a[:-1] = a[1:]
    a[1:] = a[:-1]


@given(vectors())
def halves_change_places(a):
    half = len(a) // 2
    first = a[:half].copy()
    a[:half] = a[half:]
    a[half:] = first


@given(vectors())
def by_the_first(a):
    a[1:] *= a[0]


@given(vectors())
def turned(a):
    a[:] = a[::-1]
    a[:] = np.roll(a, 1)


@given(vectors())
def masked(a):
    a[a > 3] = 0
    a[a < 2] += 1


@given(vectors(2))
def functions_with_masks(a, b):
    np.copyto(a, b, where=a > 3)
    np.copyto(a, 0, where=b > 5)
    np.putmask(a, a > 2, b)
    np.putmask(b, a < 2, 0.0)
    np.place(b, a > 4, [2.0])


@given(lambda size: (np.arange(size) % 7,))
def bits(a):
    a += 1
    a <<= 2
    a |= 1
    a >>= 1


@given(squares())
def normalised(m):
    m -= m.mean(axis=0)
    m /= m.std(axis=0) + 1
    m /= np.linalg.norm(m)


@given(squares(1, N))
def powers(m, n):
    m **= 1.5
    for _ in range(n):
        m[1:, 1:] **= 0.5


@given(squares(1, N))
def updates_of_parts(m, n):
    for _ in range(n):
        m[1:, :] = m[1:, :] - 0.5 * np.sin(m[0, :])
        m[:, 1:] -= 0.25 * np.cos(m[:, 1:]) * m[:, 1:]


@given(vectors())
def functions_with_out(a):
    np.maximum(a, 2, out=a)
    np.clip(a, 1, 3, out=a)
    np.exp(a, out=a)
    np.cumsum(a, out=a)


@given(vectors(2))
def other_arrays_as_out(a, b):
    np.multiply(a, 0.5, out=b)
    a[0] = b[0]
    np.sqrt(b, out=a)
    np.cumsum(a, out=b)
    b += 1


def products(size):
    n = int(size**0.5)
    return np.ones((n, n)), np.ones((n, 4)), np.ones((4, n))


@given(products)
def products_as_out(m, x, y):
    np.matmul(x, y, out=m)
    m += 1


@given(vectors())
def sorted_in_place(a):
    a.fill(4)
    a.sort()


@given(vectors())
def partly_sorted_in_place(a):
    a.partition(7)


@given(vectors(1, PLACES))
def places(a, i):
    a[i] += 1
    np.put(a, i, 2.0)


@given(squares(1, N))
def rows(m, n):
    i = 1
    while i < n:
        m[i] = m[i - 1] * 0.5 + m[i]
        i += 1
    for row in m[:9]:
        row -= row.mean()


@given(squares())
def rows_change_places(m):
    m[[0, 1]] = m[[1, 0]]
    m[2], m[3] = m[3].copy(), m[2].copy()
    m[:, 0] = m[:, 1]


@given(squares())
def stencil_of_two_axes(m):
    m[1:-1, 1:-1] += 0.25 * (m[:-2, 1:-1] + m[2:, 1:-1])


@given(squares(2, N))
def jacobi(a, b, n):
    for _ in range(n):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


@given(squares(1, N))
def branches(m, n):
    if n > 1:
        m *= 2
    else:
        m += 1
    if n > 2:
        m[3] = 7


@given(squares(1, N))
def rest_of_the_rows(m, n):
    for k in range(n):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])


@given(squares())
def outer(m):
    m[1:, 1:] -= np.outer(m[1:, 0], m[0, 1:])


@given(vectors(1, N))
def elements(a, n):
    for i in range(1, 9):
        a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    i = 1
    while i < n:
        if a[i] > a[i - 1]:
            a[i] = a[i - 1]
        else:
            a[i - 1] += 1
        i += 1


@given(vectors())
def result_is_a_view(a):
    a[0] = 1
    return a[1:]


@given(vectors())
def parts_of_parts(a):
    b = a[1:]
    b[1:][2] = 5
    b[::-1][:3] += 1


@given(vectors(1, N))
def parts_from_where_the_run_says(a, n):
    b = a[n:]
    b[0] = 7
    b[1] = 8
    a[n + 1 :].sort()


@given(vectors(1, N))
def parts_in_branches(a, n):
    b, c = a[10:], a[n:]
    if n > 2:
        b[0] = b[1] + 7
        c[0] += 1
    if n > 3:
        c[1] = 8
    elif n > 1:
        c[2] = b[0]


@given(vectors())
def parts_sorted(a):
    a[10:].sort()
    b = a[5:]
    b.partition(100)


@given(squares(1, N))
def transposed(m, n):
    m.T[3, 4] = 1
    m.swapaxes(0, 1)[2] = m[1].copy()
    t = m.T
    for i in range(n):
        t[i, 0] += i


def lines_side_by_side(x, a, b, n):
    a += x * 2
    b -= x * 3
    b *= np.roll(x, 1) - x
    for _ in range(n):
        a += 3.0 * x


def leapfrog(x, v, f, n):
    for _ in range(n):
        v += 0.5 * f
        x += v
        f[:] = -x
        v += 0.5 * f


def neighbours(m):
    m[:] = 0.25 * (np.roll(m, 1, 0) + np.roll(m, -1, 0) + np.roll(m, 1, 1) + np.roll(m, -1, 1))


#: of independent lines, for arrays that no cache holds: these are computed one after the other
NO_CACHE = [(lines_side_by_side, vectors(3, N)), (leapfrog, vectors(3, N)), (neighbours, squares())]


@given(lambda size: ((np.arange(size) % 7 + 1.0)[::-1], N))
def backwards(y, n):
    y += 1
    y[1:] = y[:-1]
    for i in range(n):
        y[i] += y[i + 1]


@given(vectors(1, N))
def windows(a, n):
    for i in range(n):
        a[i : i + 4] += 1
        part = a[2 * i : 2 * i + 3]
        part -= part.mean()


@given(squares())
def all_of_a_transpose(m):
    m.T[:] = m.T + 1


@given(squares())
def in_another_form(m):
    first = m[0, 0]
    m.ravel()[5] = first
    m.flat[7] = 1
    m.reshape(1, -1)[0, 1] = first + m[0, 0]
    m.reshape(-1)[::7] = 0
    np.fill_diagonal(m, first)


@given(vectors(2, N))
def buffers_that_rotate(a, b, n):
    u, v, w = a * 2, a.copy(), np.zeros_like(a)
    for _ in range(n):
        w[1:-1] = u[:-2] + v[2:]
        u, v, w = v, w, u
    b[:] = u


@given(vectors())
def values_one_after_another(a):
    np.place(a, a > 3, [1.0, 2.0, 3.0])
    np.nan_to_num(a, copy=False)


@given(vectors(2))
def roots_of_some(a, b):
    np.sqrt(a, out=b, where=a > 3)
    np.square(a, out=a, where=a > 5)
