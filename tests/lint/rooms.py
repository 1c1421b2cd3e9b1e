#!/usr/bin/env python3
"""Checks the size of folders, sources, modules and classes, and that no nouns include each other in a loop.

    rooms.py [ROOT]

A noun is a header with the source of the same name: src/cache/gc/trash.hpp and trash.cpp, or
include/sabath/cache/cache.hpp and src/cache/cache.cpp. Exits 1 and names each violation.
"""
import collections
import pathlib
import re
import sys

MOST_IN_FOLDER = 40
MOST_IN_SOURCE = 500
MOST_IN_CLASS = 300
MOST_IN_MODULE = 12_000
MOST_IN_APP = 3_500
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CLASS = re.compile(r"^\s*(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{")
MEMBER = re.compile(r"^(?![\s#/}])[^;=(]*?\b(\w+)(?:<[^>]*>)?::~?(?:\w+|operator[^(]*)\s*\(")


def module_of(path):
    parts = path.parts
    return parts[2] if parts[0] == "include" else parts[1]


def noun_of(path):
    """The file without its suffix; a public header and its source are one noun where their names agree."""
    return (module_of(path), path.stem)


def end_of_block(lines, start):
    """The line on which the block that begins at `start` ends, by its indentation."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.lstrip().startswith("}") and len(line) - len(line.lstrip()) == indent:
            return number
    return start


def class_lines(lines):
    """Lines of each class in a file: its declaration, and its members that are defined outside of it."""
    found = collections.Counter()
    for number, line in enumerate(lines):
        declared = CLASS.match(line)
        if declared:
            found[declared[1]] += end_of_block(lines, number) - number + 1
            continue
        head = " ".join(lines[number : number + 2]) if line and not line[0].isspace() else line
        member = MEMBER.match(head) if re.match(r"\w", line) else None
        if member and not line.rstrip().endswith(";"):
            found[member[1]] += end_of_block(lines, number) - number + 1
    return found


def loops(edges):
    """Strongly connected sets of more than one node (Tarjan, without recursion)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        top = stack.pop()
                        on.remove(top)
                        group.append(top)
                        if top == node:
                            break
                    if len(group) > 1:
                        found.append(sorted(group))
    return found


def measured(root):
    """Yields (what, its size, its limit, how to say it)."""
    files = sorted(p.relative_to(root) for d in ("src", "include") for p in (root / d).rglob("*.[ch]pp"))
    if len(files) < 10:
        sys.exit(f"rooms: only {len(files)} sources under '{root}'")
    tests = [p.relative_to(root) for p in (root / "tests").rglob("*") if p.suffix in (".cpp", ".hpp", ".py", ".sh")]
    folders = collections.Counter(str(p.parent) for p in files + tests if "data" not in p.parts)
    for folder, count in folders.items():
        yield folder, count, MOST_IN_FOLDER, "source files"
    modules, classes, edges = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    nouns = {noun_of(p) for p in files}
    for path in files:
        lines = (root / path).read_text().splitlines()
        module = module_of(path)
        modules[module] += len(lines)
        yield str(path), len(lines), MOST_IN_SOURCE, "lines"
        for name, count in class_lines(lines).items():
            classes[(module, name)] += count
        for line in lines:
            included = INCLUDE.match(line)
            if not included:
                continue
            other = pathlib.PurePath(included[2])
            if included[1] == "<" and other.parts[:2] != ("sabath", module):
                continue
            noun = (module, other.stem)
            if noun in nouns and noun != noun_of(path):
                edges[noun_of(path)].add(noun)
        edges[noun_of(path)] |= set()
    for module, count in modules.items():
        yield f"module {module}", count, MOST_IN_APP if module == "app" else MOST_IN_MODULE, "lines"
    for (module, name), count in classes.items():
        yield f"class {module}/{name}", count, MOST_IN_CLASS, "lines"
    for group in loops(edges):
        yield f"loop {group[0][0]}: {' '.join(n for _, n in group)}", len(group), 1, "nouns include each other"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    bad = [f"{what}: {size} {unit}; the limit is {limit}" for what, size, limit, unit in measured(root) if size > limit]
    for line in bad:
        print("rooms:", line, file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
