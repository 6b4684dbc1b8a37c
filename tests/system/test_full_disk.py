"""A full disk: the world stops with an error, and its durable states are kept."""
import os
import subprocess

import pytest
from support import CLIENT, DAEMON, cairn, falling, start, stop


def small_disk(folder, kilobytes):
    """The daemon, under a limit on the size of its files: writing beyond it is an error, as on a
    full disk."""
    program = folder / "small"
    program.write_text(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f {kilobytes}\nexec {DAEMON} \"$@\"\n")
    program.chmod(0o755)
    return str(program)


def test_a_full_disk_stops_the_world_and_keeps_durable_states(tmp_path):
    data = tmp_path / "data"
    server = start(str(tmp_path), "--data", str(data), "--paused", program=small_disk(tmp_path, 400))
    client = server.connect()
    world, _ = falling(client, "w")
    with pytest.raises((TimeoutError, cairn.Refused)):  # refused: the failed write is known before the next step
        for _ in range(2000):
            world.wait_durable(world.step(10).tick, timeout=1)
    with pytest.raises(cairn.Refused) as refused:
        world.step(10)
    assert "cannot be written" in str(refused.value)
    durable = world.durable
    assert durable[1] > 100
    # The world stays stopped and reports the error to every client.
    with pytest.raises(cairn.Refused):
        world.step(1)
    client.close()
    log = (tmp_path / "cairnd.log").read_text()
    assert log.count("journal_failed") == 1, log
    assert stop(server) == 0
    # With free space again.
    server = start(str(tmp_path), "--data", str(data), "--paused")
    with server.connect() as client:
        world = client.join("w")
        assert world.tick >= durable[1]
        assert world.step(10).tick == world.tick
    assert stop(server) == 0
    done = subprocess.run([CLIENT, "replay", os.path.join(data, "w.cairn"), "--verify"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
