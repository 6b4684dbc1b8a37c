#!/usr/bin/env python3
"""bench_past.py [MINUTES] [BODIES]: what the past of a world costs (docs/RECORDING.md has the last figures).

One world is stepped for MINUTES of its time (60), with bodies that never sleep and are pushed once a second. Then: seeks to
random ticks, `when` first and last, `replay --bisect` against a copy of the run with one bit changed at the worst place: half
way, at the end of the ticks between two stored states (`OLD_SPACING` of server/store/prune.h). Then the world runs while
100 clients scrub it, and while as much processor time is burnt elsewhere. `make bench-past`."""
import asyncio
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))
import cairn  # noqa: E402
from cairn import aio  # noqa: E402
from cairn.client import command  # noqa: E402
from cairn.testing import daemon  # noqa: E402

RATE, CLIENTS, SECONDS = 60, 100, 15
OLD_SPACING = 18000


def build(client, bodies, name="w"):
    world = client.create(name, method="soft-step", seed=1)
    world.spawn(shapes=[world.shape(box=(60, 1, 60))], position=(0, -0.5, 0), status=1)
    ball = world.shape(sphere=0.4)
    side = int(bodies ** 0.5) + 1
    ids = [world.spawn(shapes=[ball], position=(i % side - side / 2, 0.45, i // side - side / 2)) for i in range(bodies)]
    world.apply(command("parameter", "sleep.enabled", 0.0), command("bounds", 2, (-30, -5, -30), (30, 40, 30)))
    return world, ids


def drive(world, ids, ticks, odd=None):
    """Steps the world; every second one body is pushed. At second `odd` the push differs in its last bit."""
    chance = random.Random(1)
    for second in range(ticks // RATE):
        body, push = chance.choice(ids), chance.uniform(-500, 500)
        if second == odd:
            push = push * (1 + 2 ** -52)
        world.step(RATE, commands=[command("impulse", body, (push, 100, push / 2))], want=0)


def seek_times(world, last, count=100):
    """Milliseconds from SEEK to its whole frame."""
    chance, found = random.Random(2), []
    world.subscribe(1, profile="view")
    for _ in world.frames(1):
        pass
    for _ in range(count):
        tick = chance.randrange(last)
        begun = time.perf_counter()
        world.seek(tick)
        next(world.frames(1))
        found.append(1000 * (time.perf_counter() - begun))
    world.unsubscribe(1)
    return sorted(found)


def timed(what):
    begun = time.perf_counter()
    value = what()
    return value, time.perf_counter() - begun


async def scrub(address, last, until, waits, closed):
    """Seeks random ticks until then; each wait for a frame, s. A connection that the daemon closes is counted."""
    client = await aio.connect(address, role="observer", timeout=90.0)
    world = await client.join("w")
    chance = random.Random()
    try:
        await world.subscribe(1, profile="view", fields=3)
        while time.monotonic() < until:
            begun = time.monotonic()
            try:
                await world.seek(chance.randrange(last))
            except cairn.Refused:
                await asyncio.sleep(0.05)
                continue
            async for _ in world.frames(1):
                waits.append(time.monotonic() - begun)
    except cairn.Closed as why:
        closed.append(str(why))
    await client.close()


def peak_mb(pid):
    """Resident memory of the daemon, MB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def lateness(client):
    info = next(world for world in client.info("worlds")["worlds"] if world["name"] == "w")
    return info["ticks_late"], info["lateness_max_ns"] / 1e6, info["tick"]


def thread_seconds(pid, name="answers"):
    total = 0.0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "stat").read_text(encoding="ascii")
        fields = text.rsplit(")", 1)[1].split()
        nice = int(fields[16])
        if nice == 10:
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def main():
    minutes, bodies = (int(word) for word in (sys.argv[1:] + ["60", "250"][len(sys.argv) - 1:])[:2])
    ticks = minutes * 60 * RATE
    odd = max(ticks // 2 // OLD_SPACING, 1) * OLD_SPACING // RATE - 1
    with tempfile.TemporaryDirectory() as folder:
        options = ("--journal-keep", "--keyframe-bytes", "1G", "--past-views", "128")
        for name, changed in (("b", odd), ("a", None)):
            server = daemon("--data", f"{folder}/{name}", *options)
            running = server.__enter__()
            client = running.connect()
            world, ids = build(client, bodies)
            _, spent = timed(lambda: drive(world, ids, ticks, changed))
            world.wait_durable(ticks, timeout=60)
            if name == "b":
                server.__exit__(None, None, None)
        tick_us = spent / ticks * 1e6
        print(f"{minutes} minutes of {bodies} bodies: {tick_us:.0f} us a tick with its commands, file "
              f"{os.path.getsize(f'{folder}/a/w.cairn') / 1e6:.1f} MB")
        outline = world.past()
        print(f"keyframes: {outline['keyframes']}, every {outline['spacing']} ticks, "
              f"{outline['bytes'] / 1e6 / (minutes / 60):.0f} MB an hour with bounds")
        found = seek_times(world, ticks)
        print(f"seek: median {statistics.median(found):.0f} ms, p99 {found[int(len(found) * 0.99) - 1]:.0f} ms, "
              f"largest {found[-1]:.0f} ms")
        speeds = world.when("speed", above=1e3)
        _, first = timed(lambda: world.when("y", above=20))
        _, last = timed(lambda: world.when("y", above=3, last=True))
        _, never = timed(lambda: world.when("y", below=-100))
        print(f"when: first {first:.2f} s, last {last:.2f} s, never {never:.2f} s ({speeds is None})")
        words = [os.environ.get("CAIRN", str(pathlib.Path(os.environ["CAIRN_BUILDDIR"]) / "cairn")), "replay",
                 f"{folder}/a/w.cairn", "--against", f"{folder}/b/w.cairn", "--bisect"]
        done, spent = timed(lambda: subprocess.run(words, capture_output=True, text=True, check=False))
        report = json.loads(done.stdout.splitlines()[-1])["difference"]
        print(f"bisect: {spent:.1f} s, tick {report['tick']}, {report['table']}.{report['column']} of body {report['body']}")
        # Idle for as long as the bisect took, the first client has not answered PING.
        client = running.connect()
        live(running, client, client.join("w"), ticks)
        server.__exit__(None, None, None)


def live(running, client, world, ticks):
    """The running world's lateness while clients scrub, and while as much time is burnt elsewhere."""
    waits, closed, pid = [], [], running.process.pid
    world.resume()
    time.sleep(1)
    lateness(client)
    before, used, size = lateness(client), thread_seconds(pid), peak_mb(pid)
    begun = time.monotonic()

    async def all_clients():
        until = time.monotonic() + SECONDS
        await asyncio.gather(*(scrub(running.address, ticks, until, waits, closed) for _ in range(CLIENTS)))
    asyncio.run(all_clients())
    passed = time.monotonic() - begun
    client = running.connect()
    after, spent = lateness(client), thread_seconds(pid) - used
    made = after[2] - before[2]
    print(f"{CLIENTS} clients scrub: {len(waits) / passed:.0f} states/s in {passed:.0f} s, {spent / passed:.2f} of a core; waits "
          f"{statistics.median(waits or [0]):.1f} s, largest {max(waits, default=0):.1f} s; {len(closed)} closed; memory {size:.0f} to {peak_mb(pid):.0f} MB; "
          f"late ticks {after[0] - before[0]} of {made}, largest lateness {after[1]:.1f} ms")
    share = min(spent / passed, 1)
    burn = subprocess.Popen(["nice", "-n", "10", sys.executable, "-c",
                             f"import time\nend = time.monotonic() + {SECONDS}\nshare = {share:.3f}\n"
                             "while time.monotonic() < end:\n  begun = time.process_time()\n"
                             "  while time.process_time() - begun < 0.01 * share: pass\n  time.sleep(0.01 * (1 - share))\n"])
    before = lateness(client)
    time.sleep(SECONDS)
    after = lateness(client)
    burn.wait()
    print(f"the same burnt elsewhere: late ticks {after[0] - before[0]} of {after[2] - before[2]}, largest lateness "
          f"{after[1]:.1f} ms")


if __name__ == "__main__":
    main()
