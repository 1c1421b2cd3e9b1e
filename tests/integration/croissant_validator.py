#!/usr/bin/env python3
"""croissant_validator.py SABATH: mlcroissant accepts each asset of the catalog that has digests and sources, exported as Croissant.

Needs mlcroissant from the package index; exits 77 without it. Lists the assets that have no digests or sources.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

VERSION = "mlcroissant==1.1.1"
CHECK = "import sys, mlcroissant; d = mlcroissant.Dataset(jsonld=sys.argv[1]); print(len(d.metadata.distribution))"


def main():
    sabath = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        python = root / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
        if subprocess.run([python, "-m", "pip", "-q", "install", VERSION]).returncode != 0:
            print("skipped: mlcroissant cannot be installed")
            sys.exit(77)
        environment = {**os.environ, "SABATH_HOME": str(root / "home")}
        listed = subprocess.run([sabath, "list", "assets", "--json"], env=environment, capture_output=True, text=True, check=True)
        failed, checked, left_out = 0, 0, []
        for one in json.loads(listed.stdout)["documents"]:
            name = one["name"]
            document = json.loads(pathlib.Path(one["path"]).read_text())
            files = document.get("files", []) + document.get("manifest", [])
            whole = files and all(file.get("digest") and (file.get("sources") or document.get("base")) for file in files)
            if one["kind"] != "dataset" or not whole or document.get("withdrawn"):
                left_out.append(name)
                continue
            out = root / f"{name}.json"
            subprocess.run([sabath, "export", f"asset:{name}", "-o", str(out)], env=environment, check=True)
            done = subprocess.run([python, "-c", CHECK, str(out)], capture_output=True, text=True)
            checked += 1
            if done.returncode != 0:
                failed += 1
                print(f"FAIL {name}\n{done.stderr[-2000:]}")
            else:
                print(f"ok   {name}: {done.stdout.strip()} files and sets")
        print(f"{checked} checked, {failed} failed; without digests or sources: {', '.join(left_out)}")
        sys.exit(1 if failed or checked == 0 else 0)


if __name__ == "__main__":
    main()
