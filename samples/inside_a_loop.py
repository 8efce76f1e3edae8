"""What is inside ``while_loop``, token by token, as two pages for a browser: step with the arrow keys, play with space.

The first is the example of the article "Understanding while_loop": i goes in at Enter, through Merge and Switch, round
by NextIteration and out at Exit; dead tokens go where the condition does not. In the second, x is slow (90,000 numbers)
and the counter does not need it: it runs ahead until ``parallel_iterations`` are live, and waits.
"""

import autoloop as al
import autoloop.compat.v1 as tf


def article():
    """The run of the article's example, and its page."""
    with tf.Graph().as_default():
        i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
        n = tf.constant(10)

        def cond(a, n):
            return a < n

        def body(a, n):
            a = a + 2
            return a, n

        ii, nn = tf.while_loop(cond, body, [i, n])
        v1 = ii + 3
        v2 = nn + 4
        with tf.Session() as sess:
            tf.global_variables_initializer().run()
            return sess.run([v1, v2]), al.report(sess.run, [v1, v2], path="article.html")


def counter_ahead():
    """The page of a loop whose counter is quick."""
    with tf.Graph().as_default():
        c = lambda i, x: i < 6
        b = lambda i, x: (i + 1, tf.cos(x) - tf.cast(i, tf.float32))
        _, x = tf.while_loop(c, b, [tf.constant(0), tf.ones([300, 300])], parallel_iterations=3)
        with tf.Session() as sess:
            return al.report(sess.run, x, path="counter_ahead.html")


def told(report):
    """What happens, step by step, in words: the iteration's number, and a line."""
    replay = report.data["replay"]
    for what, _, at, to, *_, line in replay["events"]:
        yield what, replay["iterations"][to if what == "begin" else at][2], line


def main():
    results, page = article()
    print(f"article.html: v1, v2 = {results[0]}, {results[1]}; the last iteration:")
    for what, iteration, line in told(page):
        if iteration == 5:
            print("  (dead)" if what == "dead" else "        ", line)

    page = counter_ahead()
    print("\ncounter_ahead.html: at most 3 iterations are live")
    for what, _, line in told(page):
        if what in ("begin", "wait", "start", "end"):
            print("        ", line)


if __name__ == "__main__":
    main()
