"""matplotlib draws what decorated functions give, and tensors."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore:.* was traced 6 times:UserWarning")]


@pytest.fixture
def axes():
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@al.function
def wave(x, phase):
    i = 0
    while i < 2:
        x = np.sin(x + phase)
        i += 1
    return x


def test_values_and_tensors_are_drawn(axes):
    x, t = np.linspace(0, 6, 20), al.linspace(0.0, 6.0, 20)
    (line,) = axes.plot(x, wave(x, 0.5))
    assert np.array_equal(line.get_ydata(), wave(x, 0.5))
    (other,) = axes.plot(t, al.sin(t), label="tensors")
    assert np.allclose(other.get_ydata(), np.sin(t.numpy()))
    axes.scatter(t, t)
    axes.fill_between(t, t, t + 1)
    axes.bar(x, wave(x, 0.1))
    axes.hist(al.sin(t))
    axes.imshow(al.constant(np.ones((3, 3))))
    axes.contour(np.ones((3, 3)) * x[:3], levels=[1])
    axes.axhline(float(al.sum(t)))


def test_animations_formatters_and_scales_call_functions(axes):
    from matplotlib import animation, ticker

    x = np.linspace(0, 6, 20)
    (line,) = axes.plot(x, x)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(al.function(lambda value, place: f"<{value:.1f}>")))
    axes.set_yscale("function", functions=(al.function(lambda y: y * 2), al.function(lambda y: y / 2)))
    moved = animation.FuncAnimation(axes.figure, lambda k: line.set_data(x, wave(x, k * 0.1)), frames=5, blit=False)
    moved._init_draw()
    for k in range(5):
        moved._draw_frame(k)
        assert np.allclose(line.get_ydata(), wave.python_function(x, k * 0.1))
    axes.figure.canvas.draw()
    assert axes.get_xticklabels()[0].get_text().startswith("<") and wave.tracing_count <= 4
    moved._draw_was_started = True
