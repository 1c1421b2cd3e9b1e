"""draw.py PREDICTIONS.h5 IMAGE.svg: precision over recall of the network and of the logistic regression; needs the environment."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "code"))

import h5py

from common.class_scores import area_under_precision_recall, precision_recall

WIDTH, HEIGHT, LEFT, TOP = 360, 240, 50, 20


def main():
    with h5py.File(sys.argv[1], "r") as file:
        truth = file["labels"][()]
        curves = (("network", "#4477aa", file["chances"][()]), ("logistic regression", "#ee9944", file["logistic"][()]))
    size = f'width="{WIDTH + 70}" height="{HEIGHT + 60}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">', f'<rect {size} fill="white"/>']
    for tick in (0, 0.5, 1):
        x, y = LEFT + WIDTH * tick, TOP + HEIGHT * (1 - tick)
        lines.append(f'<path d="M{LEFT} {y}h{WIDTH}M{x} {TOP}v{HEIGHT}" stroke="#ccc"/>')
        lines.append(f'<text x="{LEFT - 26}" y="{y + 4}">{tick}</text><text x="{x - 4}" y="{TOP + HEIGHT + 16}">{tick}</text>')
    lines.append(f'<text x="{LEFT + WIDTH / 2 - 50}" y="{TOP + HEIGHT + 32}">share of frauds found</text><text x="4" y="14">precision</text>')
    for number, (name, colour, scores) in enumerate(curves):
        precision, recall = precision_recall(scores, truth)
        points = " ".join(f"{LEFT + WIDTH * r:.1f},{TOP + HEIGHT * (1 - p):.1f}" for p, r in zip(precision, recall) if r > 0)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        text = f"{name}: area {area_under_precision_recall(scores, truth):.2f}"
        lines.append(f'<text x="{LEFT + WIDTH - 170}" y="{TOP + 16 + 16 * number}" fill="{colour}">{text}</text>')
    pathlib.Path(sys.argv[2]).write_text("\n".join([*lines, "</svg>"]) + "\n")


main()
