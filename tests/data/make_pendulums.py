#!/usr/bin/python3
"""make_pendulums.py: where pendulums and a gyroscope in gimbals are, to 30 digits.

    make_pendulums.py > tests/data/pendulums.h     about a minute

The equations of Lagrange in angles, integrated in decimal arithmetic of 50 digits by extrapolation of
the midpoint rule (Gragg, Bulirsch and Stoer). Each is integrated twice, with steps and orders that
differ; a line is printed only if both agree to 34 digits. The same systems are built of bodies and joints
in tests/unit/server/engine/methods/test_pendulums.c.
"""
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 50
G = D("9.81")
PI = D("3.1415926535897932384626433832795028841971693993751058")


def sin_cos(x):
    """By Taylor's series of x/64 and six doublings of (sin, 1 - cos)."""
    x /= 64
    square, sine, term, k = x * x, x, x, 1
    while abs(term) > D(10) ** -56:
        term *= -square / ((k + 1) * (k + 2))
        k += 2
        sine += term
    versine, term, k = square / 2, square / 2, 2
    while abs(term) > D(10) ** -56:
        term *= -square / ((k + 1) * (k + 2))
        k += 2
        versine += term
    for _ in range(6):
        sine, versine = 2 * sine * (1 - versine), 2 * versine * (2 - versine)
    return sine, 1 - versine


def solve(matrix, right):
    """Gauss' elimination of a positive definite matrix."""
    n = len(right)
    rows = [matrix[i][:] + [right[i]] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n + 1):
                rows[i][j] -= factor * rows[k][j]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def pendulum(masses, rotors=None):
    """Cubes of 1 m (I = m/6) with hinges in the middles of opposite faces; angles from downwards. A rotor of
    `rotors` turns with the hinge above its cube: it has the energy a/2 (the rate of that hinge)^2."""
    n = len(masses)
    rotors = rotors or [D(0)] * n

    def arm(i, k):  # m, from hinge i on to the centre of cube k
        return D(1) if i < k else D("0.5") if i == k else D(0)

    def slope(y):
        angles, rates = y[:n], y[n:]
        turns = [sin_cos(a) for a in angles]
        mass, force = [[D(0)] * n for _ in range(n)], [D(0)] * n
        for i in range(n):
            for k in range(n):
                force[i] -= G * masses[k] * arm(i, k) * turns[i][0]
            for j in range(n):
                m = sum(masses[k] * arm(i, k) * arm(j, k) for k in range(n))
                sine = turns[i][0] * turns[j][1] - turns[i][1] * turns[j][0]
                cosine = turns[i][1] * turns[j][1] + turns[i][0] * turns[j][0]
                mass[i][j] += m * cosine
                force[i] -= m * sine * rates[j] * rates[j]
            mass[i][i] += masses[i] / 6 + rotors[i]
            if i > 0:
                mass[i - 1][i - 1] += rotors[i]
                mass[i - 1][i] -= rotors[i]
                mass[i][i - 1] -= rotors[i]
        return rates + solve(mass, force)

    return slope, [PI / 2] * n + [D(0)] * n


def gyroscope():
    """Cubes of 2 and 1 kg as gimbals, about y and x; in them a capsule of 3 kg (half length 1/2 m of
    its cylinder, radius 1/4 m), about its axis z. y: angles of the gimbals and the rates of the inner
    one's. The gimbals begin at 0 with 1 and 2 rad/s, the capsule turns by 20 rad/s in the inner one."""
    r, length = D("0.25"), D(1)
    cylinder, ball = r * r * length, D(4) / 3 * r ** 3
    unit = 3 / (cylinder + ball)
    along = unit * (cylinder * r * r / 2 + ball * 2 * r * r / 5)
    across = unit * (cylinder * (length ** 2 / 12 + r * r / 4)
                     + ball * (2 * r * r / 5 + length ** 2 / 4 + 3 * length * r / 8))
    outer, inner = D(2) / 6, D(1) / 6
    spin = along * 20  # momentum about the capsule's axis; the inner angle is 0
    total = (outer + inner + across) * 1

    def slope(y):
        _, angle, rate = y
        sine, cosine = sin_cos(angle)
        precession = (total + spin * sine) / (outer + inner + across * cosine * cosine)
        return [precession, rate,
                -precession * cosine * (across * precession * sine + spin) / (across + inner)]

    return slope, [D(0), D(0), D(2)]


def extrapolated(slope, y, step, stages):
    """One step of Gragg's midpoint rule, extrapolated in the square of its step."""
    table = []
    for k in range(1, stages + 1):
        parts, h = 2 * k, step / (2 * k)
        before, now = y, [a + h * b for a, b in zip(y, slope(y))]
        for _ in range(parts - 1):
            rate = slope(now)
            before, now = now, [a + 2 * h * b for a, b in zip(before, rate)]
        rate = slope(now)
        row = [[(a + b + h * c) / 2 for a, b, c in zip(before, now, rate)]]
        for j in range(1, k):
            ratio = (D(k) / (k - j)) ** 2 - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[j - 1], table[-1][j - 1])])
        table.append(row)
    return table[-1][-1]


def after(system, seconds, steps, stages):
    slope, y = system
    for _ in range(steps):
        y = extrapolated(slope, y, D(seconds) / steps, stages)
    return y


def main():
    print("/* pendulums.h: made by make_pendulums.py. Angles in rad. */")
    print("#ifndef CAIRN_TESTS_PENDULUMS_H\n#define CAIRN_TESTS_PENDULUMS_H\n")
    for name, system, angles in (
            ("DOUBLE_PENDULUM", pendulum([D(1), D(2)]), 2),
            ("TRIPLE_PENDULUM", pendulum([D(1), D(2), D("0.5")]), 3),
            ("GYROSCOPE", gyroscope(), 2),
            ("GEARED_PENDULUM", pendulum([D(1), D(2), D("0.5")], [D("0.5"), D("0.25"), D(1)]), 3)):
        one, other = after(system, 1, 40, 17), after(system, 1, 60, 15)
        off = max(abs(a - b) for a, b in zip(one, other))
        if off > D(10) ** -34:
            sys.exit(f"{name}: both integrations differ by {off:.1e}")
        print(f"/* After 1 s. */\nstatic const double {name}[{angles}] = {{")
        for angle in one[:angles]:
            print(f"\t{angle:.30f},")
        print("};\n")
    print("#endif")


if __name__ == "__main__":
    main()
