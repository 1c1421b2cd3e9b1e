#!/usr/bin/env python3
"""draw_story.py PREDICTIONS.h5 OUT.svg: the figure of the README, from the output of a run of `supercell`.

Needs h5dump (hdf5-tools) and the standard library. Shows the vertical wind [m/s] that the held-out bubble, at rest at the start, has
set in motion at the end of the roll-out: simulated, forecast by the surrogate, and their difference on the same scale; and both
errors over the time since the start. The fields are interpolated to a finer grid; lines at 25, 50 and 75 % of the scale."""
import base64
import re
import struct
import subprocess
import sys
import tempfile
import zlib

PANEL, TOP, LEFT, GAP, FINER = 214, 46, 44, 18, 8


def read(path, name):
    header = subprocess.run(["h5dump", "-H", "-d", name, path], check=True, capture_output=True, text=True).stdout
    shape = [int(n) for n in re.search(r"SIMPLE \{ \( ([^)]*) \)", header).group(1).split(",")]
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", name, "-b", "LE", "-o", raw.name, path], check=True, capture_output=True)
        data = open(raw.name, "rb").read()
    return shape, struct.unpack("<%dd" % (len(data) // 8), data)


def cubic(before, left, right, after, t):
    """Catmull-Rom interpolation between `left` and `right`."""
    return left + 0.5 * t * (right - before + t * (2 * before - 5 * left + 4 * right - after + t * (3 * (left - right) + after - before)))


def finer(values, width, height, factor):
    """The field on a grid that is `factor` times finer; cell centres stay where they are."""

    def along(line):
        out = []
        for k in range(len(line) * factor):
            at = (k + 0.5) / factor - 0.5
            first = min(max(int(at // 1), 0), len(line) - 1)
            cells = [line[min(max(first + d, 0), len(line) - 1)] for d in (-1, 0, 1, 2)]
            out.append(cubic(*cells, min(max(at - first, 0.0), 1.0)))
        return out

    rows = [along(values[j * width : (j + 1) * width]) for j in range(height)]
    columns = [along([row[i] for row in rows]) for i in range(width * factor)]
    return [columns[i][j] for j in range(height * factor) for i in range(width * factor)]


def isolines(values, width, height, level):
    """Pieces of the line where the field has the value `level`, in units of cells (marching squares)."""
    for j in range(height - 1):
        for i in range(width - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            cuts = []
            for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
                a, b = values[ay * width + ax] - level, values[by * width + bx] - level
                if (a < 0) != (b < 0):
                    cuts.append((ax + (bx - ax) * a / (a - b), ay + (by - ay) * a / (a - b)))
            for start, end in zip(cuts[::2], cuts[1::2]):
                yield start, end


def color_of(x):
    """Red above 0, blue below, white at 0; x in [-1, 1]."""
    stops = ((247, 247, 247), (244, 165, 130), (178, 24, 43)) if x > 0 else ((247, 247, 247), (146, 197, 222), (33, 102, 172))
    x = min(1.0, abs(x)) * 2
    low, high = (stops[0], stops[1]) if x < 1 else (stops[1], stops[2])
    return bytes(round(a + (b - a) * (x % 1 if x < 2 else 1)) for a, b in zip(low, high))


def png(values, width, height, scale):
    """A picture of values in [-scale, scale]; rows go from the top down."""
    rows = b""
    for j in reversed(range(height)):
        rows += b"\0" + b"".join(color_of(values[j * width + i] / scale) for i in range(width))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


class Drawing:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def text(self, x, y, text, anchor="start", color="#333", extra=""):
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" %s>%s</text>' % (x, y, anchor, color, extra, text))

    def frame(self, x, y, width, height):
        self.parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/>' % (x, y, width, height))

    def line(self, points, color, width=2.2):
        text = " ".join("%.1f,%.1f" % point for point in points)
        self.parts.append('<polyline fill="none" stroke="%s" stroke-width="%.1f" points="%s"/>' % (color, width, text))

    def isoline(self, x, y, pixel, rows, pieces, dashed):
        path = "".join("M%.1f %.1fL%.1f %.1f" % (x + a * pixel, y + (rows - 1 - b) * pixel, x + c * pixel, y + (rows - 1 - d) * pixel)
                       for (a, b), (c, d) in pieces)
        self.parts.append('<path d="%s" fill="none" stroke="#333" stroke-opacity="0.55" stroke-width="0.7"%s/>'
                          % (path, ' stroke-dasharray="2.5 2"' if dashed else ""))

    def picture(self, x, y, width, height, href):
        self.parts.append('<image x="%d" y="%d" width="%d" height="%d" preserveAspectRatio="none" href="%s"/>' % (x, y, width, height, href))

    def svg(self):
        head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">' % self.size
        return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *self.parts, "</svg>"]) + "\n"


def draw_scale(drawing, x, y, width, scale):
    ramp = [(2 * i / 63 - 1) * scale for i in range(64)]
    drawing.picture(x, y, width, 9, png(ramp, 64, 1, scale))
    drawing.frame(x, y, width, 9)
    for share, text in ((0, "-%.2g" % scale), (0.5, "0"), (1, "%.2g m/s" % scale)):
        drawing.text(x + share * width, y + 23, text, "middle")


def draw_errors(drawing, x, height, lead, curves):
    top = max(max(values) for values, _, _ in curves)
    drawing.text(x, TOP - 12, "relative error over the forecast")
    drawing.frame(x, TOP, PANEL, height)
    for values, color, _ in curves:
        drawing.line([(x, TOP + height)] + [(x + PANEL * t / lead[-1], TOP + height * (1 - v / (1.08 * top)))
                                            for t, v in zip(lead, values)], color)
    for values, color, name in curves:
        drawing.text(x + PANEL - 6, TOP + height * (1 - values[-1] / (1.08 * top)) - 8 * (1 if values[-1] < top / 2 else -2.8), name, "end", color)
    drawing.text(x, TOP + height + 17, "0", "middle")
    drawing.text(x + PANEL, TOP + height + 17, "%.0f s" % lead[-1], "middle")
    drawing.text(x - 5, TOP + height, "0", "end")
    drawing.text(x - 5, TOP + height * (1 - round(top, 1) / (1.08 * top)) + 4, "%.1f" % round(top, 1), "end")


def main():
    path, out = sys.argv[1:]
    (times, rows, columns), forecast = read(path, "/w")
    reference = read(path, "/w_reference")[1]
    x, z, lead = (read(path, name)[1] for name in ("/x", "/z", "/lead"))
    last = slice((times - 1) * columns * rows, times * columns * rows)
    difference = [f - r for f, r in zip(forecast[last], reference[last])]
    scale = max(abs(v) for v in reference[last])
    height = PANEL * rows // columns
    drawing = Drawing(LEFT + 4 * PANEL + 3 * GAP + 44, TOP + height + 66)
    for n, (title, values) in enumerate((("simulated", reference[last]), ("forecast by the network", forecast[last]), ("difference", difference))):
        at = LEFT + n * (PANEL + GAP)
        drawing.text(at, TOP - 12, title)
        field, fine_columns, fine_rows = finer(values, columns, rows, FINER), columns * FINER, rows * FINER
        drawing.picture(at, TOP, PANEL, height, png(field, fine_columns, fine_rows, scale))
        for share in (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75):
            pieces = isolines(field, fine_columns, fine_rows, share * scale)
            drawing.isoline(at, TOP, PANEL / fine_columns, fine_rows, pieces, share < 0)
        drawing.frame(at, TOP, PANEL, height)
    width_km, height_km = (x[0] + x[-1]) / 1e3, (z[0] + z[-1]) / 1e3
    drawing.text(LEFT - 5, TOP + 10, "%.1f" % height_km, "end")
    drawing.text(LEFT - 5, TOP + height, "0 km", "end")
    drawing.text(LEFT + PANEL, TOP + height + 17, "%.1f km" % width_km, "end")
    draw_scale(drawing, LEFT + PANEL + GAP, TOP + height + 12, PANEL, scale)
    drawing.text(LEFT, TOP + height + 54, "vertical wind %.0f s after a held-out warm bubble was let go" % lead[-1])
    curves = ((read(path, "/persistence_error")[1], "#777", "persistence"), (read(path, "/surrogate_error")[1], "#c00", "network"))
    draw_errors(drawing, LEFT + 3 * (PANEL + GAP) + 26, height, lead, curves)
    open(out, "w").write(drawing.svg())


main()
