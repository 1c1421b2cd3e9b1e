"""Errors of a line: infer.py LINE POINTS FILE"""
import json
import os
import sys
import time

slope, offset, _ = map(float, open(sys.argv[1]).read().split())
points = [tuple(map(float, line.split())) for line in open(sys.argv[2])]
begin = time.perf_counter()
errors = [slope * x + offset - y for x, y in points]
took = time.perf_counter() - begin
with open(sys.argv[3], "w") as out:
    out.writelines(f"{error!r}\n" for error in errors)
with open(os.environ["SABATH_METRICS"], "a") as out:
    worst = max(abs(error) for error in errors)
    out.write(json.dumps({"worst": worst, "latency": took / len(points)}) + "\n")
