#!/usr/bin/env python3
"""ci_parts.py SABATH SOURCE: the action of GitHub and the component of GitLab, as far as they run without the services.

Needs PyPI (or the index of the user's pip) for PyYAML, check-jsonschema and cmarkgfm; without it exits 77. The services' own machines,
their cache, the installation of a .deb and Jacamar are not run.
"""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

SABATH, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PACKAGES = ["PyYAML", "check-jsonschema", "cmarkgfm"]
ATTACKS = [
    "x$(touch pwned)`touch pwned`\"; touch pwned; '; touch pwned; ' && touch pwned | $((a[$(touch pwned)]))",
    "x\ntouch pwned",
    "--help",
    "x\n::set-env name=LD_PRELOAD::x",
]
failures = []


def check(holds, what, answer=None):
    if holds:
        return
    failures.append(what)
    print("ci_parts:", what, file=sys.stderr)
    if answer is not None:
        print(answer.status, answer.output, answer.errors, sep="\n", file=sys.stderr)


def with_packages(folder):
    """Starts this script again in an environment with the packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    asked = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    if subprocess.run(asked, check=False).returncode:
        print("ci_parts: the packages cannot be had: skipped")
        sys.exit(77)
    sys.exit(subprocess.run([python, __file__, SABATH, SOURCE, "--in", folder], check=False).returncode)


def write_recipe(project, loss):
    """A recipe of a tenth of a second whose loss is its seed's, and `loss` more."""
    folder = project / "recipes/tiny"
    folder.mkdir(parents=True, exist_ok=True)
    script = f'echo "{{\\"step\\": 1, \\"loss\\": {loss}.$1}}" >> $SABATH_METRICS\n'
    (folder / "go.sh").write_text(script, encoding="utf-8")
    document = {
        "schema": 1,
        "name": "tiny",
        "environment": {"layers": []},
        "parameters": {"rate": {"type": "int", "default": 1}},
        "deterministic": True,
        "stages": [{"name": "go", "run": ["sh", "{recipe}/go.sh", "{seed}", "{param.rate}"]}],
        "metrics": {"loss": {"unit": "1", "better": "lower"}},
    }
    (folder / "recipe.json").write_text(json.dumps(document), encoding="utf-8")


def accept(project, by):
    """A baseline of seed 1, made in a home of its own."""
    environment = {**os.environ, "SABATH_HOME": str(project / "author")}
    for words in (
        ["run", "recipes/tiny", "--seed", "1", "--tag", "good"],
        ["baseline", "propose", "tag=good", "-o", "recipes/tiny/baseline.json"],
        ["baseline", "accept", "recipes/tiny/baseline.json", "--by", by, "--note", by],
    ):
        subprocess.run([SABATH, *words], cwd=project, env=environment, check=True, capture_output=True)


class Elements(html.parser.HTMLParser):
    """The names of the elements of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)

    def handle_data(self, data):
        self.text += data


def check_comment(markdown, what):
    """A comment has the own markup alone, and nothing that a service reads as a reference."""
    import cmarkgfm  # noqa: PLC0415
    from cmarkgfm.cmark import Options  # noqa: PLC0415

    page = Elements(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))
    own = {"h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code", "details", "summary"}
    check(page.found <= own, f"{what}: the comment has {page.found - own}")
    check(not re.search(r"(@|#|https?://)\w", page.text), f"{what}: the comment refers to others")
    check(len(markdown) <= 65536, f"{what}: the comment is too long")


def check_schemas():
    command = [pathlib.Path(sys.executable).parent / "check-jsonschema", "--builtin-schema"]
    template = (SOURCE / "src/ci/gitlab/templates/check.yml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        # The schema is of one document: the jobs, whose inputs are texts there.
        jobs = pathlib.Path(folder) / "jobs.yml"
        jobs.write_text(template.split("\n---\n")[1], encoding="utf-8")
        for schema, file in (
            ("vendor.github-actions", SOURCE / "src/ci/github/action.yml"),
            ("vendor.gitlab-ci", jobs),
            ("vendor.gitlab-ci", SOURCE / "src/ci/jacamar/check.gitlab-ci.yml"),
        ):
            done = subprocess.run([*command, schema, file], check=False, capture_output=True, text=True)
            check(done.returncode == 0, f"{file} is not of its schema:\n{done.stdout}{done.stderr}")


def check_texts(action, jobs):
    for step in action["runs"]["steps"]:
        check("${{" not in step.get("run", ""), f"an expression is in the shell's text of '{step['name']}'")
    for job in jobs.values():
        for part in ("before_script", "script", "after_script"):
            check("$[[" not in "".join(job[part]), f"an input is in the shell's text of {part}")


def check_github(github, project):
    baseline = "recipes/tiny/baseline.json"
    cases = (
        ("PASS", 0, {"baseline": baseline, "seeds": "1", "require": "bitwise"}),
        ("PASS", 0, {"seeds": "1..2", "arguments": "--repeat\n2\n"}),
        ("INCONCLUSIVE", 3, {"seeds": "1"}),
        ("NOT-COMPARABLE", 4, {"baseline": baseline, "seeds": "1", "arguments": "--set\nrate=2"}),
        ("ERROR", 10, {"recipe": "recipes/none"}),
        ("ERROR", 2, {"require": "exactly"}),
    )
    for verdict, status, inputs in cases:
        answer = github.run(**{"recipe": "recipes/tiny", **inputs})
        check(answer.status == status, f"GitHub: {inputs} ends with {answer.status}, not {status}", answer)
        check(answer.outputs["verdict"] == verdict, f"GitHub: {inputs} is {answer.outputs}")
        check(answer.outputs["status"] == str(status), f"GitHub: {inputs} is {answer.outputs}")
        check(answer.summary.startswith(f"## {verdict}: "), f"GitHub: the summary is\n{answer.summary}")
        check(commands_in(answer.output) == [], f"GitHub: the runner obeys {commands_in(answer.output)}")
        check(answer.used == ["actions/cache@v4"], f"GitHub: {answer.used} are used")
        check_comment(answer.summary, f"GitHub: {inputs}")
        for name in ("junit", "badge", "markdown") if verdict != "ERROR" else ():
            check(pathlib.Path(answer.outputs[name]).stat().st_size > 0, f"GitHub: there is no {name}")
    write_recipe(project, 2)
    answer = github.run(recipe="recipes/tiny", baseline=baseline, seeds="1")
    check(answer.status == 1 and answer.outputs["verdict"] == "FAIL", "GitHub: another loss is no FAIL", answer)
    check("| go/loss | 1.1 | 2.1 | " in answer.summary, f"GitHub: the table is\n{answer.summary}")
    check_comment(answer.summary, "GitHub: FAIL")
    badge = pathlib.Path(answer.outputs["badge"]).read_text(encoding="utf-8")
    check("<title id=\"title\">reproducible: FAIL, tolerance</title>" in badge, f"the badge is\n{badge}")
    write_recipe(project, 1)


def check_attacks(github, gitlab, project):
    for attack in ATTACKS:
        for name in ("recipe", "baseline", "seeds", "require", "arguments", "package", "home", "reports"):
            inputs = {"recipe": "recipes/tiny", name: attack}
            if name in ("home", "reports") and "\n" not in attack and not attack.startswith("-"):
                inputs["recipe"] = "recipes/none"  # such a folder is only strange
            answer = github.run(**inputs)
            check(answer.status not in (0, 127), f"GitHub: {name} '{attack}' ends with {answer.status}", answer)
            check(commands_in(answer.output) == [], f"GitHub: the runner obeys {name} '{attack}'")
            if name == "recipe" or (name not in ("seeds", "require") and "\n" not in attack):
                try:
                    answer = gitlab.run(variables={"TITLE": attack}, **{**inputs, name: "$TITLE"})
                    check(answer.status not in (0, 127), f"GitLab: {name} '{attack}' is taken", answer)
                except ValueError:
                    pass
            check(not list(project.rglob("pwned")), f"'{attack}' as {name} is executed")


def check_installed(make, project):
    """From a tarball and from a wheel. The program of both only starts the one under test."""
    program = f'#!/bin/sh\nexec {SABATH} "$@"\n'
    tree = project / "a b/sabath-1/bin"
    tree.mkdir(parents=True)
    (tree / "sabath").write_text(program, encoding="utf-8")
    (tree / "sabath").chmod(0o755)
    subprocess.run(["tar", "-czf", project / "a b.tar.gz", "-C", project / "a b", "sabath-1"], check=True)
    wheel = project / "tiny_sabath-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        info = zipfile.ZipInfo("tiny_sabath-1.data/scripts/sabath")
        info.external_attr = 0o100755 << 16
        archive.writestr(info, program)
        archive.writestr("tiny_sabath-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-sabath\nVersion: 1\n")
        archive.writestr("tiny_sabath-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny_sabath-1.dist-info/RECORD", "")
    for package in ("a b.tar.gz", wheel.name):
        answer = make("github").run(recipe="recipes/tiny", seeds="1", arguments="--repeat\n2", package=package)
        check(answer.status == 0, f"GitHub: the package {package} ends with {answer.status}", answer)
        answer = make("gitlab").run(recipe="recipes/tiny", seeds="1", arguments="--repeat 2", package=package)
        check(answer.status == 0, f"GitLab: the package {package} ends with {answer.status}", answer)
        subprocess.run(["rm", "-rf", project / ".sabath-program", project / "_temp"], check=True)
    for package in ("none.whl", "recipes/tiny/recipe.json", ""):
        for service in ("github", "gitlab"):
            answer = make(service).run(recipe="recipes/tiny", package=package)
            check(answer.status in (1, 2, 127), f"{service}: the package '{package}' is taken", answer)


def check_gitlab(gitlab, project):
    baseline = "recipes/tiny/baseline.json"
    for status, inputs in (
        (0, {"baseline": baseline, "seeds": "1", "require": "bitwise"}),
        (0, {"seeds": "1..2", "arguments": "--repeat 2"}),
        (3, {"seeds": "1"}),
        (4, {"baseline": baseline, "seeds": "1", "arguments": "--set rate=2"}),
        (10, {"recipe": "recipes/none"}),
    ):
        answer = gitlab.run(**{"recipe": "recipes/tiny", **inputs})
        check(answer.status == status, f"GitLab: {inputs} ends with {answer.status}, not {status}", answer)
        check(answer.after.returncode == 0, f"GitLab: after_script ends with {answer.after.returncode}")
        if status != 10:
            check(answer.junit.stat().st_size > 0, f"GitLab: {inputs} leaves no JUnit report")
    for name, value in (("seeds", "1; touch pwned"), ("require", "exactly")):
        try:
            gitlab.job(recipe="recipes/tiny", **{name: value})
            check(False, f"GitLab: {name} may be '{value}'")
        except ValueError:
            pass


def main():
    check_schemas()
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder)
        tools = project / "tools"
        tools.mkdir()
        (tools / "sabath").symlink_to(SABATH)
        usual = "/usr/local/bin:/usr/bin:/bin"
        action, template = SOURCE / "src/ci/github/action.yml", SOURCE / "src/ci/gitlab/templates/check.yml"

        def make(service, path=usual, shell=("bash", "-eo", "pipefail")):
            if service == "github":
                return GitHub(action, project, path)
            return GitLab(template, project, path, shell)

        with_program = f"{tools}:{usual}"
        write_recipe(project, 1)
        accept(project, "@octocat #1 <img src=x onerror=y> ![a](http://b) | \n::add-mask::a")
        github, gitlab = make("github", with_program), make("gitlab", with_program)
        check_texts(github.action, gitlab.jobs)
        check_github(github, project)
        check_gitlab(gitlab, project)
        check_gitlab(make("gitlab", with_program, ("sh", "-e")), project)
        check_installed(make, project)
        check_attacks(github, gitlab, project)
    return 1 if failures else 0


if __name__ == "__main__":
    if "--in" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            with_packages(pathlib.Path(folder))
    from services import GitHub, GitLab, commands_in  # noqa: E402

    sys.exit(main())
