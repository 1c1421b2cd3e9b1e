#!/usr/bin/env python3
"""site.py SITE PICTURES: the site in Chromium, from files and without a network: light and dark, wide and narrow, and its search."""

import pathlib
import shutil
import sys

from playwright.sync_api import sync_playwright

SITE, PICTURES = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
PAGES = (
    "index", "tutorial", "how-to/index", "explanation/verdicts",
    "commands/compare", "formats/recipe", "formats/site.keys", "recipes/supercell/index",
)  # fmt: skip


def look(browser, scheme, width):
    """Opens each page. Nothing is asked of a network, and no page is wider than the window."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    asked = []
    context.on("request", lambda request: asked.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None)
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    for name in PAGES:
        page.goto(f"file://{SITE}/{name}.html")
        page.wait_for_timeout(300)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 1, f"{name} is {wide} pixels wider than {width}"
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]) > 380
        assert light == (scheme == "light"), f"{name} is {color} with {scheme}"
        page.screenshot(path=PICTURES / f"{name.replace('/', '-')}-{scheme}-{width}.png", full_page=True)
    assert not asked, f"asked a network for {asked}"
    assert not problems, problems
    context.close()


def search(browser):
    """A word that stands on one page is found, from file://."""
    page = browser.new_page()
    page.goto(f"file://{SITE}/index.html")
    page.click(".md-search__input")
    page.type(".md-search__input", "no_improvement")
    page.wait_for_selector(".md-search-result__item a", timeout=20000)
    places = page.eval_on_selector_all(".md-search-result__item a", "all => all.map(one => one.href)")
    assert any("formats/recipe" in place for place in places), places
    page.screenshot(path=PICTURES / "search.png")


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            for width in (1280, 400):
                look(browser, scheme, width)
        search(browser)
        browser.close()
    print(f"ok: {len(PAGES)} pages, light and dark, at 1280 and 400 pixels, and the search")


if __name__ == "__main__":
    main()
