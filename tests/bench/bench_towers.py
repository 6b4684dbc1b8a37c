#!/usr/bin/env python3
"""Towers: what their collapse and their verdict cost, beside what was aimed at.

    python3 tests/bench/bench_towers.py BUILD

The step is that of `gauss`. Times of many steps are processor time of `cairnd run`, less that of a run without steps, so other
programs count little; the others are wall time. The daemon's rows are what it says of itself after ten seconds of a world
that one client follows.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))

import cairn  # noqa: E402
from cairn.testing import daemon  # noqa: E402

SECONDS = 10


def row(what, found, aim):
    print(f"{what:58} {found:>26}   {aim}", flush=True)


def tower(folder, name, *words):
    path = folder / f"{name}.yaml"
    done = subprocess.run([str(BUILD / "cairn"), "scene", "tower", *map(str, words)], capture_output=True, text=True, check=True)
    path.write_text(done.stdout, encoding="utf-8")
    return path


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(scene, ticks):
    """The report, with the processor time of all of it."""
    begun = processor()
    done = subprocess.run([str(BUILD / "cairnd"), "run", str(scene), "--method", "gauss", "--ticks", str(ticks)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout) | {"processor": processor() - begun}


def steps(folder):
    small = tower(folder, "diamond-5", "--kind", "diamond")
    first, all_of_them = min(run(small, 1)["ms"]["total"] for _ in range(9)), run(small, 1000)
    used = all_of_them["processor"] - min(run(small, 0)["processor"] for _ in range(3))
    row("25 bricks, first step with all that it makes", f"{first:.2f} ms", "at most 1 ms")
    row("25 bricks, 1000 steps", f"{used:.2f} s of processor", "at most 0.1 s")
    row("25 bricks, 1000 steps, fallbacks and residual", f"{all_of_them['fallbacks']}, {all_of_them['residual']:.1e}", "0, at most 1e-10")
    scene = tower(folder, "wall", "--kind", "wall", "--count", 20, "--columns", 50, "--without", "0,25")
    wall, empty = run(scene, 30), run(scene, 0)
    row(f"wall of {wall['bodies']} bodies with a gap, steps a second", f"{30 / (wall['processor'] - empty['processor']):.1f}", "at least 10")


def streamed(folder):
    scene = tower(folder, "hundred", "--kind", "diamond", "--count", 10)
    scene.write_text(scene.read_text(encoding="utf-8").replace("planar: true", "planar: true, method: gauss"), encoding="utf-8")
    with daemon("--scene", f"hundred={scene}", "--paused") as server, server.connect() as client:
        world = client.join("hundred")
        world.subscribe()
        world.resume()
        begun, frames = time.monotonic(), 0
        for _ in world.frames(SECONDS * 60, timeout=5):
            frames += 1
            if time.monotonic() - begun > SECONDS:
                break
        figures = client.info("worlds")["worlds"][0]
    row("100 bricks at 60 Hz, streamed: frames a second", f"{frames / (time.monotonic() - begun):.1f}", "60")
    row("  ticks, late, dropped", f"{figures['ticks']}, {figures['ticks_late']}, {figures['ticks_dropped']}", "none late")
    row("  cost of a tick, median and 99 of 100", f"{figures['cost_ns_p50'] / 1e6:.1f}, {figures['cost_ns_p99'] / 1e6:.1f} ms", "at most 16.7 ms")


def best_overhangs(folder):
    for count in (4, 10, 20):
        begun = time.monotonic()
        tower(folder, "overhang", "--kind", "overhang", "--count", count)
        row(f"the best overhang of {count} bricks", f"{time.monotonic() - begun:.2f} s", "")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        steps(folder)
        streamed(folder)
        best_overhangs(folder)
    print("The verdict (aims: 1000 bricks 0.4 s, 10 000 bricks 5 s):", flush=True)
    fallen = [word for tick in (200, 300, 400, 600) for word in (str(ROOT / "clients/scenes/tower.yaml"), str(tick))]
    subprocess.run([str(BUILD / "tests" / "bench" / "bench_stability"), "--walls", *fallen], check=True)


if __name__ == "__main__":
    main()
