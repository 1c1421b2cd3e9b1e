#!/usr/bin/env python3
"""HTCondor's tools in the way of a pool without a common file system, after their manuals: what a job sees is what was transferred.

Called as condor_submit, condor_q, condor_history or condor_config_val (links to this file). A job runs within condor_submit, in a
folder of its own, with nothing but the variables of the submit file; the folder _CONDOR_HIDDEN, where the user's files are, is
empty for it, and libraries of sabath's are not installed there. Wants root for that. Keeps what it knows in _CONDOR_STATE. A line of shell in _CONDOR_MISCHIEF is done to what comes back.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

STATE = os.environ["_CONDOR_STATE"]
HIDDEN = os.environ["_CONDOR_HIDDEN"]


def read_submit_file(path):
    settings, count = {}, 0
    for line in open(path):
        line = line.strip()
        if re.match(r"queue\b", line):
            count = int(line.split()[1])
        else:
            name, value = line.split("=", 1)
            settings[name.strip().lower()] = value.strip()
    return settings, count


def expanded(text, cluster, process, settings):
    text = text.replace("$(Cluster)", str(cluster)).replace("$(Process)", str(process))

    def number(match):
        return str(eval(expanded(settings[match[1].lower()], cluster, process, settings), {}))

    return re.sub(r"\$INT\((\w+)\)", number, text)


def transfer(source, target, links=False):
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=links, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def libraries_of(program):
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    names = "spdlog|sqlite3|archive|hwloc"  # nothing else needs these for the jobs of tests
    found = {os.path.realpath(path) for path in re.findall(rf"=> (/\S*/lib(?:{names})\S*\.so\S*)", told)}
    assert found, told
    return sorted(found)


def run_job(cluster, process, settings):
    def value(name):
        return expanded(settings[name], cluster, process, settings)

    with tempfile.TemporaryDirectory() as sandbox:
        transfer(value("executable"), f"{sandbox}/condor_exec.exe")
        inputs = value("transfer_input_files") if "transfer_input_files" in settings else ""
        hidden = []
        for name in filter(None, inputs.split(",")):
            if os.path.basename(name) == "sabath":
                hidden = libraries_of(name)
            transfer(name, f"{sandbox}/{os.path.basename(name)}")
        os.chmod(f"{sandbox}/condor_exec.exe", 0o755)
        variables = dict(item.split("=", 1) for item in value("environment").strip('"').split())
        variables |= {"_CONDOR_SCRATCH_DIR": sandbox, "PATH": "/usr/local/bin:/usr/bin:/bin"}
        with open(value("output"), "wb") as log:
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && for library; do mount --bind /dev/null "$library" || exit; '
                 "done; exec ./condor_exec.exe", HIDDEN, *hidden],
                cwd=sandbox, env=variables, stdout=log, stderr=subprocess.STDOUT)
        subprocess.run(os.environ.get("_CONDOR_MISCHIEF", "true"), shell=True, cwd=sandbox, check=True)
        for name in value("transfer_output_files").split(","):
            if not os.path.exists(f"{sandbox}/{name}"):
                return {"state": 5, "how": 12, "reason": f"Transfer output files failure: {name}: No such file or directory"}
            transfer(f"{sandbox}/{name}", f"{value('initialdir')}/{os.path.basename(name)}", links=True)
    return {"state": 4, "how": done.returncode, "reason": "undefined"}


def jobs():
    return json.load(open(f"{STATE}/jobs.json")) if os.path.exists(f"{STATE}/jobs.json") else {}


def submit(arguments):
    settings, count = read_submit_file(arguments[-1])
    cluster = len({key.split(".")[0] for key in jobs()}) + 1
    shutil.copy(arguments[-1], f"{STATE}/{cluster}.submit")
    known = jobs() | {f"{cluster}.{process}": run_job(cluster, process, settings) for process in range(count)}
    json.dump(known, open(f"{STATE}/jobs.json", "w"))
    print(f"{cluster}.0 - {cluster}.{count - 1}")


def tell(held, arguments):
    if "-factory" in arguments:  # all are materialized at once
        return
    wanted = [word for word in arguments if re.fullmatch(r"\d+(\.\d+)?", word)]
    for key, job in jobs().items():
        is_asked = key in wanted or key.split(".")[0] in wanted
        if is_asked and (job["state"] == 5) == held and "RemoteWallClockTime" not in arguments:
            print(*key.split("."), job["state"], job["how"], job["reason"])


def main():
    name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
    if name == "condor_submit":
        submit(arguments)
    elif name in ("condor_q", "condor_history"):
        tell(name == "condor_q", arguments)
    elif name != "condor_rm":  # all are over when they are handed in
        sys.exit("Not defined: " + " ".join(arguments))


main()
