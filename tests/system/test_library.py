"""Uploaded shapes: the library keeps them for later uploads, up to a bound."""
from support import daemon

import cairn

SIDE = 140
IDLE = 64 << 20


def terrain(number):
    """A sheet of 2 SIDE² triangles, different for each number."""
    vertices = [(x, (x * 7 + z * 3) % 5 * 0.1 + number * 0.01, z) for z in range(SIDE + 1) for x in range(SIDE + 1)]
    corners = [z * (SIDE + 1) + x for z in range(SIDE) for x in range(SIDE)]
    triangles = [triangle for a in corners
                 for triangle in ((a, a + SIDE + 1, a + 1), (a + 1, a + SIDE + 1, a + SIDE + 2))]
    return cairn.mesh(vertices, triangles)


def library(client):
    info = client.info("server")["server"]
    return info["library_shapes"], info["library_bytes"]


def test_unused_shapes_beyond_the_bound_are_forgotten():
    with daemon() as server, server.connect() as client:
        kept = client.create("kept")
        first = terrain(-1)
        kept.spawn(shapes=[kept.shape(first)], status=1)
        shapes, each = library(client)
        assert shapes == 1
        most = 0
        enough = IDLE // each + 10
        for number in range(enough):
            world = client.create(f"visit-{number}")
            world.shape(terrain(number))
            client.ask("reply", "world_destroy", world.number)
            most = max(most, library(client)[1])
        assert IDLE - 2 * each < most <= IDLE + 2 * each
        assert library(client)[0] < enough
        # Shapes in use are still known, and a forgotten shape can be uploaded again.
        again = client.create("again")
        known = library(client)
        again.spawn(shapes=[again.shape(first)], status=1)
        assert library(client) == known
        again.spawn(shapes=[again.shape(terrain(0))], status=1)
        for world, bodies in ((kept, 1), (again, 2)):
            assert len(world.step(1, bodies=True).bodies) == bodies
            for x in range(bodies):
                hit, = world.ray((10.3, 50, 10.3), (0, -1, 0), 100)
                assert hit[2][1] < 1
