"""The rows of environments: a run in a ready one, a build from a warm cache, and showing a large one."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bench

PACKAGES_SHOWN = 300
HERE = pathlib.Path(__file__).resolve().parent
MAKE_PACKAGE = HERE.parent / "support" / "make_package.py"


def recipe_of(home, name, layers, command=("true",)):
    folder = home / "recipes" / name
    folder.mkdir(parents=True)
    recipe = {"schema": 1, "name": name, "environment": {"layers": layers},
              "stages": [{"name": "one", "run": list(command)}]}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    return folder


def run(argv, environment):
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}: status {done.returncode}\n{done.stderr}")
    return done


def second_run(sabath, environment, home, digits, repetitions):
    """The same run with the environment of the recipe 'digits', ready, and with a host layer alone."""
    layers = json.loads((digits / "recipe.json").read_text())["environment"]["layers"]
    folder = recipe_of(home, "ready", layers)
    for name in ("environment.lock.json", "requirements.txt", "constraints.txt"):
        if (digits / name).exists():
            shutil.copy(digits / name, folder)
    recipe_of(home, "alone", [{"kind": "host", "commands": ["true"]}])
    ours, reference = ([sabath, "-q", "run", name, "--seed", "1"] for name in ("ready", "alone"))
    run(ours, environment)
    times = bench.alternate(ours, reference, environment, repetitions)
    a, b = bench.medians(times)
    bench.tell("a run with the environment of digits, ready", ours, reference, times,
               bench.against(15, a - b, "ms more"))


def timed_build(sabath, environment):
    """Seconds until the packages are in their places, for their bytecode, and for the checks after that."""
    marks = [time.perf_counter()]
    words = ["compiling bytecode", "checking that the packages have"]
    with subprocess.Popen([sabath, "env", "build", "ready"], env=environment, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as build:
        for line in build.stderr:
            if len(marks) <= len(words) and words[len(marks) - 1] in line:
                marks.append(time.perf_counter())
    marks.append(time.perf_counter())
    if build.returncode != 0 or len(marks) != 4:
        sys.exit(f"env build: status {build.returncode}")
    return [after - before for before, after in zip(marks, marks[1:])]


def timed_reference(uv, environment, home, listed, extra):
    """Seconds of uv for the same files, into an environment that it makes."""
    target = home / "reference"
    shutil.rmtree(target, ignore_errors=True)
    begin = time.perf_counter()
    run([uv, "venv", "--offline", "-q", "--python", "python3", target], environment)
    run([uv, "pip", "sync", "--offline", "--no-cache", "-q", "--python", target / "bin/python", "--no-index",
         "--find-links", home / "wheels", "--require-hashes", *extra, listed], environment)
    return time.perf_counter() - begin


def locked_here(home):
    """The packages that the lock has for the Python and the machine of this bench."""
    lock = json.loads((home / "recipes/ready/environment.lock.json").read_text())
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    for one in lock["layers"][0]["platforms"]:
        if (one["platform"], one["python"]) == (f"linux-{os.uname().machine}", tag):
            return one["packages"]
    sys.exit(f"the lock of digits has nothing for {tag}")


def build_from_cache(sabath, environment, home, repetitions):
    uv = shutil.which("uv", path=environment["PATH"])
    if uv is None:
        print("\nenv build: uv is not installed, so there is no reference")
        return
    packages = locked_here(home)
    wheels = home / "wheels"
    wheels.mkdir()
    for package in packages:
        hexa = package["digest"].split(":")[1]
        found = list(pathlib.Path(environment["SABATH_HOME"]).glob(f"cache/objects/**/{hexa[2:]}*")) or \
            list(pathlib.Path(environment["SABATH_HOME"]).glob(f"cache/objects/**/{hexa}*"))
        os.symlink(found[0], wheels / package["file"])
    listed = home / "lock.txt"
    listed.write_text("".join(f"{p['name']}=={p['version']} --hash={p['digest']}\n" for p in packages))
    names = ("install", "bytecode", "checks", "uv", "uv with bytecode")
    sides = {name: [] for name in names}
    for round_number in range(repetitions + 1):
        key = json.loads(run([sabath, "--json", "env", "show", "ready"], environment).stdout)
        run([sabath, "env", "rm", key["environments"][-1]["key"]], environment)
        times = timed_build(sabath, environment)
        times += [timed_reference(uv, environment, home, listed, extra) for extra in ([], ["--compile-bytecode"])]
        if round_number > 0:
            for name, value in zip(names, times):
                sides[name].append(value * 1e3)
    middle = {name: statistics.median(side) for name, side in sides.items()}
    print(f"\nenv build of the lock of digits, from the cache ({len(packages)} packages)")
    for name, what in (("install", "env build, until it is installed"), ("uv", "uv pip sync"),
                       ("bytecode", "its bytecode"), ("uv with bytecode", "uv pip sync --compile-bytecode"),
                       ("checks", "its checks")):
        print(f"  {what:<34}{bench.spread(sides[name])}")
    print("  against uv pip sync: " + bench.against(1.2, middle["install"] / middle["uv"], "x"))
    added = middle["uv with bytecode"] - middle["uv"]
    print(f"  bytecode against what --compile-bytecode adds to uv: {middle['bytecode'] / added:.2f} x")


def show_large(sabath, environment, home, repetitions):
    index = home / "index"
    index.mkdir()
    names = [f"package{i:03}" for i in range(PACKAGES_SHOWN)]
    for name in names:
        subprocess.run([sys.executable, MAKE_PACKAGE, index, name, "1.0"], check=True, stdout=subprocess.DEVNULL)
    recipe_of(home, "large", [{"kind": "pip", "requirements": names, "imports": names[:1]}])
    local = {**environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    run([sabath, "env", "lock", "large"], local)
    run([sabath, "env", "build", "large"], local)
    ours = [sabath, "env", "show", "large"]
    times = bench.alternate(ours, [sabath, "--version"], local, repetitions)
    bench.tell(f"show an environment of {PACKAGES_SHOWN} packages", ours, [sabath, "--version"], times,
               bench.against(50, bench.medians(times)[0], "ms"))


def measure(sabath, environment, home, repetitions):
    digits = HERE.parent.parent / "recipes" / "digits"
    second_run(sabath, environment, home, digits, repetitions)
    build_from_cache(sabath, environment, home, min(repetitions, 5))
    show_large(sabath, environment, home, repetitions)


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) == 3 else 20
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment["SABATH_HOME"] = folder
        environment["SABATH_CONFIG"] = str(pathlib.Path(folder) / "config")
        measure(sabath, environment, pathlib.Path(folder), repetitions)


if __name__ == "__main__":
    main()
