"""Digits drawn with a pen: strokes of ten digits, writers with habits, images of 28 x 28 bytes."""

import numpy

SIDE = 28
POINTS = 72  # of a drawn digit

# Control points (x to the right, y down, both about 0 to 1) of each stroke; a digit may be written in several ways.
SHAPES = {
    0: [[[(0.5, 0.0), (0.2, 0.15), (0.1, 0.5), (0.2, 0.85), (0.5, 1.0), (0.8, 0.85), (0.9, 0.5), (0.8, 0.15), (0.5, 0.0)]]],
    1: [
        [[(0.5, 0.0), (0.5, 0.33), (0.5, 0.66), (0.5, 1.0)]],
        [[(0.25, 0.25), (0.4, 0.12), (0.55, 0.0), (0.55, 0.5), (0.55, 1.0)]],
    ],
    2: [
        [[(0.15, 0.25), (0.3, 0.03), (0.65, 0.03), (0.8, 0.3), (0.55, 0.6), (0.15, 1.0)], [(0.15, 1.0), (0.5, 0.97), (0.9, 1.0)]],
        [[(0.15, 0.2), (0.5, 0.0), (0.8, 0.25), (0.5, 0.65), (0.2, 0.9), (0.25, 0.75), (0.5, 0.9), (0.9, 0.95)]],
    ],
    3: [
        [[(0.2, 0.1), (0.5, 0.0), (0.8, 0.2), (0.65, 0.42), (0.4, 0.48)], [(0.4, 0.48), (0.75, 0.55), (0.85, 0.8), (0.5, 1.0), (0.15, 0.9)]],
        [[(0.2, 0.03), (0.8, 0.03), (0.45, 0.42)], [(0.45, 0.42), (0.8, 0.5), (0.85, 0.8), (0.5, 1.0), (0.15, 0.88)]],
    ],
    4: [
        [[(0.3, 0.0), (0.2, 0.3), (0.12, 0.55), (0.5, 0.58), (0.9, 0.55)], [(0.7, 0.1), (0.68, 0.5), (0.65, 1.0)]],
        [[(0.65, 0.0), (0.4, 0.3), (0.1, 0.62), (0.5, 0.64), (0.9, 0.62)], [(0.65, 0.0), (0.65, 0.5), (0.65, 1.0)]],
    ],
    5: [
        [[(0.85, 0.02), (0.5, 0.02), (0.25, 0.05)], [(0.25, 0.05), (0.2, 0.45), (0.6, 0.4), (0.85, 0.68), (0.6, 0.98), (0.15, 0.92)]],
        [[(0.8, 0.0), (0.4, 0.05), (0.22, 0.4), (0.65, 0.45), (0.8, 0.75), (0.5, 1.0), (0.15, 0.9)]],
    ],
    6: [[[(0.7, 0.0), (0.35, 0.25), (0.15, 0.65), (0.3, 0.97), (0.7, 0.97), (0.82, 0.7), (0.55, 0.5), (0.2, 0.7)]]],
    7: [
        [[(0.12, 0.05), (0.5, 0.03), (0.88, 0.05)], [(0.88, 0.05), (0.6, 0.5), (0.4, 1.0)]],
        [[(0.12, 0.05), (0.5, 0.03), (0.88, 0.05)], [(0.88, 0.05), (0.6, 0.5), (0.4, 1.0)], [(0.35, 0.5), (0.8, 0.5)]],
    ],
    8: [[[(0.75, 0.15), (0.5, 0.0), (0.22, 0.2), (0.5, 0.46), (0.82, 0.75), (0.5, 1.0), (0.18, 0.78), (0.48, 0.48), (0.78, 0.22), (0.72, 0.1)]]],
    9: [
        [[(0.8, 0.2), (0.5, 0.0), (0.2, 0.25), (0.4, 0.5), (0.75, 0.38), (0.8, 0.2)], [(0.8, 0.2), (0.76, 0.6), (0.65, 1.0)]],
        [[(0.8, 0.15), (0.45, 0.0), (0.2, 0.3), (0.5, 0.48), (0.8, 0.2), (0.8, 0.6), (0.6, 0.95), (0.25, 0.95)]],
    ],
}


def curve(control, count):
    """`count` points of the Catmull-Rom spline through the control points."""
    control = numpy.asarray(control, float)
    padded = numpy.concatenate([2 * control[:1] - control[1:2], control, 2 * control[-1:] - control[-2:-1]])
    at = numpy.linspace(0, len(control) - 1, count)
    piece = numpy.minimum(at.astype(int), len(control) - 2)
    t = (at - piece)[:, None]
    a, b, c, d = (padded[piece + shift] for shift in range(4))
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def writer_of(seed, writer):
    """The habits of one writer: slant, width, pen, and how the shape of each digit differs from the model."""
    random = numpy.random.default_rng([seed, 11, writer])
    shapes = [int(random.integers(len(SHAPES[digit]))) for digit in range(10)]
    return {
        "slant": random.normal(0.12, 0.22),
        "width": random.uniform(0.6, 1.05),
        "turn": random.normal(0, 0.08),
        "pen": random.uniform(0.9, 2.0),
        "shape": shapes,
        "offset": [[random.normal(0, 0.065, (len(stroke), 2)) for stroke in SHAPES[digit][shape]] for digit, shape in enumerate(shapes)],
    }


def points_of(digit, habits, random):
    """The path of the pen as (point, x and y) in pixels, its middle of mass in the middle of the image."""
    strokes = SHAPES[digit][habits["shape"][digit]]
    lengths = [max(2, round(POINTS * len(stroke) / sum(map(len, strokes)))) for stroke in strokes]
    parts = []
    for number, stroke in enumerate(strokes):
        control = numpy.asarray(stroke) + habits["offset"][digit][number] + random.normal(0, 0.04, (len(stroke), 2))
        parts.append(curve(control, lengths[number]))
    path = numpy.concatenate(parts) - 0.5
    angle = habits["turn"] + random.normal(0, 0.08)
    size = 20 * random.uniform(0.85, 1.0)
    path[:, 0] = path[:, 0] * habits["width"] * random.uniform(0.9, 1.1) - habits["slant"] * path[:, 1]
    path = size * path @ numpy.array([[numpy.cos(angle), numpy.sin(angle)], [-numpy.sin(angle), numpy.cos(angle)]])
    return path - path.mean(axis=0) + (SIDE - 1) / 2 + random.normal(0, 0.4, 2)


def draw(path, pen):
    """An image of bytes: ink within `pen` pixels of the path, with a soft edge of one pixel."""
    pixels = numpy.arange(SIDE)
    across = (pixels[None, :] - path[:, :1]) ** 2
    down = (pixels[None, :] - path[:, 1:]) ** 2
    distance = numpy.sqrt((down[:, :, None] + across[:, None, :]).min(axis=0))
    return numpy.rint(255 * numpy.clip(pen + 0.5 - distance, 0, 1)).astype(numpy.uint8)


def make_images(seed, count, writers, first_writer):
    """`count` images and labels in random order; each of the `writers` writes as many, from number `first_writer` on."""
    random = numpy.random.default_rng([seed, 12, first_writer])
    order = random.permutation(count)
    images, labels = numpy.empty((count, SIDE, SIDE), numpy.uint8), numpy.empty(count, numpy.uint8)
    habits = [writer_of(seed, first_writer + number) for number in range(writers)]
    for number, place in enumerate(order):
        digit = int(random.integers(10))
        writer = habits[number % writers]
        images[place] = draw(points_of(digit, writer, random), writer["pen"] * random.uniform(0.85, 1.15))
        labels[place] = digit
    return images, labels
