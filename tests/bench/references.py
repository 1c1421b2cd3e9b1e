"""The programs that sabath is measured against: from Debian where they are installed, else from PyPI in a venv of the bench."""

import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = ("mlflow", "dvc")


def tools(folder):
    """A folder of programs with what PyPI has: REFERENCE_TOOLS names one that is kept, else one is made in `folder`."""
    kept = os.environ.get("REFERENCE_TOOLS")
    venv = pathlib.Path(kept) if kept else pathlib.Path(folder) / "references"
    if not (venv / "bin" / "dvc").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(venv / "bin" / "python"), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return venv / "bin"


def snakemake():
    """Debian's; installed where this user may."""
    if shutil.which("snakemake") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "snakemake"],
                       stdout=subprocess.DEVNULL, check=False)
    return shutil.which("snakemake")
