"""Arrays of NumPy archives, with their type and shape checked; object arrays of lists of integers without trust in their pickles."""

import pickle
import zipfile
import zlib

import numpy

from .report import InputError

# What NumPy writes for an object array of lists. Anything else in a pickle is code of a stranger.
HARMLESS = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError)


class HarmlessUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) not in HARMLESS:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no array of lists needs")
        return super().find_class(module, name)


class NpzFile:
    """The arrays of one file; `array` and `lists` read one and check it."""

    def __init__(self, path):
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError as problem:
            raise InputError(path, "does not exist") from problem
        except DAMAGES as problem:
            raise InputError(path, f"is not a whole NumPy archive: {problem}", "fetch or generate the file again") from problem

    def names(self):
        return sorted(name.removesuffix(".npy") for name in self._zip.namelist())

    def _open(self, name):
        if name not in self.names():
            raise InputError(self.path, f"array '{name}' is missing; it has {', '.join(self.names()) or 'none'}")
        return self._zip.open(name + ".npy")

    def array(self, name, kinds, shape, expected):
        """An array whose type is one of NumPy's `kinds`. None in `shape` is any length; `expected` says both in words."""
        try:
            with self._open(name) as file:
                values = numpy.lib.format.read_array(file, allow_pickle=False)
                file.read()  # to the end, where the checksum is compared
        except DAMAGES as problem:
            raise InputError(self.path, f"array '{name}' cannot be read: {problem}; expected {expected}") from problem
        fits = values.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, values.shape))
        if values.dtype.kind not in kinds or not fits:
            raise InputError(self.path, f"array '{name}' is {values.dtype} of shape {values.shape}; expected {expected}")
        return values

    def lists(self, name):
        """An object array of lists of integers."""
        expected = "an object array of lists of integers"
        try:
            with self._open(name) as file:
                version = numpy.lib.format.read_magic(file)
                read_header = numpy.lib.format.read_array_header_1_0 if version == (1, 0) else numpy.lib.format.read_array_header_2_0
                shape, _, dtype = read_header(file)
                values = HarmlessUnpickler(file).load() if dtype.hasobject else None
                file.read()
        except pickle.UnpicklingError as problem:
            raise InputError(self.path, f"array '{name}' is refused: {problem}", "fetch or generate the file again") from problem
        except DAMAGES as problem:
            raise InputError(self.path, f"array '{name}' cannot be read: {problem}; expected {expected}") from problem
        if values is None:
            raise InputError(self.path, f"array '{name}' is {dtype} of shape {shape}; expected {expected}")
        if not isinstance(values, numpy.ndarray) or values.ndim != 1:
            raise InputError(self.path, f"array '{name}' has shape {numpy.shape(values)}; expected {expected} of one dimension")
        for number, entry in enumerate(values):
            if not isinstance(entry, list) or not all(isinstance(value, (int, numpy.integer)) for value in entry):
                raise InputError(self.path, f"array '{name}': entry {number} is not a list of integers; expected {expected}")
        return list(values)


def write_npz(path, arrays):
    """Writes an archive whose bytes depend on the arrays alone; object arrays are pickled, as upstream's files have them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            member = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as file:
                numpy.lib.format.write_array(file, values, allow_pickle=values.dtype.hasobject)
