#!/usr/bin/env python3
"""Checks that links of pages lead to a file that exists, and to a heading of it.

    links.py [ROOT]

Pages: README.md, docs, and those of recipes. Exits 1 and names each dead link.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
LINK = re.compile(r"!?\[(?:[^\]\[]|`[^`]*`)*\]\(([^)\s]+)\)")


def prose(text):
    """The page without code."""
    text = re.sub(r"^(```+).*?^\1$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(page):
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^(```+).*?^\1$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    for target in LINK.findall(prose(page.read_text())):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        place = (page.parent / path).resolve() if path else page
        if not place.exists() or ROOT not in [place, *place.parents]:
            yield target
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield target


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "recipes").rglob("*.md"))]
    if len(pages) < 100:
        sys.exit(f"links: only {len(pages)} pages under {ROOT}")
    dead = [f"{page.relative_to(ROOT)}: {target}" for page in pages for target in dead_links(page)]
    for link in dead:
        print("links: dead:", link, file=sys.stderr)
    print(f"links: {len(pages)} pages, {len(dead)} dead links")
    sys.exit(1 if dead else 0)


if __name__ == "__main__":
    main()
