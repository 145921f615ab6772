#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes src/fiberloom/astro/earth_velocity_terms.cpp: the Earth's barycentric velocity as a series.

    fit_series.py [OUTPUT]       needs numpy and pyerfa

The velocity in the axes of the ICRS is written as a sum of cos and sin of whole multiples of the mean
longitudes of the planets and of the Moon's arguments, the leading ones with factors T and T^2. Which
multiples matter is found one after the other (the one that takes most off the residual comes next), and the
coefficients are a least-squares fit to ERFA's epv00 over 1960-2100. Nothing of ERFA's tables is taken over.
"""
import itertools
import sys

import erfa
import numpy as np

J2000 = 2451545.0
AU_PER_DAY = 149597870700.0 / 86400.0  # m/s
# Mean longitudes at J2000 and rates a Julian century, radians (mean ecliptic and equinox of J2000):
# Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune; the Moon's longitude, D, l, F.
ARGUMENTS = np.array([
    (3.17614670, 1021.32855462), (1.75347031, 628.30758500), (6.20348091, 334.06124315),
    (0.59954650, 52.96909651), (0.87401676, 21.32990954), (5.48129387, 7.47815986),
    (5.31188629, 3.81330356), (3.81034392, 8399.68472530), (5.19846674, 7771.37714681),
    (2.35555590, 8328.69142696), (1.62790523, 8433.46615813)])
TERMS = 64


def unit(*at):
    return tuple(at.count(i) for i in range(len(ARGUMENTS)))


EARTH, URANUS, NEPTUNE = unit(1), unit(5), unit(6)
# argument: powers of T that go with it; the series' main lines, whose rates are not exact to the millisecond of arc
POWERS = {EARTH: 3, unit(1, 1): 2, unit(7): 2, unit(3): 2}


def candidates():
    found = set()
    for venus, earth, mars, jupiter, saturn in itertools.product(
            range(-6, 7), range(-8, 9), range(-4, 5), range(-4, 5), range(-2, 3)):
        bodies = sum(k != 0 for k in (venus, mars, jupiter, saturn))
        if bodies > 2 or abs(venus) + abs(earth) + abs(mars) + abs(jupiter) + abs(saturn) > 12:
            continue
        found.add((venus, earth, mars, jupiter, saturn, 0, 0, 0, 0, 0, 0))
    for elongation, anomaly, sun in itertools.product(range(-2, 3), range(-2, 3), range(-1, 2)):
        if (sun, elongation, anomaly) == (1, -1, 0):
            continue  # the Sun's longitude again: twice the Earth's argument
        found.add((0, sun, 0, 0, 0, 0, 0, 1, elongation, anomaly, 0))  # longitude
        found.add((0, sun, 0, 0, 0, 0, 0, 0, elongation, anomaly, 1))  # latitude
    half = set()
    for multiples in found:  # k and -k are the same function
        first = next((k for k in multiples if k), 0)
        if first > 0:
            half.add(multiples)
    return sorted(half)


def columns(multiples, t):
    angle = (np.array(multiples) @ ARGUMENTS[:, 0]) + (np.array(multiples) @ ARGUMENTS[:, 1]) * t
    return np.cos(angle), np.sin(angle)


def velocity(jd):
    _, barycentric = erfa.epv00(jd, np.zeros_like(jd))
    return barycentric["v"] * AU_PER_DAY


def fit(basis, v):
    coefficients, *_ = np.linalg.lstsq(np.array(basis).T, v, rcond=None)
    return coefficients, v - np.array(basis).T @ coefficients


def choose(t, v):
    """Multiples in the order of their weight."""
    pool = candidates()
    frequency = np.array([np.array(m) @ ARGUMENTS[:, 1] for m in pool])
    waves = np.array([columns(m, t) for m in pool])
    chosen = [EARTH, URANUS, NEPTUNE]  # the last two are too slow to be found in this span
    while len(chosen) < TERMS:
        basis = assemble(chosen, t)
        _, rest = fit(basis, v)
        power = ((waves.reshape(-1, len(t)) @ rest) ** 2).reshape(len(pool), 2, 3).sum(axis=(1, 2))
        taken = np.array([np.array(m) @ ARGUMENTS[:, 1] for m in chosen])
        # two lines closer than the span resolves are one
        power[np.min(np.abs(frequency[:, None] - taken[None, :]), axis=1) < 2.5] = 0
        chosen.append(pool[int(np.argmax(power))])
    return chosen


def assemble(chosen, t):
    basis = [np.ones_like(t), t]
    for multiples in chosen:
        for power in range(POWERS.get(multiples, 1)):
            basis += [column * t**power for column in columns(multiples, t)]
    return basis


def weight(multiples, chosen, coefficients):
    """The largest coefficient of an argument: aliases that the choice fell for have none."""
    at = 2 + 2 * sum(POWERS.get(m, 1) for m in chosen[:chosen.index(multiples)])
    return np.abs(coefficients[at:at + 2]).max()


def write(path, chosen, coefficients):
    lines = ["// SPDX-License-Identifier: BSD-3-Clause",
             "// Made by bench/barycentric/fit_series.py; not to be edited by hand. Metres a second in the axes of",
             "// the ICRS. Knows no time scale and no telescope.",
             '#include "fiberloom/astro/earth_velocity_terms.hpp"', "",
             "namespace fiberloom::astro {", "", "// clang-format off",
             "const double kArguments[kArgumentCount][2] = {",
             *(f"    {{{at!r}, {rate!r}}}," for at, rate in ARGUMENTS.tolist()), "};", "",
             "const double kConstant[2][3] = {"]
    def row(c):
        return "{" + ", ".join(f"{x:.4f}" for x in c) + "}"

    lines += [f"    {row(coefficients[0])},  // 1", f"    {row(coefficients[1])},  // T", "};", "",
              "const VelocityTerm kTerms[] = {"]
    at, count = 2, 0
    for multiples in chosen:
        for power in range(POWERS.get(multiples, 1)):
            text = ", ".join(f"{k}" for k in multiples)
            lines.append(f"    {{{{{text}}}, {power}, {row(coefficients[at])}, {row(coefficients[at + 1])}}},")
            at, count = at + 2, count + 1
    lines += ["};", "// clang-format on", f"const int kTermCount = {count};", "",
              "}  // namespace fiberloom::astro", ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def main():
    jd = np.arange(2436934.5, 2488069.5, 2.37)  # 1960 to 2100, in step with nothing
    t = (jd - J2000) / 36525.0
    v = velocity(jd)
    chosen = choose(t[::3], v[::3])  # 7.1 days resolve the month and its half
    coefficients, rest = fit(assemble(chosen, t), v)
    chosen = [m for m in chosen if weight(m, chosen, coefficients) > 0.005]
    coefficients, rest = fit(assemble(chosen, t), v)
    print(f"{len(chosen)} arguments; 1960-2100: rms {rest.std():.4f}, largest {np.abs(rest).max():.4f} m/s")
    inside = (jd > 2457023.5) & (jd < 2470173.5)
    print(f"2015-2050: rms {rest[inside].std():.4f}, largest {np.abs(rest[inside]).max():.4f} m/s")
    if len(sys.argv) > 1:
        write(sys.argv[1], chosen, coefficients)


if __name__ == "__main__":
    main()
