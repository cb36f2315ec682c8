"""Where data are looked for, and what a download must survive before it is believed."""

import http.client
import io
import urllib.error
from pathlib import Path

import polars as pl
import pytest

from kohort.datasets import _sources, adult_uci, data_directory, papers
from kohort.errors import DataError

URL = "https://example.org/adult.data"


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine without data: no variable, no checkout, an empty cache."""
    monkeypatch.delenv("KOHORT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_sources, "__file__", str(tmp_path / "lib/a/b/c/_sources.py"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def serve(content):
    return lambda url, timeout: io.BytesIO(content)


def fail(error):
    def opener(url, timeout):
        raise error

    return opener


def uci_file(rows=3):
    """UCI's way of writing: blanks after commas, no header, an empty line at the end."""
    row = "39, Private, 77516, Bachelors, 13, Divorced, ?, Unmarried, White, Male, 0, 0, 40, Peru, <=50K\n"
    return (row * rows + "\n").encode()


class TestDirectory:
    def test_variable_decides(self, nowhere, monkeypatch):
        monkeypatch.setenv("KOHORT_DATA", str(nowhere))
        assert data_directory() == nowhere

    @pytest.mark.parametrize("value", ["/no/such/directory", ""])
    def test_variable_that_points_nowhere_is_an_error(self, nowhere, monkeypatch, value):
        monkeypatch.setenv("KOHORT_DATA", value)
        with pytest.raises(DataError, match="KOHORT_DATA"):
            data_directory()
        with pytest.raises(DataError, match="KOHORT_DATA"):
            adult_uci()

    def test_none_when_there_is_nothing(self, nowhere):
        assert data_directory() is None

    def test_order_of_the_other_places(self, nowhere):
        cache = nowhere / "cache/kohort/data"
        cache.mkdir(parents=True)
        assert data_directory() == cache
        beside_work = nowhere / "shared/data"
        beside_work.mkdir(parents=True)
        assert data_directory() == beside_work

    def test_checkout_comes_first_but_only_if_it_is_one(self, nowhere, monkeypatch):
        package = nowhere / "home/project/src/kohort/datasets"
        package.mkdir(parents=True)
        data = nowhere / "home/shared/data"
        data.mkdir(parents=True)
        (nowhere / "shared/data").mkdir(parents=True)
        monkeypatch.setattr(_sources, "__file__", str(package / "_sources.py"))
        assert data_directory() == nowhere / "shared/data"
        (nowhere / "home/project/pyproject.toml").touch()
        assert data_directory() == data

    def test_file_is_found_in_a_later_place(self, nowhere):
        (nowhere / "shared/data").mkdir(parents=True)
        (nowhere / "cache/kohort/data").mkdir(parents=True)
        (nowhere / "cache/kohort/data/x.csv").touch()
        assert _sources.find("x.csv") == nowhere / "cache/kohort/data/x.csv"
        assert _sources.find("y.csv") is None

    def test_default_cache_is_in_the_home(self, nowhere, monkeypatch):
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert _sources.cache_directory() == Path.home() / ".cache/kohort/data"

    def test_missing_file_says_what_to_set(self, nowhere):
        with pytest.raises(DataError, match=r"census_income\.parquet was not found: set KOHORT_DATA"):
            papers.census_income()


class TestFetch:
    def test_gives_the_content(self):
        assert _sources.fetch(URL, serve(b"abc"), limit=3) == b"abc"

    def test_refuses_too_much(self):
        with pytest.raises(DataError, match="more than 3 bytes"):
            _sources.fetch(URL, serve(b"abcd"), limit=3)

    @pytest.mark.parametrize("url", ["http://example.org/a", "file:///etc/hostname", "ftp://example.org/a"])
    def test_refuses_all_but_https(self, url):
        with pytest.raises(DataError, match="not https"):
            _sources.fetch(url, serve(b"abc"))

    @pytest.mark.parametrize(
        "error", [urllib.error.URLError("unreachable"), TimeoutError(), http.client.IncompleteRead(b"")]
    )
    def test_network_error_is_one_sentence(self, error):
        with pytest.raises(DataError, match=r"download of .* failed") as caught:
            _sources.fetch(URL, fail(error))
        assert len(caught.value.faults) == 1
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "file:///etc/hostname"])
    def test_default_opener_cannot_speak_anything_else(self, url, monkeypatch):
        # Hence a redirection cannot lead away from https either.
        monkeypatch.setenv("http_proxy", "https://127.0.0.1:9")
        with pytest.raises(urllib.error.URLError, match="unknown url type"):
            _sources.open_https(url, 1)


class TestDownload:
    @pytest.fixture
    def accept(self, monkeypatch):
        """Make the table of `uci_file` the published one."""
        sha256 = _sources.digest(papers._convert_uci(uci_file()))
        monkeypatch.setattr(papers, "_ADULT_UCI", papers._ADULT_UCI._replace(sha256=sha256))

    def test_good_content_is_kept_and_not_asked_for_again(self, nowhere, accept, monkeypatch):
        table = papers._uci_texts(serve(uci_file()))
        assert table.shape == (3, 15)
        assert table["occupation"].to_list() == ["?"] * 3
        assert [path.name for path in (nowhere / "cache/kohort/data/adult").iterdir()] == ["adult_uci.csv"]
        assert papers._uci_texts(fail(AssertionError("asked again"))).equals(table)
        assert adult_uci()["age"].to_list() == [39] * 3

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (uci_file(4), "checksum"),
            (uci_file().replace(b"Peru", b"Cuba", 1), "checksum"),
            (b"", "checksum"),
            (b"<html>moved</html>\n", "not a table of 15 columns"),
            (b"\xff\xfe\x00", "not a table of 15 columns"),
        ],
    )
    def test_other_content_is_refused_and_leaves_nothing(self, nowhere, accept, content, fault):
        with pytest.raises(DataError, match=fault):
            papers._uci_texts(serve(content))
        assert not (nowhere / "cache").exists()

    def test_the_real_digest_refuses_a_small_table(self, nowhere):
        with pytest.raises(DataError, match="checksum"):
            papers._uci_texts(serve(uci_file()))

    def test_real_table_in_the_form_of_uci_is_accepted(self, request):
        if _sources.find(papers._ADULT_UCI.file) is None:
            pytest.skip(f"{papers._ADULT_UCI.file} is not here (set KOHORT_DATA)")
        expected = adult_uci()
        content = ("\n".join(", ".join(map(str, row)) for row in expected.iter_rows()) + "\n\n").encode()
        request.getfixturevalue("nowhere")
        assert papers._uci_texts(serve(content)).height == 32_561
        assert adult_uci().equals(expected)
        assert papers.adult().height == 30_162

    def test_unwritable_cache_is_one_sentence(self, nowhere, accept):
        (nowhere / "cache").write_text("a file where a directory should be")
        with pytest.raises(DataError, match="cannot be kept"):
            papers._uci_texts(serve(uci_file()))


def test_digest_depends_on_every_cell_name_and_order():
    table = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})
    others = [
        table.reverse(),
        table.select("b", "a"),
        table.rename({"a": "c"}),
        table.with_columns(b=pl.lit("x")),
    ]
    assert len({_sources.digest(each) for each in [table, *others]}) == 5
