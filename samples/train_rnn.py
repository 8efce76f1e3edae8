"""Sunspots foretold by a network that learns: backpropagation through time, through a converted ``for``.

A gated recurrent unit reads the sunspots of one year and foretells those of the next. It learns from the years up to
1858; of all its states on the way, the one that did best on the 50 years after that is kept, and looked at on the
century that it has not seen. The loss curve is drawn to a PNG: ``python train_rnn.py loss.png`` says where to.
"""

import struct
import sys
import tempfile
import zlib
from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "sunspots.csv"
UNITS, STEPS, LEARNT_UNTIL, CHOSEN_UNTIL = 16, 160, 1858, 1908


@autoloop.function
def foretell(w, series):
    state = np.zeros(UNITS)
    guesses = []
    for value in series:
        seen = np.stack([value, 1.0])
        gates = autoloop.sigmoid(w["gates"] @ state + w["gates_in"] @ seen)
        keep, use = gates[:UNITS], gates[UNITS:]
        new = np.tanh(w["new"] @ (use * state) + w["new_in"] @ seen)
        state = keep * state + (1 - keep) * new
        guesses.append(value + w["out"] @ state)
    return autoloop.stack(guesses)


def loss(w, series):
    return np.mean((foretell(w, series)[:-1] - series[1:]) ** 2)


@autoloop.function
def train_step(w, mean, square, step, series):
    """One step of Adam (Kingma and Ba, 2015)."""
    error, gradient = autoloop.value_and_grad(loss)(w, series)
    rate = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    each = autoloop.nest.map_structure
    mean = each(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = each(lambda s, g: 0.999 * s + 0.001 * g**2, square, gradient)
    w = each(lambda x, m, s: x - rate * m / (np.sqrt(s) + 1e-8), w, mean, square)
    return w, mean, square, error


def first_weights(seed=1):
    """Random, but for the readout: the network begins with foretelling that nothing changes."""
    rng = np.random.default_rng(seed)
    shapes = {"gates": (2 * UNITS, UNITS), "gates_in": (2 * UNITS, 2), "new": (UNITS, UNITS), "new_in": (UNITS, 2)}
    w = {name: rng.normal(size=shape) / np.sqrt(shape[1]) for name, shape in shapes.items()}
    return {**w, "out": np.zeros(UNITS)}


def check_gradient(w, series):
    """The largest entry of each weight's gradient, against central differences."""
    _, gradient = autoloop.value_and_grad(loss)(w, series)
    apart = 0.0
    for name, g in gradient.items():
        at = np.unravel_index(np.argmax(np.abs(g)), g.shape)
        nudge = np.zeros(g.shape)
        nudge[at] = 1e-5
        above, below = loss({**w, name: w[name] + nudge}, series), loss({**w, name: w[name] - nudge}, series)
        difference = float(above - below) / 2e-5
        apart = max(apart, abs(float(g[at]) / difference - 1))
    assert apart < 1e-5
    print(f"gradient and central differences agree: {apart:.0e} apart")


def draw(path, curves, top, height=300, width=600):
    """Curves of numbers from 0 to ``top``, as a PNG with a line every 10."""
    image = np.full((height, width, 3), 255, np.uint8)
    row = lambda value: np.clip((height - 1) * (1 - value / top), 0, height - 1).astype(int)
    for value in range(0, top + 1, 10):
        image[row(value)] = 210
    for curve, colour in curves:
        heights = row(np.interp(np.linspace(0, len(curve) - 1, width), np.arange(len(curve)), curve))
        for x, (a, b) in enumerate(zip(heights[:-1], heights[1:])):
            image[max(min(a, b) - 1, 0) : max(a, b) + 1, x] = colour
    rows = np.hstack([np.zeros((height, 1), np.uint8), image.reshape(height, -1)])
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows.tobytes())), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def main():
    years, spots = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)
    series, told = spots / 100, years[1:]
    choose, test = (told > LEARNT_UNTIL) & (told <= CHOSEN_UNTIL), told > CHOSEN_UNTIL
    error = lambda guess, which: np.sqrt(np.mean((guess - spots[1:])[which] ** 2))

    w = first_weights()
    mean, square = (autoloop.nest.map_structure(np.zeros_like, w) for _ in range(2))
    curve, best = [], (np.inf, w, 0)
    for step in range(1, STEPS + 1):
        used = w
        w, mean, square, now = train_step(w, mean, square, np.float64(step), series[years <= LEARNT_UNTIL])
        chosen = error(100 * foretell(used, series)[:-1], choose)
        best = min(best, (chosen, used, step), key=lambda b: b[0])
        curve.append((100 * np.sqrt(float(now)), chosen))
        # the bar stays in its line; every 20th is kept
        if step % 20 == 0 or sys.stdout.isatty():
            bar = "#" * (step * 30 // STEPS)
            end = "\n" if step % 20 == 0 else "\r"
            errors = f"error {curve[-1][0]:4.1f} spots, 1859-1908: {chosen:4.1f}"
            print(f"step {step:3d} [{bar:.<30}] {errors}", end=end, flush=True)

    _, w, step = best
    guess = 100 * foretell(w, series)[:-1]
    ours, naive = error(guess, test), error(spots[:-1], test)
    print(f"kept the weights of step {step}; 1909-2008: error {ours:.1f} spots; taking last year's number: {naive:.1f}")
    check_gradient(w, series[years <= LEARNT_UNTIL])
    path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "sunspots_loss.png")
    draw(path, zip(np.transpose(curve), [(31, 119, 180), (255, 127, 14)]), top=30)
    print(f"loss curve (blue: learnt from; orange: 1859-1908; a line every 10 spots): {path}")
    assert train_step.tracing_count == 1 and ours < 0.7 * naive


if __name__ == "__main__":
    main()
