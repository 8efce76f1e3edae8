"""The replay on the report page in Chromium: keys, steps, tokens."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from test_report_in_browser import browser as browser
from test_report_in_browser import page as page

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of the sample's second loop, whose counter runs ahead."""
    folder = tmp_path_factory.mktemp("replay")
    sys.path.insert(0, str(Path(__file__).parent.parent / "samples"))
    import inside_a_loop

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        inside_a_loop.counter_ahead()
    sys.path.pop(0)
    return folder / "counter_ahead.html"


def words(page):
    return page.one(".replay-words").text


def step_to(page, part):
    """Go to the first step whose words hold a text; return its number."""
    rows = page.browser.execute_script(
        "return [...document.querySelectorAll('.replay-events button')].map((e) => e.textContent)"
    )
    number = next(k for k, row in enumerate(rows) if part in row)
    page.browser.execute_script("document.querySelectorAll('.replay-events button')[arguments[0]].click()", number)
    assert part in words(page)
    return number


def test_keys_and_buttons_step(page):
    from selenium.webdriver import Keys

    page.tab("replay")
    assert "before it runs" in words(page)
    page.browser.execute_script("document.querySelector('.replay').focus()")
    page.keys(Keys.ARROW_RIGHT)
    first = words(page)
    assert "before it runs" not in first
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert words(page) == first
    page.keys(Keys.PAGE_DOWN)
    assert "Iteration 0 begins" in words(page) and page.one(".replay-frame h3").text == "frame while"
    page.keys(Keys.PAGE_DOWN)
    assert "Iteration 1 begins" in words(page)
    page.keys(Keys.END)
    assert "The result is there" in words(page) and page.all(".token") == [] and page.all(".replay-frame") == []
    page.keys(Keys.HOME)
    assert "before it runs" in words(page)
    page.one("[aria-label='Play']").click()
    page.one("[aria-label='Pause']").click()
    assert page.one(".replay-count").text.startswith("1 of")


def test_the_counter_runs_ahead_and_waits(page):
    page.tab("replay")
    step_to(page, "NextIteration i: 3 waits")
    assert "3 of 3 iterations live: the window is full; 1 token waits" in page.one(".replay-frame").text
    assert len(page.all(".token.waits")) == 1 and page.seen(".node.busy") == 1
    assert "waits until the oldest one is over" in page.one(".replay-words small").text
    rows = [row.text for row in page.all(".replay-frame tbody tr")]
    assert rows == ["0 0 float32[300,300]", "1 1 –", "2 2 –"]
    assert page.seen(".token") == len(page.all(".token")) > 3
    step_to(page, "Exit i: a dead token ends here")
    assert page.one(".node.now").get_attribute("class").endswith("dead")
    assert "tf.while_loop(c, b" in page.one(".source .row.lit").text


def test_play_and_search(page):
    from selenium.webdriver import Keys

    page.tab("replay")
    page.browser.execute_script(
        "const s = document.querySelector('[aria-label=Speed]'); s.value = 8; s.dispatchEvent(new Event('change'))"
    )
    page.one("[aria-label='Play']").click()
    deadline = time.monotonic() + 20
    while int(page.one(".replay-count").text.split()[0]) < 5:
        assert time.monotonic() < deadline
    page.one("[aria-label='Pause']").click()
    page.one("input[type=search]").send_keys("nextiteration i: 4 waits", Keys.ENTER)
    assert page.one(".found-count").text == "1 of 1" and "NextIteration i: 4 waits" in words(page)
    assert page.seen(".replay-events .now.found") == 1


def test_every_step_can_be_shown(page):
    page.tab("replay")
    counts = page.browser.execute_script(
        "const s = document.querySelector('.replay-slider'), counts = [];"
        "for (let k = 0; k <= s.max; k++) { s.value = k; s.dispatchEvent(new Event('input'));"
        "counts.push(document.querySelectorAll('.token:not(.c-dead)').length); } return counts"
    )
    assert len(counts) > 100 and max(counts) > 6 and counts[0] == counts[-1] == 0
