"""What days of households look like: k-means over 400,000 load curves, 307 MB, on two processes of Dask.

``python samples/load_profiles.py [days] [--wait]``: the function is written for NumPy, and given Dask's array. With
``--wait`` the cluster stays until Enter is pressed, so that its dashboard can be looked at; its address is printed.
"""

import importlib
import sys
import time

import autoloop
import numpy as np

QUARTERS = 96
#: kind of day -> how many of a hundred, and its hours: (hour, how wide, kilowatts)
KINDS = {
    "out at work": (40, [(7.2, 0.7, 1.3), (19.0, 1.8, 1.9)]),
    "at home": (28, [(8.5, 1.2, 0.9), (12.5, 1.1, 1.6), (18.5, 2.0, 1.7)]),
    "night shift": (12, [(3.5, 2.2, 1.1), (15.5, 1.6, 1.5), (22.0, 1.2, 1.2)]),
    "sun on the roof": (20, [(7.0, 0.9, 0.8), (13.0, 2.6, -2.4), (20.0, 1.5, 1.4)]),
}


@autoloop.function
def kmeans(points, centres, tolerance):
    rounds, moved = 0, np.inf
    while moved > tolerance:
        distances = np.sum(centres**2, axis=1) - 2 * points @ centres.T
        nearest = np.argmin(distances, axis=1)
        member = np.where(nearest[:, None] == np.arange(len(centres)), 1.0, 0.0)
        share = np.sum(member, axis=0)
        means = (member.T @ points) / share[:, None]
        moved = np.max(np.abs(means - centres))
        centres = means
        rounds += 1
    return centres, share, rounds


def profiles():
    """The mean day of each kind, in kilowatts by the quarter hour."""
    hour = np.arange(QUARTERS) / 4
    bumps = [[kw * np.exp(-(((hour - at) / wide) ** 2)) for at, wide, kw in peaks] for _, peaks in KINDS.values()]
    return np.array([0.25 + np.sum(one, axis=0) for one in bumps])


def days(number, seed):
    """Load curves: each a kind of day, earlier or later, more or less of it, with what is switched on and off."""
    random = np.random.default_rng(seed)
    kind = random.choice(len(KINDS), number, p=[share / 100 for share, _ in KINDS.values()])
    shift = random.integers(-3, 4, number)
    place = (np.arange(QUARTERS) - shift[:, None]) % QUARTERS
    curves = profiles()[kind[:, None], place] * random.gamma(12, 1 / 12, (number, 1))
    return curves + random.gamma(0.4, 0.25, (number, QUARTERS))


def made(array, number, chunks):
    """``number`` days as Dask's array: each worker makes its own."""
    rows = number // chunks

    def chunk(block_info):
        return days(rows, block_info[None]["chunk-location"][0])

    return array.map_blocks(chunk, chunks=((rows,) * chunks, (QUARTERS,)), dtype=float, meta=np.empty((0, 0)))


def curve(values, width=48):
    """A line of text that shows a curve."""
    means = values.reshape(width, -1).mean(axis=1)
    steps = np.clip(np.round(7 * (means + 1.5) / 4), 0, 7).astype(int)
    return "".join("▁▂▃▄▅▆▇█"[k] for k in steps)


def told(client, centres, share, rounds, seconds):
    order = np.argsort(-share)
    print(f"{rounds} rounds in {seconds:.1f} s: {1e3 * seconds / rounds:.0f} ms each; the days stayed where they were")
    print(f"{'share':>7}  {'0 h':<12}{'6 h':<12}{'12 h':<12}{'18 h':<11}{'kWh a day':>10}")
    for k in order:
        print(f"{100 * share[k] / share.sum():6.1f}%  {curve(centres[k])} {centres[k].sum() / 4:8.1f}")
    held = [worker["metrics"]["memory"] / 1e6 for worker in client.scheduler_info()["workers"].values()]
    tasks = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    print(f"workers hold {' and '.join(f'{one:.0f} MB' for one in held)}; the scheduler knows {tasks} tasks")


def main(number, waits):
    array, distributed = importlib.import_module("dask.array"), importlib.import_module("distributed")
    chunks = 8
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as client:
        points = made(array, number // chunks * chunks, chunks).persist()
        distributed.wait(points)
        print(f"{len(points):,} days of {QUARTERS} quarter hours, {points.nbytes / 1e6:.0f} MB in {chunks} chunks")
        print(f"the dashboard is at {cluster.dashboard_link}", flush=True)
        start = np.asarray(points[:200])[np.linspace(0, 199, len(KINDS)).astype(int)]
        begin = time.perf_counter()
        centres, share, rounds = (np.asarray(one) for one in kmeans(points, start, 1e-6))
        told(client, centres, share, int(rounds), time.perf_counter() - begin)
        first = points[: len(points) // chunks]
        few, wanted = kmeans(first, start, 1e-6), kmeans.python_function(first.compute(), start, 1e-6)
        np.testing.assert_allclose(np.asarray(few[0]), wanted[0], rtol=1e-6)
        print(f"of the first {len(first):,} days agrees with plain NumPy")
        if waits:
            input("Enter ends it ")


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--wait"]
    try:
        importlib.import_module("distributed")
    except ImportError:
        print("This sample needs Dask and its scheduler: pip install 'autoloop[distributed]'")
    else:
        main(int(arguments[0]) if arguments else 400_000, "--wait" in sys.argv)
