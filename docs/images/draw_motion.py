#!/usr/bin/env python3
"""Draws docs/images/motion.svg: errors of smooth motions against the tick rate, from what bench_motion prints.

    build/tests/bench/bench_motion | python3 docs/images/draw_motion.py

Nothing is computed here but the page: a small diagram for each motion, both axes logarithmic, a line for each
method. What is below the least line is rounding.
"""
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RATES = (30, 60, 120, 240, 480, 1000, 3000, 10000)
COLOURS = {"free": "#7a8aa0", "soft-step": "#d1495b", "lcp": "#2a7f9e"}
SHOWN = ("fall, 10 s: speed", "fall, 10 s: place", "drag 10 /s, 1 s: velocity", "spin 5 rad/s, 10 s: energy",
         "spin 20 rad/s, 60 s: energy", "spin 20 rad/s, 60 s: L", "spin 50 rad/s, 10 s: energy",
         "top 10 rad/s, 5 s: turn", "impact 6 m/s: L", "impact 20 m/s: L", "rolling 2 m/s, 10 s: speed",
         "slope that holds", "creep 1 degree below")
LEAST, MOST = -15, 1
ACROSS, WIDTH, HEIGHT, LEFT, TOP, GAP = 4, 190, 130, 34, 30, 26
LINE = re.compile(r"(.{33}) (.{8}) (\S+)\s+(.*)")


def table(lines):
    """{motion: (unit, {method: errors})} of the bench's rows."""
    found = {}
    for line in lines:
        match = LINE.match(line)
        if not match or match[1].strip() not in SHOWN:
            continue
        numbers = match[4].split()[:len(RATES)]
        found.setdefault(match[1].strip(), (match[2].strip(), {}))[1][match[3]] = [float(x) for x in numbers]
    return found


def across(rate):
    return WIDTH * math.log(rate / RATES[0]) / math.log(RATES[-1] / RATES[0])


def up(error):
    power = max(LEAST, min(MOST, math.log10(error) if error > 0 else LEAST))
    return HEIGHT * (MOST - power) / (MOST - LEAST)


def diagram(motion, unit, methods):
    out = [f'<text x="0" y="-8" class="name">{motion}, {unit}</text>',
           f'<rect width="{WIDTH}" height="{HEIGHT}" class="frame"/>']
    for power in range(LEAST, MOST + 1, 4):
        y = HEIGHT * (MOST - power) / (MOST - LEAST)
        out.append(f'<path d="M0 {y:.1f}h{WIDTH}" class="grid"/>'
                   f'<text x="-4" y="{y + 3:.1f}" class="tick" text-anchor="end">1e{power}</text>')
    for rate in (30, 100, 1000, 10000):
        out.append(f'<text x="{across(rate):.1f}" y="{HEIGHT + 12}" class="tick" '
                   f'text-anchor="middle">{rate}</text>')
    for method, errors in methods.items():
        points = " ".join(f"{across(rate):.1f},{up(error):.1f}" for rate, error in zip(RATES, errors))
        out.append(f'<polyline points="{points}" stroke="{COLOURS[method]}"/>')
    return out


def main():
    found = table(sys.stdin.read().splitlines())
    rows = -(-len(SHOWN) // ACROSS)
    width = ACROSS * (WIDTH + LEFT + 12)
    height = rows * (HEIGHT + TOP + GAP) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
           '<style>.name{font-size:11px;fill:#223}.tick{font-size:8px;fill:#667}.frame{fill:#fff;stroke:#99a}'
           '.grid{stroke:#e3e6ec}polyline{fill:none;stroke-width:1.6}</style>',
           f'<rect width="{width}" height="{height}" fill="#f7f8fa"/>']
    for i, motion in enumerate(SHOWN):
        unit, methods = found[motion]
        x, y = LEFT + i % ACROSS * (WIDTH + LEFT + 12), TOP + i // ACROSS * (HEIGHT + TOP + GAP)
        out += [f'<g transform="translate({x},{y})">', *diagram(motion, unit, methods), "</g>"]
    for i, (method, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{LEFT + 90 * i}" y="{height - 8}" font-size="12" fill="{colour}">{method}</text>')
    out.append(f'<text x="{LEFT + 300}" y="{height - 8}" class="name">ticks per second, across; error, up</text>')
    (HERE / "motion.svg").write_text("\n".join([*out, "</svg>"]) + "\n")


main()
