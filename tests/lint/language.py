#!/usr/bin/env python3
"""Checks the language of pages, messages and comments: short sentences, no listed words, short paragraphs and lines.

    language.py [ROOT]            check; exits 1 and names each violation
    language.py --show FILE...    print each violation in these files

A sentence has at most 30 words (20 is the rule of the house). Code between backticks counts as one word.
"""
import pathlib
import re
import sys

MOST_WORDS = 30
MOST_PARAGRAPH = 6
MOST_COLUMNS = 160
MOST_LINES = {"docs/architecture.md": 120, "docs/verified.md": 100, "docs/decisions/": 40}
LISTED = re.compile(r"\b(whoever|of which|is no|are no|as it is|goes on|in vain|told)\b", re.I)
RENAMED = re.compile(
    r"SchedulerDesk|scheduler_desk|MachineTurn|machine_turn|BatchTurns|batch_turns|StageTeller|told_by_stage|\btell_\w+|\bis_knob\b|\bknobs?\b|signs_of_life"
    r"|longest_silence|travelling_program|LentFolder|\blent\b|LayerErrand|\berrands?\b|\basked_for\b|asked_margins|code_elsewhere|code_surroundings|named_files"
    r"|give_place|judged_runs|whole_runs|\bKeeping\b|\bclimb\b|\bintake\b|\bparted\b|\bparts at\b"
)


def words_of(sentence):
    sentence = re.sub(r"`[^`]*`", " code ", sentence)
    sentence = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
    return [word for word in sentence.split() if re.search(r"\w|\{\}", word)]


def sentences_of(text):
    """Sentences of one block of prose; a stop within code or a number ends none."""
    text = re.sub(r"`[^`]*`", lambda m: re.sub(r"[.!?]", "·", m[0]), text)
    return [part for part in re.split(r"(?<=[.!?])[\"')*]*\s+(?=[^a-z])|\n\n", text) if part.strip()]


def markdown_blocks(text):
    """Yields (first line, lines of the block, its prose); neither code nor headings are prose."""
    fenced, block, start = False, [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced or re.match(r"    \S", line) and not block:
            line = ""
        item = re.match(r"\s*([-*]|\d+\.)\s+", line)
        if not line.strip() or item or line.startswith(("#", "|", "<")):
            if block:
                yield start, block, " ".join(part.strip() for part in block)
            block = []
        if line.startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield number, [line], cell
        elif line.strip() and not line.startswith(("#", "<")):
            start = start if block else number
            block.append(line[item.end() :] if item else line)


LITERAL = re.compile(r'R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"', re.S)
COMMENT = re.compile(r"//.*")


def source_prose(text):
    """Yields (line, kind, prose) for string literals, neighbours joined, and for blocks of comments."""
    comments, masked = [], []
    for number, line in enumerate(text.splitlines(), 1):
        quoted = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "\0" * len(m[0]), line)
        at = quoted.find("//")
        if at >= 0:
            # A comment behind code stands for itself.
            comments.append((number, bool(line[:at].strip()), line[at:].lstrip("/<! ").strip()))
            line = line[:at]
        masked.append(line)
    block, last = [], -1
    for number, is_behind_code, comment in comments + [(10**9, False, "")]:
        if block and (number != last + 1 or is_behind_code):
            yield block[0][0], "comment", " ".join(part for _, part in block)
            block = []
        block.append((number, comment))
        last = number
    code, end, joined, start = "\n".join(masked), None, "", 0
    for found in LITERAL.finditer(code):
        part = found[2] if found[3] is None else found[3].replace("\\n", "\n").replace('\\"', "'")
        if end is not None and not code[end : found.start()].strip():
            joined += part
        else:
            if joined.count(" ") > 2:
                yield start, "message", joined
            joined, start = part, code.count("\n", 0, found.start()) + 1
        end = found.end()
    if joined.count(" ") > 2:
        yield start, "message", joined


def long_sentences(prose):
    for sentence in sentences_of(prose):
        count = len(words_of(sentence))
        if count > MOST_WORDS:
            yield f"a sentence of {count} words: {sentence.strip()[:90]}"


def page(path, text):
    for number, block, prose in markdown_blocks(text):
        for what in long_sentences(prose):
            yield "sentence", number, what
        if len(block) > MOST_PARAGRAPH:
            yield "paragraph", number, f"a paragraph of {len(block)} lines"
        for word in LISTED.finditer(re.sub(r"`[^`]*`", "", prose)):
            yield "word", number, f"'{word[0]}'"
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            yield "column", number, f"a line of {len(line)} characters"
    for name, most in MOST_LINES.items():
        if (path == name or name.endswith("/") and path.startswith(name)) and len(lines) > most:
            yield "length", most, f"{len(lines)} lines; the limit is {most}"
    if path.startswith("docs/commands/") and path not in NO_COMMANDS:
        first = next((block for _, block, _ in markdown_blocks(text)), [""])
        if not re.search(r"^## Examples?$", text, re.M) or text.index("## Example") > len("".join(first)) + 400:
            yield "page", 1, "does not begin with examples (## Examples)"
        headings = re.findall(r"^## (.*)$", text, re.M)
        if not headings or headings[-1] != "Exit status":
            yield "page", len(lines), "does not end with '## Exit status'"


NO_COMMANDS = {f"docs/commands/{name}.md" for name in ("global-options", "environment", "exit-status", "selections")}


def source(path, text):
    for number, kind, prose in source_prose(text):
        for what in long_sentences(prose):
            yield kind, number, what
        for word in LISTED.finditer(prose):
            yield "word", number, f"'{word[0]}' in a {kind}"
    for number, line in enumerate(text.splitlines(), 1):
        for name in RENAMED.finditer(line):
            yield "term", number, f"'{name[0]}' has another name now (docs/glossary.md)"


def violations(root, paths):
    for path in paths:
        text = (root / path).read_text()
        check = page if path.endswith(".md") else source
        for kind, number, what in check(path, text):
            yield kind, path, number, what


def files(root):
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    sources = sorted(p for d in ("src", "include") for p in (root / d).rglob("*.[ch]pp"))
    if len(pages) < 10 or len(sources) < 100:
        sys.exit(f"language: only {len(pages)} pages and {len(sources)} sources under '{root}'")
    return [str(p.relative_to(root)) for p in pages + sources]


def main():
    if sys.argv[1:2] == ["--show"]:
        for kind, path, number, what in violations(pathlib.Path("."), sys.argv[2:]):
            print(f"{path}:{number}: {kind}: {what}")
        return
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    bad = [f"{path}:{number}: {kind}: {what}" for kind, path, number, what in violations(root, files(root))]
    for line in bad:
        print("language:", line, file=sys.stderr)
    if not bad:
        print("language: no violation")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
