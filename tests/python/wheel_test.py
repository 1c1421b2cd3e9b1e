#!/usr/bin/env python3
"""src/package: wheels and the SBOM have what their formats ask for, and equal input gives equal bytes."""
import base64
import hashlib
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

scripts = pathlib.Path(__file__).resolve().parents[2] / "src" / "package"
environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}


def run(script, *arguments):
    return subprocess.run([sys.executable, scripts / script, *map(str, arguments)], check=True, env=environment, capture_output=True, text=True).stdout


class Wheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def wheel(self, name, *more):
        out = self.folder / name
        out.mkdir()
        run("wheel.py", out, *more)
        (file,) = out.iterdir()
        return file

    def program(self):
        program = self.folder / "installed"
        (program / "bin").mkdir(parents=True)
        (program / "share" / "sabath").mkdir(parents=True)
        (program / "bin" / "sabath").write_text("#!/bin/sh\necho the program: $1\n")
        (program / "bin" / "sabath").chmod(0o755)
        (program / "share" / "sabath" / "x.json").write_text("{}")
        return program

    def test_two_are_equal(self):
        self.assertEqual(self.wheel("a").read_bytes(), self.wheel("b").read_bytes())

    def test_record_names_each_member_with_its_digest(self):
        for file in (self.wheel("pure"), self.wheel("full", self.program(), "manylinux_2_31_x86_64")):
            with zipfile.ZipFile(file) as archive:
                (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
                rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
                self.assertEqual([row[0] for row in rows], archive.namelist())
                for name, digest, size in rows:
                    if name == record:
                        continue
                    data = archive.read(name)
                    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, int(size)), (f"sha256={expected}", len(data)))

    def test_tags(self):
        for file, pure, tag in (
            (self.wheel("pure"), "true", "py3-none-any"),
            (self.wheel("full", self.program(), "manylinux_2_31_x86_64"), "false", "py3-none-manylinux_2_31_x86_64"),
        ):
            self.assertTrue(file.name.endswith(f"-{tag}.whl"))
            with zipfile.ZipFile(file) as archive:
                (name,) = [name for name in archive.namelist() if name.endswith("/WHEEL")]
                self.assertIn(f"Root-Is-Purelib: {pure}\nTag: {tag}\n", archive.read(name).decode())

    def test_the_program_is_executable_and_its_script_starts_it(self):
        full = self.wheel("full", self.program(), "manylinux_2_31_x86_64")
        installed = self.folder / "site"
        with zipfile.ZipFile(full) as archive:
            archive.extractall(installed)
            for entry in archive.infolist():
                mode = entry.external_attr >> 16
                (installed / entry.filename).chmod(stat.S_IMODE(mode))
            (points,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
            self.assertIn("sabath = pysabath.program:main", archive.read(points).decode())
        answer = subprocess.run(
            [sys.executable, "-c", "from pysabath.program import main; main()", "list"],
            env={**os.environ, "PYTHONPATH": str(installed)}, check=True, capture_output=True, text=True,
        )
        self.assertEqual(answer.stdout, "the program: list\n")


class Materials(unittest.TestCase):
    def test_each_listed_package_is_related_to_the_program(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "sabath").write_bytes(b"program")
            (folder / "listed").write_text("curl 7.88.1-10+deb12u15\nspdlog 1:1.10.0+ds-0.4\n")
            text = run("sbom.py", "0.1.0", folder / "sabath", "--listed", folder / "listed")
            self.assertEqual(text, run("sbom.py", "0.1.0", folder / "sabath", "--listed", folder / "listed"))
        document = json.loads(text)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        packages = {package["name"]: package for package in document["packages"]}
        self.assertEqual(packages["curl"]["versionInfo"], "7.88.1-10+deb12u15")
        self.assertEqual(packages["spdlog"]["externalRefs"][0]["referenceLocator"], "pkg:deb/debian/spdlog@1%3A1.10.0%2Bds-0.4")
        linked = [row["relatedSpdxElement"] for row in document["relationships"] if row["relationshipType"] == "STATIC_LINK"]
        self.assertEqual(linked, [packages["curl"]["SPDXID"], packages["spdlog"]["SPDXID"]])
        self.assertEqual(packages["sabath"]["comment"], f"SHA-256 of bin/sabath: {hashlib.sha256(b'program').hexdigest()}")


if __name__ == "__main__":
    unittest.main()
