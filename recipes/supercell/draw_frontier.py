#!/usr/bin/env python3
"""draw_frontier.py FRONTIER.csv OUT.svg: the figure of the README, from the table of supercell-forecast.

Needs the standard library only. Error of theta' over processor time of one forecast, both logarithmic."""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 656, 400, 64, 16, 32, 48
COLORS = {
    ("0", "1"): ("#1f77b4", "dissipation 0"),
    ("0", "2"): ("#ff7f0e", "dissipation 0, sound / 2"),
    ("0", "4"): ("#8c564b", "dissipation 0, sound / 4"),
    ("0.02", "1"): ("#2ca02c", "dissipation 0.02"),
    ("0.25", "1"): ("#9467bd", "dissipation 0.25"),
}

rows = list(csv.DictReader(open(sys.argv[1], newline="")))
solvers = [row for row in rows if row["method"] == "coarse solver"]
surrogate = next(row for row in rows if row["method"] == "surrogate")
free = [row for row in rows if row["method"] in ("persistence", "nearest training bubble")]
low_x = math.floor(math.log10(float(surrogate["cost_s"])))
high_x = math.ceil(math.log10(max(float(row["cost_s"]) for row in solvers)))
low_y = math.floor(math.log10(min(float(row["error"]) for row in solvers + [surrogate])))
high_y = 0.1


def x(cost):
    return LEFT + (math.log10(cost) - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)


def y(error):
    return TOP + (high_y - math.log10(error)) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)


out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
    'font-family="sans-serif" font-size="12">',
    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
]
for power in range(low_x, high_x + 1):
    at = x(10.0**power)
    out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
    label = f"{10.0 ** (power + 6):g} µs" if power < -3 else f"{10.0 ** (power + 3):g} ms"
    out.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
for power in range(low_y, 1):
    at = y(10.0**power)
    out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
    out.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{100 * 10.0**power:g} %</text>')
for row in free:
    at = y(float(row["error"]))
    out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#888" stroke-dasharray="4 4"/>')
    out.append(f'<text x="{LEFT + 6}" y="{at + 14:.1f}" fill="#555">{row["method"]}</text>')
for number, (family, (color, label)) in enumerate(COLORS.items()):
    line = [row for row in solvers if (row["dissipation"], row["sound_divisor"]) == family]
    points = " ".join(f'{x(float(row["cost_s"])):.1f},{y(float(row["error"])):.1f}' for row in line)
    out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    for row in line:
        out.append(f'<circle cx="{x(float(row["cost_s"])):.1f}" cy="{y(float(row["error"])):.1f}" r="3" fill="{color}"/>')
        if family == ("0", "1"):
            out.append(f'<text x="{x(float(row["cost_s"])) + 6:.1f}" y="{y(float(row["error"])) - 4:.1f}" '
                       f'fill="{color}">{row["cells_x"]} x {int(row["cells_x"]) * 3 // 4}</text>')
    out.append(f'<text x="{LEFT + 8}" y="{HEIGHT - BOTTOM - 70 + 15 * number}" fill="{color}">'
               f'coarse solver, {label}</text>')
at_x, at_y = x(float(surrogate["cost_s"])), y(float(surrogate["error"]))
out.append(f'<path d="M{at_x:.1f} {at_y:.1f}H{WIDTH - RIGHT}" stroke="#d62728" stroke-dasharray="2 3"/>')
out.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="5" fill="#d62728"/>')
out.append(f'<text x="{at_x + 9:.1f}" y="{at_y - 7:.1f}" fill="#d62728">surrogate</text>')
out.append(f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" stroke="black"/>')
out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">processor time of one forecast of 300 s</text>')
out.append(f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2})">relative error of theta\'</text>')
out.append("</svg>")
open(sys.argv[2], "w").write("\n".join(out) + "\n")
