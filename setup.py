"""What pyproject.toml cannot say: on PyPI, the links and pictures of README.md have to lead into
the repository.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "arena" / "__init__.py").read_text())[1]
RELATIVE = re.compile(r"(!?)(\[[^]]*\]\()(?!https?://|#)")


def absolute(text: str) -> str:
    """The text with its relative links made to lead to the files of this version."""
    return RELATIVE.sub(
        lambda link: f"{link[1]}{link[2]}{PAGE}/{'raw' if link[1] else 'blob'}/v{VERSION}/", text
    )


setup(
    long_description=absolute((ROOT / "README.md").read_text()),
    long_description_content_type="text/markdown",
)
