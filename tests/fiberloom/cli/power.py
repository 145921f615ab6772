# SPDX-License-Identifier: BSD-3-Clause
"""Root without root's power, so that permissions can be tested whoever runs the tests."""
import ctypes
import os


def give_up_power():
    """For preexec_fn: in a child, before it becomes the program. Root keeps its files, but permissions hold for it
    too. (Another user would not do: the program may lie where only root may enter.)"""
    if os.geteuid() != 0:
        return
    pr_capbset_drop, dac_override, dac_read_search = 24, 1, 2
    for power in (dac_override, dac_read_search):
        ctypes.CDLL(None).prctl(pr_capbset_drop, power, 0, 0, 0)
