#!/usr/bin/env python3
"""Draws docs/images/parts.png, trees.png and fields.png: what the library makes of meshes.

    make pictures          or: SHAPE_DUMP=build/tests/tools/shape_dump python3 docs/images/draw_shapes.py

Runs shape_dump (tests/tools) and draws its numbers: parts pushed apart and coloured, bounding volumes of one
depth over the mesh they bound, slices of distance fields with lines of equal distance and the blocks that
have bricks. Nothing is computed here but the view; there is a z-buffer and a PNG writer below, and no more.
"""
import colorsys
import math
import os
import pathlib
import struct
import subprocess
import zlib

HERE = pathlib.Path(__file__).resolve().parent
DUMP = os.environ.get("SHAPE_DUMP", "tests/tools/shape_dump")
PANEL_W, PANEL_H, FINE = 400, 340, 2
LIGHT = (0.36, 0.62, 0.70)
PAPER = (255, 255, 255)


def dump(*words):
    answer = subprocess.run([DUMP, *map(str, words)], check=True, capture_output=True, text=True)
    return [line.split() for line in answer.stdout.splitlines()]


# ---- pixels -------------------------------------------------------------------------------------------

class Picture:
    """Rows of RGB with a depth each; drawn FINE times as large and averaged at the end."""

    def __init__(self, width, height, fine=FINE):
        self.fine, self.width, self.height = fine, width * fine, height * fine
        self.pixels = bytearray(bytes(PAPER) * (self.width * self.height))
        self.depth = [-1e30] * (self.width * self.height)

    def put(self, x, y, colour, depth=None):
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        at = y * self.width + x
        if depth is not None:
            if depth <= self.depth[at]:
                return
            self.depth[at] = depth
        self.pixels[3 * at:3 * at + 3] = bytes(colour)

    def triangle(self, a, b, c, colour):
        """Corners (x, y, depth) in fine pixels."""
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(area) < 1e-9:
            return
        left, right = math.floor(min(a[0], b[0], c[0])), math.ceil(max(a[0], b[0], c[0]))
        top, low = math.floor(min(a[1], b[1], c[1])), math.ceil(max(a[1], b[1], c[1]))
        for y in range(top, low + 1):
            for x in range(left, right + 1):
                u = ((b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)) / area
                v = ((c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)) / area
                if u >= -1e-6 and v >= -1e-6 and u + v <= 1 + 1e-6:
                    self.put(x, y, colour, u * a[2] + v * b[2] + (1 - u - v) * c[2])

    def line(self, a, b, colour):
        steps = int(max(abs(b[0] - a[0]), abs(b[1] - a[1]))) + 1
        for i in range(steps + 1):
            t = i / steps
            x, y = round(a[0] + t * (b[0] - a[0])), round(a[1] + t * (b[1] - a[1]))
            self.put(x, y, colour)
            self.put(x + 1, y, colour)

    def circle(self, centre, radius, colour):
        steps = max(12, int(radius))
        ring = [(centre[0] + radius * math.cos(2 * math.pi * i / steps),
                 centre[1] + radius * math.sin(2 * math.pi * i / steps)) for i in range(steps + 1)]
        for a, b in zip(ring, ring[1:]):
            self.line(a, b, colour)

    def rows(self):
        """Averaged rows of the finished size."""
        f, w = self.fine, self.width
        for y in range(0, self.height, f):
            row = bytearray()
            for x in range(0, w, f):
                for channel in range(3):
                    total = sum(self.pixels[3 * ((y + j) * w + x + i) + channel]
                                for j in range(f) for i in range(f))
                    row.append(total // (f * f))
            yield bytes(row)


def write_png(name, panels, columns):
    """Panels of one size side by side, in rows of `columns`."""
    lines = []
    for first in range(0, len(panels), columns):
        for row in zip(*(panel.rows() for panel in panels[first:first + columns])):
            lines.append(b"".join(row))
    width = len(lines[0]) // 3
    lines = [line.ljust(3 * width, b"\xff") for line in lines]

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, len(lines), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + line for line in lines), 9)
    (HERE / name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data)
                              + chunk(b"IEND", b""))
    print(f"docs/images/{name}: {width} x {len(lines)}")


# ---- views --------------------------------------------------------------------------------------------

def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


class View:
    """From above and the side; `up` is the axis of the mesh that points up."""

    def __init__(self, points, up, turn=35, tilt=24):
        self.up, self.turn, self.tilt = up, math.radians(turn), math.radians(tilt)
        low = [min(p[k] for p in points) for k in range(3)]
        high = [max(p[k] for p in points) for k in range(3)]
        self.middle = [(a + b) / 2 for a, b in zip(low, high)]
        self.scale, self.shift = 1, (0, 0)
        flat = [self.place(p) for p in points]
        left, right = min(p[0] for p in flat), max(p[0] for p in flat)
        top, base = min(p[1] for p in flat), max(p[1] for p in flat)
        self.scale = 0.92 * FINE * min(PANEL_W / (right - left), PANEL_H / (base - top))
        self.shift = (FINE * PANEL_W / 2 - self.scale * (left + right) / 2,
                      FINE * PANEL_H / 2 - self.scale * (top + base) / 2)

    def rotate(self, d):
        x, y, z = (d[0], d[1], d[2]) if self.up == 1 else (d[0], d[2], -d[1])
        x, z = (x * math.cos(self.turn) - z * math.sin(self.turn),
                x * math.sin(self.turn) + z * math.cos(self.turn))
        return (x, y * math.cos(self.tilt) - z * math.sin(self.tilt),
                y * math.sin(self.tilt) + z * math.cos(self.tilt))

    def place(self, p):
        x, y, z = self.rotate(minus(p, self.middle))
        return (self.shift[0] + self.scale * x, self.shift[1] - self.scale * y, z)


def shade(colour, normal):
    length = math.sqrt(sum(x * x for x in normal)) or 1
    light = 0.45 + 0.55 * max(0.0, sum(a * b for a, b in zip(normal, LIGHT)) / length)
    return tuple(min(255, int(255 * c * light)) for c in colour)


def draw_solid(picture, view, points, triangles, colour):
    placed = [view.place(p) for p in points]
    for i, j, k in triangles:
        normal = view.rotate(cross(minus(points[j], points[i]), minus(points[k], points[i])))
        if normal[2] > 0:
            picture.triangle(placed[i], placed[j], placed[k], shade(colour, normal))


def colour_of(number):
    return colorsys.hsv_to_rgb(number * 0.61803398875 % 1, 0.42 + 0.12 * (number % 3), 0.98)


# ---- parts --------------------------------------------------------------------------------------------

def read_parts(lines):
    parts = []
    for word in lines:
        if word[0] == "part":
            parts.append(([], []))
        elif word[0] == "v":
            parts[-1][0].append(tuple(map(float, word[1:])))
        else:
            parts[-1][1].append(tuple(map(int, word[1:])))
    return parts


def draw_parts(name, concavity, mode, up=1, apart=0.35, turn=35):
    parts = read_parts(dump("parts", name, concavity, mode))
    everything = [p for points, _ in parts for p in points]
    middle = [(min(p[k] for p in everything) + max(p[k] for p in everything)) / 2 for k in range(3)]
    pushed = []
    for points, triangles in parts:
        own = [sum(p[k] for p in points) / len(points) for k in range(3)]
        off = [apart * (own[k] - middle[k]) for k in range(3)]
        pushed.append(([tuple(p[k] + off[k] for k in range(3)) for p in points], triangles))
    picture = Picture(PANEL_W, PANEL_H)
    view = View([p for points, _ in pushed for p in points], up, turn)
    for number, (points, triangles) in enumerate(pushed):
        draw_solid(picture, view, points, triangles, colour_of(number))
    print(f"  {name}, {mode}, {concavity}: {len(parts)} parts")
    return picture


# ---- trees --------------------------------------------------------------------------------------------

BOX_EDGES = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]


def draw_tree(name, kind, level, up=1, turn=35):
    points, triangles = read_parts(dump("parts", name, 1, "cut"))[0]
    picture, view = Picture(PANEL_W, PANEL_H), View(points, up, turn)
    # Room for volumes that stand out.
    view.scale *= 0.66
    view.shift = tuple(s * 0.66 + 0.17 * FINE * size for s, size in zip(view.shift, (PANEL_W, PANEL_H)))
    draw_solid(picture, view, points, triangles, (0.80, 0.80, 0.83))
    for number, word in enumerate(dump("tree", name, kind, level)):
        colour = tuple(int(160 * c) for c in colour_of(number))
        numbers = list(map(float, word[1:]))
        if word[0] == "ball":
            picture.circle(view.place(numbers[:3]), view.scale * numbers[3], colour)
            continue
        corners = [view.place(numbers[3 * i:3 * i + 3]) for i in range(8)]
        for a, b in BOX_EDGES:
            picture.line(corners[a], corners[b], colour)
    return picture


# ---- fields -------------------------------------------------------------------------------------------

def field_colour(value, reach):
    t = min(1.0, abs(value) / reach)
    base = (0.20, 0.42, 0.80) if value < 0 else (0.95, 0.62, 0.25)
    band = 0.90 if int(abs(value) / reach * 10) % 2 else 1.0
    return tuple(int(255 * band * (1 - (0.25 + 0.6 * t) * (1 - c))) for c in base)


def draw_field(name, resolution, axis, where):
    lines = dump("field", name, resolution, axis, where)
    width, height = int(lines[0][1]), int(lines[0][2])
    values = [list(map(float, line)) for line in lines[1:1 + height]]
    reach = max(abs(v) for row in values for v in row)
    picture = Picture(PANEL_W, PANEL_H, 1)
    left, top = max(0, (PANEL_W - width) // 2), max(0, (PANEL_H - height) // 2)
    for j in range(min(height, PANEL_H)):
        row = values[height - 1 - j]
        for i in range(min(width, PANEL_W)):
            edge = i + 1 < width and (row[i] < 0) != (row[i + 1] < 0)
            edge = edge or (j + 1 < height and (row[i] < 0) != (values[height - 2 - j][i] < 0))
            picture.put(left + i, top + j, (0, 0, 0) if edge else field_colour(row[i], reach))
    for word in lines[1 + height:]:
        x, y, size = map(float, word[1:])
        for k in range(int(size)):
            for dx, dy in ((k, 0), (k, size), (0, k), (size, k)):
                i, j = int(x + dx), int(height - 1 - y - dy)
                if (i + j) % 3 == 0 and 0 <= i < width and 0 <= j < min(height, PANEL_H):
                    picture.put(left + i, top + j, (70, 70, 70))
    return picture


def main():
    write_png("parts.png", [
        draw_parts("star", 0, "cut", up=2), draw_parts("ring", 0, "cut", up=2),
        draw_parts("asteroid-low.3ds", 0.02, "cut", up=2),
        draw_parts("bunny.obj", 0.03, "cut", apart=0.25, turn=20),
        draw_parts("bunny.obj", 0.03, "boxes", apart=0.25, turn=20),
        draw_parts("Collada/duck.dae", 0.03, "boxes", apart=0.25, turn=-35)], 3)
    write_png("trees.png", [
        draw_tree("asteroid-low.3ds", "aabb", 3, up=2), draw_tree("asteroid-low.3ds", "obb", 3, up=2),
        draw_tree("asteroid-low.3ds", "ball", 3, up=2),
        draw_tree("star", "aabb", 3, up=2), draw_tree("star", "obb", 3, up=2),
        draw_tree("star", "ball", 3, up=2)], 3)
    write_png("fields.png", [
        draw_field("star", 64, 2, 0.5), draw_field("asteroid-low.3ds", 96, 2, 0.5),
        draw_field("bunny.obj", 128, 2, 0.5)], 3)


if __name__ == "__main__":
    main()
