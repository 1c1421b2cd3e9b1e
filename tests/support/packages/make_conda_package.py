"""make_conda_package.py CHANNEL NAME VERSION [OPTION...]: puts a package into a conda channel that is a folder.

Prints the file's name. Options:
  --subdir linux-64|noarch|...   (linux-64)
  --build STRING                 (0)
  --depends SPEC                 one for each dependency
  --file PATH=TEXT               a file; '@PREFIX@' in it becomes the placeholder of the prefix (a text file then)
  --program PATH=TEXT            the same, executable
  --binary PATH=FILE             a copy of FILE, executable; the placeholder in it is replaced when it is installed
  --link PATH=TARGET             a symbolic link
  --placeholder-length N         (255)
  --no-sha256                    repodata has md5 alone, as old channels do
  --python                       a noarch package of Python; files are named site-packages/...
"""

import argparse
import bz2
import hashlib
import io
import json
import pathlib
import tarfile

PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3/" + "placehold_" * 23


def digest(data, kind):
    return hashlib.new(kind, data).hexdigest()


def files_of(options, placeholder):
    """path, bytes, mode, and "text", "binary" or None"""
    for texts, mode in ((options.file, 0o644), (options.program, 0o755)):
        for entry in texts:
            path, text = entry.split("=", 1)
            kind = "text" if "@PREFIX@" in text else None
            yield path, text.replace("@PREFIX@", placeholder).encode(), mode, kind
    for entry in options.binary:
        path, source = entry.split("=", 1)
        data = pathlib.Path(source).read_bytes()
        yield path, data, 0o755, "binary" if placeholder.encode() in data else None


def add(archive, path, data, mode=0o644):
    info = tarfile.TarInfo(path)
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))


def make_archive(options, index):
    placeholder = PLACEHOLDER[: options.placeholder_length]
    listed, prefixed, entries = [], [], []
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for path, data, mode, kind in files_of(options, placeholder):
            listed.append(path)
            entry = {"_path": path, "path_type": "hardlink", "sha256": digest(data, "sha256"), "size_in_bytes": len(data)}
            if kind:
                prefixed.append(f"{placeholder} {kind} {path}")
                entry.update(file_mode=kind, prefix_placeholder=placeholder)
            entries.append(entry)
            add(archive, path, data, mode)
        for entry in options.link:
            path, target = entry.split("=", 1)
            info = tarfile.TarInfo(path)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
            listed.append(path)
            entries.append({"_path": path, "path_type": "softlink", "sha256": digest(b"", "sha256"), "size_in_bytes": 0})
        add(archive, "info/index.json", json.dumps(index).encode())
        add(archive, "info/files", "".join(line + "\n" for line in listed).encode())
        add(archive, "info/paths.json", json.dumps({"paths": entries, "paths_version": 1}).encode())
        if prefixed:
            add(archive, "info/has_prefix", "".join(line + "\n" for line in prefixed).encode())
        if options.python:
            add(archive, "info/link.json", json.dumps({"noarch": {"type": "python"}, "package_metadata_version": 1}).encode())
    return buffer.getvalue()


def index_of(options):
    index = {
        "name": options.name,
        "version": options.version,
        "build": options.build,
        "build_number": 0,
        "depends": options.depends,
        "subdir": options.subdir,
        "license": "MIT",
    }
    if options.subdir == "noarch":
        index["noarch"] = "python" if options.python else "generic"
    else:
        index["platform"], _, machine = options.subdir.partition("-")
        index["arch"] = "x86_64" if machine == "64" else machine
    return index


def add_to_repodata(channel, subdir, name=None, record=None):
    path = channel / subdir / "repodata.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"info": {"subdir": subdir}, "packages": {}, "packages.conda": {}, "repodata_version": 1}
    if path.exists():
        data = json.loads(path.read_text())
    if name:
        data["packages"][name] = record
    text = json.dumps(data, indent=1, sort_keys=True)
    path.write_text(text)
    path.with_suffix(".json.bz2").write_bytes(bz2.compress(text.encode()))  # what conda 4 asks for


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("channel", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("version")
    parser.add_argument("--subdir", default="linux-64")
    parser.add_argument("--build", default="0")
    parser.add_argument("--placeholder-length", type=int, default=255)
    parser.add_argument("--no-sha256", action="store_true")
    parser.add_argument("--python", action="store_true")
    for option in ("depends", "file", "program", "binary", "link"):
        parser.add_argument("--" + option, action="append", default=[])
    options = parser.parse_args()
    index = index_of(options)
    data = make_archive(options, index)
    name = f"{options.name}-{options.version}-{options.build}.tar.bz2"
    record = dict(index, md5=digest(data, "md5"), sha256=digest(data, "sha256"), size=len(data))
    if options.no_sha256:
        del record["sha256"]
    add_to_repodata(options.channel, "noarch")
    add_to_repodata(options.channel, options.subdir, name, record)
    (options.channel / options.subdir / name).write_bytes(data)
    print(name)


main()
