# SPDX-License-Identifier: BSD-3-Clause
"""The options of every command, from what the program offers the shell: a new option is attacked by itself."""
import dataclasses
import re
import shlex
import subprocess


@dataclasses.dataclass
class Option:
    command: str
    name: str
    value: bool = False  # it takes one
    file: bool = False  # which is a file, as far as the program knows
    words: tuple = ()  # or one of these


def read_table(program):
    """command -> options, in the program's order."""
    text = subprocess.run([program, "completion", "fish"], capture_output=True, text=True, check=True).stdout
    table = {}
    for line in text.splitlines():
        found = re.match(r"complete -c fiberloom -n '__fish_seen_subcommand_from (\w+)' (.*)", line)
        if not found:
            continue
        words = shlex.split(found[2])
        names = [words[i + 1] for i, word in enumerate(words) if word in ("-l", "-s")]
        if not names:
            continue
        longest = max(names, key=len)
        name = ("--" if len(longest) > 1 else "-") + longest
        offered = tuple(words[words.index("-a") + 1].split()) if "-a" in words else ()
        file = "-r" in words
        table.setdefault(found[1], []).append(Option(found[1], name, file or "-x" in words, file, offered))
    if "extract" not in table or len(table["extract"]) < 10:
        raise SystemExit("attack: the options cannot be read from 'completion fish'")
    return table
