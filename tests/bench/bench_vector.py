#!/usr/bin/env python3
"""Figures of the Python client's fast ways, as ratios within one run (make bench-vector):

  worlds   64 worlds of 20 bodies stepped by one message with actions and observations; the same worlds in two `cairnd run`
           at once: ticks per second, and processor time of a tick, client included; `sequence` with five actions a message
  arrays   a step of 1001 bodies that is read into NumPy; the same step unobserved

Usage: bench_vector.py SOURCE BUILD"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "clients" / "python"))
os.environ.setdefault("CAIRND", str(BUILD / "cairnd"))
os.environ.setdefault("CAIRN", str(BUILD / "cairn"))
import cairn  # noqa: E402

WORLDS, ROUNDS, STEPS = 64, 5, 200
CELL = """world: {{ name: {name}, rate: 60 }}
prototypes:
  thing: {{ mass: 1, friction: 0.6, restitution: 0 }}
shapes:
  ground: {{ kind: plane }}
  box: {{ kind: box, size: 1 }}
bodies:
  - {{ like: thing, shape: ground, status: static }}
  - {{ like: thing, shape: box, at: [0, 0.5, 0], grid: {{ count: [4, 5, 1], spacing: [2, 1, 2] }} }}
"""


def run_alone(scene, ticks):
    """Ticks per second, and seconds of processor time of a tick, of two processes at once, each with one world; their start
    is not counted."""
    began, used = {}, {}
    for count in (ticks // 10, ticks):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        both = [subprocess.Popen([str(BUILD / "cairnd"), "run", str(scene), "--set", "sleep.enabled=0", "--ticks", str(count)],
                                 stdout=subprocess.DEVNULL) for _ in range(2)]
        for process in both:
            assert process.wait() == 0
        began[count] = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used[count] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    more = 2 * (ticks - ticks // 10)
    return more / (began[ticks] - began[ticks // 10]), (used[ticks] - used[ticks // 10]) / more


def processor_time(process):
    """Seconds of a process so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def step_group(vector, actions, steps):
    """Ticks per second, and processor time of a tick, daemon and client together."""
    process = vector.client.server.process
    start, used = time.perf_counter(), time.process_time() + processor_time(process)
    for _ in range(steps):
        seen = vector.step(actions)
    assert not seen.refused and seen.observations.shape[-1] == 20 * 13
    steps *= actions.shape[1] if actions.ndim == 3 else 1
    used = time.process_time() + processor_time(process) - used
    return WORLDS * steps / (time.perf_counter() - start), used / (WORLDS * steps)


def bench_worlds(folder):
    scenes = [folder / f"cell{i}.yaml" for i in range(WORLDS)]
    for i, scene in enumerate(scenes):
        scene.write_text(CELL.format(name=f"cell{i}"), encoding="utf-8")
    with cairn.launch(scene=scenes) as client:
        worlds = [client.join(f"cell{i}") for i in range(WORLDS)]
        for world in worlds:
            world.set_parameter("sleep.enabled", 0)
        boxes = range(2, 22)
        vector = client.vector(worlds, actions=[cairn.command("force", b, cairn.ACTION) for b in boxes],
                               observe=[cairn.observe.bodies(boxes)])
        actions = numpy.random.default_rng(1).uniform(-1, 1, (WORLDS, 60))
        step_group(vector, actions, STEPS)
        sequence = numpy.repeat(actions[:, None, :], 5, axis=1)
        rounds = []
        for _ in range(ROUNDS):
            rounds.append((*step_group(vector, actions, STEPS), *run_alone(scenes[0], 10000),
                           *step_group(vector, sequence, STEPS // 5)))
            client.info("server")  # a client that is silent for long is taken for gone
    group, group_used, alone, alone_used, _, _ = (statistics.median(values) for values in zip(*rounds))
    return {"group_ticks_per_s": round(group), "alone_ticks_per_s": round(alone),
            "ratio": round(statistics.median(row[0] / row[2] for row in rounds), 3),
            "group_us_used": round(1e6 * group_used, 1), "alone_us_used": round(1e6 * alone_used, 1),
            "ratio_used": round(statistics.median(row[3] / row[1] for row in rounds), 3),
            "sequence_ratio": round(statistics.median(row[4] / row[2] for row in rounds), 3),
            "sequence_ratio_used": round(statistics.median(row[3] / row[5] for row in rounds), 3)}


def time_steps(world, arrays, steps=200):
    start = time.perf_counter()
    for _ in range(steps):
        stepped = world.step(arrays=True) if arrays else world.step(want=0)
        if arrays:
            assert stepped.arrays.position.shape == (1001, 3)
    return (time.perf_counter() - start) / steps


def bench_arrays():
    with cairn.launch() as client:
        world = client.create("many", method="soft-step")
        world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))])
        box = world.shape(box=(1, 1, 1))
        world.set_parameter("sleep.enabled", 0)
        world.apply(*[cairn.command("spawn", position=(1.5 * (i % 10), 0.5 + i // 100, 1.5 * (i // 10 % 10)), shapes=[box])
                      for i in range(1000)])
        world.step(60)
        pairs = [(time_steps(world, True), time_steps(world, False)) for _ in range(ROUNDS)]
    seen, unseen = (statistics.median(values) for values in zip(*pairs))
    return {"arrays_ms": round(1e3 * seen, 3), "unobserved_ms": round(1e3 * unseen, 3),
            "ratio": round(statistics.median(s / u for s, u in pairs), 3)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"worlds": bench_worlds(pathlib.Path(folder)), "arrays": bench_arrays()}))


if __name__ == "__main__":
    main()
