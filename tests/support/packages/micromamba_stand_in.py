"""micromamba's 'create' as sabath calls it: its options, its refusals and the JSON of its answers, as in the sources of
micromamba 1.5. Solving and installing are rattler's. An option that sabath should not give ends it."""

import argparse
import asyncio
import json
import os
import pathlib
import shutil
import sys
import urllib.parse
import urllib.request

import rattler
from rattler.exceptions import SolverError

VERSION = "1.5.12"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="micromamba", allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("info").add_argument("--json", action="store_true")
    create = commands.add_parser("create", allow_abbrev=False)
    for flag in ("--yes", "--json", "--dry-run", "--no-rc", "--offline", "--override-channels", "--strict-channel-priority",
                 "--always-copy", "--download-only"):
        create.add_argument(flag, action="store_true")
    create.add_argument("--channel", "-c", action="append", default=[])
    create.add_argument("--prefix", "-p", type=pathlib.Path, required=True)
    create.add_argument("--platform", default="linux-64")
    create.add_argument("--file", type=pathlib.Path)
    create.add_argument("specs", nargs="*")
    return parser.parse_args(arguments)


def fail(text, answer=None):
    if answer:
        print(json.dumps(answer))
    print(f"error    libmamba {text}\ncritical libmamba {text.splitlines()[0]}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


def record_of(record):
    one = json.loads(record.to_json())
    one.update(url=record.url, fn=record.file_name, build_string=one["build"])
    return one


async def solve(options):
    virtual = [one.into_generic() for one in rattler.VirtualPackage.detect()]
    gateway = rattler.Gateway(cache_dir=packages_folder() / "cache")
    try:
        return await rattler.solve(options.channel, options.specs, gateway=gateway, platforms=[options.platform, "noarch"],
                                   virtual_packages=virtual)
    except SolverError as problem:
        fail(f"Could not solve for environment specs\n{problem}",
             {"success": False, "solver_problems": str(problem).splitlines()})
    except Exception as problem:
        fail(str(problem))


def packages_folder():
    return pathlib.Path(os.environ["CONDA_PKGS_DIRS"])


def bring(url, offline):
    """Into the folder of packages, as micromamba keeps them there."""
    if offline and not url.startswith("file://"):
        fail(f"{url}: offline")
    packages_folder().mkdir(parents=True, exist_ok=True)
    path = packages_folder() / urllib.parse.unquote(url.rsplit("/", 1)[1])
    try:
        with urllib.request.urlopen(url) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
    except OSError as problem:
        fail(f"Download error: {url}: {problem}")
    return path


async def explicit(options):
    lines = [line.split("#")[0].strip() for line in options.file.read_text().splitlines()]
    if "@EXPLICIT" not in lines:
        fail("the stand-in reads explicit lists alone")
    paths = [bring(line, options.offline) for line in lines if line and not line.startswith("@")]
    return [await rattler.RepoDataRecord.from_package_archive(path) for path in paths]


async def create(options):
    if options.no_rc and "CONDARC" in os.environ:
        fail("Configuration files disabled by 'no_rc'")
    answer = {"prefix": str(options.prefix), "dry_run": options.dry_run, "success": True}
    if not options.dry_run and options.prefix.exists():
        fail("Non-conda folder exists at prefix")
    records = await (explicit(options) if options.file else solve(options))
    links = [record_of(record) for record in records]
    answer["actions"] = {"FETCH": links, "LINK": links, "PREFIX": str(options.prefix)}
    if not options.dry_run and not options.download_only:
        await rattler.install(records, options.prefix, cache_dir=packages_folder(), show_progress=False,
                              platform=rattler.Subdir(options.platform) if options.platform else None,
                              execute_link_scripts=True)
    print(json.dumps(answer, indent=4))


def main():
    options = parse(sys.argv[1:])
    if options.version:
        print(VERSION)
    elif options.command == "info":
        virtual = [one.into_generic() for one in rattler.VirtualPackage.detect()]
        names = [f"{one.name.normalized}={one.version}={one.build_string}" for one in virtual]
        print(json.dumps({"micromamba version": VERSION, "platform": "linux-64", "virtual packages": names}))
    elif options.command == "create":
        asyncio.run(create(options))
    else:
        sys.exit("a subcommand is required")


main()
sys.stdout.flush()
os._exit(0)  # rattler's threads do not survive the interpreter's orderly end
