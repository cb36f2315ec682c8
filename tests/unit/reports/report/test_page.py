"""The page in a browser: at every width, in the dark, on paper, for a screen reader, and without a network."""

import pypdfium2
import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers.browser import opened

pytestmark = pytest.mark.slow
WIDTHS = (390, 1280)
EDITIONS = ("public", "private")
OUTSIDE = """() => [...document.querySelectorAll('figure, svg, table, code, h1, h2, p, dl')].filter(one => {
    const box = one.getBoundingClientRect();
    return !one.closest('.scroll, .spoken') && (box.left < -0.5 || box.right > innerWidth + 0.5);
}).map(one => one.outerHTML.slice(0, 80))"""
"""Elements that reach beyond the window."""
TEXTS_OUTSIDE = """() => [...document.querySelectorAll('svg text')].filter(one => {
    const box = one.getBoundingClientRect(), chart = one.closest('svg').getBoundingClientRect();
    return box.width && (box.left < chart.left - 1 || box.right > chart.right + 1);
}).map(one => one.textContent)"""
"""Texts of charts that are cut off at their sides."""


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_everything_is_inside_of_the_window(browser, pages, edition, width, tmp_path):
    with opened(browser, pages[edition], width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(TEXTS_OUTSIDE) == []
        charts = page.locator("figure svg")
        assert charts.count() >= 8
        shot = page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert len(set(shot)) > 200, "a picture of nothing"
        sizes = page.evaluate("[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect())")
        assert all(size["width"] > 200 and size["height"] > 40 for size in sizes)


@pytest.mark.parametrize("edition", EDITIONS)
def test_nothing_is_asked_of_the_network_and_no_script_runs(browser, pages, edition):
    with opened(browser, pages[edition]) as page:
        page.wait_for_load_state("networkidle")
        assert page.requests_made == [pages[edition].as_uri()]
        assert page.locator("script, iframe, object, embed, link, img, base").count() == 0
        assert page.evaluate("[...document.querySelectorAll('*')].every(one => ![...one.attributes].some("
                             "each => each.name.startsWith('on')))")  # fmt: skip


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(browser, pages, edition, dark):
    with opened(browser, pages[edition], dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["impact"], one["nodes"][0]["html"][:90]) for one in found] == []
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)")


@pytest.mark.parametrize("edition", EDITIONS)
def test_headings_names_and_words_for_charts(browser, pages, edition):
    with opened(browser, pages[edition]) as page:
        levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(one => one.tagName)")
        assert levels[0] == "H1"
        assert set(levels[1:]) == {"H2"}
        targets = page.evaluate("[...document.querySelectorAll('nav a')].map(one => one.getAttribute('href'))")
        assert targets == page.evaluate("[...document.querySelectorAll('section')].map(one => '#' + one.id)")
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(set(ids)) == len(ids)
        for chart in page.locator("figure svg").all():
            assert chart.get_attribute("role") == "img"
            assert chart.locator("title").text_content()
            assert len(chart.locator("desc").text_content()) > 20
        for table in page.locator("table").all():
            assert table.locator("caption").count() == 1
            assert table.locator("thead th[scope=col]").count() >= 2


@pytest.mark.parametrize("edition", EDITIONS)
def test_on_paper_no_chart_is_cut_and_every_page_says_if_it_is_private(browser, pages, edition, tmp_path):
    with opened(browser, pages[edition], dark=True) as page:
        charts = page.locator("figure").count()
        page.evaluate("""() => document.querySelectorAll('figure').forEach((one, n) => {
            one.insertAdjacentHTML('afterbegin', `<span style="display:block;font:4px/4px serif">top${n}mark</span>`);
            one.insertAdjacentHTML('beforeend', `<span style="display:block;font:4px/4px serif">end${n}mark</span>`);
        })""")
        page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True, print_background=True)
    printed = pypdfium2.PdfDocument(tmp_path / "page.pdf")
    texts = [sheet.get_textpage().get_text_range() for sheet in printed]
    printed.close()
    for number in range(charts):
        sheets = [[n for n, text in enumerate(texts) if f"{end}{number}mark" in text] for end in ("top", "end")]
        assert sheets[0] == sheets[1]
        assert len(sheets[0]) == 1
    assert all(("Private edition" in text) == (edition == "private") for text in texts)
    assert len(texts) < 20
