"""Every chart renders offline, fits a phone, has words, and takes its colours from the page."""

import re
from xml.etree import ElementTree

import pytest

from kohort.errors import DataError
from kohort.reports.charts import CHARTS, refuse_without_charts
from kohort.reports.charts.bars import Bars
from kohort.reports.charts.class_sizes import ClassSizes
from kohort.reports.charts.ink import COLOURS, style

HOSTILE = "</svg><script>alert(1)</script>\u202e\"&'{{ 7 * 7 }}"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_a_picture_with_words(name):
    chart = CHARTS[name].example()
    drawing = ElementTree.fromstring(chart.svg("one", alone=True))
    assert drawing.tag == f"{SVG}svg"
    assert drawing.get("role") == "img"
    words = {one.get("id"): one.text for one in drawing if one.get("id")}
    assert words == {"one-title": chart.title, "one-text": chart.description}
    assert drawing.get("aria-labelledby") == "one-title"
    assert float(drawing.get("width")) <= 390
    assert list(drawing.iter(f"{SVG}style"))


@pytest.mark.parametrize("name", CHARTS)
def test_colours_are_those_of_the_page_and_nothing_is_fetched(name):
    text = CHARTS[name].example().svg("one")
    assert "var(--chart-ink)" in text
    assert not any(shades.stand_in in text for shades in COLOURS.values())
    assert not re.search(r"#[0-9a-f]{6}|fill=\"white\"|<style", text), "a colour that is not one of the page's"
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(script|image|foreignObject|a)\b|\bon\w+=|href=", text)


def test_texts_are_texts():
    for chart in (Bars(HOSTILE, [HOSTILE, HOSTILE], {"release": [0.5, 0.5]}), Bars("a", [HOSTILE], {"release": [1.0]})):
        text = chart.svg("one", alone=True)
        assert "<script" not in text
        ElementTree.fromstring(text)


def test_figures_are_those_that_are_given():
    text = Bars("a", ["x", "y"], {"original": [0.125, 0.875], "release": [0.25, 0.75]}).svg("one")
    labels = re.findall(r">([\d.]+ %)</text>", text)
    assert sorted(labels) == ["12.5 %", "25 %", "75 %", "87.5 %"]
    sizes = ClassSizes({"9": 9, "10": 20}, 10)
    assert 'fill="var(--chart-alarm)"' in sizes.svg("one")
    assert 'fill="var(--chart-alarm)"' not in ClassSizes({"10": 20}, 10).svg("one")
    assert sizes.description == "size 9: 31 % of records; size 10: 69 % of records."


def test_dark_and_light_differ_and_paper_is_light():
    assert style().count("--chart-ink:") == 2
    assert "@media screen and (prefers-color-scheme:dark)" in style()
    assert all(shades.light != shades.dark for shades in COLOURS.values())


def test_without_its_libraries_the_extra_is_named(monkeypatch):
    def lacking(name):
        raise ImportError(name)

    monkeypatch.setattr("kohort.reports.charts.base.import_module", lacking)
    with pytest.raises(DataError, match=r'pip install "kohort\[report\]"'):
        refuse_without_charts()
