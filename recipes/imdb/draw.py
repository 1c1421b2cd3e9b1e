"""draw.py imdb.npz PREDICTIONS.h5 IMAGE.svg: accuracy on test reviews by their number of negators; needs the environment."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "code"))

import h5py
import numpy

from layout import read_reviews
from reviews import vocabulary_of

WIDTH, HEIGHT, LEFT, TOP = 300, 200, 50, 40
WORDS, SEED = 600, 1  # of the generated data


def main():
    _, (reviews, labels) = read_reviews(sys.argv[1])
    negators = vocabulary_of(SEED, WORDS)[2]
    counts = numpy.minimum([numpy.isin(review, negators).sum() for review in reviews], 2)
    with h5py.File(sys.argv[2], "r") as file:
        answers = (("network", "#4477aa", file["chances"][()] > 0.5), ("bag of words", "#ee9944", file["bag_of_words"][()] > 0))
    size = f'width="{LEFT + WIDTH + 20}" height="{TOP + HEIGHT + 50}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">', f'<rect {size} fill="white"/>']
    for tick in (0, 0.5, 1):
        y = TOP + HEIGHT * (1 - tick)
        lines.append(f'<path d="M{LEFT} {y}h{WIDTH}" stroke="#ccc"/><text x="{LEFT - 26}" y="{y + 4}">{tick}</text>')
    for number, (name, colour, answer) in enumerate(answers):
        lines.append(f'<text x="{LEFT + 110 * number}" y="18" fill="{colour}">{name}</text>')
        for count in range(3):
            chosen = counts == count
            share = float((answer[chosen] == (labels[chosen] == 1)).mean())
            x, tall = LEFT + 12 + 100 * count + 38 * number, HEIGHT * share
            lines.append(f'<rect x="{x}" y="{TOP + HEIGHT - tall:.1f}" width="36" height="{tall:.1f}" fill="{colour}"/>')
            lines.append(f'<text x="{x + 6}" y="{TOP + HEIGHT - tall - 3:.1f}">{share:.2f}</text>')
    for count, name in enumerate(("none", "one", "two +")):
        lines.append(f'<text x="{LEFT + 22 + 100 * count}" y="{TOP + HEIGHT + 16}">{name} ({int((counts == count).sum())})</text>')
    lines.append(f'<text x="{LEFT + 70}" y="{TOP + HEIGHT + 34}">negators in a review (reviews)</text>')
    pathlib.Path(sys.argv[3]).write_text("\n".join([*lines, "</svg>"]) + "\n")


main()
