"""Order and augmentation of batches. All of it is a function of seed, epoch and batch: nothing has a state."""

import itertools

import numpy


def order_of(count, seed, epoch):
    """A permutation of the samples for one epoch."""
    return numpy.random.default_rng([seed, epoch, 1]).permutation(count)


def batches_of(count, size, seed, epoch):
    """Yields (number of the batch from 0, indices of its samples); the last batch may be smaller."""
    order = order_of(count, seed, epoch)
    for number, begin in enumerate(range(0, count, size)):
        yield number, order[begin : begin + size]


# The 48 symmetries of a cube: permutations of the axes, times mirrors.
SYMMETRIES = [(axes, mirrors) for axes in itertools.permutations((0, 1, 2)) for mirrors in itertools.product((1, -1), repeat=3)]


def augment_cubes(cubes, seed, epoch, batch, roll):
    """Turns and mirrors each cube of (n, x, y, z, channel) at random; `roll` also shifts it, for periodic boxes only."""
    random = numpy.random.default_rng([seed, epoch, batch, 2])
    symmetries = random.integers(len(SYMMETRIES), size=len(cubes))
    shifts = random.integers(cubes.shape[1], size=(len(cubes), 3))
    result = numpy.empty_like(cubes)
    for number, cube in enumerate(cubes):
        axes, mirrors = SYMMETRIES[symmetries[number]]
        cube = cube.transpose(*axes, 3)[:: mirrors[0], :: mirrors[1], :: mirrors[2]]
        result[number] = numpy.roll(cube, shifts[number], axis=(0, 1, 2)) if roll else cube
    return result
