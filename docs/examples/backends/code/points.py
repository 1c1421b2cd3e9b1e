"""Points near a line, from a seed: points.py COUNT SEED FILE"""
import random
import sys

count, seed, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
draw = random.Random(seed)
with open(file, "w") as out:
    for i in range(count):
        x = i / count
        out.write(f"{x!r} {2 * x + 1 + draw.gauss(0, 0.1)!r}\n")
