"""What a command takes."""

import subprocess
import sys
import time


def timed(argv, environment, statuses=(0,)):
    """Wall seconds. Another exit status than these ends the bench with what was printed."""
    begin = time.perf_counter()
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        sys.exit(f"{' '.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - begin
