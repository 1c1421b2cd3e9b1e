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
# What is above a limit today: a bound of its own, which only falls. A name that needs none any more is an error.
ALLOWED = {
    "src/arrays/reader/reader_client.cpp": 515,
    "src/base/text/redact.cpp": 565,
    "src/compare/compare_groups.cpp": 590,
    "src/env/store/environment_store.cpp": 578,
    "src/execution/execute_plan.cpp": 600,
    "src/execution/stage_runner.cpp": 580,
    "src/launch/scheduler.cpp": 560,
    "module app": 3829,
    "class batch/SchedulerDesk": 334,
    "class cache/Cache": 412,
    "class catalog/Catalog": 380,
    "class launch/Scheduler": 372,
    "class arrays/Walk": 393,
    "class arrays/Hdf5File": 422,
    "class arrays/OnnxReader": 319,
    "class batch/Batch": 305,
    "class cache/StagedObject": 460,
    "class cli/Workspace": 346,
    "class execution/Execution": 536,
    "class execution/StageRunner": 555,
    "class fetch/Exchange": 392,
    "class fetch/ManyFiles": 311,
    "class fetch/FileTransfer": 738,
    "loop analysis: counted_runs study_outcome": 2,
    "loop analysis: asked_margins comparable_runs compare_groups group_values": 4,
    "loop assets: assemble fetch_assets fetch_each fetch_one fetch_results fetch_set fetch_tools fetch_tree keep_cache known_content listing local_data origins": 13,
    "loop base: digest hash_file": 2,
    "loop base: beneath directory own_tree path_walk": 4,
    "loop base: archive extract_into extraction": 3,
    "loop base: child process supervision": 3,
    "loop batch: cancel_runs run_watch watched_batch": 3,
    "loop cache: cache cache_state inspection level object_store placement records records_json single_flight staged_object staged_tree tree_files tree_journal tree_store tree_writer verify": 16,
    "loop cache: garbage inventory keeping pins": 4,
    "loop catalog: catalog state": 2,
    "loop compare: array_pair tree_pair": 2,
    "loop compare: compare_groups compare_runs envelope_rung group_performance metric_pairs output_pairs performance value_identity verdict": 9,
    "loop env: attempt_record environment environment_image key_folder layer_variables prefix prefix_checks": 7,
    "loop execution: execute_plan run_steps": 2,
    "loop launch: asked_for job_script scheduler scheduler_answers": 4,
    "loop planning: again_command code_state plan_run": 3,
    "loop probe: host_probe probes": 2,
    "loop probe: library_view library_watch": 2,
    "loop probe: gpu_library nvml rocm_smi": 3,
    "loop probe: energy_meter energy_sources gpu_watch sample_line sampler": 5,
    "loop report: text text_plot": 2,
    "loop spec: parameter parameter_rule": 2,
    "loop spec: derived_metric enum_text metric output_rule recipe run_plan run_record": 7,
    "loop cli: selected_runs workspace": 2,
}

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
    bad, used = [], set()
    for what, size, limit, unit in measured(root):
        name = what
        if size > limit and name in ALLOWED:
            used.add(name)
            limit = ALLOWED[name]
        if size > limit:
            bad.append(f"{what}: {size} {unit}; the limit is {limit}")
    bad += [f"{name}: needs no exception any more" for name in ALLOWED.keys() - used]
    for line in bad:
        print("rooms:", line, file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
