"""draw_classes.py TABLE.csv IMAGE.svg: the published jobs, a row for each network, equal colours for equal results."""

import csv
import pathlib
import sys

CELL, LEFT, TOP = 24, 190, 30
COLOURS = ("#4477aa", "#ee9944", "#55aa66", "#aa5588")
NETWORKS = (("mnist_convnet", 10000), ("imbalanced_classification", 56961))


def main():
    rows = list(csv.DictReader(pathlib.Path(sys.argv[1]).read_text().splitlines()))
    rows.sort(key=lambda row: (row["site"], row["host"]))
    width, height = LEFT + CELL * len(rows) + 10, TOP + 2 * (CELL + 6) + 60
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">']
    lines.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    lines.append(f'<text x="{LEFT}" y="18">{len(rows)} jobs by site and host; equal colours: equal to the last digit; correct of N</text>')
    for number, (network, size) in enumerate(NETWORKS):
        top = TOP + number * (CELL + 6)
        lines.append(f'<text x="4" y="{top + 16}">{network}</text>')
        values = list(dict.fromkeys(row[network] for row in rows))
        for place, row in enumerate(rows):
            x, colour = LEFT + place * CELL, COLOURS[values.index(row[network])]
            lines.append(f'<rect x="{x}" y="{top}" width="{CELL - 2}" height="{CELL}" fill="{colour}"/>')
        for value in values:
            places = [place for place, row in enumerate(rows) if row[network] == value]
            x = LEFT + (places[0] + 0.1) * CELL
            lines.append(f'<text x="{x}" y="{top + 16}" fill="white">{round(float(value) * size)}</text>')
    top = TOP + 2 * (CELL + 6) + 14
    for number, site in enumerate(dict.fromkeys(row["site"] for row in rows)):
        places = [place for place, row in enumerate(rows) if row["site"] == site]
        x, end = LEFT + places[0] * CELL, LEFT + (places[-1] + 1) * CELL - 2
        lines.append(f'<path d="M{x} {top - 10}H{end}" stroke="black"/>')
        lines.append(f'<text x="{x}" y="{top + 6 + 15 * (number % 3)}">{site}</text>')
    lines.append("</svg>")
    pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n")


main()
