"""libcairn's replica, through `cairn watch`: every tick's hash while bodies are created, changed
and removed."""
import json
import random
import subprocess

import pytest
from support import CLIENT, SANITIZED, command, daemon

TICKS = 200 if SANITIZED else 1200


@pytest.mark.parametrize("profile", ["exact", "plain"])
def test_a_replica_has_every_hash_while_bodies_are_created_and_removed(tmp_path, profile):
    rng = random.Random(1)
    with daemon() as server, server.connect() as client:
        world = client.create("w", rate=60 if SANITIZED else 400)
        ground = world.spawn(status="static", shapes=[world.shape(box=(9, 1, 9))])
        shapes = [world.shape(sphere=0.3), world.shape(box=(0.3, 0.3, 0.3)), world.shape(capsule=(0.3, 0.2))]
        world.resume()
        with open(tmp_path / "frames", "w", encoding="ascii") as out:
            watch = subprocess.Popen([CLIENT, "--connect", server.address, "--json", "watch", "w", "--ticks",
                                      str(TICKS), "--profile", profile, "--events"], stdout=out)
        alive, made, gone = [], 0, 0
        while watch.poll() is None:
            commands = [command("spawn", position=(rng.uniform(-5, 5), 3 + rng.random(), rng.uniform(-5, 5)),
                                shapes=[rng.choice(shapes)], tag=made)]
            made += 1
            if len(alive) > 10:
                body = alive.pop(rng.randrange(len(alive)))
                commands.append(rng.choice([command("remove", body), command("set_status", body, rng.choice([0, 1])),
                                            command("set_owner", body, 77), command("impulse", body, (50, 9, 0))]))
                gone += commands[-1][0] == 11
            if rng.random() < 0.02:
                # SAVE and RESTORE: a new epoch while the replica exists.
                world.save("here")
                world.restore("here")
            alive.append(world.apply(*commands).values[0])
        frames = [json.loads(line) for line in (tmp_path / "frames").read_text().splitlines()]
        events = [item for item in frames if "event" in item]
        frames = [item for item in frames if "event" not in item]
        assert watch.returncode == 0 and len(frames) == TICKS
        assert {frame["hash"] for frame in frames} == {"right"}
        assert made > TICKS // 12 and gone > 2 and len({frame["epoch"] for frame in frames}) > 1
        assert {"contact_begin"} <= {item["event"] for item in events}
        assert ground
        # Nearly every tick of an epoch: a busy machine may make the server skip some.
        steps = [b["tick"] - a["tick"] for a, b in zip(frames, frames[1:]) if a["epoch"] == b["epoch"]]
        print(f"{made} made, {gone} removed, {len({f['epoch'] for f in frames})} epochs, "
              f"{sum(step == 1 for step in steps)} of {len(steps)} frames one tick on")
        assert min(steps) >= 0
