"""draw.py IMAGE.png: draws 200 generated digits, a column for each of 20 writers, a row for each digit; needs NumPy alone."""

import pathlib
import struct
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "code"))

import numpy

from strokes import draw, points_of, writer_of

WRITERS = 20


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def save_png(path, grey):
    """Writes bytes of (row, column) as an image in grey."""
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    content = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + content)


def main():
    random = numpy.random.default_rng(1)
    habits = [writer_of(1, number) for number in range(WRITERS)]
    rows = [numpy.hstack([draw(points_of(digit, one, random), one["pen"]) for one in habits]) for digit in range(10)]
    save_png(sys.argv[1], 255 - numpy.vstack(rows))


main()
