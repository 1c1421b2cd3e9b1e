"""Card transactions like `creditcard.csv`: a time, 28 components with heavy tails, an amount, and a class with few frauds."""

import numpy

COMPONENTS = 28
SECONDS = 172792  # two days
SCHEMES = 4  # kinds of fraud
SHIFTED = 6  # components that a scheme shifts
SHIFT = 2.0  # standard deviations, times 0.5 to 1.5
FREEDOM = 4  # of Student's t


def schemes_of(seed):
    """The shift of each scheme: (scheme, component). Components and signs of each are its own, so no one direction finds all."""
    random = numpy.random.default_rng([seed, 31])
    shifts = numpy.zeros((SCHEMES, COMPONENTS))
    for shift in shifts:
        shift[random.permutation(COMPONENTS)[:SHIFTED]] = SHIFT * random.choice((-1.0, 1.0), SHIFTED)
    return shifts


def scales_of():
    """Standard deviations of the components, falling as those of principal components do."""
    return 1.9 * 0.945 ** numpy.arange(COMPONENTS)


def make_transactions(seed, count, frauds):
    """(time, components, amount, class), sorted by time; exactly `frauds` are of class 1."""
    random = numpy.random.default_rng([seed, 32])
    time = numpy.sort(random.integers(0, SECONDS + 1, count)).astype(float)
    classes = numpy.zeros(count, numpy.int64)
    classes[random.permutation(count)[:frauds]] = 1
    components = random.standard_t(FREEDOM, (count, COMPONENTS)) / numpy.sqrt(FREEDOM / (FREEDOM - 2))
    scheme = random.integers(SCHEMES, size=count)
    strength = random.uniform(0.5, 1.5, count)
    components += (classes * strength)[:, None] * schemes_of(seed)[scheme]
    amount = numpy.round(numpy.exp(random.normal(3.2, 1.6, count)), 2)
    return time, components * scales_of(), amount, classes
