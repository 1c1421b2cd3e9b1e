"""Metrics and problems as sabath reads them."""

import json
import os
import sys
import time


class InputError(Exception):
    """A problem of the user's data or machine: where it is, what is wrong, and what to do."""

    def __init__(self, place, problem, hint=None):
        super().__init__(f"{place}: {problem}" + (f"\nhint: {hint}" if hint else ""))


def report(**values):
    """Appends one line of metrics to the file that $SABATH_METRICS names, else to standard output."""
    line = json.dumps(values) + "\n"
    path = os.environ.get("SABATH_METRICS")
    if path is None:
        sys.stdout.write(line)
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(line)


def mllog(key, value=None, kind="POINT_IN_TIME", **metadata):
    """Prints one line of MLPerf's log format; `kind` is POINT_IN_TIME, INTERVAL_START or INTERVAL_END."""
    line = {
        "namespace": "",
        "time_ms": int(time.time() * 1000),
        "event_type": kind,
        "key": key,
        "value": value,
        "metadata": metadata,
    }
    print(":::MLLOG " + json.dumps(line), flush=True)


def run_main(main):
    """Calls `main`; prints an InputError without a traceback and exits with status 2."""
    try:
        main()
    except InputError as problem:
        print(problem, file=sys.stderr)
        sys.exit(2)
