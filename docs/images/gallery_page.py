#!/usr/bin/env python3
"""Prints docs/GALLERY.md from clients/scenes/gallery and what `cairnd compare` says of each scene.

    docs/images/gallery_page.py CAIRND >docs/GALLERY.md
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = """# Gallery

Scenes with known answers, for teachers and for those who compare methods. Each states the numbers that it must give
([expect](SCENES.md#comparisons)); `cairn compare clients/scenes/gallery/NAME.yaml` steps it under its methods, prints
what each gives, and ends with 0 only if every bound holds. `make gallery` runs all scenes, draws the plots of this page
(shaded: the bound) and fails if a bound does not hold; `tests/system/test_gallery.py` runs those that take less than a
second. `docs/images/gallery_page.py` prints this page.

A dash stands for a number that is measured but not asked of that method. [METHODS](METHODS.md) says why methods
differ.

**Limits.** No method here gives the arch of 951 stones: `soft-step` holds it for the tenth of a second that the scene
lasts and has let the keystone sink by 0.45 m after half a second, at 64 sub-steps; a step of `lcp`, `projection` or
`impact` takes seconds (`impact` holds its bound, with stones up to 0.5 m in each other). `lcp` holds the card house of two floors, and takes longer than a minute for two seconds of
three. `impact` holds houses of two to four floors; that of three stands for 60 s (14 400 ticks, ten seconds of
processor time, no fallback) with its top card where it was to 10⁻⁸ m. Restitution of bouncing balls under `lcp`, `projection` and
`soft-step` is off by the gravity of one step; `impact` gives e² to 10⁻⁹ m ([METHODS](METHODS.md)). In the cradle `impact`
resolves all contacts that touch at once, by Newton's law, as `lcp` does; balls with gaps pass the whole speed on.
"""


def number(value):
    return "none" if value is None else f"{value:.6g}"


def bound_of(row):
    if row["least"] is None:
        return f"at most {number(row['most'])}"
    if row["most"] is None:
        return f"at least {number(row['least'])}"
    middle = (row["least"] + row["most"]) / 2
    return f"{number(middle)} ± {(row['most'] - row['least']) / 2:.2g}"


def section(daemon, path):
    name = path.stem
    first = path.read_text().split("\n\n")[0].splitlines()
    text = " ".join(line[2:] for line in first if line.startswith("# "))
    done = subprocess.run([daemon, "compare", path, "--report", "json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    methods = [method["method"] for method in report["methods"]]
    yield f"## {name}\n\n`clients/scenes/gallery/{name}.yaml`. {text}\n"
    yield "| number | bound | " + " | ".join(f"`{method}`" for method in methods) + " |"
    yield "|---" * (2 + len(methods)) + "|"
    rows = {}
    for row in report["bounds"]:
        rows.setdefault((row["name"], row["line"]), []).append(row)
    for (title, _), found in rows.items():
        cells = [number(row["found"]) if row["asked"] else f"– ({number(row['found'])})" for row in found]
        yield f"| {title} | {bound_of(found[0])} | " + " | ".join(cells) + " |"
    yield f"\n![every figure and bound of {name} over time](images/gallery/{name}.svg)\n"


def main():
    print(HEAD)
    for path in sorted((ROOT / "clients" / "scenes" / "gallery").glob("*.yaml")):
        print("\n".join(section(sys.argv[1], path)))


main()
