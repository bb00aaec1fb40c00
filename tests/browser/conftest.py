"""Pages in a real browser: Debian's Chromium, driven without a download.

CREDENCE_CHROMIUM names another one. Where there is none, these tests are
skipped and say so. Screenshots go to the folder that CREDENCE_SCREENSHOTS
names, and nowhere without it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: make test-browser")

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

TIMEOUT = 30_000  # milliseconds; a busy machine draws slowly
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Containers have no user namespaces, and the pages are our own.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


class Opened:
    """A page that is open, with all that it said and asked for.

    Parameters
    ----------
    page : Page
        Of playwright; nothing opened yet.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)


Opener = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a browser, one for all tests of a process."""
    found = [shutil.which(name) for name in NAMES]
    path = os.environ.get("CREDENCE_CHROMIUM") or next(filter(None, found), None)
    if path is None:
        pytest.skip("no Chromium is installed (Debian, Ubuntu: sudo apt install chromium)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Yield a function that opens a page's text (or a file) from a file:// address.

    At the end of each test nothing may have been said on the console, and
    nothing but the page been asked for.
    """
    pages: list[tuple[Opened, str]] = []

    def opener(what: str | Path, width: int = 1200, *, scripts: bool = True, **options: object):  # type: ignore[no-untyped-def]
        path = what
        if isinstance(what, str):
            path = tmp_path / f"page-{len(pages)}.html"
            path.write_text(what, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=scripts, **options
        )
        context.set_default_timeout(TIMEOUT)
        opened = Opened(context.new_page())
        uri = Path(path).resolve().as_uri()
        pages.append((opened, uri))
        opened.page.goto(uri)
        return opened

    yield opener
    for opened, uri in pages:
        assert opened.errors == []
        asked = [url.partition("#")[0] for url in opened.requests]
        assert [url for url in asked if url != uri and not url.startswith("blob:null/")] == []
        opened.page.context.close()


@pytest.fixture(scope="session")
def screenshots() -> Path | None:
    """Return where pictures are wanted, if they are."""
    folder = os.environ.get("CREDENCE_SCREENSHOTS")
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
