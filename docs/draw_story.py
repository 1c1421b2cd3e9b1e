#!/usr/bin/env python3
"""draw_story.py PREDICTIONS.h5 OUT.svg: the figure of the README, from the output of a run of `supercell`.

Needs h5dump (hdf5-tools) and the standard library. Shows the potential-temperature perturbation [K] of the held-out bubble at the
end of the roll-out: simulated, forecast by the surrogate, and the difference; and both errors over the steps."""
import base64, re, struct, subprocess, sys, tempfile, zlib


def read(path, name):
    header = subprocess.run(["h5dump", "-H", "-d", name, path], check=True, capture_output=True, text=True).stdout
    shape = [int(n) for n in re.search(r"SIMPLE \{ \( ([^)]*) \)", header).group(1).split(",")]
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", name, "-b", "LE", "-o", raw.name, path], check=True, capture_output=True)
        data = open(raw.name, "rb").read()
    return shape, struct.unpack("<%dd" % (len(data) // 8), data)


def png(values, width, height, low, high):
    """A diverging blue-white-red picture; rows go from the top down."""
    rows = b""
    for j in reversed(range(height)):
        rows += b"\0"
        for i in range(width):
            x = min(1.0, max(-1.0, values[j * width + i] / max(abs(low), abs(high))))
            fade = round(255 * (1 - abs(x)) ** 0.8)
            rows += bytes((255, fade, fade) if x > 0 else (fade, fade, 255))
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


def curve(values, x0, y0, width, height, top):
    step = width / (len(values) - 1)
    return " ".join("%.1f,%.1f" % (x0 + i * step, y0 + height * (1 - v / top)) for i, v in enumerate(values))


def main():
    path, out = sys.argv[1:]
    shape, forecast = read(path, "/theta_perturbation")
    _, reference = read(path, "/theta_perturbation_reference")
    _, surrogate = read(path, "/surrogate_error")
    _, persistence = read(path, "/persistence_error")
    times, height, width = shape
    first = reference[: width * height]
    last = slice((times - 1) * width * height, times * width * height)
    scale = max(abs(v) for v in reference[last])
    panels = [("start", first), ("simulated, step %d" % (times - 1), reference[last]),
              ("forecast, step %d" % (times - 1), forecast[last]),
              ("difference", [f - r for f, r in zip(forecast[last], reference[last])])]
    w, h, gap = 170, 170 * height // width, 14
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 950 %d" font-family="sans-serif" font-size="12">' % (h + 62),
             '<rect width="100%" height="100%" fill="white"/>']
    for n, (title, values) in enumerate(panels):
        x = 10 + n * (w + gap)
        parts.append('<text x="%d" y="20">%s</text>' % (x, title))
        parts.append('<image x="%d" y="28" width="%d" height="%d" preserveAspectRatio="none" style="image-rendering:pixelated" href="%s"/>'
                     % (x, w, h, png(values, width, height, -scale, scale)))
        parts.append('<rect x="%d" y="28" width="%d" height="%d" fill="none" stroke="#888"/>' % (x, w, h))
    parts.append('<text x="10" y="%d">potential temperature perturbation, %.1f K (red) to -%.1f K (blue); held-out bubble</text>' % (h + 48, scale, scale))
    x = 10 + 4 * (w + gap) + 16
    top = max(persistence)
    parts.append('<text x="%d" y="20">error over the steps</text>' % x)
    parts.append('<rect x="%d" y="28" width="%d" height="%d" fill="none" stroke="#888"/>' % (x, w, h))
    parts.append('<polyline fill="none" stroke="#888" stroke-width="2" points="%s"/>' % curve(persistence, x, 28, w, h, top))
    parts.append('<polyline fill="none" stroke="#c00" stroke-width="2" points="%s"/>' % curve(surrogate, x, 28, w, h, top))
    parts.append('<text x="%d" y="%d" fill="#666">persistence</text><text x="%d" y="%d" fill="#c00">surrogate</text>' % (x + 80, 60, x + 80, 28 + h - 24))
    parts.append("</svg>")
    open(out, "w").write("\n".join(parts) + "\n")


main()
