#!/usr/bin/env python3
"""draw.py RUN_FOLDER OUT.svg: loss and validation error of a run over the epochs on the left axis, time of each epoch on the right one.

Reads `series.h5` of the run's record; needs h5py: `sabath env exec cosmoflow -- python draw.py RUN_FOLDER OUT.svg`.
"""

import pathlib
import sys

import h5py

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 58, 62, 34, 44
TEXT, GRID = "#444", "#ddd"
# Colours that differ for all kinds of colour vision; each series has its own mark, too.
SERIES = (
    ("train/epoch_loss", "loss (MSE)", "#0072b2", "circle", "left"),
    ("train/validation_mae", "validation error (MAE)", "#d55e00", "square", "left"),
    ("train/epoch_time", "time per epoch", "#009e73", "triangle", "right"),
)


def read(folder):
    found = {}
    with h5py.File(pathlib.Path(folder) / "series.h5", "r") as file:
        for name, *_ in SERIES:
            group = file[name]
            found[name] = list(zip(group["epoch"][()].tolist(), group["value"][()].tolist()))
        ridge = float(file["train/mae_ridge/value"][0])
    return found, ridge


def ceiling(value):
    """The least of 1, 2, 5 times a power of ten, by fifths, that is not below the value."""
    power = 1.0
    while power >= value:
        power /= 10
    while power * 10 < value:
        power *= 10
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def mark(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
    if kind == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<path d="M{x - 4:.1f} {y + 3.5:.1f}h8l-4 -7.5z" fill="{colour}"/>'


def draw(found, ridge):
    epochs = [epoch for epoch, _ in found[SERIES[0][0]]]
    top = {
        side: ceiling(max(value for name, *_, at in SERIES if at == side for _, value in found[name])) for side in ("left", "right")
    }
    inner, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x_of = lambda epoch: LEFT + inner * (epoch - epochs[0] + 0.5) / (epochs[-1] - epochs[0] + 1)
    y_of = lambda value, side: TOP + height * (1 - value / top[side])
    text = lambda x, y, words, anchor="middle", colour=TEXT, more="": (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{words}</text>'
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for tick in range(6):
        share = tick / 5
        y = TOP + height * (1 - share)
        out.append(f'<path d="M{LEFT} {y:.1f}h{inner}" stroke="{GRID}"/>')
        out.append(text(LEFT - 6, y + 4, f"{top['left'] * share:.3g}", "end"))
        out.append(text(WIDTH - RIGHT + 6, y + 4, f"{top['right'] * share:.3g}", "start", SERIES[2][2]))
    for epoch in epochs[:: -(-len(epochs) // 16)]:
        out.append(text(x_of(epoch), HEIGHT - BOTTOM + 17, epoch))
    y = y_of(ridge, "left")
    out.append(f'<path d="M{LEFT} {y:.1f}h{inner}" stroke="#777" stroke-dasharray="5 4"/>')
    out.append(text(LEFT + 4, y + 14, f"MAE of the ridge regression {ridge:.3f}", "start", "#666"))
    for name, label, colour, kind, side in SERIES:
        points = [(x_of(epoch), y_of(value, side)) for epoch, value in found[name]]
        out.append(f'<path d="M{" ".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        out += [mark(kind, x, y, colour) for x, y in points]
    at = LEFT
    for name, label, colour, kind, side in SERIES:
        out.append(mark(kind, at + 5, 14, colour))
        out.append(text(at + 14, 18, label + (" (right axis)" if side == "right" else ""), "start"))
        at += 60 + 7 * len(label)
    out.append(text(LEFT + inner / 2, HEIGHT - 8, "epoch"))
    middle = TOP + height / 2
    out.append(text(15, middle, "loss, error", "middle", TEXT, f' transform="rotate(-90 15 {middle})"'))
    x = WIDTH - 14
    out.append(text(x, middle, "seconds", "middle", SERIES[2][2], f' transform="rotate(90 {x} {middle})"'))
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(draw(*read(sys.argv[1])))
