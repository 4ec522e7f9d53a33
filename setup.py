"""What pyproject.toml cannot say: on PyPI, the links and pictures of README.md have to lead into
the repository, and a wheel without native parts serves every machine.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = Path(__file__).parent
PAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "arena" / "__init__.py").read_text())[1]
RELATIVE = re.compile(r"(!?)(\[[^]]*\]\()(?!https?://|#)")


def absolute(text: str) -> str:
    """The text with its relative links made to lead to the files of this version."""
    return RELATIVE.sub(
        lambda link: f"{link[1]}{link[2]}{PAGE}/{'raw' if link[1] else 'blob'}/v{VERSION}/", text
    )


class BdistWheel(bdist_wheel):
    """Makes a wheel of the machine at hand if a native part was built, and one that is called
    ``py3-none-any`` if there was no compiler.
    """

    def run_command(self, command: str) -> None:
        """Runs a step of the build; after ``build`` it is known whether there was a compiler."""
        super().run_command(command)
        if command != "build":
            return
        built = Path(self.get_finalized_command("build").build_lib)
        if not any(built.rglob("*.so")):
            self.root_is_pure = True
            self.distribution.ext_modules = []


setup(
    cmdclass={"bdist_wheel": BdistWheel},
    long_description=absolute((ROOT / "README.md").read_text()),
    long_description_content_type="text/markdown",
)
