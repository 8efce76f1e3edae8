"""The report page in Chromium, driven as a person would: clicks, keys, zoom, folding, search. Needs the browser, its
driver and selenium; skipped where one of them is not there."""

from __future__ import annotations

import json
import shutil
import time

import autoloop as al
import numpy as np
import pytest

pytestmark = pytest.mark.nightly

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@al.function
def heat(u, steps):
    """</script><script>document.title = "escaped"</script> <b id="bold">"""
    total = np.zeros(3)
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        if np.max(u) > 10.0:
            total = total + np.sum(u)
        else:
            total[1] += np.tanh(u[0])
    return u, total


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    al.report(heat, np.linspace(0, 1, 100), np.int64(5), path=path)
    return path


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium, or no chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1500,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, path):
    """The page, fresh; in the end nothing was complained of and nothing asked for."""
    browser.get_log("performance")
    browser.get(path.as_uri())
    yield Driven(browser)
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]


class Driven:
    def __init__(self, browser):
        self.browser = browser

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def tab(self, name):
        self.one(f"#tab-{name}").click()
        assert self.one(f"#panel-{name}").is_displayed()
        return f"#panel-{name}"

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def line(self, part):
        """The row of the source that holds a text."""
        return next(row for row in self.all(".source .row") if part in row.text)

    def seen(self, selector):
        """How many elements a selector finds within the window."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].filter((e) => { const r = e.getBoundingClientRect();"
            "return r.width && r.right > 0 && r.left < innerWidth && r.bottom > 0 && r.top < innerHeight; }).length",
            selector,
        )


def test_a_line_lights_up_what_was_made_of_it_and_back(page):
    page.line("u[1:-1] =").click()
    number = page.one(".source .row.lit").get_attribute("data-line")
    badges = {
        one.get_attribute("id"): one.find_element("css selector", ".badge").text for one in page.all(".tabs button")
    }
    assert all(badges[f"tab-{name}"] for name in ("converted", "structured", "optimized", "lowered", "python")), badges
    for name in ("structured", "optimized", "lowered"):
        panel = page.tab(name)
        lit = page.all(f"{panel} .node.lit")
        assert len(lit) == int(badges[f"tab-{name}"]) > 5
        assert {one.get_attribute("data-line") for one in lit} == {number}
    for name in ("converted", "python"):
        assert page.all(f"{page.tab(name)} .row.lit")

    panel = page.tab("lowered")
    page.one(f"{panel} [aria-label='whole graph']").click()
    page.one(f"{panel} .node[aria-label^='tanh']").click()
    assert "np.tanh" in page.one(".source .row.lit").text
    from selenium.webdriver import Keys

    page.keys(Keys.ESCAPE)
    assert not page.all(".lit")


def test_zoom_pan_and_fold(page):
    panel = page.tab("structured")
    world = page.one(f"{panel} .world")
    page.one(f"{panel} [aria-label='whole graph']").click()
    before = world.get_attribute("transform")
    page.one(f"{panel} [aria-label='zoom in']").click()
    assert world.get_attribute("transform") != before
    page.browser.execute_script("arguments[0].focus()", page.one(f"{panel} svg.graph"))
    page.keys("0")
    assert world.get_attribute("transform") == before
    page.browser.execute_script(
        "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: 900, clientY: 400}))",
        page.one(f"{panel} svg.graph"),
    )
    assert world.get_attribute("transform") != before
    page.keys("0")

    many = len(page.all(f"{panel} .node"))
    title = f"{panel} .cluster-title"
    assert page.one(title).get_attribute("aria-expanded") == "true"
    page.one(title).click()
    assert page.one(title).get_attribute("aria-expanded") == "false" and len(page.all(f"{panel} .node")) < many / 2
    assert "nodes" in page.one(f"{panel} .folded .count").text
    page.line("u[1:-1] =").click()
    assert page.all(f"{panel} .folded.lit")
    page.browser.execute_script("arguments[0].focus()", page.one(title))
    from selenium.webdriver import Keys

    page.keys(Keys.ENTER)
    assert len(page.all(f"{panel} .node")) == many and page.all(f"{panel} .node.lit")
    page.one(f"{panel} [aria-label='collapse all frames']").click()
    assert len(page.all(f"{panel} .folded")) == 1
    page.one(f"{panel} [aria-label='expand all frames']").click()
    assert len(page.all(f"{panel} .node")) == many


def test_search_opens_what_holds_it(page):
    from selenium.webdriver import Keys

    panel = page.tab("structured")
    page.one(f"{panel} [aria-label='collapse all frames']").click()
    page.keys("/", "tanh")
    assert "found" in page.one(".found-count").text and page.all(f"{panel} .folded.found")
    page.keys(Keys.ENTER)
    assert page.one(".found-count").text.startswith("1 of")
    assert page.seen(f"{panel} .node.current") == 1
    panel = page.tab("python")
    assert page.all(f"{panel} .row.found") and page.one(".found-count").text
    page.keys(Keys.TAB)
    page.one(".search input").send_keys(Keys.ESCAPE)
    assert not page.all(".found")


def test_everything_is_text_and_the_keyboard_reaches_it(page):
    from selenium.webdriver import Keys

    assert page.browser.title.startswith("heat(") and not page.all("#bold")
    assert "</script><script>" in page.one(".source").text
    page.one(".tabs [aria-selected='true']").send_keys(Keys.ARROW_RIGHT)
    assert page.browser.switch_to.active_element.get_attribute("id") == "tab-structured"
    row = page.all(".source .row.linked")[0]
    page.browser.execute_script("arguments[0].focus()", row)
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert page.one(".source .row.lit") == page.all(".source .row.linked")[1]
    node = page.one("#panel-structured .node.linked[tabindex='0']")
    page.browser.execute_script("arguments[0].focus()", node)
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    focused = page.browser.switch_to.active_element
    assert "lit" in focused.get_attribute("class") and page.one("#panel-structured .tip").is_displayed()


def test_a_large_graph_is_drawn_in_time(browser, tmp_path):
    lines = [f"        x = x + np.sin(x) * {k}.5" for k in range(100)]
    program = tmp_path / "large.py"
    program.write_text("\n".join(["def large(x, n):", "    for i in range(n):", *lines, "    return x"]))
    names = {"np": np}
    exec(compile(program.read_text(), str(program), "exec"), names)
    out = tmp_path / "large.html"
    made = al.report(names["large"], np.ones(3), np.int64(3), path=out)
    assert len(next(stage for stage in made.data["stages"] if stage["name"] == "lowered")["boxes"]) > 300
    browser.get(out.as_uri())
    start = time.perf_counter()
    browser.find_element("css selector", "#tab-lowered").click()
    assert len(browser.find_elements("css selector", "#panel-lowered .node")) > 300
    assert time.perf_counter() - start < 30


@pytest.fixture(scope="module")
def traced_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.html"
    function = al.function(heat.python_function, executor="dataflow")
    with al.profiler.trace() as trace:
        function(np.linspace(0, 1, 100), np.int64(5))
    al.report(trace, path=path)
    return path


def test_a_timeline(browser, traced_path):
    browser.get(traced_path.as_uri())
    page = Driven(browser)
    page.tab("timeline")
    rows = page.all(".by-line tbody tr.linked")
    assert rows
    rows[-1].click()
    assert rows[-1].get_attribute("class").endswith("lit") and len(page.all(".source .row.lit")) == 1
    canvas = page.one(".timeline-canvas")
    looks = "return arguments[0].toDataURL()"
    before = browser.execute_script(looks, canvas)
    page.one(".timeline-chart button[aria-label='zoom in']").click()
    assert browser.execute_script(looks, canvas) != before
    page.one(".timeline-chart button[aria-label='whole run']").click()
    page.one(".search input").send_keys("tanh\n")
    assert page.one(".found-count").text == "1 of 5"
    assert browser.execute_script("return document.title") == "trace"
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
