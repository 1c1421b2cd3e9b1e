#!/usr/bin/env python3
"""generator_test.py CODE: invariants of the generated universes and of the scores. Needs NumPy alone."""

import pathlib
import sys
import tempfile
import unittest

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

import ridge
import universe
from common import batches, fields, memory, report, scores, tfrecord

PLANCK = (0.30, 0.80, 0.96, 70.0)


class Theory(unittest.TestCase):
    def test_growth_is_one_today_and_a_half_at_redshift_one_without_dark_energy(self):
        for omega_m in (0.21, 0.3, 0.39, 1.0):
            self.assertEqual(fields.growth(0.0, omega_m), 1.0)
        self.assertAlmostEqual(fields.growth(1.0, 1.0), 0.5, delta=1e-3)

    def test_dark_energy_slows_growth(self):
        self.assertGreater(fields.growth(1.0, 0.3), fields.growth(1.0, 1.0))

    def test_the_spectrum_has_the_sigma_8_that_was_asked_for(self):
        power = fields.power_spectrum(0.3, 0.8, 0.96, 0.7)
        self.assertAlmostEqual(fields.variance_in_balls(power, 8.0) ** 0.5, 0.8, delta=1e-9)

    def test_the_spectrum_rises_as_n_s_on_large_scales_and_falls_as_k_to_minus_three_on_small_ones(self):
        power = fields.power_spectrum(0.3, 0.8, 0.96, 0.7)
        slope = lambda k: numpy.log(power(k * 1.01) / power(k)) / numpy.log(1.01)
        self.assertAlmostEqual(slope(1e-5), 0.96, delta=0.02)
        self.assertAlmostEqual(slope(1e3), 0.96 - 4, delta=0.3)

    def test_the_measured_spectrum_of_the_linear_field_is_the_given_one_within_three_sigma(self):
        grid, voxel, count = 16, 4.0, 64
        random = numpy.random.default_rng(7)
        made = [universe.linear_modes(random.standard_normal((grid,) * 3), PLANCK, voxel) for _ in range(count)]
        length = made[0][1]
        field = numpy.fft.irfftn(numpy.stack([modes for modes, _ in made]), s=(grid,) * 3, axes=(1, 2, 3))
        edges = numpy.linspace(0.5, grid / 2 + 0.5, 9) * 2 * numpy.pi / length
        measured, modes, _ = fields.measured_power(field, length, edges)
        # The spectrum is averaged over the modes of a shell in the same way.
        power = fields.power_spectrum(0.3, 0.8, 0.96, 0.7)
        kx, ky, kz = fields.wave_numbers(grid, length)
        white = numpy.fft.rfftn(random.standard_normal((1, grid, grid, grid)), axes=(1, 2, 3))
        expected_modes = numpy.sqrt(power(numpy.sqrt(kx**2 + ky**2 + kz**2)) * grid**6 / length**3) * white / numpy.abs(white)
        expected = fields.measured_power(numpy.fft.irfftn(expected_modes, s=(grid,) * 3, axes=(1, 2, 3)), length, edges)[0][0]
        # Of `modes` half are independent; each has the relative deviation 1.
        sigma = expected * numpy.sqrt(2 / (modes * count))
        self.assertLess(float(numpy.abs((measured.mean(axis=0) - expected) / sigma).max()), 3)

    def test_displacement_has_minus_the_contrast_as_its_divergence(self):
        grid, length = 16, 64.0
        modes = numpy.zeros((grid, grid, grid // 2 + 1), complex)
        modes[2, 0, 0] = modes[-2, 0, 0] = 1.0
        x, y, z = fields.displacement(modes, length)
        contrast = numpy.fft.irfftn(modes, s=(grid,) * 3, axes=(0, 1, 2))
        kx = fields.wave_numbers(grid, length)[0]
        divergence = numpy.fft.irfftn(1j * kx * numpy.fft.rfftn(x), s=(grid,) * 3, axes=(0, 1, 2))
        self.assertLess(float(numpy.abs(divergence + contrast).max()), 1e-12)
        self.assertLess(float(numpy.abs(y).max() + numpy.abs(z).max()), 1e-12)


class Universes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = [universe.make_universe(1, number, 16, 4.0) for number in range(60)]

    def test_no_particle_is_lost(self):
        for counts, _ in self.made:
            self.assertEqual([int(counts[..., z].sum(dtype=int)) for z in range(4)], [16**3] * 4)

    def test_structure_grows_with_time(self):
        variance = numpy.mean([counts.reshape(-1, 4).var(axis=0) for counts, _ in self.made], axis=0)
        self.assertTrue((numpy.diff(variance) < 0).all(), variance)

    def test_a_greater_sigma_8_gives_more_structure(self):
        noise = numpy.random.default_rng(3).standard_normal((8, 16, 16, 16))

        def variance(sigma_8):
            physical = (0.3, sigma_8, 0.96, 70.0)
            return numpy.mean([universe.counts_of(*universe.linear_modes(one, physical, 4.0), 0.3)[..., 0].var() for one in noise])

        self.assertGreater(variance(0.88), 1.02 * variance(0.80))

    def test_parameters_fill_their_range_and_only_that(self):
        units = numpy.array([universe.unit_of(physical) for _, physical in self.made])
        self.assertLess(float(numpy.abs(units).max()), 1)
        self.assertGreater(float(units.max(axis=0).min()), 0.8)
        self.assertLess(float(units.min(axis=0).max()), -0.8)

    def test_a_universe_depends_on_seed_and_number_alone(self):
        again, _ = universe.make_universe(1, 5, 16, 4.0)
        self.assertTrue((again == self.made[5][0]).all())
        other, _ = universe.make_universe(2, 5, 16, 4.0)
        self.assertFalse((other == self.made[5][0]).all())

    def test_boxes_of_one_side_in_mpc_differ_in_mpc_over_h(self):
        self.assertEqual(universe.box_length(16, 4.0, 70.0, "mpc"), 64.0)
        self.assertEqual(universe.box_length(16, 4.0, 84.0, "mpc"), 76.8)
        self.assertEqual(universe.box_length(16, 4.0, 84.0, "mpc_over_h"), 64.0)

    def test_the_features_of_the_ridge_do_not_see_the_symmetries(self):
        cubes = numpy.stack([counts for counts, _ in self.made[:8]])
        moved = batches.augment_cubes(cubes, 1, 1, 0, roll=True)
        self.assertFalse((moved == cubes).all())
        self.assertLess(float(numpy.abs(ridge.features_of(moved) - ridge.features_of(cubes)).max()), 1e-8)


class Batches(unittest.TestCase):
    def test_each_sample_comes_once_an_epoch_in_another_order(self):
        orders = [numpy.concatenate([chosen for _, chosen in batches.batches_of(50, 8, 1, epoch)]) for epoch in (1, 2)]
        for order in orders:
            self.assertEqual(sorted(order), list(range(50)))
        self.assertFalse((orders[0] == orders[1]).all())

    def test_there_are_48_symmetries_and_they_keep_each_count(self):
        cube = numpy.arange(27).reshape(3, 3, 3, 1)
        seen = set()
        for axes, mirrors in batches.SYMMETRIES:
            turned = cube.transpose(*axes, 3)[:: mirrors[0], :: mirrors[1], :: mirrors[2]]
            seen.add(turned.tobytes())
            self.assertEqual(sorted(turned.ravel()), list(range(27)))
        self.assertEqual(len(seen), 48)


class Scores(unittest.TestCase):
    def test_correlation_is_that_of_numpy(self):
        random = numpy.random.default_rng(1)
        a, b = random.standard_normal((2, 100, 3))
        expected = [numpy.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(3)]
        self.assertTrue(numpy.allclose(scores.correlation(a, b), expected))
        self.assertEqual(scores.correlation(numpy.ones((5, 1)), b[:5, :1])[0], 0)

    def test_ridge_finds_a_line_and_nothing_in_noise(self):
        random = numpy.random.default_rng(1)
        x = random.standard_normal((4000, 5))
        y = x @ random.standard_normal((5, 2)) + 3
        function, _ = scores.best_ridge(x[:3000], y[:3000])
        self.assertLess(float(scores.mean_absolute_error(function(x[3000:]), y[3000:]).max()), 1e-3)
        noise = random.standard_normal((4000, 2))
        function, _ = scores.best_ridge(x[:3000], noise[:3000])
        self.assertLess(float(numpy.abs(scores.correlation(function(x[3000:]), noise[3000:])).max()), 0.15)


class Checksums(unittest.TestCase):
    def test_published_values(self):
        # RFC 3720, B.4.
        for data, expected in (
            (b"", 0),
            (b"123456789", 0xE3069283),
            (bytes(32), 0x8A9136AA),
            (b"\xff" * 32, 0x62A8AB43),
            (bytes(range(32)), 0x46DD794E),
            (bytes(range(31, -1, -1)), 0x113FDB5C),
        ):
            self.assertEqual(tfrecord.crc32c(data), expected)

    def test_any_length_agrees_with_one_byte_after_the_other(self):
        data = numpy.random.default_rng(1).bytes(5000)
        for length in (1, 63, 64, 65, 127, 128, 129, 1000, 4097, 5000):
            crc = 0xFFFFFFFF
            for byte in data[:length]:
                crc = int(tfrecord.TABLE[(crc ^ byte) & 255]) ^ crc >> 8
            self.assertEqual(tfrecord.crc32c(data[:length]), crc ^ 0xFFFFFFFF, length)


class Layer:
    def __init__(self, *shape):
        self.output = numpy.empty((1, *shape))


class Network:
    """As large as one of Keras with these layers and parameters."""

    name = "mlperf"
    layers = [Layer(128, 128, 128, 32), Layer(4)]

    def count_params(self):
        return 1000


class Memory(unittest.TestCase):
    def test_values_of_layers_and_of_the_optimizer_are_counted(self):
        values = 128**3 * 32 + 4
        self.assertEqual(memory.needed_bytes(Network(), 3, 2), 4 * (2 * 3 * values + 4 * 1000))

    def test_a_network_that_does_not_fit_is_refused_with_both_sizes(self):
        memory.require_memory(Network(), 1, 2, "", available=2**30)
        with self.assertRaises(report.InputError) as raised:
            memory.require_memory(Network(), 16, 2, "a smaller batch", available=2**30)
        self.assertIn("'mlperf' needs about 8.0 GiB for batches of 16; 1.0 GiB are available\nhint: a smaller batch", str(raised.exception))

    def test_the_narrowest_limit_of_machine_and_control_groups_counts(self):
        with tempfile.TemporaryDirectory() as name:
            proc, groups = pathlib.Path(name, "proc"), pathlib.Path(name, "groups")
            for path, text in (
                (proc / "meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n"),
                (proc / "self/cgroup", "0::/job/step\n"),
                (groups / "job/step/memory.max", "max\n"),
                (groups / "job/step/memory.current", "5\n"),
                (groups / "job/memory.max", "7000000\n"),
                (groups / "job/memory.current", "3000000\n"),
                (groups / "job/memory.stat", "anon 1\ninactive_file 1000000\n"),
            ):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(memory.available_bytes(proc, groups), 5000000)
            (groups / "job/memory.max").write_text("max\n")
            self.assertEqual(memory.available_bytes(proc, groups), 8000 * 1024)


if __name__ == "__main__":
    unittest.main()
