#!/usr/bin/env python3
"""The same towers under four methods: the table of docs/TOWERS.md, and the pictures of that page.

    python3 docs/images/compare_towers.py BUILD      (make compare-towers)

Each tower falls without friction for three seconds; the ground has none either, so what has fallen slides on. What `cairn stability` says about its first moment is exact, and is
compared with the first tick of each method; a contact counts as broken when it has opened by a millimetre.
"""
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "TOWERS.md"
BEGIN, END = "<!-- compare-towers: begin -->", "<!-- compare-towers: end -->"
METHODS = ("soft-step", "lcp", "impact", "gauss")
TOWERS = (
    ("triangle", "six bricks, 1 + 2 + 3", "--kind triangle --gap 0.002"),
    ("diamond", "25 bricks, rows of 1 … 5 … 1", "--kind diamond"),
    ("overhang", "8 bricks, 2 % beyond the best overhang", "--kind overhang --factor 1.02"),
    ("wall", "wall of 6 × 8 bricks without the first one of its third row", "--kind wall --count 6 --columns 8 --without 2,0"),
)
# File, scene, and options of `cairn draw`.
PICTURES = (
    ("towers-methods.svg", "diamond", f"--methods {','.join(METHODS)} --ticks 120 --pictures 4"),
    ("towers-collapse.svg", "triangle", "--methods gauss --ticks 90 --pictures 3 --forces --touch 1e-4"),
    ("towers-fall.svg", "diamond", "--methods gauss --ticks 120 --animate --width 640"),
    ("towers-overhang.svg", "best", "--ticks 0 --pictures 1 --forces --width 640"),
)
RATE, TICKS, OPENING = 60, 180, 1e-3


def cairn(build, *words, failing=(0,)):
    done = subprocess.run([str(build / "cairn"), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in failing:
        raise SystemExit(done.stderr)
    return done.stdout


def run(build, scene, method, folder):
    """The states of all ticks: id → (x, y, angle, vx, vy)."""
    path = folder / f"{method}.csv"
    subprocess.run([str(build / "cairnd"), "run", str(scene), "--method", method, "--ticks", str(TICKS), "--trajectory", str(path)],
                   capture_output=True, check=True)
    states = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            number = {key: float(value) for key, value in row.items()}
            states.setdefault(int(row["tick"]), {})[int(row["id"])] = (
                number["px"], number["py"], 2 * math.atan2(number["qz"], number["qw"]), number["vx"], number["vy"])
    return states


def point_of(state, start, point):
    """Where a point of a body is now that was at `point` at the start."""
    (x, y, angle), (x0, y0, angle0) = state[:3], start[:3]
    turn = angle - angle0
    u, v = point[0] - x0, point[1] - y0
    return x + math.cos(turn) * u - math.sin(turn) * v, y + math.sin(turn) * u + math.cos(turn) * v


def first_break(states, start, contacts):
    """Seconds until one of these contacts has opened."""
    for tick, state in sorted(states.items()):
        for c in contacts:
            a, b = (point_of(state[c[side]], start[c[side]], c["point"]) for side in ("a", "b"))
            if (b[0] - a[0]) * c["normal"][0] + (b[1] - a[1]) * c["normal"][1] >= OPENING:
                return tick / RATE
    return math.inf


def acceleration_error(states, exact):
    """The largest difference of a first velocity over the tick's length from the exact acceleration, over the largest of those."""
    most = max(math.hypot(*a) for a in exact.values())
    return max(math.hypot(states[1][i][3] * RATE - a[0], states[1][i][4] * RATE - a[1]) for i, a in exact.items()) / most


def start_of(scene, build, folder):
    """The bodies' places before the first tick."""
    path = folder / "start.csv"
    subprocess.run([str(build / "cairnd"), "run", str(scene), "--ticks", "0", "--poses", str(path)], capture_output=True, check=True)
    with path.open(encoding="utf-8") as file:
        return {int(b["id"]): (float(b["px"]), float(b["py"]), 2 * math.atan2(float(b["qz"]), float(b["qw"])), 0, 0) for b in csv.DictReader(file)}


def compare(build, scene, words, folder):
    scene.write_text(cairn(build, "scene", "tower", *words.split()), encoding="utf-8")
    found = json.loads(cairn(build, "--json", "stability", scene, "--touch", 1e-4, failing=(3,)))
    start = start_of(scene, build, folder)
    kinds = re.findall(r"- { (?:like|shape): (\w+)", scene.read_text(encoding="utf-8"))
    bricks = [i for i, kind in zip(sorted(start), kinds) if kind not in ("ground", "table")]
    exact = dict.fromkeys(bricks, (0, 0)) | {b["body"]: b["acceleration"][:2] for b in found["falling"]}
    breaking = [c for c in found["contacts"] if c["breaks"]]
    fastest = max(c["parting"][0] * c["normal"][0] + c["parting"][1] * c["normal"][1] for c in breaking)
    rows, last = [], {}
    for method in METHODS:
        states = run(build, scene, method, folder)
        last[method] = states[TICKS]
        places = [states[TICKS][i][:2] for i in exact]
        rows.append([method, acceleration_error(states, exact), first_break(states, start, breaking),
                     max(x for x, _ in places) - min(x for x, _ in places), max(y for _, y in places)])
    for row in rows:
        row.append(math.sqrt(sum(math.dist(last[row[0]][i][:2], last["gauss"][i][:2])**2 for i in exact) / len(exact)))
    return max(math.hypot(*a) for a in exact.values()), len(breaking), math.sqrt(2 * OPENING / fastest), rows


def table(build, folder):
    lines = ["| tower | method | error of the first accelerations | first break after | width at the end | height | from `gauss` |",
             "|---|---|---|---|---|---|---|"]
    for name, title, words in TOWERS:
        most, breaks, exact, rows = compare(build, folder / f"{name}.yaml", words, folder)
        lines.append(f"| {title} | *exact* | (at most {most:.3f} m/s²; {breaks} contacts break) | {exact:.4f} s | | | |")
        for method, error, opened, width, height, apart in rows:
            lines.append(f"| | `{method}` | {error:.1e} | {opened:.4f} s | {width:.2f} m | {height:.2f} m | {apart:.2f} m |")
    return "\n".join(lines)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = table(build, folder)
        best = folder / "best.yaml"
        best.write_text(cairn(build, "scene", "tower", "--kind", "overhang", "--count", 16), encoding="utf-8")
        for name, scene, words in PICTURES:
            picture = cairn(build, "draw", folder / f"{scene}.yaml", *words.split())
            (HERE / name).write_text(picture, encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n{rows}\n{END}{tail}", encoding="utf-8")
    print(rows)


if __name__ == "__main__":
    main()
