#!/usr/bin/env python3
"""Draws docs/images/pole.svg: the pole of docs/tutorials/training.md at five moments, and the returns of each generation.

    CAIRND=build/cairnd PYTHONPATH=clients/python python3 docs/images/draw_pole.py

Runs the tutorial's own `balance.py` on a daemon of its own, and plays one episode with what it has learnt.
"""
import contextlib
import io
import math
import pathlib
import re
import types

import cairn
import numpy
from cairn import tasks

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "tutorials" / "training.md"
WIDTH, HEIGHT, SCALE = 920, 300, 150.0
DRIFT = 20.0  # pixels for a metre that the cart has moved
MOMENTS = (0, 12, 25, 60, 400)


def tutorial():
    """The tutorial's balance.py as a module."""
    text = re.search(r"^`balance.py`:\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M).group(1)
    module = types.ModuleType("balance")
    exec(compile(text, "balance.py", "exec"), module.__dict__)
    return module


def learn(balance, worlds):
    """The policy, and (mean, best) return of each generation, as the tutorial prints them."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        policy = balance.train(worlds, numpy.random.default_rng(0))
    return policy, [(int(mean), int(best)) for mean, best in re.findall(r"return (\d+), best (\d+)", printed.getvalue())]


def pole(x, angle, at):
    cx, cy = at + DRIFT * x, 240
    tx, ty = cx - SCALE * math.sin(angle), cy - SCALE * math.cos(angle)
    return (f'<rect x="{cx - 36:.1f}" y="{cy - 22:.1f}" width="72" height="44" fill="#4a5560"/>'
            f'<line x1="{cx:.1f}" y1="{cy:.1f}" x2="{tx:.1f}" y2="{ty:.1f}" stroke="#c08a3e" stroke-width="9" '
            f'stroke-linecap="round"/>')


def curve(returns):
    """Mean and best return over the generations."""
    step = 240 / max(len(returns) - 1, 1)
    lines = []
    for k, colour in ((0, "#2b6cb0"), (1, "#a0aec0")):
        points = " ".join(f"{630 + step * i:.1f},{250 - 0.4 * values[k]:.1f}" for i, values in enumerate(returns))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
    return lines


def main():
    balance = tutorial()
    with cairn.launch() as client:
        worlds = tasks.Worlds(client, tasks.CartPole(), balance.WORLDS)
        policy, returns = learn(balance, worlds)
        seen, poses = worlds.start([3], [0]), []
        for _ in range(max(MOMENTS) + 1):
            poses.append((seen[0, 0], seen[0, 2]))
            seen = worlds.step((seen @ policy > 0).astype(int), [0])[0]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#eef1f3"/>',
           '<line x1="10" y1="262" x2="590" y2="262" stroke="#999" stroke-width="2"/>']
    for i, moment in enumerate(MOMENTS):
        out.append(pole(*poses[moment], 70 + 115 * i))
        out.append(f'<text x="{70 + 115 * i}" y="285" text-anchor="middle" fill="#333">push {moment}, {poses[moment][0]:+.1f} m</text>')
    out += ['<line x1="630" y1="250" x2="880" y2="250" stroke="#999"/>', '<line x1="630" y1="50" x2="880" y2="50" stroke="#ccc"/>',
            '<text x="630" y="42" fill="#333">500 pushes; best (grey), mean return</text>',
            f'<text x="630" y="272" fill="#333">generation 0 to {len(returns) - 1}</text>', *curve(returns), "</svg>"]
    (HERE / "pole.svg").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
