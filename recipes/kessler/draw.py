#!/usr/bin/env python3
"""draw.py RUN OUT.svg: the figure of the README, from a run's folder: scores on held-out cells, and the column in time."""
import csv
import json
import pathlib
import sys

VARIABLES = ("temperature", "vapour", "cloud", "rain")
COURSES = (("scheme", "#111", ""), ("surrogate", "#0b6bcb", ""), ("least_squares", "#c2570c", "6 4"))
LEFT, TOP, WIDTH, HEIGHT, GAP = 64, 64, 340, 240, 96


def text(x, y, words, size=13, anchor="start", color="#333", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" {more}>{words}</text>'


def line(x1, y1, x2, y2, color="#ddd"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>'


def bars(metrics):
    parts = [text(LEFT, TOP - 34, "Skill on held-out active cells", 15, more='font-weight="600"'),
             text(LEFT, TOP - 16, "1 is exact, 0 is persistence; accepted above the dashed line", 12, color="#555")]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = TOP + HEIGHT * (1 - tick)
        parts += [line(LEFT, y, LEFT + WIDTH, y), text(LEFT - 8, y + 4, f"{tick:g}", 12, "end")]
    step = WIDTH / len(VARIABLES)
    for number, name in enumerate(VARIABLES):
        for side, key, color in ((0, "least_squares_skill_", "#c2570c"), (1, "skill_", "#0b6bcb")):
            value = metrics[key + name]
            x, height = LEFT + number * step + 12 + side * 32, HEIGHT * max(value, 0)
            parts.append(f'<rect x="{x:.1f}" y="{TOP + HEIGHT - height:.1f}" width="30" height="{height:.1f}" fill="{color}"/>')
            parts.append(text(x + 15, TOP + HEIGHT - height - 5, f"{value:.2f}", 11, "middle"))
        parts.append(text(LEFT + number * step + 43, TOP + HEIGHT + 18, name, 12, "middle"))
    y = TOP + HEIGHT * 0.3
    parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#17683a" stroke-dasharray="3 3"/>')
    return parts


def column(rows, metrics):
    left = LEFT + WIDTH + GAP
    names = [f"{name}_fallen" for name, _, _ in COURSES]
    most = max(max(row[name] for name in names) for row in rows) * 1.08
    last = rows[-1]["time"]
    parts = [text(left, TOP - 34, "Rain at the ground, kg per square metre", 15, more='font-weight="600"'),
             text(left, TOP - 16, "a column; the surrogate replaces the scheme in each step", 12, color="#555")]
    tick = next(step for step in (0.5, 1, 2, 5, 10) if most / step < 7)
    for number in range(int(most / tick) + 1):
        y = TOP + HEIGHT * (1 - number * tick / most)
        parts += [line(left, y, left + WIDTH, y), text(left - 8, y + 4, f"{number * tick:g}", 12, "end")]
    for minute in range(0, int(last / 60) + 1, 5):
        x = left + WIDTH * minute * 60 / last
        parts.append(text(x, TOP + HEIGHT + 18, f"{minute} min" if minute else "0", 12, "middle"))
    for (name, color, dashes), key in zip(COURSES, names):
        points = " ".join(f"{left + WIDTH * row['time'] / last:.1f},{TOP + HEIGHT * (1 - row[key] / most):.1f}" for row in rows)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dashes}"/>')
    for number, (name, color, _) in enumerate(COURSES):
        words = {"scheme": "scheme", "surrogate": "surrogate", "least_squares": "least squares"}[name]
        error = {"scheme": "", "surrogate": f", error {metrics['column_error']:.2f}",
                 "least_squares": f", error {metrics['column_least_squares_error']:.2f}"}[name]
        parts.append(text(left + 10, TOP + 16 + 18 * number, words + error, 12, color=color))
    return parts


def main():
    run, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    record = json.loads((run / "record.json").read_text())
    metrics = {metric["name"]: metric["last"] for metric in record["metrics"]}
    with open(run / "outputs/couple/column.csv") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    width, height = 2 * (LEFT + WIDTH) + GAP - LEFT + 40, TOP + HEIGHT + 64
    legend = [text(LEFT, TOP + HEIGHT + 44, "&#9632; least squares", 12, color="#c2570c"),
              text(LEFT + 110, TOP + HEIGHT + 44, f"&#9632; network, seed {record['seed']['value']}", 12, color="#0b6bcb")]
    parts = bars(metrics) + legend + column(rows, metrics)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif">'
    pathlib.Path(out).write_text("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n")


main()
