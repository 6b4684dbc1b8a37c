"""kill -9 at random instants under racing clients, with durability `command`: nothing that was acknowledged is missing, nothing
was applied twice, every client resumes its session and continues, and the files recompute to the states that they recorded.

KILLS=N in the environment kills N times (`make soak-kill`: 1000); CAIRN_SEED is the seed."""
import json
import os
import random
import subprocess
import threading
import time

import pytest
from support import CLIENT, SANITIZED, cairn, command, start, stop

KILLS = int(os.environ.get("KILLS", "5" if SANITIZED else "20"))
SEED = int(os.environ.get("CAIRN_SEED", "1") if os.environ.get("CAIRN_SEED", "1").isdigit() else time.time())
CLIENTS, AHEAD, KEPT = 4, 6, 24


class Racer:
    """A client that spawns bodies with tags of its own, up to AHEAD batches ahead of their results, and removes old ones."""

    def __init__(self, server, number, world):
        self.client = server.connect(resumes=True, role="controller", caps=("ack",))
        self.world = self.client.join(world)
        self.number, self.next_tag = number, 1
        self.tags = {}       # batch without a result → its tag
        self.alive = {}      # tag → body id, of acknowledged spawns
        self.unknown = []    # tags of bodies that are there, without known ids
        self.doubtful = set()  # tags whose removal was sent

    def send(self):
        self.next_tag += 1
        tag = self.number * 10**6 + self.next_tag
        commands = [command("spawn", position=(self.next_tag % 512 * 4.0, self.number * 50.0, 0.0), tag=tag)]
        if len(self.alive) > KEPT:
            old = min(tag for tag in self.alive if tag not in self.doubtful)
            self.doubtful.add(old)
            commands.append(command("remove", self.alive[old]))
        self.tags[self.world.send(*commands)] = tag

    def settle(self):
        """Takes the results that have arrived."""
        for batch, tag in list(self.tags.items()):
            if batch in self.world.results:
                item = self.world.results.pop(batch)
                assert item[2] == 0, item
                self.alive[tag] = item[4][0]
                del self.tags[batch]
                for old in [old for old in self.doubtful if old < tag]:
                    self.doubtful.discard(old)
                    self.alive.pop(old, None)

    def race(self):
        """Until the daemon is killed."""
        try:
            while True:
                while len(self.tags) < AHEAD:
                    self.send()
                self.client.take(1.0)
                self.settle()
        except (OSError, cairn.Closed):
            pass

    def carry_on(self):
        """Resumes, and waits for the results of what was sent before the kill."""
        self.client.resume()
        self.wait()

    def wait(self):
        """For the results of all batches."""
        end = time.monotonic() + 30
        while self.tags:
            assert time.monotonic() < end, f"no result for {self.tags}"
            self.take_expired(self.client.take(1.0))
            self.settle()

    def take_expired(self, message):
        """A batch that was applied too long before the kill: its body is there, its id is not told any more."""
        if message is not None and message[0] == "error" and message[1][1] == cairn.client.EXPIRED:
            tag = self.tags.pop(message[1][0])
            self.world.unanswered.pop(message[1][0], None)
            self.unknown.append(tag)


def bodies_of(world):
    """The bodies with their tags, from a SNAPSHOT."""
    world.subscribe(sub=world.number, fields=["position", "owner"])
    for _ in world.frames(1, sub=world.number):
        pass
    return list(world.subscriptions[world.number].bodies.values())


def check_bodies(server, racers):
    """Every acknowledged body is there, once."""
    with server.connect() as client:
        worlds = {}
        for racer in racers:
            name = racer.world.name
            if name not in worlds:
                worlds[name] = {}
                for body in bodies_of(client.join(name)):
                    assert body.tag not in worlds[name], f"tag {body.tag} was applied twice"
                    worlds[name][body.tag] = body.id
            assert all(tag in worlds[name] for tag in racer.unknown)
            for tag, body in racer.alive.items():
                if tag not in racer.doubtful:
                    assert worlds[name].get(tag) == body, f"body {body} with tag {tag} was acknowledged and is gone"


def test_kills_lose_nothing_acknowledged_and_clients_carry_on(tmp_path):
    rng = random.Random(SEED)
    data = str(tmp_path / "data")
    options = ("--data", data, "--durability", "command", "--checkpoint-ticks", "40", "--journal-keep")
    server = start(str(tmp_path), *options)
    try:
        with server.connect() as client:
            client.create("runs", method="free", gravity=(0.0, 0.0, 0.0), running=True)
            client.create("rests", method="free", gravity=(0.0, 0.0, 0.0))
        racers = [Racer(server, i + 1, ("runs", "rests")[i % 2]) for i in range(CLIENTS)]
        for racer in racers:
            # A session is on the disk once its first batch is: one that has sent nothing does not outlive the first kill.
            racer.send()
            racer.wait()
        for _ in range(KILLS):
            threads = [threading.Thread(target=racer.race) for racer in racers]
            for thread in threads:
                thread.start()
            time.sleep(rng.random() * 0.15)
            server.kill()
            for thread in threads:
                thread.join(20)
                assert not thread.is_alive()
            server = start(str(tmp_path), *options)
            check_bodies(server, racers)
            for racer in racers:
                racer.carry_on()
        check_bodies(server, racers)
        assert sum(racer.next_tag for racer in racers) > KILLS
        print(f"# {KILLS} kills, {sum(racer.next_tag for racer in racers)} batches")
        assert stop(server) == 0
    finally:
        server.kill()
    for name in ("runs", "rests"):
        done = subprocess.run([CLIENT, "replay", os.path.join(data, name + ".cairn"), "--verify"], capture_output=True,
                              text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["verdict"] == "same"


def test_a_kill_right_after_a_resume_loses_no_session(tmp_path):
    """The token of the last WELCOME is on the disk as that of a resume in progress, and counts."""
    options = ("--data", str(tmp_path / "data"), "--durability", "command")
    server = start(str(tmp_path), *options)
    try:
        client = server.connect(resumes=True, role="controller")
        world = client.create("held", method="free", gravity=(0.0, 0.0, 0.0))
        body = world.spawn(position=(0, 1, 0), owner=client.session)
        for _ in range(KILLS):
            server.kill()
            server = start(str(tmp_path), *options)
            client.resume()
        assert world.body(body)["owner"] == client.session
    finally:
        stop(server)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
