"""Hares and lynxes: the parameters of a differential equation, found by going back through its solver.

The solver chooses its own steps: a ``while`` that takes a step if its error is small and else tries a shorter one, as
often as the parameters need. The measurements are the pelts that trappers sold to the Hudson's Bay Company.
"""

from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "hare_lynx.csv"
TOLERANCE = 1e-4


def slope(y, rates):
    """Lotka and Volterra: hares breed and are eaten, lynxes eat and starve."""
    hares, lynxes = y[0], y[1]
    return np.stack([hares * (rates[0] - rates[1] * lynxes), lynxes * (rates[2] * hares - rates[3])])


@autoloop.function
def solve(start, rates, times):
    """The solution at the times; how many steps were taken and how many thrown away."""
    y, t, h = start, times[0], np.float64(0.1)
    taken = refused = 0
    path = [y]
    for end in times[1:]:
        while t < end:
            last = t + h >= end
            dt = end - t if last else h
            # Bogacki and Shampine (1989): of third order, with one of second order to tell the error
            k1 = slope(y, rates)
            k2 = slope(y + dt / 2 * k1, rates)
            k3 = slope(y + dt * 3 / 4 * k2, rates)
            y_next = y + dt / 9 * (2 * k1 + 3 * k2 + 4 * k3)
            k4 = slope(y_next, rates)
            error = np.max(np.abs(dt / 72 * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / y))
            if error < TOLERANCE:
                y = y_next
                t = end if last else t + dt
                taken += 1
            else:
                refused += 1
            h = dt * np.clip(0.9 * (TOLERANCE / (error + 1e-30)) ** (1 / 3), 0.2, 5.0)
        path.append(y)
    return autoloop.stack(path), taken, refused


@autoloop.function
def loss(logs, times, seen):
    """Mean square of the errors in the logarithms; the parameters are logarithms, too."""
    values = np.exp(logs)
    path, _, _ = solve(values[4:], values[:4], times)
    return np.mean((np.log(path) - np.log(seen)) ** 2)


def minimise(value_and_gradient, x, rounds):
    """Broyden, Fletcher, Goldfarb and Shanno, with steps halved until they help."""
    inverse = 0.1 * np.eye(len(x))
    value, g = value_and_gradient(x)
    for turn in range(rounds):
        if turn % 5 == 0:
            print(f"round {turn:3d}  loss {value:.6f}")
        if np.linalg.norm(g) < 1e-6:
            break
        step = -inverse @ g
        step /= max(1, np.linalg.norm(step))
        new, new_g = value_and_gradient(x + step)
        while not new < value + 1e-4 * (step @ g) and np.linalg.norm(step) > 1e-9:
            step /= 2
            new, new_g = value_and_gradient(x + step)
        change = new_g - g
        if (along := step @ change) > 0:
            turned = np.eye(len(x)) - np.outer(step, change) / along
            inverse = turned @ inverse @ turned.T + np.outer(step, step) / along
        x, value, g = x + step, new, new_g
    print(f"round {turn:3d}  loss {value:.6f}")
    return x, value


def main():
    years, hares, lynxes = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)
    times, seen = years - years[0], np.stack([hares, lynxes], axis=1)
    first = np.log([0.5, 0.02, 0.02, 0.5, hares[0], lynxes[0]])
    loss_and_gradient = autoloop.value_and_grad(loss)

    gradient = loss_and_gradient(first, times, seen)[1]
    nudges = 1e-6 * np.eye(len(first))
    differences = [float(loss(first + n, times, seen) - loss(first - n, times, seen)) / 2e-6 for n in nudges]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)
    apart = np.max(np.abs(gradient - differences))
    print(f"gradient through the solver and central differences: agree, {apart:.0e} apart at most")

    logs, least = minimise(lambda x: loss_and_gradient(x, times, seen), first, rounds=60)
    values = np.exp(logs)
    path, taken, refused = solve(values[4:], values[:4], times)
    print(f"hares  breed {values[0]:.3f} a year, eaten {values[1]:.4f} per lynx")
    print(f"lynxes starve {values[3]:.3f} a year, breed {values[2]:.4f} per hare")
    print(f"last solution: {int(taken)} steps taken, {int(refused)} refused\n")
    print("      hares (1,000)  lynxes (1,000)\nyear   seen   curve    seen   curve")
    for year, row, curve in zip(years, seen, path.numpy()):
        picture = [" "] * 40
        picture[round(curve[0] / 2)], picture[round(curve[1] / 2)] = "h", "l"
        print(f"{year:.0f} {row[0]:6.1f} {curve[0]:7.1f} {row[1]:7.1f} {curve[1]:7.1f}   {''.join(picture).rstrip()}")
    assert least < 0.049
    print(f"typical error: {100 * np.expm1(np.sqrt(least)):.0f} %")


if __name__ == "__main__":
    main()
