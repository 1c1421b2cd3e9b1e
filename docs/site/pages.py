#!/usr/bin/env python3
"""pages.py SABATH SOURCE OUT: collects the pages of the site in OUT, and the configuration OUT/mkdocs.yml beside them.

The pages are those of docs, the README and those of the recipes. Two kinds are generated: the options of all commands, from
--help, and the keys of documents, from the schemas.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

SABATH, SOURCE, OUT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
PAGES = OUT / "pages"
FOLDERS = ("commands", "formats", "decisions", "adding")


def place_of(path):
    """Where a file of the source tree stands among the pages; None for what is not of the site."""
    if path == SOURCE / "README.md":
        return PAGES / "index.md"
    if SOURCE / "recipes" in path.parents:
        return PAGES / path.relative_to(SOURCE)
    if path.is_dir() and path.parent == SOURCE / "docs":
        return PAGES / path.name / "README.md"
    return PAGES / path.relative_to(SOURCE / "docs") if SOURCE / "docs" in path.parents else None


def relative(target, page):
    common = next(parent for parent in page.parents if parent in target.parents)
    return "../" * len(page.parent.relative_to(common).parts) + str(target.relative_to(common))


def moved(text, source, page):
    """The page with links that fit where it stands now. A link to a file that is not of the site becomes its text."""

    def link(found):
        target, mark, anchor = found[3].partition("#")
        if not target or "://" in target:
            return found[0]
        path = (source.parent / target).resolve()
        place = place_of(path)
        if place is None or not path.exists():
            return found[2] if path.exists() else found[0]
        return f"{found[1]}[{found[2]}]({relative(place, page)}{mark}{anchor})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def plain_blocks(text):
    """Code and lists as the generator reads them: indented code in fences, an empty line before a list."""
    lines, fenced, code = [], False, False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        line = "```json" if line == "```jsonc" else line
        before = lines[-1] if lines else ""
        if not fenced and not code and line.startswith("    ") and not before.strip():
            lines.append("```text")
            code = True
        elif code and line.strip() and not line.startswith("    "):
            while not lines[-1].strip():
                lines.pop()
            lines += ["```", ""]
            code = False
        elif not fenced and re.match(r"(-|\d+\.) ", line) and re.match(r"[^\s\-|#>\d]", before):
            lines.append("")
        lines.append(line[4:] if code else line)
    return "\n".join(lines + ["```"] * code) + "\n"


def copy(source):
    place = place_of(source)
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".md":
        place.write_text(moved(plain_blocks(source.read_text(encoding="utf-8")), source, place), encoding="utf-8")
    else:
        shutil.copyfile(source, place)


def help_of(*words):
    done = subprocess.run([SABATH, *words, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def subcommands(text):
    return re.findall(r"^  ([a-z]+) ", text.partition("Subcommands:")[2], re.M)


def options_page():
    """What --help prints, for every command."""
    main = help_of()
    text = "# Options\n\nWhat `--help` prints. The pages of the commands explain it.\n\n"
    text += f"## sabath\n\n```text\n{main.strip()}\n```\n"
    for command in subcommands(main):
        answer = help_of(command)
        text += f"\n## sabath {command}\n\n[Its page]({command}.md).\n\n```text\n{answer.strip()}\n"
        for name in subcommands(answer):
            text += f"\n$ sabath {command} {name} --help\n{help_of(command, name).strip()}\n"
        text += "```\n"
    return text


def type_of(schema, whole):
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    several = schema.get("oneOf", schema.get("anyOf"))
    if several:
        return " or ".join(type_of(one, whole) for one in several)
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    return f"array of {type_of(schema['items'], whole)}" if kind == "array" and "items" in schema else kind


def limits_of(schema):
    names = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "minItems": "items, at least", "default": "default"}
    return ", ".join(f"{name} {schema[key]}" for key, name in names.items() if key in schema)


def keys_table(schema, whole, prefix=""):
    rows = []
    for name, inner in schema.get("properties", {}).items():
        notes = [inner.get("description", ""), limits_of(inner), "required" if name in schema.get("required", ()) else ""]
        cells = [f"`{prefix}{name}`", type_of(inner, whole), html.escape("; ".join(note for note in notes if note), quote=False)]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        nested = inner.get("items", inner) if "$ref" not in inner else {}
        rows += keys_table(nested, whole, f"{prefix}{name}.") if "properties" in nested else []
    return rows


def schema_page(path):
    """The keys of a document, from its schema."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    name = path.name[: -len(".schema.json")]
    text = f"# Keys: {name}\n\n{html.escape(whole.get('description', ''), quote=False)}\n\nFrom [{path.name}]({path.name}).\n"
    if (path.parent / f"{name}.md").exists():
        text += f"[The page about it]({name}.md).\n"
    parts = [("", whole), *((f"## {part}", inner) for part, inner in whole.get("$defs", {}).items())]
    for title, part in parts:
        text += f"\n{title}\n\n" if title else "\n"
        rows = keys_table(part, whole)
        text += "\n".join(["| key | type | meaning |", "|---|---|---|", *rows]) + "\n" if rows else f"{type_of(part, whole)}\n"
    return name, text


def title_of(page):
    return re.search(r"^# (.*)", page.read_text(encoding="utf-8"), re.M)[1]


def index_of(folder, title):
    pages = sorted(page for page in folder.glob("*.md") if page.name != "README.md")
    lines = [f"- [{title_of(page)}]({page.name})" for page in pages]
    (folder / "README.md").write_text(f"# {title}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return pages


def navigation():
    """The parts of the site, each with its pages."""

    def pages(*names):
        return [str(name) for name in names]

    def folder(name, skip=()):
        found = sorted(page for page in (PAGES / name).glob("*.md") if page.name != "README.md" and page.name not in skip)
        return [f"{name}/README.md", *(str(page.relative_to(PAGES)) for page in found)]

    def keys():
        return [str(page.relative_to(PAGES)) for page in sorted((PAGES / "formats").glob("*.keys.md"))]

    formats = [page for page in folder("formats") if not page.endswith(".keys.md")]
    recipes = [str(page.relative_to(PAGES)) for page in sorted((PAGES / "recipes").glob("*/README.md"))]
    return [
        {"sabath": "index.md"},
        {"Tutorial": pages("tutorial.md", "install.md", "supercell.md")},
        {"How to": [*folder("how-to"), "ci.md", "hooks.md", "view.md", "view-admin.md", "secrets.md"]},
        {"Explanation": [*(str(page.relative_to(PAGES)) for page in sorted((PAGES / "explanation").glob("*.md"))), "glossary.md"]},
        {"Reference": [{"Commands": folder("commands")}, {"Formats": formats}, {"Keys": keys()}, "python.md", "logging.md"]},
        {"Recipes": [*recipes, "science.md"]},
        {"Development": ["architecture.md", {"Adding": folder("adding")}, {"Decisions": folder("decisions")}, "verified.md"]},
    ]


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    docs = [path for path in (SOURCE / "docs").rglob("*") if path.is_file() and SOURCE / "docs/site" not in path.parents]
    recipes = [path for path in (SOURCE / "recipes").rglob("*") if path.suffix in (".md", ".svg", ".png", ".json")]
    kept = [path for path in docs if path.suffix in (".md", ".svg", ".png", ".json") and "examples" not in path.parts]
    if len(docs) < 100:
        sys.exit(f"pages: only {len(docs)} files under {SOURCE}/docs")
    for path in [SOURCE / "README.md", *kept, *recipes]:
        copy(path)
    for name in ("site.css", "iframe-worker.js"):
        shutil.copyfile(SOURCE / "docs/site" / name, PAGES / name)
    (PAGES / "commands/options.md").write_text(options_page(), encoding="utf-8")
    for path in sorted((PAGES / "formats").glob("*.schema.json")):
        name, text = schema_page(path)
        (PAGES / f"formats/{name}.keys.md").write_text(text, encoding="utf-8")
    for name, title in zip(FOLDERS, ("Commands", "Formats", "Decisions", "Adding")):
        index_of(PAGES / name, title)
    settings = {"INHERIT": str(SOURCE / "docs/site/mkdocs.yml"), "docs_dir": str(PAGES), "nav": navigation()}
    (OUT / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
    print(f"pages: {len(list(PAGES.rglob('*.md')))} pages in {PAGES}")


if __name__ == "__main__":
    main()
