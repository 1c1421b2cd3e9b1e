"""make_events.py FOLDER: writes the event files beside this script anew, with the real packages.

Needs tensorboardX and tensorboard of PyPI (these files are of tensorboardX 2.6.5 and tensorboard 2.21.0).
The first writes a scalar as `simple_value`, the second as a tensor. values.json has what was written.
"""

import json
import pathlib
import sys

import numpy
import tensorboard.summary
import tensorboardX

STEPS = 50


def value_at(step):
    """A float32, as both formats keep it; and the exact double of it."""
    return float(numpy.float32(1.0 / (step + 1)))


def main(folder):
    special = [0.1, float("nan"), float("inf"), float("-inf"), -0.0]
    with tensorboardX.SummaryWriter(str(folder / "x")) as writer:
        for step in range(STEPS):
            writer.add_scalar("loss/train", value_at(step), step, walltime=1.7e9 + step)
        for step, value in enumerate(special):
            writer.add_scalar("special", value, 10 * step, walltime=1.7e9 + step)
        writer.add_text("words", "not a scalar", 0)
        writer.add_histogram("weights", numpy.arange(10), 0)
    writer = tensorboard.summary.Writer(str(folder / "tensor"))
    for step in range(STEPS):
        writer.add_scalar("loss/train", numpy.float32(value_at(step)), step, wall_time=1.7e9 + step)
    writer.close()
    with tensorboardX.SummaryWriter(str(folder / "three")) as writer:
        for value in (1, 2, 3):
            writer.add_scalar("v", value, value, walltime=1.7e9 + value)
    values = {"loss/train": [value_at(step) for step in range(STEPS)]}
    (folder / "values.json").write_text(json.dumps(values, indent=1) + "\n")
    for kind in ("x", "tensor", "three"):
        (file,) = (folder / kind).iterdir()
        file.rename(folder / f"{kind}.tfevents")
        (folder / kind).rmdir()


main(pathlib.Path(sys.argv[1]))
