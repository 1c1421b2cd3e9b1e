#!/usr/bin/env python3
"""Writes what the program is made of: SPDX 2.3 as JSON, on stdout. Equal input gives equal bytes.

    sbom.py VERSION PROGRAM [DEV-PACKAGE...]   PROGRAM is linked with libraries of this Debian; DEV-PACKAGES are compiled in
    sbom.py VERSION PROGRAM --listed FILE      FILE has a line "NAME VERSION" for each package that is linked statically

SOURCE_DATE_EPOCH is the time of the document.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def packages_with(file):
    """(name, version) of the Debian packages that have `file`; paths are looked for with and without /usr."""
    for path in (file, os.path.realpath(file), re.sub(r"^/usr", "", os.path.realpath(file))):
        found = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            name = found.stdout.split(": ")[0].split(",")[0]
            return name.split(":")[0], version_of(name)
    sys.exit(f"sbom: no package has {file}")


def version_of(package):
    return output_of("dpkg-query", "-W", "-f", "${Version}", package)


def linked_packages(program):
    """Packages of the libraries that the loader finds for `program`, and theirs."""
    files = re.findall(r"=> (/\S+)", output_of("ldd", program))
    return sorted({packages_with(file) for file in files})


def package_entry(identifier, name, version, extra):
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        **extra,
    }


def debian_entry(name, version):
    locator = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A').replace('~', '~')}"
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
    return package_entry(identifier_of(name), name, version, {"supplier": "Organization: Debian", "externalRefs": [reference]})


def identifier_of(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def main():
    version, program, *rest = sys.argv[1:]
    if rest[:1] == ["--listed"]:
        with open(rest[1], encoding="utf-8") as file:
            static = sorted({tuple(line.split()) for line in file if line.strip()})
        linked = []
    else:
        static = sorted((name, version_of(name)) for name in rest)
        linked = linked_packages(program)
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    own = package_entry(
        "SPDXRef-sabath",
        "sabath",
        version,
        {
            "licenseDeclared": "BSD-3-Clause",
            "copyrightText": "Copyright (c) 2026, the sabath developers",
            "comment": f"SHA-256 of bin/sabath: {digest}",
        },
    )
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-sabath"}]
    for kind, packages in (("STATIC_LINK", static), ("DYNAMIC_LINK", linked)):
        for name, _ in packages:
            relations.append({"spdxElementId": "SPDXRef-sabath", "relationshipType": kind, "relatedSpdxElement": identifier_of(name)})
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"sabath-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/sabath-{version}-{digest}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
            "creators": ["Tool: sabath-src/package/sbom.py"],
        },
        "packages": [own] + [debian_entry(*package) for package in sorted({*static, *linked})],
        "relationships": relations,
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


main()
