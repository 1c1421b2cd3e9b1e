#!/usr/bin/env python3
"""gpu_story.py SABATH: what sabath tells of NVIDIA's GPUs, against nvidia-smi on the same machine: names, UUIDs, driver, power limits, and
the energy of a run of some seconds against the power that nvidia-smi shows meanwhile, summed up over time. 77: there is no GPU here."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
RUN_SECONDS = 8
# nvidia-smi shows means of a second, and the energy counter advances in steps of up to 0.1 s: both ends of the run are uncertain.
ENERGY_SHARE = 0.15


def rows(query):
    answer = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"],
                            check=True, stdout=subprocess.PIPE, text=True)
    return [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines() if line.strip()]


def fail(problem):
    sys.exit(f"gpu story: {problem}")


class PowerMeter(threading.Thread):
    """What nvidia-smi shows of each GPU's power, by UUID, as often as it answers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.looks, self.done = [], threading.Event()

    def run(self):
        while not self.done.is_set():
            watts = {uuid: float(power) for uuid, power in rows("uuid,power.draw")}
            self.looks.append((time.monotonic(), watts))

    def joules(self, uuid, seconds):
        """The mean power, for as long as the run says that it took."""
        area = sum((later[0] - earlier[0]) * (later[1][uuid] + earlier[1][uuid]) / 2
                   for earlier, later in zip(self.looks, self.looks[1:]))
        return area / (self.looks[-1][0] - self.looks[0][0]) * seconds


def check_facts(sabath):
    answer = subprocess.run([sabath, "--json", "probe"], check=True, stdout=subprocess.PIPE, text=True)
    told = {gpu["uuid"]: gpu for gpu in json.loads(answer.stdout)["gpus"] if not gpu["uuid"].startswith("MIG-")}
    shown = rows("uuid,name,driver_version,memory.total,enforced.power.limit")
    if sorted(told) != sorted(row[0] for row in shown):
        fail(f"sabath tells {sorted(told)}, nvidia-smi {sorted(row[0] for row in shown)}")
    for uuid, name, driver, memory_mib, limit_w in shown:
        gpu = told[uuid]
        if (gpu["name"], gpu["driver"]) != (name, driver):
            fail(f"{uuid}: sabath tells {gpu['name']}, {gpu['driver']}; nvidia-smi {name}, {driver}")
        if abs(gpu["memory_bytes"] / 2**20 - float(memory_mib)) > 1:
            fail(f"{uuid}: sabath tells {gpu['memory_bytes']} bytes, nvidia-smi {memory_mib} MiB")
        if limit_w.replace(".", "").isdigit() and abs(gpu["power_limit_w"] - float(limit_w)) > 0.1:
            fail(f"{uuid}: sabath tells a limit of {gpu['power_limit_w']} W, nvidia-smi {limit_w} W")
    return [row[0] for row in shown]


def make_run(sabath, folder):
    """A run that only takes time; its record."""
    recipe = folder / "recipe"
    recipe.mkdir()
    stage = {"name": "wait", "run": ["sleep", str(RUN_SECONDS)]}
    (recipe / "recipe.json").write_text(
        json.dumps({"schema": 1, "name": "wait", "environment": {"layers": []}, "stages": [stage]}))
    subprocess.run([sabath, "run", str(recipe)], check=True)
    (record,) = (folder / "home" / "runs").glob("*/record.json")
    return json.loads(record.read_text())


def check_energy(sabath, folder, uuids):
    meter = PowerMeter()
    meter.start()
    record = make_run(sabath, folder)
    meter.done.set()
    meter.join()
    told = {reading["device"]: reading for reading in record["energy_readings"]}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    for uuid in uuids:
        if uuid not in told:
            if visible is None:
                fail(f"{uuid}: the run has no energy of it: {record['energy']}")
            continue
        ours, theirs = told[uuid]["joules"], meter.joules(uuid, record["wall_s"])
        print(f"{uuid}: {ours:.1f} J by {told[uuid]['method']}, {theirs:.1f} J by nvidia-smi's power over {record['wall_s']:.1f} s")
        if abs(ours - theirs) > ENERGY_SHARE * theirs:
            fail(f"{uuid}: the energies are further apart than {ENERGY_SHARE:.0%}")
    shown = [uuid for uuid in uuids if uuid in told]
    used = {gpu["uuid"] for gpu in record["usage"].get("gpus", [])}
    if not shown or not set(shown) <= used:
        fail(f"the run has energy of {shown} and use of {sorted(used)}")


def main():
    if not pathlib.Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is None:
        print("there is no GPU of NVIDIA's here")
        return SKIPPED
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="sabath-gpu-") as name:
        folder = pathlib.Path(name)
        os.environ["SABATH_HOME"] = str(folder / "home")
        check_energy(sabath, folder, check_facts(sabath))
    print("gpu story: told")
    return 0


sys.exit(main())
