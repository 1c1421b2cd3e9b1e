"""Stand-ins for the runners of GitHub and GitLab: what they document of inputs, variables, steps and the files beside them."""

import os
import pathlib
import re
import subprocess

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
INPUT = re.compile(r"\$\[\[\s*inputs\.([a-z-]+)\s*\]\]")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Answer:
    """What a job came to."""

    def __init__(self, status, output, errors, **further):
        self.status, self.output, self.errors = status, output, errors
        self.__dict__.update(further)


def key_values(path):
    """The lines of GITHUB_OUTPUT or GITHUB_ENV, without the form for values of several lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def commands_in(output):
    """Commands that GitHub's runner would obey: lines that begin with `::`, unless they are stopped."""
    stopped, found = None, []
    for line in output.splitlines():
        match = re.match(r"\s*::([^:]*)::(.*)", line)
        if not match:
            continue
        if stopped:
            stopped = None if match[1] == stopped else stopped
        elif match[1] == "stop-commands":
            stopped = match[2]
        else:
            found.append(match[0])
    return found + (["the commands stay stopped"] if stopped else [])


class GitHub:
    """A job with the steps of a composite action. Steps that use another action are not run."""

    def __init__(self, action, workspace, path):
        self.action = yaml.safe_load(action.read_text(encoding="utf-8"))
        self.workspace, self.path = workspace, path

    def value(self, text, inputs, outputs=None):
        def of(match):
            words = match[1].split(".")
            if words[0] == "inputs" and len(words) == 2:
                return inputs[words[1]]
            if outputs is not None and words[0] == "steps" and words[2] == "outputs":
                return outputs.get(words[1], {}).get(words[3], "")
            raise ValueError(f"the stand-in does not know '{match[1]}'")

        return EXPRESSION.sub(of, text)

    def run(self, **given):
        known = self.action["inputs"]
        inputs = {name: one.get("default", "") for name, one in known.items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(given) <= set(known), given
        inputs.update(given)
        temporary = self.workspace / "_temp"
        temporary.mkdir(exist_ok=True)
        summary = temporary / "summary"
        paths = temporary / "path"
        for file in (summary, paths):
            file.write_text("", encoding="utf-8")
        outputs, output, errors, status, used = {}, "", "", 0, []
        for number, step in enumerate(self.action["runs"]["steps"]):
            if "uses" in step:
                used.append(step["uses"])
                continue
            written = {name: temporary / f"{name}{number}" for name in ("output", "env", "state")}
            for file in written.values():
                file.write_text("", encoding="utf-8")
            added = paths.read_text(encoding="utf-8").splitlines()
            environment = {
                "PATH": ":".join([*reversed(added), self.path]),
                "HOME": str(temporary),
                "RUNNER_TEMP": str(temporary),
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_PATH": str(paths),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(written["output"]),
                "GITHUB_ENV": str(written["env"]),
                "GITHUB_STATE": str(written["state"]),
            }
            for name, text in step.get("env", {}).items():
                environment[name] = self.value(text, inputs)
            script = temporary / f"step{number}.sh"
            script.write_text(step["run"], encoding="utf-8")
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
                cwd=self.workspace,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            output, errors, status = output + done.stdout, errors + done.stderr, done.returncode
            outputs[step.get("id", str(number))] = key_values(written["output"])
            assert key_values(written["env"]) == {}
            if status:
                break
        results = {
            name: self.value(one["value"], inputs, outputs) for name, one in self.action["outputs"].items()
        }
        text = summary.read_text(encoding="utf-8")
        return Answer(status, output, errors, outputs=results, summary=text, used=used)


def with_inputs(node, inputs):
    """A part of a component with its inputs filled in, node by node."""
    if isinstance(node, dict):
        return {with_inputs(key, inputs): with_inputs(value, inputs) for key, value in node.items()}
    if isinstance(node, list):
        return [with_inputs(one, inputs) for one in node]
    return INPUT.sub(lambda match: inputs[match[1]], node) if isinstance(node, str) else node


class GitLab:
    """A job of a component: its inputs are checked as the component says, variables are expanded once, scripts are run by a shell."""

    def __init__(self, template, project, path, shell):
        self.spec, self.jobs = yaml.safe_load_all(template.read_text(encoding="utf-8"))
        self.project, self.path, self.shell = project, path, shell

    def job(self, **given):
        inputs = {}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        known = self.spec["spec"]["inputs"]
        assert set(given) <= set(known), given
        for name, rules in known.items():
            value = given[name] if name in given else rules["default"]
            if "regex" in rules and not re.search(rules["regex"], value):
                raise ValueError(f"'{name}' is not of its form")
            if "options" in rules and value not in rules["options"]:
                raise ValueError(f"'{name}' is none of its options")
            inputs[name] = value
        (job,) = with_inputs(self.jobs, inputs).values()
        return job

    def run(self, variables=None, **given):
        job = self.job(**given)
        known = {
            "CI_PROJECT_DIR": str(self.project),
            "CI_PIPELINE_ID": "17",
            "CI_JOB_NAME_SLUG": "reproducible",
            **(variables or {}),
        }
        own = {
            name: VARIABLE.sub(lambda match: known.get(match[1] or match[2], ""), text)
            for name, text in job["variables"].items()
        }
        environment = {"PATH": self.path, "HOME": str(self.project), **known, **own}

        def run(lines):
            return subprocess.run(
                [*self.shell, "-c", "\n".join(lines)],
                cwd=self.project,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        done = run([*job["before_script"], *job["script"]])
        after = run(job["after_script"])
        junit = self.project / job["artifacts"]["reports"]["junit"]
        return Answer(done.returncode, done.stdout, done.stderr, after=after, junit=junit, job=job)
