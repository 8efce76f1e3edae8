"""A throw that bounces into a basket, found by going back through a simulation with contact.

The ball flies against the drag of the air; when it meets the ground, an ``if`` in the loop turns it round, at the
instant of the impact within the step. The gradient of where it arrives, through every step and bounce, says how to
change the throw.
"""

import autoloop
import numpy as np

STEP, GRAVITY, DRAG, BOUNCE, GRIP = 0.002, 9.81, 0.03, 0.8, 0.9
HAND, BASKET, HEIGHT = 1.5, np.float64(8.0), 2.0


@autoloop.function
def throw(velocity, distance):
    """How high the ball is at the given distance, how often it touched the ground, and its path."""
    x, y = np.float64(0.0), np.float64(HAND)
    vx, vy = velocity[0], velocity[1]
    bounces = 0
    path = []
    while x < distance and bounces < 9:
        drag = DRAG * np.sqrt(vx**2 + vy**2)
        vx, vy = vx - STEP * drag * vx, vy - STEP * (GRAVITY + drag * vy)
        x_next, y_next = x + STEP * vx, y + STEP * vy
        if y_next < 0:
            flown = y / (y - y_next)  # the part of the step before the impact
            x_next = x + STEP * vx * (flown + GRIP * (1 - flown))
            vx, vy = GRIP * vx, -BOUNCE * vy
            y_next = STEP * vy * (1 - flown)
            bounces += 1
        x, y = x_next, y_next
        path.append(np.stack([x, y]))
    return y - (x - distance) * vy / vx, bounces, autoloop.stack(path)


def height(velocity, distance):
    return throw(velocity, distance)[0]


def draw(paths, columns=72, rows=12):
    """The paths seen from the side, one mark for each, and the basket."""
    picture = np.full((rows + 1, columns + 1), " ")
    for mark, path in paths:
        across = np.rint(columns * np.minimum(path[:, 0] / BASKET, 1)).astype(int)
        picture[np.minimum(np.rint(path[:, 1] * 4).astype(int), rows), across] = mark
    picture[round(HEIGHT * 4), columns] = "U"
    print("\n".join("".join(row).rstrip() for row in picture[::-1]) + "\n" + "=" * (columns + 1))


def main():
    height_and_slope = autoloop.value_and_grad(height)
    velocity = np.array([5.0, 5.0])
    first = velocity
    print(f"a basket {BASKET:.0f} m away, {HEIGHT:.0f} m high\nthrow  velocity (m/s)   bounces   arrives at")
    for attempt in range(1, 30):
        arrives, slope = (np.asarray(a) for a in height_and_slope(velocity, BASKET))
        bounces = int(throw(velocity, BASKET)[1])
        print(f"{attempt:5d} {velocity[0]:9.4f} {velocity[1]:7.4f} {bounces:7d} {arrives:12.4f} m")
        if abs(arrives - HEIGHT) < 1e-9:
            break
        # Newton's step, along the slope; not farther than 1 m/s, for the bounces make bends
        step = (HEIGHT - arrives) * slope / (slope @ slope)
        velocity = velocity + step / max(1, np.linalg.norm(step))
    assert abs(arrives - HEIGHT) < 1e-9

    draw([(".", throw(first, BASKET)[2]), ("o", throw(velocity, BASKET)[2])])
    print("(. the first throw, o the last, U the basket)")
    nudges = 1e-5 * np.eye(2)
    differences = [float(height(velocity + n, BASKET) - height(velocity - n, BASKET)) / 2e-5 for n in nudges]
    np.testing.assert_allclose(slope, differences, rtol=1e-6)
    print(f"gradient                 {slope[0]:.8f}  {slope[1]:.8f}")
    print(f"central differences      {differences[0]:.8f}  {differences[1]:.8f}   agree")


if __name__ == "__main__":
    main()
