"""Checks each link of the built site: the file is there, the section is there, and nothing is loaded from elsewhere.

python docs/check_links.py build/site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Collects what a page links, loads and names."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.names.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(values["href"])
        elif tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])


def faults(site: Path) -> list[str]:
    """Return what is wrong, one line each.

    Args:
        site: folder that `mkdocs build` wrote.
    """
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links start at the address of the site
            continue
        name = path.relative_to(site)
        found += [f"{name}: loads {target}" for target in page.loaded if urlsplit(target).netloc]
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                found.append(f"{name}: no file for {target}")
            elif file in pages and unquote(parts.fragment) not in pages[file].names:
                found.append(f"{name}: no section for {target}")
    return found if pages else [f"{site}: no pages"]


def main() -> int:
    """Print the faults of the site; 1 if there are any."""
    found = faults(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "all links lead somewhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
