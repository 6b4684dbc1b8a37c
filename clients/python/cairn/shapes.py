"""Canonical bytes of shapes. Their SHA-256 is the name of the shape.

Layouts are those of docs/PROTOCOL.md, "shapes"; lengths in metres. The server checks ranges.
"""
import struct


def _doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def sphere(radius):
    return struct.pack("<BB", 1, 1) + _doubles([radius])


def capsule(half_length=None, radius=None, *, length=None):
    """Axis along y, from (0, -half_length, 0) to (0, half_length, 0); the caps extend beyond it by the radius. `length`, the
    word of scenes, is 2 half_length; give one of them."""
    if radius is None or (half_length is None) == (length is None):
        raise TypeError("capsule needs radius, and length or half_length")
    half_length = length / 2 if half_length is None else half_length
    return struct.pack("<BB", 2, 1) + _doubles([half_length, radius])


def box(x, y, z, radius=0.0):
    """Full sizes along the axes. With a radius: rounded outwards, so the body is larger by the radius on every side."""
    halves = _doubles([x / 2, y / 2, z / 2])
    if radius:
        return struct.pack("<BBBBd", 9, 1, 1, 0, radius) + halves
    return struct.pack("<BB", 3, 1) + halves


def cylinder(length, radius):
    """Axis along y, flat ends at y = -length / 2 and length / 2."""
    return struct.pack("<BB", 10, 1) + _doubles([length / 2, radius])


def cone(length, radius):
    """Axis along y, the apex at y = length / 2, the base of that radius at y = -length / 2."""
    return struct.pack("<BB", 11, 1) + _doubles([length / 2, radius])


def ellipsoid(x, y, z):
    """Full sizes along the axes."""
    return struct.pack("<BB", 12, 1) + _doubles([x / 2, y / 2, z / 2])


def hull(points, radius=0.0):
    """The convex hull of (x, y, z) points; the server finds it. With a radius: rounded outwards."""
    flat = [value for point in points for value in point]
    if radius:
        return struct.pack("<BBBBdI", 9, 1, 2, 0, radius, len(points)) + _doubles(flat)
    return struct.pack("<BBI", 4, 1, len(points)) + _doubles(flat)


def plane(normal, offset=0.0):
    """The half-space normal . x <= offset; static bodies only."""
    return struct.pack("<BB", 5, 1) + _doubles([*normal, offset])


def mesh(vertices, triangles, patches=None):
    """A surface of triangles, counter-clockwise seen from outside; static bodies only. `patches`: a number from 0 to 64
    for each triangle, by which set_piece gives it a material."""
    if patches is not None and len(patches) != len(triangles):
        raise ValueError(f"{len(patches)} patches for {len(triangles)} triangles: give one number each")
    flat = [value for vertex in vertices for value in vertex]
    indices = [index for triangle in triangles for index in triangle]
    return (struct.pack("<BBII", 6, 1, len(vertices), len(triangles)) + _doubles(flat) +
            struct.pack(f"<{len(indices)}I", *indices) + bytes(patches if patches and any(patches) else ()))


def heightfield(heights, cell, cell_z=None, holes=None, patches=None, apron=False):
    """Rows along z of heights along x, in metres, y upwards, centred; static bodies only. Neighbouring samples are `cell`
    metres apart, along z `cell_z`. `holes` and `patches`: rows with a value for each cell, true where there is no ground; a
    number from 0 to 64, by which set_piece gives cells a material. `apron`: the outermost ring of samples is that of the
    tiles beside this one, and only decides how bodies pass the border."""
    columns, rows = len(heights[0]), len(heights)
    if any(len(row) != columns for row in heights):
        raise ValueError("the rows of heights have different lengths")
    layers = [[value for row in layer for value in row] if layer is not None else [] for layer in (holes, patches)]
    if any(layer and len(layer) != (columns - 1) * (rows - 1) for layer in layers):
        raise ValueError(f"holes and patches have one value for each of {columns - 1} x {rows - 1} cells")
    marks, numbers = layers
    bits = bytearray((len(marks) + 7) // 8)
    for i, mark in enumerate(marks):
        bits[i // 8] |= bool(mark) << i % 8
    flags = any(bits) | bool(apron) << 1 | any(numbers) << 2
    flat = [value for row in heights for value in row]
    return (struct.pack("<BBBBIIdd", 13, 1, flags, 0, columns, rows, cell, cell if cell_z is None else cell_z) +
            struct.pack(f"<{len(flat)}f", *flat) + (bytes(bits) if any(bits) else b"") + bytes(numbers if any(numbers) else ()))


def polygon(points, radius=0.0):
    """A convex polygon of (x, y) points, rounded by a radius; planar worlds only."""
    flat = [value for point in points for value in point]
    return struct.pack("<BBId", 7, 1, len(points), radius) + _doubles(flat)


def solid(vertices, triangles, form="hull", detail=0, weld=0.0, tolerance=0.0):
    """A closed mesh that moves: as its hull, as convex parts (at most `detail`, each within `tolerance` metres),
    as a distance field of `detail` cells along its longest side, or as the boxes of its hierarchy at the depth `detail`;
    0: the server chooses. Vertices at most `weld` metres apart are one."""
    number = {"hull": 1, "parts": 2, "field": 3, "boxes": 4}[form]
    flat = [value for point in vertices for value in point]
    corners = [corner for triangle in triangles for corner in triangle]
    return (struct.pack("<BBBBHddII", 8, 1, number, 0, detail, weld, tolerance, len(vertices), len(triangles))
            + _doubles(flat) + struct.pack("<%dI" % len(corners), *corners))


def _named(make, value):
    return make(**value) if isinstance(value, dict) else make(*value)


KINDS = {"sphere": lambda v: sphere(v), "box": lambda v: box(*v),
         "capsule": lambda v: capsule(**v) if isinstance(v, dict) else capsule(*v),
         "cylinder": lambda v: _named(cylinder, v), "cone": lambda v: _named(cone, v), "ellipsoid": lambda v: ellipsoid(*v),
         "hull": hull, "plane": lambda v: plane(*v), "mesh": lambda v: mesh(*v),
         "heightfield": lambda v: _named(heightfield, v),
         "polygon": polygon, "solid": solid}


def of_kind(**kind):
    """Canonical bytes of a shape by one keyword, its kind: of_kind(sphere=0.5), of_kind(box=(1, 2, 3))."""
    if len(kind) != 1 or not set(kind) <= set(KINDS):
        raise TypeError(f"a shape is one of {', '.join(f'{name}=…' for name in KINDS)}; {', '.join(kind) or 'nothing'} was given")
    (name, value), = kind.items()
    return KINDS[name](value)
