"""The rows of exchange: export of a run with 1 GiB of outputs against zip -0; import of a Croissant document of 1,000 files against mlcroissant.

exchange_bench.py SABATH [N]

MLCROISSANT_PYTHON names a Python that has mlcroissant; else it is installed by the user's pip.
"""

import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from arrays_bench import measured, warm

BAR_EXPORT = 1.2
BAR_MIB = 64
BAR_TIMES = 20
FILES = 1000


def row(name, tool, runs):
    """Prints a line; returns the median of the seconds."""
    if any(run[2] for run in runs):
        sys.exit(f"{name}: {tool}: exit statuses {[run[2] for run in runs]}")
    taken = sorted(run[0] for run in runs)
    median = statistics.median(taken)
    print(f"{name}: {tool} {median:.3f} s ({taken[0]:.3f} to {taken[-1]:.3f}), {max(run[1] for run in runs):.0f} MiB")
    return median


def bench_export(sabath, times, folder):
    if not shutil.which("zip"):
        print("export: zip is not there: Debian has it")
        return
    name = "export of 1 GiB"
    environment = {**os.environ, "SABATH_HOME": str(folder / "home")}
    recipe = folder / "large"
    recipe.mkdir()
    stage = {"name": "make", "outputs": ["big.bin"], "run": {"shell": "head -c 1073741824 /dev/urandom > {output}/big.bin"}}
    (recipe / "recipe.json").write_text(json.dumps({"schema": 1, "name": "large", "x-license": "MIT", "stages": [stage]}))
    subprocess.run([sabath, "run", str(recipe), "--seed", "1"], env=environment, check=True, capture_output=True)
    run = next((folder / "home/runs").glob("large-*"))
    warm(run / "outputs/make/big.bin")
    ours, theirs = [], []
    crate, archive = folder / "r.crate.zip", folder / "z.zip"
    export = [sabath, "export", "@last", "-o", str(crate), "--with-code", "--outputs", "all", "--force"]
    for _ in range(times):
        ours.append(measured(export, environment))
        crate.unlink()
        theirs.append(measured(["zip", "-0", "-q", "-r", str(archive), str(run)], environment))
        archive.unlink()
    ratio = row(name, "sabath export", ours) / row(name, "zip -0", theirs)
    peak = max(one[1] for one in ours)
    word = "within" if ratio <= BAR_EXPORT and peak <= BAR_MIB else "beyond"
    print(f"{name}: {ratio:.2f} of its time with {peak:.0f} MiB, {word} {BAR_EXPORT:g} and {BAR_MIB} MiB")


def python_with_mlcroissant(folder):
    named = os.environ.get("MLCROISSANT_PYTHON")
    if named:
        return named
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = str(folder / "venv/bin/python")
    done = subprocess.run([python, "-m", "pip", "-q", "install", "mlcroissant"], check=False)
    return python if done.returncode == 0 else None


def document_of(folder):
    """A document of files, each with a digest, that both read without a network."""
    files = []
    for number in range(FILES):
        text = f"{number}\n".encode()
        files.append({"@type": "cr:FileObject", "@id": f"f{number}.csv", "name": f"f{number}.csv",
                      "contentUrl": f"https://example.org/f{number}.csv", "encodingFormat": "text/csv",
                      "contentSize": f"{len(text)} B", "sha256": hashlib.sha256(text).hexdigest()})
    context = {"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
               "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo", "citeAs": "cr:citeAs"}
    document = {"@context": context, "@type": "sc:Dataset", "name": "many", "description": "many files", "url": "https://example.org",
                "license": "https://spdx.org/licenses/MIT", "version": "1.0.0", "conformsTo": "http://mlcommons.org/croissant/1.0",
                "distribution": files}
    path = folder / "many.json"
    path.write_text(json.dumps(document))
    return path


def bench_import(sabath, times, folder):
    name = f"import of {FILES} files"
    python = python_with_mlcroissant(folder)
    if not python:
        print("import: mlcroissant cannot be installed")
        return
    path = document_of(folder)
    ours, theirs = [], []
    for number in range(times):
        environment = {**os.environ, "SABATH_HOME": str(folder / f"home-{number}")}
        ours.append(measured([sabath, "import", str(path)], environment))
        tool = str(pathlib.Path(python).parent / "mlcroissant")
        theirs.append(measured([tool, "validate", "--jsonld", str(path)], environment))
    times_faster = row(name, "mlcroissant validate", theirs) / row(name, "sabath import", ours)
    word = "within" if times_faster >= BAR_TIMES else "beyond"
    print(f"{name}: {times_faster:.1f} times faster, {word} {BAR_TIMES}")


def main():
    sabath = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        bench_import(sabath, times, pathlib.Path(folder))
        bench_export(sabath, times, pathlib.Path(folder))


if __name__ == "__main__":
    main()
