"""bare_python.py FOLDER [MAIN]: a Python as Debian's is without python3-pip and python3-venv, made of links to this one; prints its
program. With MAIN it has a pip with the parts of the real one, but a program of its own: that file."""

import os
import pathlib
import shutil
import sys
import sysconfig


def main():
    folder = pathlib.Path(sys.argv[1])
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    base = getattr(sys, "_base_executable", None) or sys.executable
    own = folder / "lib" / library.name
    own.mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name not in ("ensurepip", "site-packages", "dist-packages", "EXTERNALLY-MANAGED"):
            (own / entry.name).symlink_to(entry)
    (own / "site-packages").mkdir()
    program = folder / "bin" / "python3"
    program.parent.mkdir()
    shutil.copy(os.path.realpath(base), program)
    if len(sys.argv) > 2:
        import pip

        fake = own / "site-packages" / "pip"
        fake.mkdir()
        (fake / "__init__.py").write_text("__version__ = '99.0'\n")
        (fake / "_vendor").symlink_to(pathlib.Path(pip.__file__).parent / "_vendor")
        shutil.copy(sys.argv[2], fake / "__main__.py")
    print(program)


main()
