"""Time of a step over the number of bodies, for every engine that was built, as SVG (tests/bench/run draws it)."""
import math

# Colours that differ for every kind of colour vision (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 340, 260, 52, 30, 12, 40


def decades(values):
    """The powers of ten that hold the values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def axis(low, high, length):
    """A function from a value to its place on a logarithmic axis."""
    return lambda value: (math.log10(value) - low) / max(high - low, 1) * length


def panel(scene, curves):
    """The lines of one panel. curves: {engine: [(bodies, ms), …]}."""
    points = [point for curve in curves.values() for point in curve]
    (x0, x1), (y0, y1) = decades([x for x, _ in points]), decades([y for _, y in points])
    across, up = axis(x0, x1, WIDTH - LEFT - RIGHT), axis(y0, y1, HEIGHT - TOP - BOTTOM)
    place = lambda x, y: (LEFT + across(x), HEIGHT - BOTTOM - up(y))  # noqa: E731
    yield f'<text x="{LEFT}" y="18" font-weight="bold">{scene}: ms a step over bodies</text>'
    for power in range(x0, x1 + 1):
        x, _ = place(10 ** power, 10 ** y0)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{10 ** power}</text>'
    for power in range(y0, y1 + 1):
        _, y = place(10 ** x0, 10 ** power)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>'
    for place_of, (engine, curve) in enumerate(curves.items()):
        colour = COLOURS[place_of % len(COLOURS)]
        corners = [place(*point) for point in curve]
        yield f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in corners)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in corners)
        yield f'<text x="{LEFT + 8 + 90 * place_of}" y="{HEIGHT - 8}" fill="{colour}">{engine}</text>'


def draw(scenes):
    """The picture. scenes: {scene: {engine: [(bodies, ms), …]}}."""
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * len(scenes)}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for place, (scene, curves) in enumerate(scenes.items()):
        lines += [f'<g transform="translate({WIDTH * place} 0)">', *panel(scene, curves), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"
