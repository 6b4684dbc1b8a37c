"""The past of a running world: SEEK, playing forward and backward, RESTORE and FORK at a tick, "start", and questions. The
oracle is what the same client saw live, with hashes: every state of the past must have the bits of the present it was."""
import contextlib
import re
import time

import pytest
from support import TOWER, Cli, cairn, command, daemon, falling, refused, until

EXACT = dict(profile="exact", fields=31)


@contextlib.contextmanager
def recorded(tmp_path, *options, ticks=400, push_at=150):
    """A world of three bodies that was stepped and pushed; yields (client, world, {tick: bodies}, body)."""
    with daemon("--data", str(tmp_path / "data"), "--keyframe-ticks", "50", *options) as server:
        with server.connect(caps=("ack", "durable", "exact")) as client:
            world = client.create("w", method="soft-step")
            floor = world.shape(box=(40, 1, 40))
            ball = world.shape(sphere=0.5)
            world.spawn(shapes=[floor], position=(0, -0.5, 0), status=1)
            body = world.spawn(shapes=[ball], position=(0, 3, 0))
            world.spawn(shapes=[ball], position=(6, 9, 0))
            world.subscribe(1, **EXACT)
            seen = {}
            for tick in range(1, ticks + 1):
                given = [command("impulse", body, (3000, 0, 0))] if tick == push_at + 1 else []
                world.step(1, commands=given, want=0)
                frame, = world.frames(1)
                while frame.tick < tick:
                    frame, = world.frames(1)
                seen[frame.tick] = frame.bodies
            world.wait_durable(ticks)
            yield client, world, seen, body


def test_seek_shows_any_tick_with_its_bits(tmp_path):
    with recorded(tmp_path) as (client, world, seen, _):
        for tick in (1, 50, 51, 149, 150, 151, 299, 400, 7, 333):
            sought = world.seek(tick)
            assert (sought.tick, sought.first, sought.last, sought.speed) == (tick, 0, 400, 0)
            frame, = world.frames(1)
            assert frame.tick == tick and frame.bodies == seen[tick]
        # The world has not moved, and the present is shown again.
        assert world.step(0).tick == 400
        assert world.seek(None).present
        frame, = world.frames(1)
        assert frame.tick == 400 and frame.bodies == seen[400]
        world.step(1, want=0)
        assert next(world.frames(1)).tick == 401


@pytest.mark.parametrize("speed", [1.0, -1.0, 4.0, -4.0])
def test_played_forward_and_backward(tmp_path, speed):
    with recorded(tmp_path) as (client, world, seen, _):
        start = 100 if speed > 0 else 300
        begun = time.monotonic()
        world.seek(start, speed=speed)
        ticks = []
        for frame in world.frames(40):
            ticks.append(frame.tick)
            assert frame.bodies == seen[frame.tick]
        assert len(ticks) == 40 and ticks[0] == start
        assert ticks == sorted(ticks, reverse=speed < 0)
        # World time per wall time, as asked, while states come in time.
        passed = abs(ticks[-1] - start) / 60 / abs(speed)
        assert passed < (time.monotonic() - begun) * 1.2 + 0.1
        world.seek(200)
        assert next(world.frames(1)).bodies == seen[200]


def test_playing_stops_at_the_ends(tmp_path):
    with recorded(tmp_path, ticks=120, push_at=50) as (client, world, seen, _):
        for speed, start, end in ((8.0, 90, 120), (-8.0, 30, 0)):
            world.seek(start, speed=speed)
            fields = client.wait(["sought"], lambda f: f[0] == 0)
            assert (fields[3], fields[4]) == (end, 0)


def test_two_clients_and_the_running_world_do_not_disturb_each_other(tmp_path):
    with recorded(tmp_path) as (client, world, seen, _):
        world.unsubscribe(1)
        hash_before = world.step(0).hash
        world.subscribe(2, **EXACT)
        world.subscribe(3, **EXACT)
        world.subscribe(4, fields=1, profile="view")
        assert world.seek(60, sub=2).tick == 60
        assert world.seek(250, sub=3, speed=-1.0).tick == 250
        frame, = world.frames(1, sub=2)
        assert frame.bodies == seen[60]
        for frame in world.frames(5, sub=3):
            assert frame.bodies == seen[frame.tick]
        world.seek(None, sub=3)
        assert world.step(0).hash == hash_before
        world.resume()
        later = [frame.tick for frame in world.frames(6, sub=4)]
        assert later[-1] > 400
        # A view of the past stands while the world runs.
        world.seek(333, sub=2)
        assert next(world.frames(1, sub=2)).bodies == seen[333]
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            client.take(0.1)
        assert world.subscriptions[2].frames == []


def test_restore_and_fork_at_a_tick_and_restart(tmp_path):
    with recorded(tmp_path) as (client, world, seen, body):
        fork = world.fork("f", tick=180)
        assert fork.tick == 180 and fork.body(body)["position"] == seen[180][body].position
        state = world.restore(tick=181)
        assert (state.tick, state.epoch) == (181, 2)
        # Both go on to the same states, and so did the original.
        for tick in range(181, 200):
            if tick > 181:
                world.step(1)
            fork.step(1)
            for at in (world, fork):
                assert at.body(body)["position"] == seen[tick][body].position
        assert world.step_back(5).tick == 194
        assert world.body(body)["position"] == seen[194][body].position
        start = world.restart()
        assert (start.tick, start.epoch) == (0, 4)
        assert world.step(0, bodies=True).bodies[body].position == (0, 3, 0)
        # A tick that an earlier epoch has as well is found there.
        world.step(10)
        world.wait_durable(10)
        world.seek(390, epoch=1)
        assert next(world.frames(1)).bodies == seen[390]
        world.seek(None)


def test_the_past_survives_a_restart_of_the_daemon(tmp_path):
    with recorded(tmp_path) as (client, world, seen, body):
        world.restore(tick=300)
        world.step(20)
    with daemon("--data", str(tmp_path / "data")) as server:
        with server.connect(caps=("ack", "durable", "exact")) as client:
            world = client.join("w")
            assert world.tick == 320
            world.step(30)
            world.wait_durable(world.tick)
            world.subscribe(1, **EXACT)
            assert world.seek(260, epoch=1).tick == 260
            assert next(world.frames(1)).bodies == seen[260]
            # The restored epoch and the one after the restart are one stretch.
            sought = world.seek(345)
            assert (sought.first, sought.last) == (300, 350)
            assert world.seek(310, speed=-20.0).tick == 310
            fields = client.wait(["sought"], lambda f: f[0] == 0)
            assert fields[3] == 300
            assert world.restart().tick == 0
            assert world.body(body)["position"] == (0, 3, 0)


def test_questions(tmp_path):
    with recorded(tmp_path) as (client, world, seen, body):
        speed = {tick: sum(v * v for v in bodies[body].velocity) ** 0.5 for tick, bodies in seen.items()}
        height = {tick: bodies[body].position[1] for tick, bodies in seen.items()}
        first = world.when("speed", above=4.5, body=body)
        assert first.tick == min(t for t, v in speed.items() if v > 4.5)
        last = world.when("speed", above=4.5, body=body, last=True)
        assert last.tick == max(t for t, v in speed.items() if v > 4.5)
        assert abs(last.value - speed[last.tick]) < 1e-12
        pushed = world.when("x", above=0.01, body=body)
        assert pushed.tick == 151 and [c[2] for c in pushed.commands] == ["impulse"]
        low = world.when("y", below=0.6, body=body)
        assert low.tick == min(t for t, y in height.items() if y < 0.6)
        hit = world.when("y", below=0.501, body=body)
        assert hit.contacts and hit.contacts[0][0] == 1
        assert world.when("speed", above=1e6) is None
        anyone = world.when("y", above=8.9)
        assert anyone.tick == 0 and anyone.body == body + 1
        outline = world.past()
        assert outline["epochs"] == [(1, 0, 400, "created")]
        assert ("snapshot", "start") in [(kind, text) for _, _, kind, text in outline["marks"]]
        assert world.difference(10, 10) is None
        text, table, _, _ = world.difference(10, 11)
        assert table in text


def test_refusals(tmp_path):
    with recorded(tmp_path, "--past-views", "2", ticks=60, push_at=20) as (client, world, seen, _):
        with refused("range"):
            world.seek(61)
        with refused("range"):
            world.seek(3, epoch=9)
        with refused("range"):
            world.restore(tick=10 ** 12)
        with refused("range"):
            world.restore("start", tick=3)
        with refused("range"):
            world.fork("g", tick=500)
        with refused("unknown_subscription"):
            world.seek(3, sub=77)
        # A refused first SEEK returns the subscription to the present, whole.
        world.step(1, want=0)
        shown = [next(world.frames(1)).tick]
        while shown[-1] != 61:
            shown.append(next(world.frames(1)).tick)
        assert set(shown) <= {60, 61}
        for sub in (2, 3, 4):
            world.subscribe(sub, **EXACT)
        world.seek(5, sub=2)
        world.seek(5, sub=3)
        with refused("busy"):
            world.seek(5, sub=4)
        world.unsubscribe(2)
        assert world.seek(5, sub=4).tick == 5
    with daemon() as server, server.connect() as client:
        world, _ = falling(client)
        world.step(2)
        world.subscribe()
        with refused("unsupported"):
            world.seek(1)
        assert world.restart().tick == 0
    with daemon("--data", str(tmp_path / "other"), "--past-role", "controller") as server:
        with server.connect() as client, server.connect(role="observer") as observer:
            world, _ = falling(client)
            world.step(5)
            seen = observer.join("demo")
            seen.subscribe()
            with refused("forbidden"):
                seen.seek(1)
            with refused("forbidden"):
                seen.past()


def test_the_daemon_compares_its_past_with_its_present(tmp_path):
    with daemon("--data", str(tmp_path / "data"), "--keyframe-ticks", "10", "--sync-test", "500") as server:
        with server.connect() as client:
            world, _ = falling(client, "w", method="soft-step")
            world.resume()
            facts = until(lambda: [w for w in client.info("worlds")["worlds"] if w["sync_tests"] > 1])
            assert facts[0]["sync_failures"] == 0


def test_keyframes_widen_within_their_bytes_and_rest_while_nothing_moves(tmp_path):
    with daemon("--data", str(tmp_path / "data"), "--keyframe-ticks", "5", "--keyframe-bytes", "20K") as server:
        with server.connect(caps=("ack", "durable", "exact")) as client:
            world, body = falling(client, "w", gravity=(0, -0.001, 0))
            world.subscribe(1, **EXACT)
            for _ in range(30):
                world.step(20, want=0)
                time.sleep(0.11)  # the least time between two keyframes
            outline = world.past()
            assert outline["spacing"] > 5 and 0 < outline["bytes"] <= 20480
            world.wait_durable(600)
            assert world.seek(333).tick == 333
    assert cairn is not None


def test_the_client_tells_the_past_in_words(tmp_path):
    with daemon("--data", str(tmp_path), "--scene", TOWER, "--paused") as server:
        cli = Cli(server.address)
        for words in (["step", "tower", 3], ["save", "tower", "here"], ["step", "tower", 2], ["restore", "tower", "here"]):
            cli.text(*words)
        until(lambda: "epoch 2" in cli.text("past", "tower"))
        told = cli.text("past", "tower").splitlines()
        assert told[:2] == ["epoch 1 tick 0 to 5 created", "epoch 2 tick 3 to 3 restored"], told
        assert re.fullmatch(r"keyframes \d+, \d+ bytes, one every 120 ticks", told[2])
        assert "mark epoch 1 tick 3 snapshot here" in told[3:], told
        assert all(line.startswith("mark epoch ") for line in told[3:])
        done = cli.run("--timeout", 4000, "watch", "tower", "--from", 4, "--epoch", 1, "--ticks", 9)
        assert done.returncode == 1 and "of 9 frames" in done.stderr and "the past or the recording ends there" in done.stderr
