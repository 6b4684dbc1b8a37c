#!/usr/bin/env python3
"""Draws docs/images/tower.svg: the demo scene at four ticks, as a client sees it.

    CAIRND=build/cairnd PYTHONPATH=clients/python python3 docs/images/draw_tower.py

Starts a daemon of its own, subscribes, steps, and draws what the frames say: nothing is computed here but
the view. Shapes are known by name (the SHA-256 of their canonical bytes), as on the wire.
"""
import hashlib
import math
import pathlib

import cairn
from cairn.testing import daemon

HERE = pathlib.Path(__file__).resolve().parent
SCENE = HERE.parents[1] / "clients" / "scenes" / "tower.yaml"
TICKS = (20, 44, 70, 200)
WIDTH, HEIGHT, SCALE = 420, 330, 26.0
TURN, TILT = math.radians(28), math.radians(18)
BRICK, BALL = (1.0, 0.5, 0.5), 0.6
NAMES = {hashlib.sha256(cairn.box(*BRICK)).digest(): "brick",
         hashlib.sha256(cairn.sphere(BALL)).digest(): "ball"}
LIGHT = (0.35, 0.8, 0.48)


def rotate(q, v):
    w, x, y, z = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx)


def view(p):
    """Page coordinates and depth of a point."""
    x = p[0] * math.cos(TURN) - p[2] * math.sin(TURN)
    z = p[0] * math.sin(TURN) + p[2] * math.cos(TURN)
    y = p[1] * math.cos(TILT) - z * math.sin(TILT)
    depth = p[1] * math.sin(TILT) + z * math.cos(TILT)
    return WIDTH / 2 + SCALE * x, HEIGHT - 70 - SCALE * y, depth


def shade(colour, normal):
    light = 0.55 + 0.45 * max(0.0, sum(a * b for a, b in zip(normal, LIGHT)))
    return "#" + "".join(f"{min(255, int(c * light)):02x}" for c in colour)


def faces(body):
    """(depth, svg) of the six faces of a brick that look at us."""
    half = [s / 2 for s in BRICK]
    for axis in range(3):
        for sign in (-1, 1):
            normal = [0.0, 0.0, 0.0]
            normal[axis] = sign
            turned = rotate(body.rotation, normal)
            if view(turned)[2] <= 0:
                continue
            b, c = (axis + 1) % 3, (axis + 2) % 3
            corners = []
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = [0.0, 0.0, 0.0]
                corner[axis], corner[b], corner[c] = sign * half[axis], s * half[b], t * half[c]
                corners.append([p + o for p, o in zip(rotate(body.rotation, corner), body.position)])
            points = [view(p) for p in corners]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
            depth = sum(p[2] for p in points) / 4
            yield depth, f'<polygon points="{path}" fill="{shade((214, 180, 140), turned)}"/>'


def drawing(frame):
    items = []
    for body in frame.bodies.values():
        kind = NAMES.get(body.shapes[0][0]) if body.shapes else None
        if kind == "brick":
            items += faces(body)
        elif kind == "ball":
            x, y, depth = view(body.position)
            items.append((depth, f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{BALL * SCALE:.1f}" fill="#4a5560"/>'))
    return [svg for _, svg in sorted(items, key=lambda item: item[0])]


def main():
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" '
           'stroke="#5b4630" stroke-width="0.5" stroke-linejoin="round">',
           f'<rect width="{2 * WIDTH}" height="{2 * HEIGHT}" fill="#eef1f3" stroke="none"/>']
    with daemon("--scene", str(SCENE), "--paused") as server, server.connect() as client:
        world = client.join("tower")
        world.subscribe(fields=sum(cairn.client.COLUMN.values()))
        frame = next(world.frames(1))
        for panel, tick in enumerate(TICKS):
            world.step(tick - world.tick)
            for frame in world.frames(10000, timeout=0.5):
                if frame.tick == tick:
                    break
            out.append(f'<g transform="translate({panel % 2 * WIDTH} {panel // 2 * HEIGHT})">')
            out.append(f'<svg width="{WIDTH}" height="{HEIGHT}">')
            out += drawing(frame)
            out.append("</svg>")
            out.append(f'<text x="14" y="24" font-family="sans-serif" font-size="14" fill="#333" '
                       f'stroke="none">tick {tick}</text></g>')
    out.append("</svg>")
    (HERE / "tower.svg").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
