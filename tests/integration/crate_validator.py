#!/usr/bin/env python3
"""crate_validator.py SABATH FIXTURES: a crate of a run passes roc-validator, required and recommended checks, without a finding.

Needs roc-validator from the package index, and the two contexts of FIXTURES/contexts: nothing else is asked. Exits 77 where one is missing.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

VERSION = "roc-validator==0.13.0"
# A workflow within the crate has an id that is no absolute address: one profile asks for each.
CONTRADICTION = "process-run-crate-0.5_5.1"
VARIANTS = [
    ("process-run-crate-0.5", ("nothing",), []),
    ("process-run-crate-0.5", ("nothing",), ["--anonymous"]),
    ("provenance-run-crate-0.5", (CONTRADICTION,), ["--profile", "provenance"]),
]
RUN = """
import json, pathlib, sys
import rocrate_validator.utils.http as http
from rdflib.plugins.shared.jsonld import context, util

folder = pathlib.Path(sys.argv[2]) / "contexts"
KNOWN = {"ro/crate/1.1/context": "ro-crate-1.1-context.jsonld", "ro/terms/workflow-run": "workflow-run-context.jsonld"}

def text_for(url):
    for part, name in KNOWN.items():
        if part in str(url):
            return (folder / name).read_text()
    raise OSError(f"no other address is asked: {url}")

class Answer:
    status_code = 200
    ok = True
    headers = {"Content-Type": "application/ld+json"}
    def __init__(self, text):
        self.text, self.content = text, text.encode()
    def json(self):
        return json.loads(self.text)
    def raise_for_status(self):
        pass

class Requester:
    def get(self, url, **_):
        return Answer(text_for(url))
    head = get
    def __getattr__(self, name):
        return lambda *_, **__: None
    @staticmethod
    def initialize_cache(*_, **__):
        pass

asked = util.source_to_json
def from_folder(source, *rest, **named):
    if isinstance(source, str) and source.startswith("http"):
        return json.loads(text_for(source)), None
    return asked(source, *rest, **named)

context.source_to_json = from_folder
import rocrate_validator.services
from rocrate_validator import models, services
for module in list(sys.modules.values()):
    if getattr(module, "HttpRequester", None) is not None and module.__name__.startswith("rocrate_validator"):
        module.HttpRequester = Requester
settings = services.ValidationSettings(rocrate_uri=sys.argv[1], profile_identifier=sys.argv[3],
                                       requirement_severity=models.Severity.RECOMMENDED)
result = services.validate(settings)
print(json.dumps([f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues()]))
"""


def main():
    sabath, fixtures = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not (fixtures / "contexts").is_dir():
        print(f"skipped: no contexts in {fixtures}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        python = root / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
        if subprocess.run([python, "-m", "pip", "-q", "install", VERSION]).returncode != 0:
            print("skipped: roc-validator cannot be installed")
            sys.exit(77)
        environment = {**os.environ, "SABATH_HOME": str(root / "home")}
        failed = 0
        for name, fails in (("ok", False), ("failing", True)):
            recipe = root / name
            recipe.mkdir()
            line = 'echo "{{\\"loss\\": 0.5}}" >> $SABATH_METRICS; echo x > {output}/a b.txt'.replace("a b.txt", "'a b.txt'")
            document = {
                "schema": 1,
                "name": name,
                "x-license": "CC-BY-4.0",
                "parameters": {"lr": {"type": "float", "default": 0.1}},
                "stages": [{"name": "go", "run": {"shell": line + ("; exit 3" if fails else "")}, "outputs": ["a b.txt"]}],
                "metrics": {"loss": {"unit": "1", "better": "lower"}},
            }
            (recipe / "recipe.json").write_text(json.dumps(document))
            subprocess.run([sabath, "run", str(recipe), "--seed", "1", "--tag", "group"], env=environment, capture_output=True)
            crate = root / f"{name}.crate.zip"
            for profile, allowed, options in VARIANTS:
                words = [sabath, "export", "@last", "-o", str(crate), "--with-code", "--force", *options]
                subprocess.run(words, env=environment, check=True, capture_output=True)
                done = subprocess.run([python, "-c", RUN, str(crate), str(fixtures), profile], capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"{name}: the validator failed\n{done.stdout}{done.stderr}")
                found = json.loads(done.stdout.splitlines()[-1])
                findings = [finding for finding in found if not finding.startswith(allowed)]
                print(f"{'FAIL' if findings else 'ok  '} {name} {' '.join(options)}: {len(findings)} findings, {len(found)} with those of two profiles that contradict each other")
                for finding in findings:
                    print("  " + finding)
                failed += bool(findings)
        crate = root / "group.crate.zip"
        subprocess.run([sabath, "export", "tag=group", "-o", str(crate), "--with-code"], env=environment, check=True, capture_output=True)
        done = subprocess.run([python, "-c", RUN, str(crate), str(fixtures), "ro-crate-1.1"], capture_output=True, text=True)
        findings = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else [done.stderr]
        print(f"{'FAIL' if findings else 'ok  '} group: {findings}")
        failed += bool(findings)
        sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
