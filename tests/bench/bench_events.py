#!/usr/bin/env python3
"""Instructions of the events of a pair that bounces between two walls, alone and beside bodies that fly elsewhere (make
bench-impact): those of its ticks less those of ticks in which it does not move. callgrind counts them, so other processes
do not matter. An event must cost with what is linked to it, not with the world.

Usage: bench_events.py BENCH_VELOCITY"""
import re
import shutil
import subprocess
import sys

OTHERS, SPEED = (0, 20000), 300  # m/s: eight events a tick


def measure(program, others, speed):
    """Instructions of the ticks, and how many groups of events they had."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=stage_step", program,
                           "event", str(others), str(speed)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]), int(done.stdout.split()[0])


def main():
    if shutil.which("valgrind") is None:
        sys.exit("bench_events.py: valgrind is not installed; it counts the instructions of events")
    for others in OTHERS:
        still, none = measure(sys.argv[1], others, 0)
        moving, groups = measure(sys.argv[1], others, SPEED)
        print(f"a pair between walls beside {others:5} bodies: {groups - none} groups of events in 4 ticks, {(moving - still) / 1e6:.3f} "
              f"million instructions; {still / 4e6:.3f} a tick without events")


main()
