"""make_image.py FOLDER [--text T] [--env NAME=VALUE]... [--entrypoint WORD]... [--platform P]... [--docker]: writes an OCI layout
of a small Linux image, busybox and the file /etc/text, for each platform; prints the digest of its index."""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import tarfile

OCI = "application/vnd.oci.image."
DOCKER = "application/vnd.docker."
APPLETS = "sh ls cat id env echo sleep mkdir touch pwd kill true false cp mv rm wc head tail test stat nc ps grep printf".split()


class Layout:
    def __init__(self, folder, docker):
        self.folder = folder
        self.docker = docker
        (folder / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')

    def kind(self, oci, docker):
        return DOCKER + docker if self.docker else OCI + oci

    def add(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / "blobs" / "sha256" / digest).write_bytes(data)
        return {"mediaType": kind, "size": len(data), "digest": "sha256:" + digest}

    def add_json(self, kind, value):
        return self.add(kind, json.dumps(value).encode())


def root_file_system(text):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tree:

        def add(name, kind=tarfile.REGTYPE, data=b"", mode=0o755, target=""):
            member = tarfile.TarInfo(name)
            member.type, member.size, member.mode, member.linkname = kind, len(data), mode, target
            tree.addfile(member, io.BytesIO(data))

        for folder in ["bin", "etc", "proc", "sys", "dev", "root", "run", "var", "home"]:
            add(folder, tarfile.DIRTYPE)
        for folder in ["tmp", "var/tmp"]:
            add(folder, tarfile.DIRTYPE, mode=0o1777)
        add("bin/busybox", data=pathlib.Path(shutil.which("busybox")).read_bytes())
        for applet in APPLETS:
            add(f"bin/{applet}", tarfile.SYMTYPE, target="busybox")
        add("etc/passwd", data=b"root:x:0:0:root:/root:/bin/sh\n", mode=0o644)
        add("etc/group", data=b"root:x:0:\n", mode=0o644)
        add("etc/text", data=text.encode(), mode=0o644)
        for file in ["etc/hosts", "etc/resolv.conf", "etc/localtime"]:
            add(file, mode=0o644)
    return stream.getvalue()


def add_image(layout, platform, tree, arguments):
    system, machine = platform.split("/")
    config = {
        "created": "2020-01-01T00:00:00Z",
        "architecture": machine,
        "os": system,
        "config": {"Env": ["PATH=/bin", *arguments.env], "Entrypoint": arguments.entrypoint or None},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tree).hexdigest()]},
        "history": [{"created": "2020-01-01T00:00:00Z", "created_by": "make_image.py"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": layout.kind("manifest.v1+json", "distribution.manifest.v2+json"),
        "config": layout.add_json(layout.kind("config.v1+json", "container.image.v1+json"), config),
        "layers": [layout.add(layout.kind("layer.v1.tar+gzip", "image.rootfs.diff.tar.gzip"), gzip.compress(tree, mtime=0))],
    }
    return {**layout.add_json(manifest["mediaType"], manifest), "platform": {"os": system, "architecture": machine}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--text", default="text of the image\n")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--entrypoint", action="append", default=[])
    parser.add_argument("--platform", action="append", default=[])
    parser.add_argument("--docker", action="store_true")
    arguments = parser.parse_args()
    layout = Layout(arguments.folder, arguments.docker)
    tree = root_file_system(arguments.text)
    manifests = [add_image(layout, one, tree, arguments) for one in arguments.platform or ["linux/amd64"]]
    top = manifests[0]
    if len(manifests) > 1:
        index = {
            "schemaVersion": 2,
            "mediaType": layout.kind("index.v1+json", "distribution.manifest.list.v2+json"),
            "manifests": manifests,
        }
        top = layout.add_json(index["mediaType"], index)
    (arguments.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [top]}))
    print(top["digest"])


if __name__ == "__main__":
    main()
