#!/usr/bin/env python3
"""draw_story.py PREDICTIONS.h5 OUT.svg: the figure of the README, from the output of a run of `supercell`.

Needs h5dump (hdf5-tools) and the standard library. Shows the vertical wind [m/s] that the held-out bubble, at rest at the start, has
set in motion at the end of the roll-out: simulated, forecast by the surrogate, and their difference on the same scale; and both
errors over the time since the start."""
import base64, re, struct, subprocess, sys, tempfile, zlib

PANEL, TOP, LEFT, GAP = 214, 46, 44, 18


def read(path, name):
    header = subprocess.run(["h5dump", "-H", "-d", name, path], check=True, capture_output=True, text=True).stdout
    shape = [int(n) for n in re.search(r"SIMPLE \{ \( ([^)]*) \)", header).group(1).split(",")]
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", name, "-b", "LE", "-o", raw.name, path], check=True, capture_output=True)
        data = open(raw.name, "rb").read()
    return shape, struct.unpack("<%dd" % (len(data) // 8), data)


def png(values, width, height, scale):
    """A diverging blue-white-red picture of values in [-scale, scale]; rows go from the top down."""
    rows = b""
    for j in reversed(range(height)):
        rows += b"\0"
        for i in range(width):
            x = min(1.0, max(-1.0, values[j * width + i] / scale))
            fade = round(255 * (1 - abs(x)))
            rows += bytes((255 - (255 - fade) // 6, fade, fade) if x > 0 else (fade, fade, 255 - (255 - fade) // 6))

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

    def picture(self, x, y, width, height, href):
        self.parts.append('<image x="%d" y="%d" width="%d" height="%d" preserveAspectRatio="none" href="%s" '
                          'style="image-rendering:pixelated"/>' % (x, y, width, height, href))

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
        drawing.picture(at, TOP, PANEL, height, png(values, columns, rows, scale))
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
