#!/usr/bin/env python3
"""`sabath explain` on random recipes, every answer compared with the truth table of the recipe.

explain_causes.py SABATH      SABATH_SOAK_RECIPES: how many (default 200); SABATH_SOAK_SEED: of the recipes

A recipe has 2 to 5 parameters and a loss with one to four causes: a parameter alone, some only together, one that another masks, two that
cancel each other. Each is explained in three calls of one home: the first is interrupted, or has a budget that may be too small; the second
has the budget that the first asked for, and more; the third makes no run.
"""
import collections
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sabath = os.path.realpath(sys.argv[1])
recipes = int(os.environ.get("SABATH_SOAK_RECIPES", "200"))
seed = int(os.environ.get("SABATH_SOAK_SEED", "1"))
counts = collections.Counter()


def problem(text):
    counts["problems"] += 1
    print("PROBLEM:", text, flush=True)


def causes(generator, count):
    """Terms (wanted, unwanted, weight): they add their weight with all wanted and none of the unwanted parameters changed."""
    any_of = lambda: generator.randrange(count)
    terms = []
    for _ in range(generator.randint(1, 4)):
        kind, change, weight = generator.randrange(4), any_of(), generator.choice((1, 2, 4))
        if kind == 0:
            terms.append(({change}, set(), weight))
        elif kind == 1:
            terms.append(({change, any_of(), any_of()}, set(), weight))
        elif kind == 2:
            terms.append(({change}, {any_of()} - {change}, weight))
        else:
            terms += [({change}, set(), weight), ({any_of()}, set(), -weight)]
    return terms


def loss(terms, changes):
    return sum(weight for wanted, unwanted, weight in terms if wanted <= changes and not unwanted & changes)


def minimal_sets(terms, count):
    found = []
    for size in range(1, count + 1):
        for changes in map(frozenset, itertools.combinations(range(count), size)):
            if loss(terms, changes) != 0 and not any(part < changes for part in found):
                found.append(changes)
    return set(found)


def shell_of(terms):
    def factor(wanted, unwanted):
        return " && ".join(["1"] + [f"{{param.p{i}}} == 2" for i in wanted] + [f"{{param.p{i}}} == 1" for i in unwanted])

    return " + ".join(["0"] + [f"{weight} * ({factor(wanted, unwanted)})" for wanted, unwanted, weight in terms])


def call(*words):
    answer = subprocess.run([sabath, "-q", *words], capture_output=True, text=True)
    return answer.returncode, answer.stdout, answer.stderr


def explained(a, b, *words):
    status, output, errors = call("--json", "explain", a, b, *words)
    if status not in (0, 3):
        problem(f"explain {a} {b}: {status} {errors}")
        return status, None
    return status, json.loads(output)


def check(status, answer, terms, count):
    """Each claim of the answer follows from what was tried, and is what the truth table says."""
    tried = [frozenset(int(name.split("p")[-1]) for name in hybrid["changes"]) for hybrid in answer["hybrids"]]
    named = {frozenset(int(name.split("p")[-1]) for name in one["changes"]): one for one in answer["sufficient"]}
    if (status == 0) != answer["complete"]:
        problem(f"status {status}, complete {answer['complete']}")
    for changes, one in named.items():
        parts = [set(part) for size in range(len(changes)) for part in itertools.combinations(changes, size)]
        if changes not in tried or loss(terms, changes) == 0:
            problem(f"{sorted(changes)} is named")
        if one["minimal"] != all(part in tried and loss(terms, part) == 0 for part in parts):
            problem(f"{sorted(changes)} minimal: {one['minimal']}")
        if one["confirmed"] != (tried.count(changes) == 2):
            problem(f"{sorted(changes)} confirmed: {one['confirmed']}")
    untried = [changes for size in range(count + 1) for changes in map(frozenset, itertools.combinations(range(count), size))
               if changes not in tried and not any(part <= changes for part in named)]
    if answer["untried"]["sets"] != len(untried):
        problem(f"{answer['untried']['sets']} sets untried, not {len(untried)}")
    truth = minimal_sets(terms, count)
    if answer["complete"]:
        necessary = {f"parameter p{i}" for i in frozenset.intersection(*truth)}
        if set(named) != truth or set(answer["necessary"]) != necessary:
            problem(f"{answer['sufficient']} necessary {answer['necessary']}, not {truth}")
    elif answer["cause"] or answer["necessary"] or "alone" in answer["reason"]:
        problem(f"a cause is named: {answer['reason']}")


def first_call(generator, a, b, terms, count):
    if generator.random() < 0.3:
        begun = subprocess.Popen([sabath, "-q", "explain", a, b, "--budget", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.random() * 3)
        begun.send_signal(signal.SIGINT)
        counts["interrupted" if begun.wait() == 130 else "not interrupted in time"] += 1
        return
    status, answer = explained(a, b, "--budget", str(generator.randint(0, 2 ** count)))
    if answer:
        check(status, answer, terms, count)
        counts["with a budget, complete" if status == 0 else "with a budget, incomplete"] += 1


def explain_one(number):
    generator = random.Random(seed * 100_000 + number)
    count = generator.randint(2, 5)
    terms = causes(generator, count)
    while loss(terms, set(range(count))) == 0:
        terms = causes(generator, count)
    name = f"random{number}"
    folder = os.path.join(os.environ["SABATH_HOME"], "recipes", name)
    os.makedirs(folder)
    command = f'echo "{{{{\\"step\\": 1, \\"loss\\": $(({shell_of(terms)}))}}}}" >> $SABATH_METRICS'
    parameter = {"type": "int", "default": 1, "affects": "execution"}
    with open(os.path.join(folder, "recipe.json"), "w") as file:
        json.dump({"schema": 1, "name": name, "parameters": {f"p{i}": parameter for i in range(count)},
                   "stages": [{"name": "go", "run": ["sh", "-c", command]}],
                   "metrics": {"loss": {"unit": "1", "better": "lower"}}}, file)
    values = [word for i in range(count) for word in ("--set", f"p{i}=2")]
    for tag, further in (("a", []), ("b", values)):
        status, _, errors = call("run", name, "--seed", "1", "--tag", tag, *further)
        if status != 0:
            return problem(f"{name}: run: {status} {errors}")
    a, b = f"recipe={name},tag=a", f"recipe={name},tag=b"
    before = counts["problems"]
    first_call(generator, a, b, terms, count)
    status, whole = explained(a, b, "--budget", "100")
    if whole:
        if status != 0:
            problem(f"{name}: incomplete with a budget of 100: {whole['reason']}")
        check(status, whole, terms, count)
        counts["hybrids"] += len(whole["hybrids"])
        counts["several sets" if len(whole["sufficient"]) > 1 else "one set"] += 1
        counts["masked"] += any(loss(terms, set(changes)) == 0 and any(part <= set(changes) for part in minimal_sets(terms, count))
                                for size in range(1, count + 1) for changes in itertools.combinations(range(count), size))
        again_status, again = explained(a, b, "--budget", "0")
        if again_status != status or again is None or again["sufficient"] != whole["sufficient"]:
            problem(f"{name}: another answer without new runs")
    if counts["problems"] > before:
        print(f"  of recipe {name}: {shell_of(terms)}", flush=True)


with tempfile.TemporaryDirectory(prefix="sabath-soak-") as folder:
    os.environ.update(SABATH_HOME=folder + "/home", SABATH_CONFIG=folder + "/config", SABATH_CACHE=folder + "/cache")
    for number in range(recipes):
        explain_one(number)
print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())), f"of {recipes} recipes, seed {seed}")
sys.exit(1 if counts["problems"] else 0)
