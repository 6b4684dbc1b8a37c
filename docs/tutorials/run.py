#!/usr/bin/env python3
"""Runs the commands of a tutorial and compares what they print with the page.

    docs/tutorials/run.py PAGE.md             fail at the first difference
    docs/tutorials/run.py PAGE.md --update    write what the commands print into the page

Blocks that begin with ```sh are run by one bash, in a folder with links to `build` (CAIRN_BUILDDIR) and `clients`. A block
```text directly after one is what it prints. The engine gives the same bits everywhere, so outputs are compared exactly.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CAIRN_BUILDDIR", SOURCE / "build")).resolve()
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.M | re.S)
MARK = "--- end of block ---"


def outputs(blocks):
    """What each block prints; stops with an error at the first that fails."""
    with tempfile.TemporaryDirectory(prefix="tutorial") as folder:
        for name, target in (("build", BUILD), ("clients", SOURCE / "clients")):
            (pathlib.Path(folder) / name).symlink_to(target)
        script = "set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n"
        script += "".join(f"{block}\necho '{MARK}'\n" for block in blocks)
        environment = {**os.environ, "PYTHONPATH": str(SOURCE / "clients" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=120, check=False)
    found = done.stdout.split(MARK + "\n")
    if done.returncode != 0:
        sys.exit(f"block {len(found)} failed with status {done.returncode}:\n{blocks[min(len(found), len(blocks)) - 1]}\n"
                 f"{found[-1]}{done.stderr}")
    return found


def main():
    page = pathlib.Path(sys.argv[1])
    text = page.read_text(encoding="utf-8")
    matches = list(BLOCK.finditer(text))
    printed = outputs([match.group(1) for match in matches])
    for match, own in reversed(list(zip(matches, printed))):
        if match.group(2) is None or match.group(2) == own:
            continue
        if "--update" not in sys.argv[2:]:
            sys.exit(f"{page.name}:\n{match.group(1)}prints\n{own}and not\n{match.group(2)}")
        text = text[:match.start(2)] + own + text[match.end(2):]
    page.write_text(text, encoding="utf-8") if "--update" in sys.argv[2:] else None


if __name__ == "__main__":
    main()
