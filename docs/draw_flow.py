#!/usr/bin/env python3
"""draw_flow.py REPORT.png OUT.svg: the figure of the README: the steps from a name to a verdict, and a real report beside them."""
import base64
import struct
import sys

STEPS = (
    ("fetch", "data and models", "https, S3, Globus, rsync, git; each byte is verified"),
    ("environment", "from a lock file", "modules, source, pip, conda, container"),
    ("run", "here or under Slurm", "seeds, cores, GPUs; sweeps of settings and seeds"),
    ("record", "what can change a result", "code, inputs, hardware, libraries, variables"),
    ("compare", "each value, each step", "bits, ULP, tolerance, equivalence tests"),
)
LEFT, TOP, WIDTH, HEIGHT, GAP = 24, 28, 372, 74, 30
REPORT_X, REPORT_WIDTH = 440, 560


def box(y, name, what, how, color):
    return f"""<rect x="{LEFT}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="white" stroke="{color}" stroke-width="1.6"/>
<rect x="{LEFT}" y="{y}" width="6" height="{HEIGHT}" rx="3" fill="{color}"/>
<text x="{LEFT + 20}" y="{y + 31}" font-size="17" font-weight="600" fill="#111">{name}</text>
<text x="{LEFT + WIDTH - 14}" y="{y + 31}" font-size="13" text-anchor="end" fill="#333">{what}</text>
<text x="{LEFT + 20}" y="{y + 55}" font-size="12.5" fill="#555">{how}</text>"""


def arrow(y):
    x = LEFT + WIDTH / 2
    return f'<path d="M{x} {y}v{GAP - 7}m-5 -1l5 7l5 -7z" fill="#888" stroke="#888" stroke-width="1.4"/>'


def main():
    picture = open(sys.argv[1], "rb").read()
    columns, rows = struct.unpack(">II", picture[16:24])
    report_height = REPORT_WIDTH * rows / columns
    verdicts = TOP + len(STEPS) * (HEIGHT + GAP)
    height = max(verdicts + 58, TOP + report_height + 36)
    parts = []
    for n, step in enumerate(STEPS):
        y = TOP + n * (HEIGHT + GAP)
        parts.append(box(y, *step, "#0b6bcb" if n < 4 else "#7a3ea8"))
        parts.append(arrow(y + HEIGHT))
    for n, (word, color) in enumerate((("PASS", "#17683a"), ("FAIL", "#b3261e"), ("INCONCLUSIVE", "#8a6100"), ("NOT-COMPARABLE", "#555"))):
        x = LEFT + (0, 70, 134, 250)[n]
        width = (62, 56, 108, 122)[n]
        parts.append(f'<rect x="{x}" y="{verdicts}" width="{width}" height="26" rx="13" fill="{color}"/>')
        parts.append(f'<text x="{x + width / 2}" y="{verdicts + 17.5}" font-size="10.5" font-weight="600" text-anchor="middle" fill="white">{word}</text>')
    parts.append(f'<text x="{LEFT}" y="{verdicts + 46}" font-size="12.5" fill="#555">each has its exit status; after FAIL, explain finds the cause</text>')
    parts.append(f'<image x="{REPORT_X}" y="{TOP}" width="{REPORT_WIDTH}" height="{report_height:.0f}" '
                 f'href="data:image/png;base64,{base64.b64encode(picture).decode()}"/>')
    parts.append(f'<rect x="{REPORT_X}" y="{TOP}" width="{REPORT_WIDTH}" height="{report_height:.0f}" fill="none" stroke="#bbb"/>')
    parts.append(f'<text x="{REPORT_X}" y="{TOP + report_height + 20:.0f}" font-size="12.5" fill="#555">sabath report: one page without a script</text>')
    total = REPORT_X + REPORT_WIDTH + 24
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height:.0f}" font-family="system-ui, sans-serif">'
    with open(sys.argv[2], "w") as out:
        out.write("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n")


main()
