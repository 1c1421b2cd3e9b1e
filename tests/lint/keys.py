#!/usr/bin/env python3
"""Checks that pages of documents name each key of their schema.

    keys.py [ROOT]

The documents are those that users write, and a record. Exits 1 and names each key that no page of its document has.
"""
import json
import pathlib
import re
import sys

PAGES = {
    "asset": ["formats/asset.md", "formats/recipe.md"],  # the environment of scripts is that of a recipe
    "baseline": ["formats/baseline.md"],
    "comparison": ["formats/comparison.md"],
    "configuration": ["formats/configuration.md"],
    "credentials": ["formats/credentials.md"],
    "environment-lock": ["formats/environment.md"],
    "hook": ["hooks.md"],
    "ranking-rules": ["formats/ranking.md"],
    "recipe": ["formats/recipe.md"],
    "record": ["formats/record.md", "formats/environment.md", "formats/batch.md"],
    "scheduler": ["formats/scheduler.md"],
    "site": ["formats/site.md"],
    "study": ["formats/study.md"],
}


def keys(schema):
    """All keys of all objects."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from keys(inner)


def main():
    docs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]) / "docs"
    missing, count = [], 0
    for name, pages in PAGES.items():
        text = "\n".join((docs / page).read_text() for page in pages)
        for key in sorted(set(keys(json.loads((docs / f"formats/{name}.schema.json").read_text())))):
            count += 1
            if not re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text):
                missing.append(f"docs/{pages[0]} does not name '{key}' of {name}.schema.json")
    for problem in missing:
        print("keys:", problem, file=sys.stderr)
    print(f"keys: {count} keys, {len(missing)} of them on no page")
    sys.exit(1 if missing or count < 300 else 0)


if __name__ == "__main__":
    main()
