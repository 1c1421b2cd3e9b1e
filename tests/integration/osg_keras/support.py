"""What the tests of mnist, imdb and imbalanced share: the recipe's programs as commands, and their refusals."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
CODE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(CODE))


def command(script, *arguments, **variables):
    return subprocess.run(
        [sys.executable, "-B", CODE / script, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **variables}
    )


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def refused(self, done, *expected):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def stage_in(self, *arguments):
        (self.folder / "staged").mkdir(exist_ok=True)
        return command("stage_in.py", "--folder", self.folder, "--output", self.folder / "staged", *arguments)

    def no_framework(self, data):
        """Training without TensorFlow says what to install."""
        broken = self.folder / "broken" / "tensorflow"
        broken.mkdir(parents=True)
        (broken / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')\n")
        done = command("train.py", "--data", data, "--output", self.folder, PYTHONPATH=str(broken.parent))
        self.refused(done, "tensorflow: cannot be imported", "pip install 'tensorflow-cpu==")
