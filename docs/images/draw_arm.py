#!/usr/bin/env python3
"""Draws docs/images/arm.svg: the arm of docs/tutorials/robot-arm.md at three moments, and the path of its tip.

    CAIRND=build/cairnd PYTHONPATH=clients/python python3 docs/images/draw_arm.py

Steps the tutorial's own scene with the tutorial's own angles on a daemon of its own.
"""
import math
import pathlib
import re
import tempfile

import cairn

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "tutorials" / "robot-arm.md"
SCALE, WIDTH, HEIGHT = 170.0, 760, 380
POINTS = [(0.9, 1.2), (0.4, 1.5), (-0.8, 1.0)]
SIZES = {3: (0.1, 0.8), 4: (0.08, 0.7)}  # of the moving bodies


def block(name):
    """A file of the tutorial."""
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^`{re.escape(name)}`:\n\n```\w+\n(.*?)^```", text, re.S | re.M).group(1)


def page(x, y):
    return WIDTH / 2 + SCALE * x, HEIGHT - 40 - SCALE * y


def bar(body, size, opacity):
    turn = 2 * math.atan2(body.rotation[3], body.rotation[0])
    x, y = page(*body.position[:2])
    w, h = size[0] * SCALE, size[1] * SCALE
    return (f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" rx="4" fill="#c08a3e" '
            f'stroke="#5b4630" opacity="{opacity}" transform="rotate({-math.degrees(turn):.2f} {x:.1f} {y:.1f})"/>')


def tip(body):
    turn = 2 * math.atan2(body.rotation[3], body.rotation[0])
    return page(body.position[0] - 0.35 * math.sin(turn), body.position[1] + 0.35 * math.cos(turn))


def main():
    names = {}
    exec(compile(block("drive.py").split("\nwith ")[0], "drive.py", "exec"), names)
    path, poses = [], []
    with tempfile.TemporaryDirectory() as folder:
        scene = pathlib.Path(folder) / "arm.yaml"
        scene.write_text(block("arm.yaml"), encoding="utf-8")
        with cairn.launch(scene=scene) as client:
            world = client.join("arm")
            for x, y in POINTS:
                shoulder, elbow = names["angles"](x, y)
                world.joint_targets([(1, 3, shoulder), (2, 3, elbow)])
                for _ in range(72):
                    bodies = world.step(2, bodies=True).bodies
                    path.append(tip(bodies[4]))
                poses.append(bodies)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#eef1f3"/>',
           f'<line x1="0" y1="{HEIGHT - 40}" x2="{WIDTH}" y2="{HEIGHT - 40}" stroke="#999" stroke-width="2"/>']
    x, y = page(-0.15, 0.4)
    out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{0.3 * SCALE:.1f}" height="{0.4 * SCALE:.1f}" fill="#4a5560"/>')
    for bodies, opacity in zip(poses, (0.4, 0.65, 1)):
        out += [bar(bodies[body], size, opacity) for body, size in SIZES.items()]
    out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in path)}" fill="none" stroke="#2b6cb0" '
               'stroke-width="2" stroke-dasharray="4 3"/>')
    out += [f'<circle cx="{page(*point)[0]:.1f}" cy="{page(*point)[1]:.1f}" r="5" fill="#2b6cb0"/>' for point in POINTS]
    (HERE / "arm.svg").write_text("\n".join([*out, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
