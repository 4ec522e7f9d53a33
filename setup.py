"""What pyproject.toml cannot say: on PyPI, the links and pictures of README.md have to lead into
the repository, the keeper is a program and not a module, and a wheel without native parts serves
every machine.
"""

import re
import sys
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import LinkError

ROOT = Path(__file__).parent
PAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "arena" / "__init__.py").read_text())[1]
KEEPER = "arena.players.native.keeper"
NATIVE = ("**/*.so", "arena/players/native/keeper")
RELATIVE = re.compile(r"(!?)(\[[^]]*\]\()(?!https?://|#)")


def absolute(text: str) -> str:
    """The text with its relative links made to lead to the files of this version."""
    return RELATIVE.sub(
        lambda link: f"{link[1]}{link[2]}{PAGE}/{'raw' if link[1] else 'blob'}/v{VERSION}/", text
    )


class BuildExt(build_ext):
    """Builds the keeper as a program; all other native parts are modules of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        """The path of a built part. The program has no suffix."""
        if fullname.rpartition(".")[2] == KEEPER.rpartition(".")[2]:
            return str(Path(*fullname.split(".")))
        return super().get_ext_filename(fullname)

    def build_extension(self, ext: Extension) -> None:
        """Builds a part. The keeper is built on Linux only, whose system calls it uses."""
        if ext.name != KEEPER:
            super().build_extension(ext)
            return
        if sys.platform != "linux":
            return
        objects = self.compiler.compile(
            ext.sources, output_dir=self.build_temp, extra_postargs=ext.extra_compile_args
        )
        target = Path(self.get_ext_fullpath(ext.name))
        # A static program starts faster, but not every system has the static libraries.
        try:
            self._link(objects, target, "-static", "-s")
        except LinkError:
            self._link(objects, target, "-s")

    def _link(self, objects: list[str], target: Path, *arguments: str) -> None:
        """Links the program. Raises LinkError."""
        self.compiler.link_executable(
            objects, target.name, output_dir=str(target.parent), extra_postargs=list(arguments)
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
        if not any(native for part in NATIVE for native in built.glob(part)):
            self.root_is_pure = True
            self.distribution.ext_modules = []


setup(
    cmdclass={"bdist_wheel": BdistWheel, "build_ext": BuildExt},
    long_description=absolute((ROOT / "README.md").read_text()),
    long_description_content_type="text/markdown",
)
