"""Whether a network fits into memory: found before a training that the kernel would end without a word."""

import math
import pathlib
import resource

from common.report import InputError

VALUE = 4  # bytes of a float32


def needed_bytes(model, batch, slots):
    """Values of all layers for a batch, forward and backward; weights with their gradients and `slots` values of the optimizer each."""
    values = sum(math.prod(layer.output.shape[1:]) for layer in model.layers)
    return VALUE * (2 * batch * values + (2 + slots) * model.count_params())


def number_in(path):
    """The only number of a file; infinite for "max", or where there is no such file."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return math.inf


def free_of(group):
    """What a control group leaves; pages of files that nobody used lately do not count as taken."""
    taken = number_in(group / "memory.current")
    try:
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        taken -= int(statistics["inactive_file"])
    except (OSError, KeyError):
        pass
    limit = number_in(group / "memory.max")
    return math.inf if math.isinf(limit) else limit - taken


def available_bytes(proc=pathlib.Path("/proc"), groups=pathlib.Path("/sys/fs/cgroup")):
    """What the machine, the control groups (version 2) and the limit of addresses leave to this process."""
    sizes = dict(line.split(":", 1) for line in (proc / "meminfo").read_text().splitlines())
    left = [int(sizes["MemAvailable"].split()[0]) * 1024]
    for line in (proc / "self/cgroup").read_text().splitlines():
        if line.startswith("0::/"):
            group = groups / line[4:]
            for folder in (group, *group.parents):
                left.append(free_of(folder))
                if folder == groups:
                    break
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        left.append(limit - int((proc / "self/statm").read_text().split()[0]) * resource.getpagesize())
    return max(0, min(left))


def require_memory(model, batch, slots, hint, available=None):
    """Raises InputError where training needs more than there is."""
    needed, left = needed_bytes(model, batch, slots), available_bytes() if available is None else available
    if needed > left:
        raise InputError(
            "memory", f"the network '{model.name}' needs about {needed / 2**30:.1f} GiB for batches of {batch}; {left / 2**30:.1f} GiB are available", hint
        )
