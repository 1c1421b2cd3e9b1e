import os
import sys

points = [tuple(map(float, line.split())) for line in sys.stdin]
slope = offset = loss = 0.0
for _ in range(int(os.environ["EPOCHS"])):
    by_slope = by_offset = loss = 0.0
    for x, y in points:
        error = slope * x + offset - y
        by_slope += error * x
        by_offset += error
        loss += error * error
    slope -= 0.5 * by_slope / len(points)
    offset -= 0.5 * by_offset / len(points)
print(f"{slope:.17g} {offset:.17g} {loss / len(points):.17g}")
