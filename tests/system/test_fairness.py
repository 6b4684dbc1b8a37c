"""The cost of one client to others: greedy subscriptions, queries and floods beside a client with
small needs. That the daemon continues is asserted, with bounds that hold on any busy machine; its
speed is printed (tests/bench/fair measures it)."""
import contextlib
import selectors
import signal
import time

from hostile_rows import Peer, hello
from support import command, frame, tcp_daemon

from cairn.shapes import box


class Greedy(Peer):
    """A connection that has sent HELLO and joined a world; it never acknowledges, so it is sent as
    much as it reads."""

    def __init__(self, address, role, world=1):
        super().__init__(address, "")
        self.send(hello(role=role, caps=[]) + frame(12, 1, world))
        assert self.until(lambda m: m[0] == 15 and m[1] == 1)


class Crowd:
    """Raw peers that send once and then only read, all in this thread (`read`)."""

    def __init__(self):
        self.peers, self.selector = [], selectors.DefaultSelector()

    def add(self, peer):
        peer.socket.setblocking(False)
        self.peers.append(peer)
        self.selector.register(peer.socket, selectors.EVENT_READ)
        return peer

    def read(self, seconds):
        """The number of bytes read during that time."""
        end, total = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(min(left, 0.05)):
                with contextlib.suppress(OSError):
                    total += len(key.fileobj.recv(1 << 20))
        return total

    def close(self):
        self.selector.close()
        for peer in self.peers:
            peer.close()


def moving(client, name, bodies):
    """Bodies that all move in every tick without contacts."""
    world = client.create(name, method="free", rate=60, gravity=(0, 0, 0))
    for first in range(0, bodies, 200):
        world.step(1, commands=[command("spawn", position=(i % 100, i // 100, 0), velocity=(0.01, 0.02, 0.03))
                                for i in range(first, min(first + 200, bodies))], want=0)
    return world


BOX = box(1e4, 1e4, 1e4)


def many(client, name, bodies):
    """Spheres that rest three metres from each other, no gravity."""
    world = client.create(name, gravity=(0, 0, 0))
    ball = world.shape(sphere=0.5)
    for first in range(0, bodies, 150):
        world.step(1, commands=[command("spawn", position=(3 * (i % 22), 3 * (i // 22 % 22), 3 * (i // 484)), shapes=[[ball]])
                                for i in range(first, min(first + 150, bodies))], want=0)
    return world


def watch_everything_often(address, crowd, sessions, boxes, world=1):
    """Many observers, each with many different boxes around the whole world."""
    for session in range(sessions):
        peer = Greedy(address, "observer", world)
        peer.send(b"".join(frame(30, 10 + box, world, 15, [-1e5 - session, -1e5 - box, -1e5, 1e5, 1e5, 1e5], [], 1, 0)
                           for box in range(boxes)))
        crowd.add(peer)


def test_observers_with_64_boxes_each_do_not_block_others():
    """Each box is as large as the world and different from all others, so nothing is shared: half a
    million tests of a body against a box a tick."""
    with tcp_daemon() as (server, address), contextlib.ExitStack() as stack:
        client = stack.enter_context(server.connect())
        world = moving(client, "moving", 1000)
        world.resume()
        crowd = Crowd()
        stack.callback(crowd.close)
        watch_everything_often(address, crowd, 12, 64)
        crowd.read(2)
        longest = 0.0
        for _ in range(40):
            asked = time.monotonic()
            client.list()
            longest = max(longest, time.monotonic() - asked)
            crowd.read(0.02)
        before = client.info("worlds")["worlds"][0]
        crowd.read(2)
        after = client.info("worlds")["worlds"][0]
        print(f"12 x 64 boxes over 1000 bodies: a query took at most {1000 * longest:.0f} ms; "
              f"{after['ticks'] - before['ticks']} ticks and {after['frames_sent'] - before['frames_sent']} frames in 2 s, "
              f"{after.get('frames_over_quota', 0) - before.get('frames_over_quota', 0)} frames over the quota")
        assert longest < 5
        assert after["ticks"] > before["ticks"] and after["frames_sent"] > before["frames_sent"]
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        print(f"SIGTERM: ended after {1000 * (time.monotonic() - began):.0f} ms")
