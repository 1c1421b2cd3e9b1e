"""The rows of the catalog: listing, selecting and showing with 100,000 runs, against MLflow, and making it again.

catalog_bench.py SABATH [N] [RUNS]
"""

import json
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import references

RUNS = 100_000
BAR_MS = 100
BAR_RATIO = 20
BAR_REINDEX_S = 60
BAR_MORE_MS = 10
SELECTED = "123"  # of a parameter that has a thousand values

ASK_MLFLOW = """
import sys, time
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
client = mlflow.MlflowClient()
ids = [mlflow.search_experiments()[0].experiment_id]
newest = mlflow.search_runs(ids, max_results=1).run_id[0]
questions = {"newest": lambda: mlflow.search_runs(ids, max_results=50),
             "selected": lambda: mlflow.search_runs(ids, filter_string=f"params.hidden = '{sys.argv[2]}'"),
             "sorted": lambda: mlflow.search_runs(ids, filter_string="metrics.`forecast/forecast_error` < 0.5", max_results=50,
                                                  order_by=["metrics.`forecast/forecast_error` ASC"]),
             "one": lambda: client.get_run(newest),
             "all": lambda: mlflow.search_runs(ids)}
for line in sys.stdin:
    begin = time.perf_counter()
    questions[line.strip()]()
    print((time.perf_counter() - begin) * 1e3, flush=True)
"""

LIST_MLFLOW = """
import sys
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
print(mlflow.search_runs(experiment_names=["bench"], max_results=50))
"""

MAKE_STORE = """
import json, sys
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
record = json.load(open(sys.argv[2]))
mlflow.set_experiment("bench")
with mlflow.start_run():
    mlflow.log_params(record["parameters"])
    mlflow.log_metrics({f"{m['stream']}/{m['name']}".strip("/"): m["last"] for m in record["metrics"] if m["last"] != "NaN"})
"""


class Marks:
    """Puts marks into a document, which are replaced by other values in its text."""

    def __init__(self):
        self.values = []

    def text(self, value_of):
        self.values.append(value_of)
        return f"@mark{len(self.values) - 1}@"

    def number(self, value_of):
        self.values.append(value_of)
        return f"@number{len(self.values) - 1}@"

    def template(self, document):
        """The pieces between marks, and the values that stand between the pieces."""
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        pieces, between = [], []
        while True:
            at = min((p for p in (text.find("@mark"), text.find('"@number')) if p >= 0), default=-1)
            if at < 0:
                return pieces + [text], between
            is_text = text[at] == "@"
            end = text.index("@" if is_text else '@"', at + 2) + (1 if is_text else 2)
            number = int(text[at:end].strip('"@').removeprefix("mark").removeprefix("number"))
            pieces.append(text[:at])
            between.append(self.values[number])
            text = text[end:]


def letters(number):
    """Eight letters that differ for each number, in no order."""
    number = number * 104_729 % 26**8
    return "".join(chr(97 + number // 26**i % 26) for i in range(8))


def stamp(number, seconds=0.0):
    """A run each five minutes."""
    moment = 1_700_000_000 + 300 * number + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03}Z"


def run_id(number):
    moment = time.gmtime(1_700_000_000 + 300 * number)
    return f"supercell-{time.strftime('%Y%m%d-%H%M%S', moment)}-{letters(number)}"


def hidden(number):
    return number * 7919 % 1000


def templates(folder):
    """Of one real record: its size, what to make others of with other ids, dates, seeds, parameters, metrics; its status."""
    record = json.loads((folder / "record.json").read_text())
    marks = Marks()
    record["created"] = marks.text(stamp)
    record["started"] = marks.text(lambda n: stamp(n, 0.01))
    record["ended"] = marks.text(lambda n: stamp(n, 20))
    record["wall_s"] = marks.number(lambda n: f"{20 + random.random():.6f}")
    record["seed"]["value"] = marks.number(lambda n: str(n))
    record["parameters"]["hidden"] = marks.number(lambda n: str(hidden(n)))
    for metric in record["metrics"]:
        for key in ("first", "last", "min", "max", "mean", "median"):
            metric[key] = marks.number(lambda n: repr(random.random()))
    for facet in record["facets"]:
        if facet["name"] == "parameters":
            facet["items"]["hidden"] = marks.text(lambda n: str(hidden(n)))
        if facet["name"] == "seed":
            facet["items"]["seed"] = marks.text(str)
    record["run_id"] = marks.text(run_id)
    record["reproduce"] = record["reproduce"].replace(folder.name, marks.text(run_id))
    return (folder / "record.json").stat().st_size, marks.template(record), (folder / "status.json").read_bytes()


def multiply(runs, original, wanted):
    size, (pieces, between), status = templates(original)
    for number in range(wanted):
        folder = runs / run_id(number)
        folder.mkdir()
        parts = [pieces[0]]
        for value_of, piece in zip(between, pieces[1:]):
            parts += [value_of(number), piece]
        (folder / "record.json").write_text("".join(parts))
        (folder / "status.json").write_bytes(status)
    return size


def make_home(sabath, environment, home, wanted):
    """A home with `wanted` runs of supercell, of which one is real; the size of its record."""
    begin = time.perf_counter()
    subprocess.run([sabath, "--quiet", "run", "supercell", "--set", "epochs=1", "--seed", "1"],
                   env=environment, check=True, stdout=subprocess.DEVNULL)
    runs = home / "runs"
    original = next(path for path in runs.iterdir() if (path / "record.json").exists())
    size = multiply(runs, original, wanted - 1)
    print(f"\n{wanted} runs as the recipe 'supercell' leaves them, a record has {size} bytes "
          f"(made in {time.perf_counter() - begin:.0f} s)")
    return original


def reindex(sabath, environment, wanted):
    """On two cores, the first time into a new file and then in the place of what there is."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    for title in ("into a new catalog", "in the place of a full one"):
        before = os.times()
        begin = time.perf_counter()
        subprocess.run([sabath, "--quiet", "catalog", "reindex"], env=environment, check=True,
                       stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        seconds = time.perf_counter() - begin
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"  reindex {title}: {seconds:.1f} s, {cpu:.1f} s of cpu, {wanted / seconds:.0f} runs a second, "
              f"{len(cores)} cores: " + bench.against(BAR_REINDEX_S, seconds, "s"))
    stats = subprocess.run([sabath, "--json", "catalog", "stats"], env=environment, check=True, capture_output=True)
    found = json.loads(stats.stdout)
    if found["runs"] != wanted:
        sys.exit(f"reindex: {found['runs']} of {wanted} runs are in the catalog")


def fill_mlflow(tools, folder, original, wanted):
    """Its database, made by itself with one run that has the same parameters and metrics; the others are copies by SQL."""
    uri = f"sqlite:///{folder}/mlflow.db"
    subprocess.run([str(tools / "python"), "-c", MAKE_STORE, uri, str(original / "record.json")],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    database = sqlite3.connect(folder / "mlflow.db")
    for table in ("runs", "params", "metrics", "latest_metrics", "tags"):
        cursor = database.execute(f"select * from {table}")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row)) for row in cursor.fetchall()]

        def copies():
            for number in range(wanted - 1):
                for row in rows:
                    copy = dict(row, run_uuid=f"{number:032x}")
                    if table == "runs":
                        copy["name"] = f"run-{number}"
                        copy["start_time"] -= 300_000 * (number + 1)
                    if table == "params" and row["key"] == "hidden":
                        copy["value"] = str(hidden(number))
                    if table in ("metrics", "latest_metrics"):
                        copy["value"] = random.random()
                    yield tuple(copy.values())

        places = ", ".join("?" for _ in names)
        database.executemany(f"insert into {table} ({', '.join(names)}) values ({places})", copies())
    database.commit()
    database.close()
    return uri


def questions(sabath, environment, wanted, repetitions):
    """Prints the questions' times; returns what is started for each."""
    asked = {"list runs": [sabath, "list", "runs"],
             "a selection by parameter": [sabath, "list", "runs", "--all", f"hidden={SELECTED}"],
             "a selection by a metric, sorted": [sabath, "list", "runs", "forecast_error<0.5", "--sort", "forecast_error"],
            "the same by best values": [sabath, "list", "runs", "best.forecast_error<0.01", "--sort", "best.forecast_error"],
            "show RUN": [sabath, "show", run_id(wanted // 2)],
             "show @last": [sabath, "show", "@last"],
             "list runs --all": [sabath, "list", "runs", "--all"]}
    print("\nquestions, each by a process of its own")
    for title, argv in asked.items():
        times = [bench.start(argv, environment) * 1e3 for _ in range(repetitions + 1)][1:]
        # The bar is for what a person reads: --all writes a line for each run.
        verdict = "" if title == "list runs --all" else ": " + bench.against(BAR_MS, statistics.median(times), "ms")
        print(f"  {title:<33}{bench.spread(times)}{verdict}")
    return asked


def ratio(title, theirs, ours, times, has_bar=True):
    """A row: how many times as long as ours MLflow takes."""
    times_as_long = statistics.median(theirs) / statistics.median(times)
    word = f": {'within' if times_as_long >= BAR_RATIO else 'BEYOND'} the bar of {BAR_RATIO}x" if has_bar else ""
    print(f"  {title}\n    {bench.spread(theirs)}\n    {bench.spread(times)}  {ours}\n    {times_as_long:.1f}x{word}")


def ask_in_turn(mlflow, question, argv, environment, repetitions):
    """MLflow's times and ours, A B A B; the first of each is not counted where there are more."""
    theirs, ours = [], []
    for _ in range(repetitions + 1 if repetitions > 1 else 1):
        mlflow.stdin.write(question + "\n")
        mlflow.stdin.flush()
        theirs.append(float(mlflow.stdout.readline()))
        ours.append(bench.start(argv, environment) * 1e3)
    return (theirs[1:], ours[1:]) if repetitions > 1 else (theirs, ours)


def against_mlflow(tools, folder, original, wanted, asked, environment, repetitions):
    """Both ways: within one Python that runs already and has imported all, and as a whole process, as ours always is."""
    uri = fill_mlflow(tools, folder, original, wanted)
    print("\nMLflow with as many runs in its SQLite, asked within one process that runs already; each question to sabath is a process")
    with subprocess.Popen([str(tools / "python"), "-c", ASK_MLFLOW, uri, SELECTED], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as mlflow:
        for title, question, ours, count in (
                ("search_runs(max_results=50)", "newest", "list runs", repetitions),
                ("search_runs by parameter", "selected", "a selection by parameter", repetitions),
                ("search_runs by a metric, sorted", "sorted", "a selection by a metric, sorted", repetitions),
                ("get_run", "one", "show RUN", repetitions),
                ("search_runs(), which answers with all runs", "all", "list runs --all", 1)):
            pair = ask_in_turn(mlflow, question, asked[ours], environment, count)
            ratio(title, pair[0], ours, pair[1], has_bar=question != "one")
            if question == "all":
                times = [bench.start(asked["list runs"], environment) * 1e3 for _ in range(repetitions)]
                ratio("the same, typed as it is, and what is typed here", pair[0], "list runs", times)
        mlflow.stdin.close()
    print("\na whole process of Python, which imports mlflow first, and one of sabath")
    argv = [str(tools / "python"), "-c", LIST_MLFLOW, uri]
    ours, theirs = bench.alternate(asked["list runs"], argv, environment, repetitions)
    ratio("search_runs(max_results=50)", theirs, "list runs", ours)


def among_many(sabath, environment, home, repetitions):
    """A run in this home and in one that has few."""
    few = home / "few"
    small = dict(environment, SABATH_HOME=str(few))
    for folder in (home, few):
        recipe = folder / "recipes" / "trivial"
        recipe.mkdir(parents=True)
        (recipe / "recipe.json").write_text(
            '{"schema": 1, "name": "trivial", "stages": [{"name": "one", "run": ["true"]}]}')
    argv = [sabath, "--quiet", "run", "trivial"]
    sides = ([], [])
    for round_number in range(repetitions + 1):
        for times, where in zip(sides, (environment, small)):
            seconds = bench.start(argv, where)
            if round_number > 0:
                times.append(seconds * 1e3)
    print("\na run of 'true' among them")
    print(f"  {'among all of them':<28}{bench.spread(sides[0])}\n  {'in a home that has few':<28}{bench.spread(sides[1])}")
    print("  " + bench.against(BAR_MORE_MS, statistics.median(sides[0]) - statistics.median(sides[1]), "ms more"))


def measure(sabath, environment, home, repetitions, wanted):
    original = make_home(sabath, environment, home, wanted)
    reindex(sabath, environment, wanted)
    asked = questions(sabath, environment, wanted, repetitions)
    among_many(sabath, environment, home, repetitions)
    against_mlflow(references.tools(home), home, original, wanted, asked, environment, min(repetitions, 5))


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else RUNS
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment["SABATH_HOME"] = folder
        environment["SABATH_CONFIG"] = str(pathlib.Path(folder) / "config")
        measure(sabath, environment, pathlib.Path(folder), repetitions, wanted)


if __name__ == "__main__":
    main()
