# SPDX-License-Identifier: BSD-3-Clause
"""The index that docs/site.js searches: a script, for a page from disk may read nothing else."""
import html
import json
import re

HEADING = re.compile(r'<h([1-4])(?: id="([^"]*)")?[^>]*>(.*?)</h\1>', re.S)


def plain(markup):
    """The words of a piece of HTML; of an equation, what was typed."""
    markup = re.sub(r'<math[^>]*aria-label="([^"]*)".*?</math>', r" \1 ", markup, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def sections(page, body, page_title):
    """[page title, heading, link, text] of each heading's part."""
    found = list(HEADING.finditer(body))
    parts = []
    for at, heading in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(body)
        link = f"{page}#{heading[2]}" if heading[2] and heading[1] != "1" else page
        parts.append([page_title, plain(heading[3]), link, plain(body[heading.end():end])])
    return parts


def index(bodies, names):
    entries = []
    for page, body in bodies.items():
        stem = page.removesuffix(".html")
        entries += sections(page, body, names.get(stem, stem))
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"window.siteIndex = {text};\n"
