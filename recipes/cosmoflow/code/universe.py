"""Universes that look like CosmoUniverse: counts of particles in cells at four redshifts, and the parameters behind them."""

import numpy

from common.fields import displacement, gaussian_modes, growth, power_spectrum, wave_numbers

NAMES = ("Omega_m", "sigma_8", "N_spec", "H_0")
CENTRES = numpy.array([0.30, 0.80, 0.96, 70.0])
SPREAD = 0.3  # each parameter is uniform within 30 % of its centre
REDSHIFTS = (0.0, 0.5, 1.5, 3.0)


def draw_parameters(random):
    """Physical parameters of one universe; `unit_of` gives them in (-1, 1)."""
    return CENTRES * (1 + SPREAD * random.uniform(-1, 1, len(NAMES)))


def unit_of(physical):
    return (physical / CENTRES - 1) / SPREAD


def box_length(grid, voxel, hubble, unit):
    """Side in Mpc/h of a box whose cells have the side `voxel`: in Mpc/h (`unit` mpc_over_h), or in Mpc/h for H_0 = 70 (mpc)."""
    return grid * voxel * (hubble / 70 if unit == "mpc" else 1)


def linear_modes(noise, physical, voxel, unit="mpc_over_h"):
    """Modes of the density contrast today from white noise of shape (n, n, n), and the side of the box."""
    omega_m, sigma_8, n_s, hubble = physical
    length = box_length(noise.shape[-1], voxel, hubble, unit)
    kx, ky, kz = wave_numbers(noise.shape[-1], length)
    power = power_spectrum(omega_m, sigma_8, n_s, hubble / 100)
    return gaussian_modes(noise, power(numpy.sqrt(kx**2 + ky**2 + kz**2)), length), length


def counts_of(modes, length, omega_m):
    """Moves one particle a cell along Zel'dovich's displacement; counts in the nearest cells: (x, y, z, redshift), int16."""
    n = modes.shape[0]
    moved = [field.ravel() * (n / length) for field in displacement(modes, length)]
    start = numpy.indices((n, n, n)).reshape(3, -1)
    counts = numpy.empty((n, n, n, len(REDSHIFTS)), numpy.int16)
    for number, z in enumerate(REDSHIFTS):
        factor = growth(z, omega_m)
        x, y, w = (numpy.rint(begin + factor * shift).astype(numpy.int64) % n for begin, shift in zip(start, moved))
        found = numpy.bincount((x * n + y) * n + w, minlength=n**3)
        counts[..., number] = numpy.minimum(found, numpy.iinfo(numpy.int16).max).reshape(n, n, n)
    return counts


def make_universe(seed, number, grid, voxel, unit="mpc_over_h"):
    """Counts and physical parameters of universe `number`; a function of its arguments alone."""
    random = numpy.random.default_rng([seed, number])
    physical = draw_parameters(random)
    modes, length = linear_modes(random.standard_normal((grid, grid, grid)), physical, voxel, unit)
    return counts_of(modes, length, physical[0]), physical
