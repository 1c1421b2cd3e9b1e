"""Gaussian random fields in periodic boxes, their displacement, and the linear theory of structure in a flat universe.

Lengths are in Mpc/h, wave numbers in h/Mpc. Fields are batches: (universe, x, y, z).
"""

import numpy

OMEGA_B = 0.045


def transfer(k, omega_m, h, omega_b=OMEGA_B):
    """Cold dark matter (Bardeen, Bond, Kaiser, Szalay 1986) with the shape of Sugiyama (1995)."""
    q = numpy.maximum(k, 1e-12) / (omega_m * h * numpy.exp(-omega_b * (1 + numpy.sqrt(2 * h) / omega_m)))
    a = 2.34 * q
    return numpy.log1p(a) / a * (1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4) ** -0.25


def top_hat(x):
    """Fourier transform of a ball of radius 1; 1 at 0."""
    x = numpy.maximum(x, 1e-2)  # the error there is x^2/10, in k where there is no power
    return 3 * (numpy.sin(x) - x * numpy.cos(x)) / x**3


def variance_in_balls(power, radius):
    """Variance of the density contrast in balls, by the trapezoidal rule in log k."""
    log_k = numpy.linspace(numpy.log(1e-5), numpy.log(1e2), 4000)
    k = numpy.exp(log_k)
    values = k**3 * power(k) * top_hat(k * radius) ** 2 / (2 * numpy.pi**2)
    return float(((values[1:] + values[:-1]) / 2 * numpy.diff(log_k)).sum())


def power_spectrum(omega_m, sigma_8, n_s, h):
    """P(k) today in (Mpc/h)^3, normalised to sigma_8 in balls of 8 Mpc/h."""

    def shape(k):
        return numpy.maximum(k, 1e-12) ** n_s * transfer(k, omega_m, h) ** 2

    amplitude = sigma_8**2 / variance_in_balls(shape, 8.0)
    return lambda k: amplitude * shape(k)


def growth(z, omega_m):
    """Linear growth relative to today (Carroll, Press, Turner 1992), flat."""

    def suppression(at):
        e2 = omega_m * (1 + at) ** 3 + 1 - omega_m
        matter, vacuum = omega_m * (1 + at) ** 3 / e2, (1 - omega_m) / e2
        return 2.5 * matter / (matter ** (4 / 7) - vacuum + (1 + matter / 2) * (1 + vacuum / 70))

    return suppression(z) / (1 + z) / suppression(0.0)


def wave_numbers(n, length):
    """Components of k on the half grid of a real transform, as three arrays that broadcast to (n, n, n/2+1)."""
    full = 2 * numpy.pi / length * n * numpy.fft.fftfreq(n)
    half = 2 * numpy.pi / length * n * numpy.fft.rfftfreq(n)
    return full[:, None, None], full[None, :, None], half[None, None, :]


def gaussian_modes(noise, powers, length):
    """Turns white noise of variance 1 into the Fourier modes of a field with the spectrum `powers` on the half grid."""
    modes = numpy.fft.rfftn(noise, axes=(-3, -2, -1))
    modes *= numpy.sqrt(powers / (length / noise.shape[-1]) ** 3)
    modes[..., 0, 0, 0] = 0
    return modes


def measured_power(field, length, edges):
    """Mean power of each field in shells of k, the number of modes in each, and the mean k: (universe, shell), (shell), (shell)."""
    n = field.shape[-1]
    kx, ky, kz = wave_numbers(n, length)
    k = numpy.sqrt(kx**2 + ky**2 + kz**2)
    # Modes with kz > 0 stand for two.
    weight = numpy.broadcast_to(numpy.where((kz > 0) & (kz < kz.max()), 2.0, 1.0), k.shape)
    shell = numpy.digitize(k.ravel(), edges) - 1
    inside = (shell >= 0) & (shell < len(edges) - 1) & (k.ravel() > 0)
    shell, weight, k = shell[inside], weight.ravel()[inside], k.ravel()[inside]
    count = numpy.bincount(shell, weight, len(edges) - 1)
    mean_k = numpy.bincount(shell, weight * k, len(edges) - 1) / numpy.maximum(count, 1)
    modes = numpy.abs(numpy.fft.rfftn(field, axes=(-3, -2, -1))) ** 2 * (length**3 / n**6)
    modes = modes.reshape(len(field), -1)[:, inside]
    power = numpy.stack([numpy.bincount(shell, weight * row, len(edges) - 1) for row in modes]) / numpy.maximum(count, 1)
    return power, count, mean_k


def displacement(modes, length):
    """Zel'dovich's displacement i k delta / k^2 of each mode, as three real fields; Nyquist modes have no direction and are left out."""
    n = modes.shape[-2]
    components = wave_numbers(n, length)
    k2 = sum(k**2 for k in components)
    k2[0, 0, 0] = 1
    nyquist = numpy.pi * n / length * (1 - 1e-9)
    fields = []
    for k in components:
        factor = 1j * numpy.where(numpy.abs(k) < nyquist, k, 0) / k2
        fields.append(numpy.fft.irfftn(modes * factor, s=(n, n, n), axes=(-3, -2, -1)))
    return fields
