"""Areas of a subscription; a body is in an area if its origin is:

    World.subscribe(areas=[ball((0, 0, 0), 20), box((0, 0, 0), (9, 9, 9), body=7)]).

Lengths in metres, world axes. With `body` (an id; 0: none) positions are relative to that body's position: the area moves
with the body and does not turn with it. Raises BadNumber for a number that is not finite.
"""
from .pack import finite


def _numbers(**fields):
    """The numbers of the fields, one after the other."""
    return [finite(name, number) for name, value in fields.items() for number in (value if hasattr(value, "__iter__") else (value,))]


def everything():
    """The whole world."""
    return [0, [], 0]


def box(minimum, maximum, body=0):
    """An axis-aligned box from corner (x, y, z) to corner (x, y, z)."""
    return [1, _numbers(minimum=minimum, maximum=maximum), body]


def ball(centre, radius, body=0):
    """A sphere: centre (x, y, z) and radius."""
    return [2, _numbers(centre=centre, radius=radius), body]


def frustum(eye, rotation, half_width, half_height, near, far, body=0):
    """A camera's view volume between the distances near and far: it looks along -z of the rotation (w, x, y, z), +y up.
    half_width and half_height are measured at distance 1: tan(f / 2) * aspect and tan(f / 2) for the vertical field of
    view f."""
    return [3, _numbers(eye=eye, rotation=rotation, half_width=half_width, half_height=half_height, near=near, far=far), body]
