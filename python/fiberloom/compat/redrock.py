# SPDX-License-Identifier: BSD-3-Clause
"""redrock.external.desi and .boss: the same calls, so that a pipeline changes one import."""
import os
import subprocess
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._errors import make_error


def rrdesi(options: Optional[Sequence[str]] = None, comm: Any = None) -> None:
    """Finds redshifts as `rrdesi` does: its options, its files.

    Parameters
    ----------
    options : list of str, optional
        As on the command line of rrdesi, and those of ``fiberloom redshift`` too (``--backend cpu``); default: what follows
        the script's name there.
    comm : mpi4py communicator, optional
        Its rank 0 does the work with all threads, the others wait. To share targets out among ranks start
        ``fiberloom redshift -o FOLDER/`` under mpirun instead.

    Raises
    ------
    FiberloomError
        What the program refuses or fails at, with its exit code.

    Examples
    --------
    >>> from fiberloom.compat.redrock import rrdesi
    >>> rrdesi(["-i", "nowhere.fits", "-o", "redrock.fits"])
    Traceback (most recent call last):
    ...
    fiberloom._errors.NotFoundError: ...
    """
    _run(options, comm, {})


def rrboss(options: Optional[Sequence[str]] = None, comm: Any = None) -> None:
    """Finds redshifts in SDSS's spPlate files as `rrboss` does: its options, its files.

    Parameters
    ----------
    options, comm
        As of `rrdesi`, with the options of rrboss: ``--spplate``, ``--zbest`` (FITS), ``-o`` or ``--output`` (HDF5).

    Raises
    ------
    FiberloomError
        What the program refuses or fails at, with its exit code.

    Examples
    --------
    >>> from fiberloom.compat.redrock import rrboss
    >>> rrboss(["--spplate", "nowhere.fits", "--zbest", "zbest.fits"])
    Traceback (most recent call last):
    ...
    fiberloom._errors.NotFoundError: ...
    """
    _run(options, comm, {"-o": "--details", "--output": "--details"})


def _run(options: Optional[Sequence[str]], comm: Any, other_names: Dict[str, str]) -> None:
    if options is None:
        options = sys.argv[1:]
    if isinstance(options, (str, bytes)) or not isinstance(options, Sequence):
        raise TypeError(f"options: expected a list of str, got {type(options).__name__}")
    for option in options:
        if not isinstance(option, (str, bytes, os.PathLike)):
            raise TypeError(f"options: expected a list of str, got {type(option).__name__} in it")
    if comm is not None and not (hasattr(comm, "rank") and hasattr(comm, "bcast")):
        raise TypeError(f"comm: expected a communicator of mpi4py or None, got {type(comm).__name__}")
    failure = None
    if comm is None or comm.rank == 0:
        from ..__main__ import program
        ranks = [] if comm is None else ["--mpi", "off"]
        words = (os.fsdecode(option) for option in options)
        command: List[str] = [str(program()), "redshift", *(other_names.get(word, word) for word in words), *ranks]
        failure = _failure_of(command)
    if comm is not None:
        failure = comm.bcast(failure, root=0)
    if failure is not None:
        raise make_error(failure[0], failure[1], "", 0)


def _failure_of(command: List[str]) -> Optional[Tuple[str, int]]:
    """Runs it. What went wrong, and the exit code: other ranks wait to hear it, whatever it is."""
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        return f"{command[0]}: cannot be run ({error.strerror})", 10
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    told = next((line for line in lines if ": error: " in line), "")
    sys.stderr.write("".join(line + "\n" for line in lines if line != told))
    if done.returncode == 0:
        return None
    return told.partition(": error: ")[2] or f"ended with {done.returncode}", done.returncode
