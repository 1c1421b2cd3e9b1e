"""Makes the small files of arrays beside this one, with the libraries that define the formats.

make_arrays.py FOLDER     numpy 2.4, safetensors 0.8, onnx 1.23, netCDF4 1.7, keras 3 (KERAS_BACKEND=numpy)
"""

import os
import pathlib
import sys
import zipfile

os.environ["KERAS_BACKEND"] = "numpy"

import keras  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])
GRID = np.arange(6, dtype="<f8").reshape(2, 3) / 4


def numpy_files():
    np.save(FOLDER / "c.npy", GRID)
    np.save(FOLDER / "fortran.npy", np.asfortranarray(GRID))
    np.save(FOLDER / "big.npy", GRID.astype(">f8"))
    np.save(FOLDER / "scalar.npy", np.float32(1.5))
    np.save(FOLDER / "complex.npy", np.array([1 + 2j, 3 - 4j], dtype="<c16"))
    np.save(FOLDER / "texts.npy", np.array(["a", "grün", ""], dtype="<U4"))
    np.save(FOLDER / "bytes.npy", np.array([b"ab", b"c"], dtype="S3"))
    np.save(FOLDER / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    particle = np.dtype([("mass", ">f4"), ("at", "<f8", (3,)), ("inner", [("id", "<i2"), ("on", "?")])], align=True)
    particles = np.zeros(2, dtype=particle)
    particles["mass"] = [1.5, 2.5]
    particles["at"] = [[1, 2, 3], [4, 5, 6]]
    particles["inner"]["id"] = [7, -8]
    particles["inner"]["on"] = [True, False]
    np.save(FOLDER / "particles.npy", particles)
    for version in (2, 3):
        with open(FOLDER / f"version{version}.npy", "wb") as file:
            np.lib.format.write_array(file, GRID, version=(version, 0))
    arrays = {"z": GRID, "a": np.asfortranarray(GRID), "n": np.arange(5, dtype="<i2")}
    np.savez(FOLDER / "stored.npz", **arrays)
    np.savez_compressed(FOLDER / "deflated.npz", **arrays)
    several_arrays()


def several_arrays():
    """Members that hold more than one array, as np.save() to an open file makes them."""
    with zipfile.ZipFile(FOLDER / "several.npz", "w") as archive:
        for name, parts, rest in (("one", [[1.0, 2]], b""), ("more", [[3.0, 4, 5], [7.0, 8]], b""),
                                  ("tail", [[6.0]], b"no array")):
            with archive.open(zipfile.ZipInfo(name + ".npy"), "w") as member:
                for part in parts:
                    np.lib.format.write_array(member, np.array(part))
                member.write(rest)


def netcdf_files():
    kinds = {"cdf1.nc": "NETCDF3_CLASSIC", "cdf2.nc": "NETCDF3_64BIT_OFFSET", "cdf5.nc": "NETCDF3_64BIT_DATA",
             "cdf4.nc": "NETCDF4"}
    for name, kind in kinds.items():
        with netCDF4.Dataset(FOLDER / name, "w", format=kind) as file:
            file.title = "a test"
            file.createDimension("time", None)
            file.createDimension("x", 3)
            file.createDimension("letters", 4)
            grid = file.createVariable("grid", "f8", ("x",))
            grid[:] = [0.5, 1.5, 2.5]
            grid.units = "K"
            grid.valid_range = np.array([0, 9], dtype="f4")
            values = file.createVariable("values", "i2", ("time", "x"))
            flags = file.createVariable("flags", "i1", ("time",))
            values[:] = [[1, 2, 3], [4, 5, 6]]
            flags[:] = [7, 8]
            name_of = file.createVariable("name", "S1", ("x", "letters"))
            name_of[:] = netCDF4.stringtochar(np.array(["ab", "c", "defg"], dtype="S4"))


def checkpoints():
    save_file({"weight": GRID.astype("f4"), "bias": np.array([1, -1], dtype="f2"),
               "steps": np.array(9, dtype="i8"), "mask": np.array([True, False]),
               "empty": np.zeros((0, 4), dtype="f4")},
              FOLDER / "model.safetensors", metadata={"format": "np"})
    tensors = [
        onnx.numpy_helper.from_array(GRID.astype("f4"), "raw"),
        onnx.helper.make_tensor("typed", onnx.TensorProto.FLOAT, [2], [1.5, -2.5]),
        onnx.helper.make_tensor("integers", onnx.TensorProto.INT64, [3], [-1, 0, 300]),
        onnx.helper.make_tensor("halves", onnx.TensorProto.FLOAT16, [2], [0.5, -1.0]),
        onnx.helper.make_tensor("words", onnx.TensorProto.STRING, [2], [b"yes", b"no"])]
    node = onnx.helper.make_node("Add", ["raw", "raw"], ["out"])
    out = onnx.helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, [2, 3])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "test", [], [out], tensors))
    onnx.save(model, FOLDER / "model.onnx")
    onnx.save_model(model, FOLDER / "outside.onnx", save_as_external_data=True, all_tensors_to_one_file=True,
                    location="outside.data", size_threshold=0, convert_attribute=False)
    keras.utils.set_random_seed(1)
    network = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="dense")])
    network.layers[0].set_weights([np.arange(6, dtype="f4").reshape(3, 2), np.array([0.5, -0.5], dtype="f4")])
    network.save(FOLDER / "model.keras")


if __name__ == "__main__":
    numpy_files()
    netcdf_files()
    checkpoints()
