"""Chromium for tests of pages: nothing leaves the machine, and whatever a page asks for is noted."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)


def program():
    """Where the browser is; None if it is not installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser():
    """Start Chromium; without one, skip the test, or fail where all tests must run."""
    from playwright.sync_api import sync_playwright

    if program() is None:
        missing = "no Chromium is installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=ARGUMENTS)
        yield started
        started.close()


@contextmanager
def opened(browser, path: Path, *, width=1280, dark=False):
    """A page of a file, with the requests that it makes, all of which are refused but that for the file itself."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=True
    )
    requests = []

    def answer(route):
        requests.append(route.request.url)
        if route.request.url == path.as_uri():
            route.continue_()
        else:
            route.abort()

    context.route("**/*", answer)
    page = context.new_page()
    page.goto(path.as_uri())
    page.requests_made = requests
    yield page
    context.close()
