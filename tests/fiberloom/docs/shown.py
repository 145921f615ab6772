# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the documentation shows: blocks and, of the program, words in backticks. Knows Markdown, not what
the commands mean."""
import re
import shlex

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)((?:    [^\n]*\n)(?:(?:    [^\n]*)?\n)*)")
PROGRAM = r"(?:time )?(?:build/release/bin/)?(?:fiberloom|python -m fiberloom|mpirun .*fiberloom|srun .*fiberloom)\b"


def logical_lines(block):
    """Commands of a block: continued lines joined, comments and the remarks of a synopsis dropped."""
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        line = re.sub(r"(^|\s+)#\s.*$", "", line).strip()
        line = re.sub(r"(?<=\S) {4,}[^\s-].*$", "", line) if line.startswith("fiberloom") else line
        if line:
            yield line


def is_command(line, first_words):
    words = line.split()
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    return not words or any(re.fullmatch(pattern, words[0]) for pattern in first_words)


def commands(text, first_words):
    """Of a page: (line, is it in a block) for each command in blocks that are not run as they are and are no other
    language. A block of which some lines are commands and others not is an error: ValueError."""
    found = []
    for language, block in FENCE.findall(text):
        if language.strip() in ("", "sh"):
            found += of_block(block, first_words)
    rest = FENCE.sub("\n", text)
    for block in INDENTED.findall(rest):
        found += of_block(re.sub(r"^    ", "", block, flags=re.M), first_words)
    inline = re.findall(r"`([^`\n]+)`", INDENTED.sub("\n", rest))
    return [(line, True) for line in found] + [(line, False) for line in inline if re.match(PROGRAM + r"\s", line)]


def of_block(block, first_words):
    lines = list(logical_lines(block))
    known = [line for line in lines if is_command(line, first_words)]
    if known and len(known) < len(lines):
        raise ValueError(f"no known command: {[line for line in lines if line not in known]}")
    return known


def of_help(text):
    """The examples that `--help` ends with."""
    match = re.search(r"^Examples?:\n(.*?)^\s*$", text, re.M | re.S)
    return list(logical_lines(re.sub(r"^  ", "", match.group(1), flags=re.M))) if match else []


def words(line):
    """Of a shown command: environment, words; a synopsis' brackets opened, its dots and alternatives gone."""
    line = line.replace("[options]", "...").replace("[OPTION...]", "...")
    line = re.sub(r"\[([^\[\]]*)\]", r"\1", line)
    whole = "..." not in line
    line = re.sub(r"\.\.\.", " ", line)
    line = re.sub(r"<\((.*)\)", r"\1", line)
    parts = shlex.split(line.split(" | ")[0])
    environment = {}
    while parts and re.match(r"[A-Z_]+=", parts[0]):
        name, _, value = parts.pop(0).partition("=")
        environment[name] = value
    return environment, [part.split("|")[0] for part in parts], whole
