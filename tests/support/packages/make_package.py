"""make_package.py FOLDER NAME VERSION [--requires R]... [--extra E]... [--tag T] [--code TEXT] [--library FILE] [--command NAME] [--source]:
writes a wheel, or with --source a source distribution that brings its own build backend; prints the file's name."""

import argparse
import base64
import hashlib
import io
import pathlib
import tarfile
import zipfile

BACKEND = """
import pathlib, zipfile
def build_wheel(folder, settings=None, metadata=None):
    wheel = pathlib.Path(__file__).parent / "wheel"
    name = (wheel / "NAME").read_text()
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as archive:
        for file in sorted(wheel.rglob("*")):
            if file.is_file() and file.name != "NAME":
                archive.write(file, str(file.relative_to(wheel)))
    return name
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "{name}"
version = "{version}"
"""


def contents(arguments):
    module = arguments.name.replace("-", "_")
    info = f"{module}-{arguments.version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {arguments.name}", f"Version: {arguments.version}"]
    lines += [f"Provides-Extra: {one}" for one in arguments.extra]
    lines += [f"Requires-Dist: {one}" for one in arguments.requires]
    files = {
        f"{module}/__init__.py": arguments.code + "\n",
        f"{info}/METADATA": "\n".join(lines) + "\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {arguments.tag}\n",
    }
    if arguments.command:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{arguments.command} = {module}:main\n"
    files = {name: text.encode() for name, text in files.items()}
    if arguments.library:
        files[f"{module}/part.so"] = pathlib.Path(arguments.library).read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    return f"{module}-{arguments.version}-{arguments.tag}.whl", files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("version")
    parser.add_argument("--requires", action="append", default=[])
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--tag", default="py3-none-any")
    parser.add_argument("--code", default="")
    parser.add_argument("--library")
    parser.add_argument("--command")
    parser.add_argument("--source", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    wheel, files = contents(arguments)
    if not arguments.source:
        with zipfile.ZipFile(arguments.folder / wheel, "w") as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
        print(wheel)
        return
    base = f"{arguments.name.replace('-', '_')}-{arguments.version}"
    files = {f"wheel/{name}": data for name, data in files.items()}
    files["wheel/NAME"] = wheel.encode()
    files["backend.py"] = BACKEND.encode()
    files["pyproject.toml"] = PROJECT.format(name=arguments.name, version=arguments.version).encode()
    files["PKG-INFO"] = files[f"wheel/{base}.dist-info/METADATA"]
    with tarfile.open(arguments.folder / f"{base}.tar.gz", "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"{base}/{name}")
            member.size = len(data)
            member.mtime = 946684800
            archive.addfile(member, io.BytesIO(data))
    print(f"{base}.tar.gz")


if __name__ == "__main__":
    main()
