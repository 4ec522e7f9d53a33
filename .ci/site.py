"""A hook of MkDocs: pages from outside docs/ are part of the site, and links that work on a forge
work in it as well.

On a forge, docs/first-bot.md links to ../protocol/SPEC.md; in the site, where docs/ is the root,
that page is protocol/SPEC.md. What is no page of the site is linked where the repository is
published.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = ("protocol/**/*.md", "protocol/**/*.svg", "results/README.md", "results/league-2/*.md")
LINK = re.compile(r"(\]\()([^)\s#]+)([^)]*\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages and pictures from outside docs/ under their paths in the repository."""
    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(
                File(name, str(ROOT), config.site_dir, use_directory_urls=config.use_directory_urls)
            )
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with its links turned to where their targets are in the site."""
    name = page.file.src_uri
    here = name if (ROOT / name).exists() else f"docs/{name}"

    def turned(link: re.Match[str]) -> str:
        target = link[2]
        if "://" in target:
            return link[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        # the site's own first page says that as well
        is_install = wanted == "README.md" and link[3].startswith("#install")
        in_site = "index.md" if is_install else wanted.removeprefix("docs/")
        if files.get_file_from_path(in_site):
            return f"{link[1]}{posixpath.relpath(in_site, posixpath.dirname(name) or '.')}{link[3]}"
        if (ROOT / wanted).exists():
            return f"{link[1]}{str(config.repo_url).rstrip('/')}/blob/main/{wanted}{link[3]}"
        return link[0]  # MkDocs says that it leads nowhere

    return re.sub(LINK, turned, markdown)
