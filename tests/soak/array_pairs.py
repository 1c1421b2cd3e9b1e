#!/usr/bin/env python3
"""array_pairs.py SABATH: 'sabath compare' of generated file pairs against NumPy, h5py and netCDF4, which say what is equal.

Each slice has a seed of its own, so that a disagreement repeats with --seed. A pair is two files of many arrays; the second has the first's
values, but for those that a mutation changed. What the Python readers see of both decides: each array is equal to the bit or not, and
'compare --require bitwise --json' must say the same of each. The packages are installed into a virtual environment once (--venv).

  --kinds npz,npy,hdf5,netcdf,csv,metrics   --pairs 100 (of each kind)   --arrays 50 (a file)   --seed 1   --keep FOLDER (disagreeing pairs)
"""
import argparse, json, os, pathlib, random, shutil, subprocess, sys, tempfile, time
from decimal import Decimal

PACKAGES = ["numpy", "h5py", "netCDF4"]


def in_environment(venv):
    """Starts this program again with the Python that has the packages."""
    python = pathlib.Path(venv) / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if pathlib.Path(sys.prefix).resolve() != pathlib.Path(venv).resolve():
        os.execv(python, [str(python), *sys.argv])


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("sabath")
parser.add_argument("--kinds", default="npz,npy,hdf5,netcdf,csv,metrics")
parser.add_argument("--pairs", type=int, default=100)
parser.add_argument("--arrays", type=int, default=50)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--venv", default=str(pathlib.Path.home() / ".cache/sabath-array-pairs"))
parser.add_argument("--no-venv", action="store_true", help="with the Python that runs this")
parser.add_argument("--keep", help="folder for disagreeing pairs")
options = parser.parse_args()
if not options.no_venv:
    in_environment(options.venv)

try:
    import numpy as np
except ImportError:
    print("SKIPPED: no numpy")
    sys.exit(77)
try:
    import h5py
except ImportError:
    h5py = None
try:
    import netCDF4
except ImportError:
    netCDF4 = None

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
SPECIAL = {  # bits
    "f2": [0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7E01, 0xFE00, 0x7D01, 0x0001, 0x8001, 0x7BFF, 0x3C00, 0x3C01],
    "f4": [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00001, 0xFFC00000, 0x7F800001, 1, 0x80000001, 0x7F7FFFFF, 0x3F800000, 0x3F800001],
    "f8": [0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF8 << 48) + 1, 0xFFF8 << 48, (0x7FF << 52) + 1, 1, (1 << 63) + 1,
           0x7FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001],
}
BIG = [2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, 2**63 - 2, -(2**63), 2**64 - 1, 2**64 - 2, 1839201938472018101, 1839201938472018102, 0, 1, -1, 2**31, 2**32]


class Random(random.Random):
    def shape(self, most=4):
        kind = self.random()
        if kind < 0.15:
            return ()
        if kind < 0.25:
            return tuple(self.choice([0, 1, 2]) for _ in range(self.randint(1, 3)))
        return tuple(self.randint(1, most) for _ in range(self.randint(1, 3)))

    def bits(self, count):
        return np.frombuffer(self.randbytes(count), np.uint8).copy()

    def number(self, code, shape):
        count = int(np.prod(shape))
        size = int(code[1:])
        values = self.bits(count * size).view(code).copy()
        if code in SPECIAL:
            words = values.view("u%d" % size)
            for i in range(count):
                if self.random() < 0.4:
                    words[i] = self.choice(SPECIAL[code])
        else:
            low, high = np.iinfo(code).min, np.iinfo(code).max
            for i in range(count):
                if self.random() < 0.4:
                    values[i] = min(max(self.choice(BIG), low), high)
        return values.reshape(shape)

    def text(self, most=6):
        return "".join(self.choice("abcXYZ 019é") for _ in range(self.randint(0, most))).rstrip()

    def code(self):
        return self.choice(INTEGERS + FLOATS + FLOATS)


def ordered(rng, values):
    """The same values in either byte order."""
    return values.astype(values.dtype.newbyteorder(rng.choice("<>"))) if values.dtype.itemsize > 1 else values


def plain_array(rng):
    """One array of any type that NPY has."""
    shape, kind = rng.shape(), rng.random()
    if kind < 0.55:
        return ordered(rng, rng.number(rng.code(), shape))
    if kind < 0.62:
        return rng.number("u1", shape).astype("?")
    if kind < 0.70:
        part = rng.choice(["f4", "f8"])
        values = np.empty(shape, "c8" if part == "f4" else "c16")
        values.real, values.imag = rng.number(part, shape), rng.number(part, shape)
        return ordered(rng, values)
    if kind < 0.78:
        return rng.number("i8", shape).view(rng.choice(["M8[ns]", "M8[D]", "m8[us]"])).reshape(shape)
    if kind < 0.86:
        return np.array([rng.text() for _ in range(int(np.prod(shape)))], rng.choice(["U6", "U9"])).reshape(shape)
    if kind < 0.92:
        return np.array([rng.text().encode("latin1") for _ in range(int(np.prod(shape)))], rng.choice(["S6", "S9"])).reshape(shape)
    fields = [("abcdef"[i], rng.choice("<>") + rng.code()) for i in range(rng.randint(1, 3))]
    values = np.zeros(shape, fields)
    for name, code in fields:
        values[name] = rng.number(code[1:], shape)
    return values


def mutated(rng, values):
    """Another array than `values`, mostly by very little; sometimes the same in another form."""
    kind = rng.random()
    if values.dtype.kind in "US":
        if values.size == 0 or kind < 0.2:
            return values.astype(values.dtype.kind + "12")
        other = values.astype(values.dtype.kind + "12")
        other.flat[rng.randrange(other.size)] = rng.text(12).encode("latin1") if values.dtype.kind == "S" else rng.text(12)
        return other
    if kind < 0.12:
        return values.reshape(values.shape + (1,)) if rng.random() < 0.5 or values.ndim < 2 else values.reshape(values.shape[::-1])
    if kind < 0.24 and values.dtype.kind in "iuf":
        turned = {"i": "u", "u": "i", "f": "i"}[values.dtype.kind] + str(values.dtype.itemsize)
        return values.astype(values.dtype.newbyteorder("=")).view(turned) if values.shape else values
    if kind < 0.36:
        return ordered(rng, values) if values.dtype.names is None else values.copy()
    if kind < 0.45 and values.ndim > 1:
        return np.asfortranarray(values)
    other = np.ascontiguousarray(values).reshape(values.shape).copy()
    if other.size == 0:
        return np.zeros(other.shape, "f8")
    raw = other.reshape(-1).view(np.uint8)
    at = rng.randrange(raw.size)
    raw[at] ^= 1 if other.dtype.kind == "b" else 1 << rng.randrange(8)
    if other.dtype.kind == "b":  # one byte is 0 or 1
        other = (raw.reshape(-1, other.dtype.itemsize)[:, 0] & 1).astype("?").reshape(values.shape)
    return other


# What a Python reader sees of an array, so that two are equal if these are.


def seen(values):
    values = np.asarray(values)
    if values.dtype.names:
        return tuple((name, seen(values[name])) for name in values.dtype.names)
    if values.dtype.kind in "US":  # width is no content
        texts = [v.decode("latin1") if isinstance(v, bytes) else str(v) for v in values.reshape(-1).tolist()]
        return ("text", values.shape, tuple(texts))
    native = values.astype(values.dtype.newbyteorder("="))
    return (native.dtype.str[1:], values.shape, np.ascontiguousarray(native).tobytes())


def all_nan(values):
    values = np.asarray(values)
    if values.dtype.names:
        return any(all_nan(values[name]) for name in values.dtype.names)
    if values.dtype.kind == "c":
        return values.size > 0 and bool(np.isnan(values.real).all() or np.isnan(values.imag).all())
    return values.dtype.kind == "f" and values.size > 0 and bool(np.isnan(values).all())


class Pair:
    """A generated pair: `equal` says of each array what its reader says, `nan` that one side is only NaN on both."""

    def __init__(self, a, b):
        self.a, self.b, self.equal, self.nan = a, b, {}, set()

    def see(self, name, of_a, of_b):
        self.equal[name] = of_a is not None and of_b is not None and of_a == of_b


def npz_pair(rng, folder, count):
    pair = Pair(folder / "a.npz", folder / "b.npz")
    of_a, of_b = {}, {}
    for i in range(count):
        name = "x%03d" % i
        of_a[name] = plain_array(rng)
        of_b[name] = of_a[name] if rng.random() < 0.5 else mutated(rng, of_a[name])
        if rng.random() < 0.01:
            del of_b[name]
    np.savez(pair.a, **of_a)
    (np.savez_compressed if rng.random() < 0.3 else np.savez)(pair.b, **of_b)
    a, b = np.load(pair.a), np.load(pair.b)
    for name in a.files:
        pair.see(name, seen(a[name]), seen(b[name]) if name in b.files else None)
    return pair


def npy_pair(rng, folder, _):
    pair = Pair(folder / "a.npy", folder / "b.npy")
    values = plain_array(rng)
    np.save(pair.a, values)
    np.save(pair.b, values if rng.random() < 0.5 else mutated(rng, values))
    pair.see("data", seen(np.load(pair.a)), seen(np.load(pair.b)))
    return pair


def put_hdf5(rng, parent, name, values, plain):
    """`values`: an array, an enumeration (array, names), texts of any length, sequences, or nothing."""
    made = {}
    kind, content = values
    if kind == "null":
        return parent.create_dataset(name, data=h5py.Empty("f8"))
    if kind == "enum":
        made["dtype"] = h5py.enum_dtype(content[1], basetype=content[0].dtype)
        content = content[0]
    if kind == "texts":
        made["dtype"] = h5py.string_dtype()
    if kind == "sequences":
        made["dtype"] = h5py.vlen_dtype(np.dtype("i4"))
        dataset = parent.create_dataset(name, (len(content),), **made)
        for i, one in enumerate(content):
            dataset[i] = one
        return dataset
    if kind == "time":
        made["dtype"] = h5py.opaque_dtype(content.dtype)
        content = content.astype(made["dtype"])
    if kind == "array" and content.size > 1 and content.ndim > 0 and not plain and rng.random() < 0.4:
        made.update(chunks=tuple(max(1, n // 2) for n in content.shape))
        if rng.random() < 0.6:
            made.update(compression="gzip", shuffle=rng.random() < 0.5, fletcher32=rng.random() < 0.3)
    return parent.create_dataset(name, data=content, **made)


def hdf5_values(rng):
    kind = rng.random()
    if kind < 0.68:
        values = plain_array(rng)
        while values.dtype.kind in "MmU":
            values = plain_array(rng)
        return ("array", values)
    if kind < 0.76:
        return ("enum", (rng.number("u1", rng.shape()) % 3, {"red": 0, "green": 1, "blue": 2}))
    if kind < 0.84:
        shape = rng.shape()
        return ("texts", np.array([rng.text(30) for _ in range(int(np.prod(shape)))], object).reshape(shape))
    if kind < 0.90:
        return ("sequences", [rng.number("i4", (rng.randint(0, 3),)) for _ in range(rng.randint(1, 4))])
    if kind < 0.95:
        return ("time", rng.number("i8", (3,)).view("M8[ns]"))
    return ("null", None)


def mutated_hdf5(rng, values):
    kind, content = values
    if kind == "array":
        other = mutated(rng, content)
        return (kind, other)
    if kind == "enum":
        if rng.random() < 0.5:
            return (kind, (content[0], {"red": 1, "green": 0, "blue": 2}))
        return (kind, (content[0], dict(content[1], black=9)))
    if kind == "texts" and content.size:
        other = content.copy()
        other.flat[rng.randrange(other.size)] = rng.text(30)
        return (kind, other)
    if kind == "sequences":
        other = [one.copy() for one in content]
        at = rng.randrange(len(other))
        other[at] = np.append(other[at], np.int32(0)) if rng.random() < 0.5 else other[at] ^ 1
        return (kind, other)
    if kind == "time":
        return (kind, content.view("i8").view("M8[us]"))
    if kind == "null":
        return ("array", np.zeros((0,), "f8"))
    return values


def seen_hdf5(item):
    """Of a data set, or of an attribute (its AttrManager and name)."""
    if isinstance(item, h5py.Dataset):
        shape, dtype, read = item.shape, item.dtype, lambda: item[()]
    else:
        owner, name = item
        identity = owner.get_id(name)
        shape, dtype, read = owner[name].shape if not isinstance(owner[name], h5py.Empty) else None, identity.dtype, lambda: owner[name]
        shape = None if isinstance(owner[name], h5py.Empty) else identity.shape
    if shape is None:
        return ("null", str(dtype))
    enum = h5py.check_enum_dtype(dtype)
    values = read()
    if h5py.check_vlen_dtype(dtype) is not None:
        return ("sequences", shape, tuple(seen(one) for one in np.asarray(values, object).reshape(-1)))
    if h5py.check_string_dtype(dtype) is not None:
        texts = np.asarray(values, object).reshape(-1)
        return ("text", shape, tuple(t if isinstance(t, bytes) else str(t).encode() for t in texts))
    content = seen(values)
    return content if enum is None else (content, tuple(sorted(enum.items())))


def hdf5_pair(rng, folder, count):
    pair = Pair(folder / "a.h5", folder / "b.h5")
    blocks = [rng.choice([0, 0, 0, 512]), 0]
    blocks[1] = blocks[0] if rng.random() < 0.9 else rng.choice([0, 512, 1024])
    with h5py.File(pair.a, "w", userblock_size=blocks[0]) as a, h5py.File(pair.b, "w", userblock_size=blocks[1]) as b:
        for i in range(count):
            name = rng.choice(["x%03d", "g/x%03d", "g/h/x%03d"]) % i
            values = hdf5_values(rng)
            other = values if rng.random() < 0.5 else mutated_hdf5(rng, values)
            of_a = put_hdf5(rng, a, name, values, True)
            if rng.random() < 0.01:
                continue
            of_b = put_hdf5(rng, b, name, other, False)
            if rng.random() < 0.3:
                value = ordered(rng, rng.number(rng.code(), rng.shape()))
                of_a.attrs["note"] = value
                of_b.attrs["note"] = value if rng.random() < 0.5 else mutated(rng, value)
    written = bytes(rng.choice(b"ab") for _ in range(8))
    for path, size in zip((pair.a, pair.b), blocks):
        if size:
            with open(path, "r+b") as file:
                file.write(written if rng.random() < 0.8 else b"another.")
    if blocks[0] or blocks[1]:
        begin = [open(path, "rb").read(size) for path, size in zip((pair.a, pair.b), blocks)]
        pair.see("(user block)", begin[0] or None, begin[1] or None)
    with h5py.File(pair.a) as a, h5py.File(pair.b) as b:
        def visit(name, item):
            if not isinstance(item, h5py.Dataset):
                return
            pair.see(name, seen_hdf5(item), seen_hdf5(b[name]) if name in b else None)
            if "note" in item.attrs and name in b:
                pair.see(name + "@note", seen_hdf5((item.attrs, "note")), seen_hdf5((b[name].attrs, "note")))
        a.visititems(visit)
    return pair


def netcdf_pair(rng, folder, count):
    pair = Pair(folder / "a.nc", folder / "b.nc")
    form = rng.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
    codes = ["i1", "i2", "i4", "f4", "f8"] + (["u1", "u2", "u4", "i8", "u8"] if form in ("NETCDF3_64BIT_DATA", "NETCDF4") else [])
    with netCDF4.Dataset(pair.a, "w", format=form) as a, netCDF4.Dataset(pair.b, "w", format=form) as b:
        lengths = {"n%d" % i: rng.randint(1, 4) for i in range(4)}
        for name, length in lengths.items():
            for file in (a, b):
                file.createDimension(name, length)
        if rng.random() < 0.5:
            a.createDimension("unused", 3)
            b.createDimension("unused", rng.choice([3, 3, 4]))
        for i in range(count):
            dims = tuple(rng.sample(sorted(lengths), rng.randint(0, 2)))
            code = rng.choice(codes)
            values = rng.number(code, tuple(lengths[d] for d in dims))
            other = values.copy()
            if rng.random() < 0.5 and other.size:
                raw = other.reshape(-1).view(np.uint8)
                raw[rng.randrange(raw.size)] ^= 1 << rng.randrange(8)
            for file, content in ((a, values), (b, other)):
                variable = file.createVariable("x%03d" % i, code, dims)
                variable.set_auto_maskandscale(False)
                variable[...] = content
            if rng.random() < 0.3:
                note = rng.text(10) or "m"
                a["x%03d" % i].note = note
                b["x%03d" % i].note = note if rng.random() < 0.5 else note + "!"
    with netCDF4.Dataset(pair.a) as a, netCDF4.Dataset(pair.b) as b:
        for file in (a, b):
            file.set_auto_maskandscale(False)
        unused = [len(f.dimensions["unused"]) if "unused" in f.dimensions else None for f in (a, b)]
        if unused[0] is not None:
            name = "unused" if form == "NETCDF4" else "@(dimensions)"
            pair.see(name, unused[0], unused[1])
        for name in a.variables:
            pair.see(name, (a[name].dimensions, seen(a[name][...])), (b[name].dimensions, seen(b[name][...])))
            if "note" in a[name].ncattrs():
                pair.see(name + "@note", a[name].note, b[name].note)
    return pair


def csv_value(text):
    """What a cell is to a reader that loses no digit of whole numbers."""
    try:
        exact = Decimal(text)
        number = float(text)
    except ArithmeticError:
        return text
    digits, exponent = exact.as_tuple()[1:] if exact.is_finite() else ((), 0)
    is_written = exact.is_finite() and exponent <= 0 and exact == exact.to_integral_value()
    if is_written and abs(exact) >= 2**53:
        return exact
    return np.float64(number).tobytes()


def csv_pair(rng, folder, count):
    pair = Pair(folder / "a.csv", folder / "b.csv")
    rows = rng.choice([0, 1, 3, 8, 8, 8])
    of_a, of_b = [], []
    for _ in range(count):
        kind = rng.random()
        behind = rng.choice(["", ".0", "e0", ".00"])
        if kind < 0.4:
            column = [str(rng.choice(BIG) + rng.randint(0, 3)) + behind for _ in range(rows)]
        elif kind < 0.8:
            column = [repr(float(v)) for v in rng.number("f8", (rows,))]
            column = ["nan" if v == "nan" else v for v in column]
        else:
            column = ["t" + rng.text() for _ in range(rows)]
        other = list(column)
        if rows and rng.random() < 0.5:
            at = rng.randrange(rows)
            if kind < 0.4:
                other[at] = str(int(Decimal(column[at])) ^ 1) + behind
            elif kind < 0.8:
                other[at] = repr(float(np.nextafter(float(column[at]), 0)))
            else:
                other[at] = "t" + rng.text()
        of_a.append(column)
        of_b.append(other)
    for path, columns in ((pair.a, of_a), (pair.b, of_b)):
        lines = [",".join("c%03d" % i for i in range(count))]
        lines += [",".join(column[row] for column in columns) for row in range(rows)]
        path.write_text("\n".join(lines) + "\n")
    for i in range(count):
        pair.see("c%03d" % i, [csv_value(v) for v in of_a[i]], [csv_value(v) for v in of_b[i]])
    return pair


GENERATORS = {"npz": npz_pair, "npy": npy_pair, "hdf5": hdf5_pair, "netcdf": netcdf_pair, "csv": csv_pair}


def items_of(answer, single):
    """Of each name whether 'compare' says that all that belongs to it is equal to the bit."""
    said = {}
    for item in answer["outputs"]:
        said[item["name"].lstrip("/")] = item.get("strongest") == "bitwise"
    return said


def belongs(item, name):
    return item == name or item.startswith((name + "/", name + "@(", name + "@_"))


def disagreements(pair, answer):
    said = items_of(answer, len(pair.equal) == 1)
    owner = {}
    for item in said:  # the longest name that it belongs to
        for name in (item, item.split("@(")[0], item.rsplit("/", 1)[0], item.rsplit("/", 1)[0].split("@(")[0], item.split("@(")[0].rsplit("/", 1)[0]):
            if name in pair.equal:
                owner.setdefault(name, []).append(item)
                break
    found = []
    for name, equal in pair.equal.items():
        items = owner.get(name, [])
        if not items:
            found.append("%s: not in the answer" % name)
        elif all(said[item] for item in items) != equal:
            found.append("%s: Python says %s, compare says %s" % (name, equal, {item: said[item] for item in items}))
    expected = "PASS" if all(pair.equal.values()) else "FAIL"
    if answer["result"] not in (expected, "INCONCLUSIVE" if expected == "PASS" else expected):
        found.append("result: %s, expected %s" % (answer["result"], expected))
    return found


def compare(sabath, a, b, environment):
    done = subprocess.run([sabath, "compare", str(a), str(b), "--require", "bitwise", "--json"], capture_output=True, text=True, env=environment)
    return json.loads(done.stdout), done


def files_slice(kind, seed, sabath, environment, counts):
    rng = Random("%s %d" % (kind, seed))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        pair = GENERATORS[kind](rng, folder, options.arrays)
        answer, done = compare(sabath, pair.a, pair.b, environment)
        if "result" not in answer:
            found = ["no answer: %s%s" % (done.stdout[:300], done.stderr[:300])]
        else:
            found = disagreements(pair, answer)
        counts["pairs"] += 1
        counts["arrays"] += len(pair.equal)
        counts["equal"] += sum(pair.equal.values())
        counts["inconclusive"] += answer.get("result") == "INCONCLUSIVE"
        if found and options.keep:
            shutil.copytree(folder, pathlib.Path(options.keep) / ("%s-%d" % (kind, seed)), dirs_exist_ok=True)
        return found


RECIPE = {"schema": 1, "name": "metrics", "require": "bitwise",
          "parameters": {"file": {"type": "string", "default": "", "affects": "execution"}},
          "stages": [{"name": "go", "run": ["sh", "-c", "cat {param.file} > $SABATH_METRICS"]}]}


def metric_value(rng):
    return rng.choice([rng.choice(BIG) + rng.randint(0, 3), rng.randint(-(10**30), 10**30), rng.random(), float(rng.choice(BIG)), rng.randint(0, 99)])


def metrics_slice(seed, sabath, environment, counts):
    rng = Random("metrics %d" % seed)
    names = ["m%03d" % i for i in range(options.arrays)]
    of_a = {name: metric_value(rng) for name in names}
    of_b = {}
    for name, value in of_a.items():
        of_b[name] = value if rng.random() < 0.5 else value + 1 if isinstance(value, int) else float(np.nextafter(value, np.inf))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        home = dict(environment, SABATH_HOME=str(folder / "home"))
        recipe = dict(RECIPE, metrics={name: {"from": "jsonl"} for name in names})
        (folder / "metrics").mkdir()
        (folder / "metrics/recipe.json").write_text(json.dumps(recipe))
        ids = []
        for side, values in (("a", of_a), ("b", of_b)):
            (folder / side).write_text(json.dumps(values) + "\n")
            subprocess.run([sabath, "run", str(folder / "metrics"), "--seed", "1", "--set", "file=%s" % (folder / side)], check=True,
                           capture_output=True, env=home)
            shown = subprocess.run([sabath, "list", "runs", "--json"], capture_output=True, text=True, check=True, env=home)
            ids = [run["run_id"] if "run_id" in run else run["id"] for run in json.loads(shown.stdout)["runs"]]
        answer, done = compare(sabath, "@last~1", "@last", home)
        if "metrics" not in answer:
            return ["no answer: %s%s" % (done.stdout[:300], done.stderr[:300])]
        said = {item["name"].split("/")[1]: item.get("strongest") == "bitwise" for item in answer["metrics"]}
        counts["pairs"] += 1
        counts["arrays"] += len(names)
        # Python's numbers compare exactly, also a whole one with a floating-point one.
        equal = {name: of_a[name] == of_b[name] for name in names}
        counts["equal"] += sum(equal.values())
        return ["%s: Python says %s, compare says %s (%r, %r)" % (name, equal[name], said.get(name), of_a[name], of_b[name])
                for name in names if said.get(name) != equal[name]]


def main():
    environment = dict(os.environ)
    kinds = [kind for kind in options.kinds.split(",") if kind]
    with tempfile.TemporaryDirectory() as home:
        environment["SABATH_HOME"] = home
        sabath = str(pathlib.Path(options.sabath).resolve())
        bad = 0
        for kind in kinds:
            if (kind == "hdf5" and h5py is None) or (kind == "netcdf" and netCDF4 is None):
                print("%s: SKIPPED: no package" % kind)
                continue
            counts = dict(pairs=0, arrays=0, equal=0, inconclusive=0)
            begun, disagreeing = time.monotonic(), 0
            for seed in range(options.seed, options.seed + options.pairs):
                found = metrics_slice(seed, sabath, environment, counts) if kind == "metrics" else files_slice(kind, seed, sabath, environment, counts)
                disagreeing += len(found)
                for one in found[:3]:
                    print("DISAGREES %s --seed %d: %s" % (kind, seed, one), flush=True)
            bad += disagreeing
            print("%s: %d pairs of files, %d of arrays (%d equal), %d INCONCLUSIVE, %d disagreements, seeds %d to %d, %.0f s" % (
                kind, counts["pairs"], counts["arrays"], counts["equal"], counts["inconclusive"], disagreeing, options.seed,
                options.seed + options.pairs - 1, time.monotonic() - begun), flush=True)
    return 1 if bad else 0


sys.exit(main())
