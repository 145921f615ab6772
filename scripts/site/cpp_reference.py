# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the C++ library from its headers: what stands at the top of each, then each declaration with the
comment above it. The headers follow one style (docs: CONTRIBUTING.md), so no parser of C++ is needed."""
import html
import re

ROOMS = ("fiberloom/spectrum", "fiberloom/ccd", "fiberloom/psf", "fiberloom/simulate", "fiberloom/extract", "fiberloom/redshift", "fiberloom/templates", "fiberloom/formats",
         "fiberloom/astro", "fiberloom/recipes",
         "loom/base", "loom/linalg", "loom/files", "loom/fits", "loom/runtime")
LEFT_OUT = re.compile(r"_lane\.hpp$|test")


def headers_of(root, room):
    """What is installed of a room (see cmake/FiberloomInstall.cmake), without the rooms in it."""
    return [path for path in sorted((root / "src" / room).glob("*.hpp")) if not LEFT_OUT.search(path.name)]


def opening(lines):
    """The comment at the top, without the licence."""
    told = []
    for line in lines:
        if not line.startswith("//"):
            break
        if "SPDX" not in line:
            told.append(line[2:].strip())
    return " ".join(told)


def without_nested(text, opened, closed):
    """Is every bracket closed?"""
    return text.count(opened) <= text.count(closed)


def declarations(lines):
    """(comment, code) of each declaration at the level of the namespace."""
    found, comment, code = [], [], []
    for line in lines:
        stripped = line.strip()
        if not code and stripped.startswith("///"):
            comment.append(stripped[3:].strip())
            continue
        skip = not stripped or stripped.startswith(("#", "namespace", "using namespace", "//")) or \
            re.match(r"}\s*(//.*)?$", stripped)
        if not code and skip:
            comment = [] if stripped else comment
            continue
        code.append(line.rstrip())
        text = re.sub(r"//.*", "", "\n".join(code))
        whole = without_nested(text, "{", "}") and without_nested(text, "(", ")")
        if whole and re.search(r"[;}]\s*$", text):
            found.append((comment, "\n".join(code)))
            comment, code = [], []
    return found


BODY = re.compile(r"\)(?P<kept>(?:\s*(?:const|noexcept|override|final))*(?:\s*->[^{;]*)?)"
                  r"(?:\s*:\s(?:[^{};]|\{[^{}]*\}(?=\s*[,{]))*)?\s*\{")


def without_bodies(code):
    """Functions end at their brackets: `f(x) { ... }` becomes `f(x);`."""
    at = 0
    while match := BODY.search(code, at):
        end, depth = match.end(), 1
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        code = code[:match.start() + 1] + match["kept"] + ";" + code[end:].removeprefix(";")
        at = match.start() + 1
    return code


def shown(code):
    """A function's body is nobody's business; a type's is, but for what is private."""
    plain = re.sub(r"//.*", "", code)
    if re.match(r"\s*(template\s*<[^{]*>\s*)?(class|struct|enum)\b[^;(]*\{", plain):
        code = re.sub(r"\n+ private:.*(?=\n};)", "", code, flags=re.S)
        return without_bodies(code)
    return without_bodies(code) if "(" in plain else code


def name_of(code):
    plain = re.sub(r"//.*|\[\[[a-z_]+\]\]", "", code)
    match = re.match(r"\s*(?:template\s*<.*?>\s*)?(?:class|struct|enum(?:\s+class)?)\s+(\w+)", plain, re.S)
    match = match or re.search(r"([\w~]+|operator\S+)\s*\(", plain) or re.search(r"(\w+)\s*(?:\{|=|;)", plain)
    return match[1] if match else ""


def inline(text):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def header_entry(path, name):
    """`name`: as a program includes it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    parts = [f'<h2 id="{path.stem}">{name}</h2>', f"<p>{inline(opening(lines))}</p>"]
    seen = set()
    for comment, code in declarations(lines):
        called = name_of(code)
        anchor = f"{path.stem}-{called}"
        if called and anchor not in seen:
            seen.add(anchor)
            parts.append(f'<h3 id="{anchor}">{html.escape(called)}</h3>')
        if comment:
            parts.append(f"<p>{inline(' '.join(comment))}</p>")
        parts.append(f'<pre class="signature"><code>{html.escape(shown(code), quote=False)}</code></pre>')
    return "\n".join(parts)


def reference(root, what_folders_hold):
    """{page: body}: one page a folder, and the list of all."""
    pages, listed = {}, []
    for room in ROOMS:
        headers = headers_of(root, room)
        if not headers:
            continue
        folder = room.partition("/")[2]
        page = f"cpp-{folder}.html"
        about = what_folders_hold.get(folder, "")
        pages[page] = "\n".join([f"<h1>C++: {room}/</h1>", f"<p>{inline(about)}</p>", *(header_entry(path, f"{room}/{path.name}") for path in headers)])
        rows = "".join(f'<tr><td><a href="{page}#{path.stem}"><code>{room}/{path.name}</code></a></td>'
                       f"<td>{inline(opening(path.read_text(encoding='utf-8').split(chr(10))))}</td></tr>"
                       for path in headers)
        listed.append(f'<h2 id="{folder}"><a href="{page}">{room}/</a></h2><p>{inline(about)}</p>'
                      f'<div class="scroll"><table>{rows}</table></div>')
    pages["reference-cpp.html"] = "\n".join([
        "<h1>C++: reference</h1>", "<p>Namespace <code>fiberloom</code>, on <code>loom</code>, which knows no instrument and whose "
        "names fiberloom has too; a program says "
        "<code>find_package(fiberloom)</code> and links <code>fiberloom::fiberloom</code> "
        '(<a href="install.html">Install</a>). Where a new one begins: <a href="cpp-extract.html">extract</a>, '
        '<a href="cpp-formats.html">formats</a>, <a href="cpp-simulate.html">simulate</a>. Errors are one exception, '
        "<code>Error</code>; threads come in as an <code>Executor</code>.</p>", *listed])
    return pages
