"""The rows of runs: the own time of one, against other tools doing the same trivial job, and what sampling costs.

run_bench.py SABATH [N]
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import bench
import references

BAR_MS = 60
BAR_RATIO = 10
BAR_SAMPLING = 0.01
SAMPLED_S = 20
PROCESSES = 64


def recipe(home, name, stage):
    folder = home / "recipes" / name
    folder.mkdir(parents=True)
    (folder / "recipe.json").write_text(
        json.dumps({"schema": 1, "name": name, "stages": [{"name": "one", **stage}]}))


def others(folder, environment):
    """Name and arguments of each reference, which runs `true` as its only job whenever it is started."""
    found = []
    snakemake = references.snakemake()
    if snakemake:
        (folder / "Snakefile").write_text('rule one:\n    shell: "true"\n')
        found.append(("snakemake", [snakemake, "-q", "-c1", "-d", str(folder), "-s", str(folder / "Snakefile")]))
    tools = references.tools(folder)
    job = folder / "dvc"
    job.mkdir()
    subprocess.run([str(tools / "dvc"), "--cd", str(job), "init", "-q", "--no-scm"], check=True, env=environment)
    (job / "dvc.yaml").write_text('stages:\n  one:\n    cmd: "true"\n    always_changed: true\n')
    found.append(("dvc repro", [str(tools / "dvc"), "--cd", str(job), "repro", "-q"]))
    job = folder / "mlflow"
    job.mkdir()
    (job / "MLproject").write_text('name: one\nentry_points:\n  main:\n    command: "true"\n')
    environment["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder}/mlflow.db"
    found.append(("mlflow run", [str(tools / "mlflow"), "run", str(job), "--env-manager", "local"]))
    return found


def own_time(sabath, environment, folder, repetitions):
    """All in turn: sabath, a shell, sabath, the first reference, sabath, ..."""
    ours = [sabath, "--quiet", "run", "trivial"]
    rows = [("sh -c true", ["sh", "-c", "true"]), *others(folder, environment)]
    sides = {name: [] for name, _ in rows}
    own = []
    for round_number in range(repetitions + 1):
        for name, argv in rows:
            # The slow ones need no more than ten rounds to be told apart.
            if name != "sh -c true" and round_number > 10:
                continue
            pair = [bench.start(command, environment) * 1e3 for command in (ours, argv)]
            if round_number > 0:
                own.append(pair[0])
                sides[name].append(pair[1])
    print("\na whole run of 'true', recorded and indexed")
    print(f"  {'sabath run':<28}{bench.spread(own)}")
    for name, _ in rows:
        print(f"  {name:<28}{bench.spread(sides[name])}")
    shell = statistics.median(sides["sh -c true"])
    print("  own time beyond sh's: " + bench.against(BAR_MS, statistics.median(own) - shell, "ms")
          + f"; of the least {min(own) - min(sides['sh -c true']):.2f} ms")
    for name, _ in rows[1:]:
        ratio = statistics.median(sides[name]) / statistics.median(own)
        word = "within" if ratio >= BAR_RATIO else "BEYOND"
        print(f"  {name} takes {ratio:.1f}x: {word} the bar of {BAR_RATIO}x")


def sampling(sabath, environment, name, title):
    subprocess.run([sabath, "--quiet", "run", name], env=environment, check=True, stdout=subprocess.DEVNULL)
    answer = subprocess.run([sabath, "--json", "show", "@last"], env=environment, check=True, capture_output=True)
    record = json.loads(answer.stdout)
    usage = record["usage"]
    share = usage["sampler_cpu_s"] / record["wall_s"]
    print(f"  {title:<28}{share * 100:.3f} % of a core: {usage['samples']} samples, {usage['sampler_cpu_s'] * 1e3:.1f} ms "
          f"in {record['wall_s']:.1f} s: " + ("within" if share <= BAR_SAMPLING else "BEYOND") + " the bar of 1 %")


def measure(sabath, environment, home, repetitions):
    recipe(home, "trivial", {"run": ["true"]})
    recipe(home, "sleep", {"run": ["sleep", str(SAMPLED_S)]})
    recipe(home, "many", {"run": {"shell": f"for i in $(seq {PROCESSES}); do sleep {SAMPLED_S} & done; wait"}})
    own_time(sabath, environment, home, repetitions)
    print("\nsampling of a run")
    sampling(sabath, environment, "sleep", "of one process")
    sampling(sabath, environment, "many", f"of {PROCESSES} processes")


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
