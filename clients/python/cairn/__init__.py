"""Cairn for Python: connect to a cairnd, watch its worlds, command them. Computes no physics.

    import cairn
    with cairn.launch() as client:  # a daemon of its own; cairn.connect(ADDRESS) for one that runs already
        world = client.create("demo", method="soft-step")
        ball = world.shape(sphere=0.5)
        body = world.spawn(shapes=[ball], position=(0, 10, 0))
        world.impulse(body, (1, 0, 0))
        stepped = world.step(60, bodies=True)
        print(stepped.tick, stepped.hash, stepped.bodies[body].position)

Every call waits for its answer. Frames have profile `plain` unless subscribe() names another. Values are floats in SI
units, vectors tuples of three, rotations tuples (w, x, y, z), hashes strings of 16 hexadecimal digits. If the server refuses
a request, the call raises cairn.Refused with status, field and text.
"""
from . import areas, observe
from .client import Body, Client, Closed, Frame, Result, Sought, State, Stepped, When, World, connect
from .hashes import tick_hash
from .joints import Joint
from .manifest import VERSION as __version__
from .pack import ACTION, BadNumber, Refused, command
from .particles import Particle
from .server import launch
from .shapes import box, capsule, cone, cylinder, ellipsoid, heightfield, hull, mesh, plane, polygon, solid, sphere

__all__ = ["ACTION", "BadNumber", "Body", "Client", "Closed", "Frame", "Joint", "Particle", "Refused", "Result", "Sought", "State", "Stepped",
           "When", "World", "__version__",
           "areas", "box", "capsule", "command", "cone", "connect", "cylinder", "ellipsoid", "heightfield", "hull", "launch", "mesh", "observe", "plane", "polygon", "solid", "sphere", "tasks", "tick_hash", "vector"]


def __getattr__(name):
    """Modules that need NumPy are loaded at their first use."""
    if name in ("tasks", "vector"):
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
