#!/usr/bin/env python3
"""An arm of seven driven joints, stepped one tick a message by a client over a Unix socket (make bench-robots): steps per second
of STEP(1) alone, with new targets before each step, and with the state of the robot read after each.

Usage: bench_robot_steps.py SOURCE BUILD"""
import os
import pathlib
import sys
import tempfile
import time

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "clients" / "python"))
os.environ.setdefault("CAIRND", str(BUILD / "cairnd"))
os.environ.setdefault("CAIRN", str(BUILD / "cairn"))
import cairn  # noqa: E402

RUNS, STEPS, JOINTS = 5, 2000, 7
LINK = """  - {{ type: revolute, name: j{k}, {a}b: "rod[{k}]", at: [{x}, 0, 0], axis: [0, {y}, {z}], motor: {{ position: 0.1, stiffness: 400, damping: 40 }} }}
"""
SCENE = """world: { name: arm, gravity: [0, -9.81, 0], rate: 1000, names: true, parameters: { sleep.enabled: 0 } }
shapes: { rod: { kind: box, size: [0.3, 0.1, 0.1] } }
bodies:
  - { name: rod, shape: rod, at: [0.15, 0, 0], mass: 1, mask: 0, array: { count: 7, step: [0.3, 0, 0] } }
joints:
""" + "".join(LINK.format(k=k, a="" if k == 0 else f'a: "rod[{k - 1}]", ', x=0.3 * k, y=k % 2, z=1 - k % 2) for k in range(JOINTS))


def rate_of(act):
    best = 0
    for _ in range(RUNS):
        begin = time.perf_counter()
        for i in range(STEPS):
            act(i)
        best = max(best, STEPS / (time.perf_counter() - begin))
    return best


with tempfile.TemporaryDirectory() as folder:
    scene = pathlib.Path(folder) / "arm.yaml"
    scene.write_text(SCENE, encoding="utf-8")
    with cairn.launch(scene=[scene]) as client:
        world = client.join("arm")
        view = world.robot_view(1)
        names = view.names
        assert len(names) == JOINTS
        print(f"arm of {JOINTS} joints, STEP(1) of a Python client: {rate_of(lambda i: world.step(1)):.0f} steps/s")

        def drive(i):
            view.target({name: 0.1 + 0.01 * (i % 3) for name in names})
            world.step(1)

        print(f"  with new targets before each step: {rate_of(drive):.0f} steps/s")

        def read(i):
            world.step(1)
            view.refresh()

        print(f"  with coordinates and forces read after each: {rate_of(read):.0f} steps/s")
