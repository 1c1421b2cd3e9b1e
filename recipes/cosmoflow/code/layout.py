"""The files of CosmoUniverse: raw universes in HDF5, samples as TFRecord or HDF5, folders or archives of them."""

import io
import json
import pathlib
import tarfile
import weakref

import numpy

from common.report import InputError
from common.tfrecord import compress, decode_example, encode_record, read_records

import universe

PARTS = ("train", "validation")
SUFFIXES = (".tfrecord", ".hdf5")


def hdf5():
    try:
        import h5py
    except ImportError as problem:
        raise InputError("h5py", f"cannot be imported: {problem}", "pip install 'h5py==3.14.*'") from problem
    return h5py


def open_hdf5(place, content):
    try:
        return hdf5().File(io.BytesIO(content), "r")
    except OSError as problem:
        raise InputError(place, f"is not a whole HDF5 file: {problem}", "fetch or generate the file again") from problem


def array_of(place, file, name, kind, dimensions):
    """Reads a dataset and checks its type (a NumPy kind) and number of dimensions."""
    if name not in file:
        raise InputError(place, f"dataset '{name}' is missing; it has {', '.join(sorted(file)) or 'none'}")
    data = file[name]
    if data.dtype.kind not in kind or len(data.shape) != dimensions:
        raise InputError(
            place,
            f"dataset '{name}' is {data.dtype} of shape {data.shape}; expected {'integers' if 'i' in kind else 'floats'} "
            f"of {dimensions} dimensions",
        )
    return data[()]


def check_sample(place, cube, unit, edge=None):
    """Checks one sample: x of (n, n, n, 4), counts from 0 on; y of 4 numbers within [-1, 1]."""
    if cube.ndim != 4 or len(set(cube.shape[:3])) != 1 or cube.shape[3] != len(universe.REDSHIFTS):
        raise InputError(place, f"array 'x' has shape {cube.shape}; expected (n, n, n, {len(universe.REDSHIFTS)})")
    if edge is not None and cube.shape[0] != edge:
        raise InputError(place, f"array 'x' has {cube.shape[0]} cells a side; the first sample has {edge}")
    if cube.min() < 0:
        raise InputError(place, f"array 'x' has a count of {cube.min()}; expected counts of particles from 0 on, not contrasts or logarithms")
    if unit.shape != (len(universe.NAMES),):
        raise InputError(place, f"array 'y' has shape {unit.shape}; expected ({len(universe.NAMES)},)")
    if not numpy.isfinite(unit).all():
        raise InputError(place, f"array 'y' is {unit.tolist()}; expected finite numbers")
    if numpy.abs(unit).max() > 1.0001:
        raise InputError(
            place,
            f"array 'y' is {unit.tolist()}; expected 'unitPar', each within -1 and 1, not physical units",
            "prepare the samples from 'unitPar' of the universes, not from 'physPar'",
        )


# Raw universes


def encode_universe(seed, number, counts, physical):
    buffer = io.BytesIO()
    with hdf5().File(buffer, "w") as file:
        file["full"] = counts
        file["unitPar"] = universe.unit_of(physical)
        file["physPar"] = physical
        file["namePar"] = numpy.array([name.encode() for name in universe.NAMES])
        file["redshifts"] = numpy.array(universe.REDSHIFTS)
        file.attrs["dataset_tag"] = f"generated_{counts.shape[0]}"
        file.attrs["universe_tag"] = f"{number:06}"
        file.attrs["seed9"] = (seed * 1_000_000 + number) % 10**9
    return buffer.getvalue()


def decode_universe(place, content):
    with open_hdf5(place, content) as file:
        return array_of(place, file, "full", "iu", 4), array_of(place, file, "unitPar", "f", 1)


# Samples


def encode_sample(format_name, cube, unit):
    cube, unit = numpy.ascontiguousarray(cube, "<i2"), numpy.asarray(unit, "<f4")
    if format_name == "tfrecord":
        return compress(encode_record({"x": cube.tobytes(), "y": unit}))
    buffer = io.BytesIO()
    with hdf5().File(buffer, "w") as file:
        file["x"] = cube
        file["y"] = unit
    return buffer.getvalue()


def decode_sample(place, content):
    """One sample; TFRecord has no shape, so a cube is expected."""
    if str(place).endswith(".hdf5"):
        with open_hdf5(place, content) as file:
            return array_of(place, file, "x", "iu", 4), array_of(place, file, "y", "f", 1)
    records = list(read_records(place, content))
    if len(records) != 1:
        raise InputError(place, f"has {len(records)} records; expected one sample a file")
    try:
        features = decode_example(records[0])
    except (ValueError, KeyError, IndexError) as problem:
        raise InputError(place, f"its record is not a tf.train.Example: {problem}") from problem
    for name, kind in (("x", bytes), ("y", numpy.ndarray)):
        if not isinstance(features.get(name), kind):
            raise InputError(
                place, f"feature '{name}' is missing or of another type; expected x as bytes of int16 and y as floats; it has {sorted(features)}"
            )
    cells = len(features["x"]) / (2 * len(universe.REDSHIFTS))
    edge = round(cells ** (1 / 3))
    if edge**3 != cells:
        raise InputError(
            place, f"feature 'x' has {len(features['x'])} bytes; expected n^3 x {len(universe.REDSHIFTS)} counts of int16 (2 bytes each)"
        )
    return numpy.frombuffer(features["x"], "<i2").reshape(edge, edge, edge, -1), features["y"]


# Folders and archives


class Archive:
    """Files of a folder or a tar archive by name, in the order of names."""

    def __init__(self, path):
        self.path, self._tar = pathlib.Path(path), None
        if self.path.is_dir():
            self.names = sorted(str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file())
            return
        try:
            self._tar = tarfile.open(self.path)
            weakref.finalize(self, self._tar.close)
            self._members = {member.name.removeprefix("./"): member for member in self._tar.getmembers() if member.isfile()}
        except FileNotFoundError as problem:
            raise InputError(self.path, "does not exist") from problem
        except (tarfile.TarError, EOFError, OSError) as problem:
            raise InputError(self.path, f"is neither a folder nor a whole tar archive: {problem}") from problem
        self.names = sorted(self._members)

    def read(self, name):
        if self._tar is None:
            return (self.path / name).read_bytes()
        try:
            return self._tar.extractfile(self._members[name]).read()
        except (tarfile.TarError, EOFError, OSError) as problem:
            raise InputError(f"{self.path}: {name}", f"is cut short: {problem}") from problem


class ArchiveWriter:
    """A tar archive whose bytes depend on names and contents alone."""

    def __init__(self, path):
        self._tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)

    def add(self, name, content):
        member = tarfile.TarInfo(name)
        member.size = len(content)
        self._tar.addfile(member, io.BytesIO(content))

    def close(self):
        self._tar.close()


def part_names(archive, part):
    """Samples of `train` or `validation`, wherever the archive has that folder."""
    names = [name for name in archive.names if name.endswith(SUFFIXES) and part in pathlib.PurePath(name).parts[:-1]]
    if not names:
        raise InputError(archive.path, f"has no samples '{part}/*.tfrecord' or '{part}/*.hdf5'")
    return names


class Samples:
    """The samples of a part: kept in memory up to a limit, else read from the archive whenever they are needed."""

    MOST_IN_MEMORY = 2**30

    def __init__(self, archive, part, limit=0):
        self._archive, names = archive, part_names(archive, part)
        self._names = names[: limit or len(names)]
        self._edge, self._kept = None, None
        first, _ = self._read(0)
        self.shape = first.shape
        self._edge = first.shape[0]
        if first.nbytes * len(self._names) <= self.MOST_IN_MEMORY:
            self._kept = self.take(range(len(self._names)))

    def __len__(self):
        return len(self._names)

    def _read(self, index):
        place = f"{self._archive.path}: {self._names[index]}"
        cube, unit = decode_sample(place, self._archive.read(self._names[index]))
        check_sample(place, cube, unit, self._edge)
        return cube, unit

    def take(self, indices):
        """x of (sample, n, n, n, 4) int16, y of (sample, 4) float32."""
        if self._kept is not None:
            return self._kept[0][indices], self._kept[1][indices]
        cubes, units = zip(*(self._read(index) for index in indices))
        return numpy.stack(cubes), numpy.stack(units).astype(numpy.float32)

    def chunks(self, size, most=None):
        """Yields (cubes, units) of the first `most` samples in their order, `size` at a time."""
        count = min(len(self), most or len(self))
        for begin in range(0, count, size):
            yield self.take(range(begin, min(begin + size, count)))


def find_samples(outputs):
    """The archive that the stages of a run left: generated samples, or the place of staged ones."""
    outputs = pathlib.Path(outputs)
    if outputs.name == "samples.json":
        return Archive(json.loads(outputs.read_text())["folder"])
    staged = [outputs / stage / "samples.json" for stage in ("stage-in", "stage-folder")]
    for candidate in (*staged, outputs / "prepare" / "samples.tar"):
        if candidate.is_file():
            return find_samples(candidate) if candidate.suffix == ".json" else Archive(candidate)
    return Archive(outputs)
