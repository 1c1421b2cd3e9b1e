#!/usr/bin/env python3
"""make_netcdf4.py OUT: writes netcdf4.nc with netCDF4 for Python, in the order of upstream's writer.

Upstream creates an unlimited dimension, writes the scalars, and adds one sample after the other. The
values here are made up. Needs netCDF4 (made with 1.7.5).
"""
import sys

import netCDF4
import numpy

random = numpy.random.default_rng(1)
count = 50
with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("nsamples", None)
    file.createVariable("time_step_size", "f8")[...] = 10.0
    file.createVariable("only_two_dimensions", "i4")[...] = 0
    for name, value in {"dx": 500, "dy": 500, "dz": 500, "xlen": 1e5, "ylen": 500, "zlen": 2e4}.items():
        file.createVariable(name, "f8")[...] = value
    for name, size in {"num_vars_in": 5, "sten_size": 2, "num_vars_out": 4}.items():
        file.createDimension(name, size)
    inputs = file.createVariable("inputs", "f4", ("nsamples", "num_vars_in", "sten_size"))
    outputs = file.createVariable("outputs", "f4", ("nsamples", "num_vars_out"))
    for sample in range(count):
        temperature, above = random.uniform(250, 300, 2)
        dry = random.uniform(0.5, 1.1)
        vapour, cloud, rain = random.uniform(0, 5e-3, 3)
        moved = 0.1 * cloud
        # In the second column the dry density is missing, and the last place stays 0.
        inputs[sample, :, 0] = [temperature, dry, vapour, cloud, rain]
        inputs[sample, :, 1] = [above, vapour, cloud, rain, 0]
        outputs[sample, :] = [temperature, vapour, cloud - moved, rain + moved]
