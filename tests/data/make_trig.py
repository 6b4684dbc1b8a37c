#!/usr/bin/python3
"""make_trig.py: the numbers behind server/engine/math/trig.c, computed with decimal arithmetic only.

    make_trig.py tables > server/engine/math/trig_tables.h    constants, tables, polynomials
    make_trig.py points > tests/data/trig_points.txt          hard points, correctly rounded

Everything is computed with 400 or more digits by series written here, or by decimal's own
correctly rounded exp and ln; `float(Decimal)` rounds correctly. Polynomials are minimax in relative
weight: Remez' exchange on a grid, in 60 digits, coefficients then rounded to doubles.
"""
import math
import random
import struct
import sys
from decimal import Decimal as D, getcontext, localcontext

getcontext().prec = 420


def pi():
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239)."""
    def arccot(n):
        total = term = D(1) / n
        k = 1
        while abs(term) > D(10) ** -430:
            term = -term / (n * n)
            k += 2
            total += term / k
        return total
    with localcontext() as c:
        c.prec = 440
        return 16 * arccot(5) - 4 * arccot(239)


PI = pi()
LN2 = D(2).ln()
DIGITS = 90  # of function values


def sin_cos(x):
    """Of the exact value of x: x is reduced by pi/2 with 440 digits, then the two series are summed.
    Returns (sin x, cos x)."""
    with localcontext() as c:
        c.prec = 440
        q = (x * 2 / PI).to_integral_value()
        r = x - q * PI / 2
    with localcontext() as c:
        c.prec = DIGITS + 40
        r = +r
        s, term, k = r, r, 1
        while term != 0 and abs(term) > abs(r) * D(10) ** -(DIGITS + 30):
            term = -term * r * r / ((k + 1) * (k + 2))
            k += 2
            s += term
        cs, term, k = D(1), D(1), 0
        while abs(term) > D(10) ** -(DIGITS + 30):
            term = -term * r * r / ((k + 1) * (k + 2))
            k += 2
            cs += term
        n = int(q) % 4
        return [(s, cs), (cs, -s), (-s, -cs), (-cs, s)][n]


def atan(x):
    with localcontext() as c:
        c.prec = DIGITS + 40
        if x < 0:
            return -atan(-x)
        if x > 1:
            return PI / 2 - atan(1 / x)
        doublings = 0
        while x > D("0.05"):
            x = x / (1 + (1 + x * x).sqrt())
            doublings += 1
        total, power, k = x, x, 1
        while power != 0 and abs(power) > abs(x) * D(10) ** -(DIGITS + 30):
            power = -power * x * x
            k += 2
            total += power / k
        return total * 2 ** doublings


def in_digits(f):
    def g(*args):
        with localcontext() as c:
            c.prec = DIGITS + 40
            return f(*args)
    return g


@in_digits
def atan2(y, x):
    if x == 0:
        return PI / 2 if y > 0 else -PI / 2
    a = atan(abs(y / x))
    a = a if x > 0 else PI - a
    return a if y >= 0 else -a


FUNCTIONS = {
    "sin": lambda x: sin_cos(x)[0],
    "cos": lambda x: sin_cos(x)[1],
    "atan": atan,
    "atan2": atan2,
    "exp": in_digits(lambda x: x.exp()),
    "pow": in_digits(lambda x, y: (y * x.ln()).exp()),
}

# ---- tables ---------------------------------------------------------------------------------------


def hexa(x):
    return float(x).hex()


def pair(x):
    hi = float(x)
    return hi, float(x - D(hi))


def head(x, bits):
    """x truncated to `bits` significant bits."""
    m, e = float(x), 0
    while abs(m) < 2 ** (bits - 1):
        m, e = m * 2, e - 1
    while abs(m) >= 2 ** bits:
        m, e = m / 2, e + 1
    return D(int(m)) * D(2) ** e


def solve(rows):
    """Gauss with partial pivoting on rows [a … | b]."""
    n = len(rows)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(k + 1, n):
            f = rows[i][k] / rows[k][k]
            for j in range(k, n + 1):
                rows[i][j] -= f * rows[k][j]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def remez(name, target, weight, low, high, degree):
    """Minimises max |(target − p) weight| over polynomials p of that degree on [low, high].
    Returns the coefficients and the error in bits."""
    with localcontext() as c:
        c.prec = 60
        low, high = +D(low), +D(high)
        steps = 40 * (degree + 2)
        grid = [low + (high - low) * (1 - sin_cos(PI * (D(1) / 2 - D(i) / steps))[0]) / 2
                for i in range(steps + 1)]
        f = [+target(x) for x in grid]
        w = [+weight(x) for x in grid]
        nodes = [round(i * steps / (degree + 1)) for i in range(degree + 2)]
        for _ in range(30):
            rows = [[grid[k] ** j for j in range(degree + 1)] + [D((-1) ** i) / w[k], f[k]]
                    for i, k in enumerate(nodes)]
            *p, _level = solve(rows)
            error = [(f[k] - sum(a * grid[k] ** j for j, a in enumerate(p))) * w[k]
                     for k in range(steps + 1)]
            # One extremum in each stretch between changes of sign.
            peaks = [0]
            for k in range(1, steps + 1):
                if (error[k] < 0) == (error[peaks[-1]] < 0):
                    if abs(error[k]) > abs(error[peaks[-1]]):
                        peaks[-1] = k
                else:
                    peaks.append(k)
            while len(peaks) > degree + 2:
                peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
            if len(peaks) < degree + 2 or peaks == nodes:
                break
            nodes = peaks
        worst = max(abs(e) for e in error)
        bits = worst.ln() / LN2
        print(f"{name}: degree {degree}, error 2^{bits:.1f}", file=sys.stderr)
        return p, bits


def polynomial(name, note, *args):
    p, bits = remez(name, *args)
    print(f"\n/* {note} Error 2^{bits:.1f}. */")
    print(f"static const double {name}[{len(p)}] = {{")
    for a in p:
        print(f"\t{hexa(a)},")
    print("};")


def constant(name, x, note=""):
    print(f"static const double {name} = {hexa(x)};" + (f" /* {note} */" if note else ""))


def series(x, first, ratio):
    """Σ t_k with t_0 = first and t_(k+1) = t_k ratio(k) x, to 80 digits."""
    with localcontext() as c:
        c.prec = 100
        total = term = D(first)
        k = 0
        while term != 0 and abs(term) > D(10) ** -95:
            term = term * ratio(k) * x
            k += 1
            total += term
        return total


def polynomials():
    z = (PI / 4) ** 2 * D("1.0001")
    small = D(10) ** -30
    polynomial("SIN_TERMS", "(sin x - x)/x^3 in x^2, |x| <= pi/4; times x^2.",
               lambda x: series(x, D(-1) / 6, lambda k: D(-1) / ((2 * k + 4) * (2 * k + 5))),
               lambda x: x + small, small, z, 6)
    polynomial("COS_TERMS", "(cos x - 1 + x^2/2)/x^4 in x^2, |x| <= pi/4; times x^4.",
               lambda x: series(x, D(1) / 24, lambda k: D(-1) / ((2 * k + 5) * (2 * k + 6))),
               lambda x: (x + small) ** 2, small, z, 5)
    # |t| <= 1/15.9 after the reduction by eighths.
    polynomial("ATAN_TERMS", "(atan t - t)/t^3 in t^2, |t| <= 1/15; times t^2.",
               lambda x: (lambda t: (atan(t) - t) / t ** 3)(x.sqrt()),
               lambda x: x, D("1e-8"), D(1) / 225, 5)
    r = LN2 / 128 * D("1.001")
    polynomial("EXP_TERMS", "(e^r - 1 - r)/r^2, |r| <= ln 2/128; times r^2.",
               lambda x: series(x, D(1) / 2, lambda k: D(1) / (k + 3)),
               lambda x: x * x + small, -r, r, 4)
    polynomial("LOG_TERMS", "(ln(1 + t) - t + t^2/2)/t^3, |t| <= 1/127; times t^2.",
               lambda x: sum((-x) ** k / (k + 3) for k in range(60)),
               lambda x: x * x + small, -D(1) / 127, D(1) / 127, 7)


def tables():
    print("/* trig_tables.h: made by tests/data/make_trig.py (tables); do not edit.")
    print(" * Constants, tables and minimax polynomials of trig.c, which includes it alone. */")
    print("#ifndef CAIRN_ENGINE_MATH_TRIG_TABLES_H\n#define CAIRN_ENGINE_MATH_TRIG_TABLES_H\n")
    print("#include <stdint.h>\n")
    half = PI / 2
    p1 = head(half, 33)
    p2 = head(half - p1, 33)
    constant("HALF_PI_1", p1, "pi/2: 33 bits")
    constant("HALF_PI_2", p2, "the next 33")
    constant("HALF_PI_3", half - p1 - p2, "the next 53")
    for name, x in (("HALF_PI", half), ("WHOLE_PI", PI)):
        constant(name + "_HI", pair(x)[0], "to 106 bits")
        constant(name + "_LO", pair(x)[1])
    constant("TWO_OVER_PI", 2 / PI)
    l1 = head(LN2, 42)
    constant("LN2_1", l1, "ln 2: 42 bits, for an 11-bit k")
    constant("LN2_2", LN2 - l1, "the next 53")
    e1 = head(LN2 / 64, 36)
    constant("LN2_64TH_1", e1, "ln 2 / 64: 36 bits, for a 17-bit k")
    constant("LN2_64TH_2", LN2 / 64 - e1, "the next 53")
    constant("SIXTYFOUR_OVER_LN2", 64 / LN2)

    words = 20
    bits = int(2 / PI * D(2) ** (64 * words))
    print("\n/* The binary digits of 2/pi behind 64 zeros, 64 a word, highest first. */")
    print(f"enum {{ TWO_OVER_PI_WORDS = {words + 1} }};")
    print("static const uint64_t TWO_OVER_PI_DIGITS[TWO_OVER_PI_WORDS] = {\n\t0x0,")
    for i in range(words):
        print(f"\t{hex(bits >> 64 * (words - 1 - i) & (2 ** 64 - 1))},")
    print("};")

    print("\n/* atan(i/8), high and low part. */\nstatic const double ATAN_EIGHTHS[9][2] = {")
    for i in range(9):
        hi, lo = pair(atan(D(i) / 8))
        print(f"\t{{ {hexa(hi)}, {hexa(lo)} }},")
    print("};\n\n/* 2^(i/64), high and low part. */\nstatic const double EXP_64THS[64][2] = {")
    for i in range(64):
        hi, lo = pair((LN2 * i / 64).exp())
        print(f"\t{{ {hexa(hi)}, {hexa(lo)} }},")
    print("};\n\n/* For a significand m in the i-th 128th of [1, 2), halved from LOG_HALVED on: c near 1/m,")
    print(" * a multiple of 2^-9, and -ln c in two parts. */")
    print("enum { LOG_HALVED = 53 };\nstatic const double LOG_128THS[128][3] = {")
    for i in range(128):
        middle = (1 + (D(i) + D("0.5")) / 128) / (2 if i >= 53 else 1)
        c = D(round(512 / middle)) / 512
        if i in (0, 127):
            c = D(1)
        hi, lo = pair(-c.ln())
        print(f"\t{{ {hexa(c)}, {hexa(hi)}, {hexa(lo)} }},")
    print("};")

    polynomials()
    print("\n#endif")


# ---- points ---------------------------------------------------------------------------------------


def bits_of(x):
    return struct.pack(">d", x).hex()


def double_at(exponent, rng):
    return (1 + rng.getrandbits(52) / 2 ** 52) * 2.0 ** exponent * rng.choice((-1, 1))


def next_to(x, steps):
    n = struct.unpack(">q", struct.pack(">d", x))[0] + steps
    return struct.unpack(">d", struct.pack(">q", n))[0]


def near_half_pis():
    """Doubles unusually close to multiples of pi/2: convergents of 2^e 2/pi, by continued fractions."""
    found = []
    for e in list(range(-52, 60)) + [100, 300, 500, 797, 900, 971]:
        # m 2^e ~ k pi/2 with m < 2^53: convergents m/k of (pi/2)/2^e.
        target = PI / 2 / D(2) ** e
        a, b = (1, 0), (int(target), 1)
        rest = target - int(target)
        while rest != 0:
            rest = 1 / rest
            q = int(rest)
            rest -= q
            a, b = b, (q * b[0] + a[0], q * b[1] + a[1])
            if b[0] >= 2 ** 53:
                break
        if 2 ** 30 < a[0] < 2 ** 53:
            found.append(a[0] * 2.0 ** e)
    return [x for x in found if 0.5 < x < 1e308]


def inputs(rng):
    """name → list of argument tuples."""
    angles = near_half_pis() + [next_to(x, d) for x in near_half_pis()[:60] for d in (-1, 1)]
    angles += [float(PI / 4 * k) for k in range(-20, 21)] + [1e9, 1e22, 2.0 ** 120, 1.7e308]
    angles += [k * float(PI / 2) for k in (3, 5, 10 ** 3, 10 ** 5, 10 ** 6, 10 ** 8)]
    angles += [double_at(rng.randrange(-30, 31), rng) for _ in range(260)]
    angles += [rng.uniform(-10, 10) for _ in range(200)]
    angles += [2.0 ** -27, 1e-8, 1e-300, 5e-324]
    lines = [double_at(rng.randrange(-60, 60), rng) for _ in range(120)]
    lines += [(i + 0.5) / 8 for i in range(-9, 10)] + [rng.uniform(-2, 2) for _ in range(120)]
    lines += [1.0, 1e300, 1e-300, 5e-324]
    fan = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(150)]
    fan += [(double_at(rng.randrange(-1000, 1000), rng), double_at(rng.randrange(-1000, 1000), rng))
            for _ in range(60)]
    fan += [(double_at(rng.randrange(-70, 70), rng), double_at(rng.randrange(-70, 70), rng))
            for _ in range(100)]
    fan += [(1e308, 1e308), (-1e308, -1e308), (5e-324, 5e-324), (5e-324, -1e300), (1e-300, -3e-300)]
    powers = [rng.uniform(-745, 709) for _ in range(200)] + [rng.uniform(-2, 2) for _ in range(100)]
    powers += [double_at(rng.randrange(-60, 4), rng) for _ in range(60)]
    powers += [709.782712893384, -745.1, -708.4, -720.5, float(LN2 / 128), 1e-20]
    bases = [(abs(rng.uniform(0.01, 3)), rng.uniform(-100, 100)) for _ in range(150)]
    bases += [(next_to(1.0, rng.choice((-1, 1)) * rng.randrange(1, 1 << 30)),
               rng.uniform(-1e9, 1e9)) for _ in range(60)]
    for _ in range(150):
        x = abs(double_at(rng.randrange(-1000, 1000), rng))
        top = 700 / abs(float(D(x).ln()))
        bases.append((x, rng.uniform(-top, top)))
    one = {"sin": angles, "cos": angles, "atan": lines, "exp": powers}
    result = {name: [(x,) for x in xs] for name, xs in one.items()}
    result.update({"atan2": fan, "pow": bases})
    return result


def points():
    rng = random.Random(20240601)
    print("# Made by make_trig.py (points): name, bits of the arguments, bits of the correctly")
    print("# rounded result, and how far the exact value lies above it in units of its last place.")
    for name, rows in sorted(inputs(rng).items()):
        for row in rows:
            value = FUNCTIONS[name](*[D(x) for x in row])
            near = float(value)
            rest = (value - D(near)) / D(math.ulp(near))
            print(name, *[bits_of(x) for x in row], bits_of(near), f"{rest:.4f}")


if __name__ == "__main__":
    {"tables": tables, "points": points}[sys.argv[1]]()
