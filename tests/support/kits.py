"""The starter bots by language, and whether a language's toolchain is installed here."""

import functools
import shutil
import subprocess

from arena.cli.new import LANGUAGES

KITS = {
    "python": [],
    "js": ["node"],
    "c": ["cc"],
    "cpp": ["c++"],
    "rust": ["rustc", "cc"],
    "java": ["javac", "java"],
}
"""What each language needs on PATH."""
PLAIN = {language: ["--language", language] for language in LANGUAGES if language != "python"} | {
    "python": ["--template", "plain"]
}
"""Those that have the same idea."""


@functools.cache
def lack(language):
    """Why the language's toolchain cannot be used, or an empty text."""
    for program in KITS[language]:
        if shutil.which(program) is None:
            return f"{program} is not installed"
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{program} --version fails: {(done.stderr or done.stdout).strip()[:200]}"
    return ""
