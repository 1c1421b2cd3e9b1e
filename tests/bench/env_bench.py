"""The rows of environments: a run in a ready one, a build from a warm cache, and showing a large one."""

import json
import os
import pathlib
import shutil
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
    """Seconds until the packages are in their places, and those of the checks after that."""
    begin = time.perf_counter()
    installed = None
    with subprocess.Popen([sabath, "env", "build", "ready"], env=environment, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as build:
        for line in build.stderr:
            if installed is None and "checking" in line:
                installed = time.perf_counter()
    if build.returncode != 0 or installed is None:
        sys.exit(f"env build: status {build.returncode}")
    return installed - begin, time.perf_counter() - installed


def build_from_cache(sabath, environment, home, repetitions):
    uv = shutil.which("uv", path=environment["PATH"])
    if uv is None:
        print("\nenv build: uv is not installed, so there is no reference")
        return
    lock = json.loads((home / "recipes/ready/environment.lock.json").read_text())
    packages = lock["layers"][0]["platforms"][0]["packages"]
    wheels = home / "wheels"
    wheels.mkdir()
    for package in packages:
        hexa = package["digest"].split(":")[1]
        found = list(pathlib.Path(environment["SABATH_HOME"]).glob(f"cache/objects/**/{hexa[2:]}*")) or \
            list(pathlib.Path(environment["SABATH_HOME"]).glob(f"cache/objects/**/{hexa}*"))
        os.symlink(found[0], wheels / package["file"])
    listed = home / "lock.txt"
    listed.write_text("".join(f"{p['name']}=={p['version']} --hash={p['digest']}\n" for p in packages))
    ours, checks, bytecode, plain = [], [], [], []
    for round_number in range(repetitions + 1):
        key = json.loads(run([sabath, "--json", "env", "show", "ready"], environment).stdout)
        run([sabath, "env", "rm", key["environments"][-1]["key"]], environment)
        times = timed_build(sabath, environment)
        references = []
        for extra in (["--compile-bytecode"], []):
            target = home / "reference"
            shutil.rmtree(target, ignore_errors=True)
            begin = time.perf_counter()
            run([uv, "venv", "--offline", "-q", "--python", "python3.11", target], environment)
            run([uv, "pip", "sync", "--offline", "--no-cache", "-q", "--python", target / "bin/python", "--no-index",
                 "--find-links", wheels, "--require-hashes", *extra, listed], environment)
            references.append(time.perf_counter() - begin)
        if round_number > 0:
            for side, value in zip((ours, checks, bytecode, plain), (*times, *references)):
                side.append(value * 1e3)
    print(f"\nenv build of the lock of digits, from the cache ({len(packages)} packages)")
    for name, side in (("env build, without its checks", ours), ("uv, with bytecode", bytecode),
                       ("uv, without", plain), ("the checks of env build", checks)):
        print(f"  {name:<32}{bench.spread(side)}")
    print("  against uv pip sync with bytecode: " + bench.against(1.2, min(ours) / min(bytecode), "x"))
    print("  against uv pip sync without:       " + bench.against(1.2, min(ours) / min(plain), "x"))


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
    build_from_cache(sabath, environment, home, min(repetitions, 3))
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
