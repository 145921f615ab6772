# SPDX-License-Identifier: BSD-3-Clause
"""One attack as plain data: what is run, under which limits, what it may leave. Its name says it all: the same
name makes the same files and the same command."""
import dataclasses
import random

QUIET_LIMIT_S = 20.0  # no command of these sizes may take longer
STOP_LIMIT_S = 8.0  # what SIGTERM may take


@dataclasses.dataclass
class Case:
    name: str
    argv: list  # after the program's name, relative to the case's folder
    note: str = ""  # what was done, for people
    outputs: list = dataclasses.field(default_factory=list)  # patterns of what may lie below out/ afterwards
    wanted: list = dataclasses.field(default_factory=list)  # what success must leave
    at_fault: list = dataclasses.field(default_factory=list)  # the line of an input's failure names one of these
    limits: dict = dataclasses.field(default_factory=dict)  # names of resource.RLIMIT_*: value
    env: dict = dataclasses.field(default_factory=dict)
    stdout: str = ""  # a path, "closed", or captured
    signal: tuple = ()  # (number, seconds after the start)
    patience_s: float = 0.0  # > 0: a long run is no fault, but after so long SIGTERM must end it
    codes: tuple = ()  # when given, no other exit code will do
    again: list = dataclasses.field(default_factory=list)  # a second command, which must succeed and clean up
    same_as: str = ""  # the second command's output has these bytes (a name of the corpus)
    untouched: tuple = ()  # fibres of out/frame.fits whose FLUX and IVAR are those of the unharmed frame
    out_is_state: bool = False  # out/ holds a night from before: what is there may be replaced


def rng_of(name):
    return random.Random(name)


def split_name(name):
    """'kind:seed:number'"""
    kind, seed, number = name.rsplit(":", 2)
    return kind, int(seed), int(number)
