"""Areas of a subscription; a body is in an area if its origin is:

    World.subscribe(areas=[ball((0, 0, 0), 20), box((0, 0, 0), (9, 9, 9), body=7)]).

Lengths in metres. With `body`, positions are relative to that body, and the area moves with it.
"""


def everything():
    return [0, [], 0]


def box(minimum, maximum, body=0):
    return [1, [float(v) for v in (*minimum, *maximum)], body]


def ball(centre, radius, body=0):
    return [2, [float(v) for v in (*centre, radius)], body]


def frustum(eye, rotation, half_width, half_height, near, far, body=0):
    """Looks along -z of the rotation (w, x, y, z), +y up; half sizes are those at distance 1 m; near and far in metres."""
    return [3, [float(v) for v in (*eye, *rotation, half_width, half_height, near, far)], body]
