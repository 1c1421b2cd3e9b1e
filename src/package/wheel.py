#!/usr/bin/env python3
"""Writes wheels of pysabath; equal input gives equal bytes. No build back end is needed.

    wheel.py FOLDER                 the pure wheel, in FOLDER
    wheel.py FOLDER PROGRAM TAG     the wheel for the platform TAG with PROGRAM, an installation with bin/ and share/

SOURCE_DATE_EPOCH is the time of each member.
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import tomllib
import zipfile

python = pathlib.Path(__file__).resolve().parents[1] / "python"


def metadata(project):
    """The core metadata of `project`, the table of that name in pyproject.toml."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    lines += [f"Requires-Dist: {needed}" for needed in project["dependencies"]]
    for extra, packages in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {needed}; extra == '{extra}'" for needed in packages]
    return "\n".join(lines) + "\n\n" + (python / project["readme"]).read_text(encoding="utf-8")


def files_below(folder, name):
    """Yields (name in the wheel, path) of each file below `folder`, sorted."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{name}/{path.relative_to(folder).as_posix()}", path


def main():
    out = pathlib.Path(sys.argv[1])
    program, tag = (pathlib.Path(sys.argv[2]), sys.argv[3]) if len(sys.argv) == 4 else (None, "any")
    project = tomllib.loads((python / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"{project['name']}-{project['version']}"
    info = f"{name}.dist-info"
    members = [(member, path.read_bytes(), os.access(path, os.X_OK)) for member, path in files_below(python / "pysabath", "pysabath")]
    if program:
        for part in ("bin", "share"):
            members += [
                (member, path.read_bytes(), os.access(path, os.X_OK))
                for member, path in files_below(program / part, f"pysabath/program/{part}")
            ]
        members.append((f"{info}/entry_points.txt", b"[console_scripts]\nsabath = pysabath.program:main\n", False))
    pure = "false" if program else "true"
    wheel = f"Wheel-Version: 1.0\nGenerator: sabath\nRoot-Is-Purelib: {pure}\nTag: py3-none-{tag}\n"
    licence = (python.parents[1] / "LICENSE").read_bytes()
    members += [(f"{info}/METADATA", metadata(project).encode(), False), (f"{info}/WHEEL", wheel.encode(), False), (f"{info}/LICENSE", licence, False)]
    record = "".join(
        f"{member},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for member, data, _ in members
    )
    members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
    when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    file = out / f"{name}-py3-none-{tag}.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member, data, is_executable in members:
            entry = zipfile.ZipInfo(member, when)
            entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(file)


main()
