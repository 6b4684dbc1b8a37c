"""`cairn pack`: the drawings it writes, with an overlap test in rational numbers, its report, and its refusals by line."""
import json
import random
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import pytest
from support import CLIENT, SOURCE

LOOSE = SOURCE / "docs" / "images" / "pack-loose.svg"
BOX = '<svg viewBox="0 0 20 10">\n%s\n</svg>\n'


def run(*words):
    done = subprocess.run([CLIENT, "pack", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def packed(source, target, *words):
    code, out, err = run(source, target, "--json", *words)
    assert code == 0, err
    return json.loads(out)


def numbers(text):
    return [Fraction(n) for n in re.findall(r"[-+0-9.eE]+", text or "")]


def outlines(path):
    """The polygons of a drawing whose groups and shapes have one translation at most."""
    found = []

    def walk(element, x, y):
        moved = numbers((element.get("transform") or "").replace("translate", "")) + [Fraction(0), Fraction(0)]
        x, y = x + moved[0], y + moved[1]
        if element.tag.endswith("polygon"):
            values = numbers(element.get("points"))
            found.append([(a + x, b + y) for a, b in zip(values[::2], values[1::2])])
        for child in element:
            walk(child, x, y)

    walk(ElementTree.parse(path).getroot(), Fraction(0), Fraction(0))
    return found


def side(a, b, c):
    value = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (value > 0) - (value < 0)


def meet(p, q):
    """Whether two polygons have a point in common; exact."""
    if min(a[0] for a in p) > max(a[0] for a in q) or min(a[0] for a in q) > max(a[0] for a in p):
        return False
    for a, b in zip(p, p[1:] + p[:1]):
        for c, d in zip(q, q[1:] + q[:1]):
            if side(a, b, c) * side(a, b, d) <= 0 and side(c, d, a) * side(c, d, b) <= 0 \
                    and max(a[0], b[0]) >= min(c[0], d[0]) and max(c[0], d[0]) >= min(a[0], b[0]) \
                    and max(a[1], b[1]) >= min(c[1], d[1]) and max(c[1], d[1]) >= min(a[1], b[1]):
                return True
    return inside(p, q[0]) or inside(q, p[0])


def inside(p, point):
    crossings = 0
    for a, b in zip(p, p[1:] + p[:1]):
        if (a[1] > point[1]) != (b[1] > point[1]):
            crossings += side(a, b, point) == (1 if b[1] > a[1] else -1)
    return crossings % 2 == 1


def test_the_drawing_is_shorter_and_free_of_overlap_in_exact_numbers(tmp_path):
    target, again = tmp_path / "tight.svg", tmp_path / "again.svg"
    about = packed(LOOSE, target)
    shapes = outlines(target)
    assert about["stopped"] == "rest" and about["overlap"] == 0 and about["polygons"] == len(shapes) == 24
    lengths = [about["length before"]] + [jump["length"] for jump in about["jumps"]]
    assert lengths == sorted(lengths, reverse=True) and about["length"] < 0.45 * about["length before"]
    assert len(about["jumps"]) <= 10 and lengths[5] < 1.01 * about["length"]
    assert all(jump["overlap"] == 0 and jump["residual"] < 1e-9 for jump in about["jumps"])
    assert not any(meet(p, q) for i, p in enumerate(shapes) for q in shapes[:i])
    xs, ys = [float(a[0]) for p in shapes for a in p], [float(a[1]) for p in shapes for a in p]
    assert min(xs) > -1e-6 and min(ys) > -1e-6 and max(ys) < 63 + 1e-6
    box = [float(n) for n in ElementTree.parse(target).getroot().get("viewBox").split()]
    assert box[2] == pytest.approx(max(xs)) == pytest.approx(about["length"])
    # Shapes have moved and are otherwise what they were.
    for old, new in zip(outlines(LOOSE), shapes):
        assert all(abs((b[0] - a[0]) - (new[0][0] - old[0][0])) < 1e-9 for a, b in zip(old, new))
    # At rest: the same bytes again.
    assert packed(target, again)["jumps"] == [] and again.read_bytes() == target.read_bytes()


def test_the_same_drawing_gives_the_same_bytes(tmp_path):
    files = [tmp_path / name for name in ("one.svg", "two.svg")]
    reports = [run(LOOSE, file, "--jumps", 3) for file in files]
    assert reports[0] == reports[1] and "by --jumps" in reports[0][1]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_rects_paths_groups_and_what_is_beside_them(tmp_path):
    source, target = tmp_path / "in.svg", tmp_path / "out.svg"
    source.write_text("""<?xml version="1.0"?>
<svg:svg xmlns:svg="http://www.w3.org/2000/svg" xmlns:tool="urn:tool" viewBox="10 0 40 10" width="80mm">
  <svg:title>a &lt; b</svg:title><svg:defs><svg:circle r="3"/></svg:defs><tool:view zoom="2"/>
  <svg:g transform="translate(3)"> <!-- a group -->
    <svg:rect id="r" x="10" y="1" width="4" height="6" fill="url(#a&quot;b)"></svg:rect>
    <svg:path id="p" d="m 20,2 h4 v+4l-2-1.5H20Z" transform="translate(1,-1) translate( 2 )"/>
  </svg:g>
  <svg:path id="q" d="M40 0 44 0 L44 9 40 9"/>
</svg:svg>
""", encoding="utf-8")
    about = packed(source, target)
    text = target.read_text(encoding="utf-8")
    assert about["polygons"] == 3 and about["stopped"] == "rest" and about["length"] == pytest.approx(8 + 4, abs=1e-6)
    for kept in ("<!-- a group -->", "a &lt; b", '<svg:circle r="3"/>', '<tool:view zoom="2"/>', "</svg:rect>", 'id="p"'):
        assert kept in text
    root = ElementTree.fromstring(text)
    assert root.get("viewBox").startswith("10 0 ") and root.get("width").endswith("mm")
    assert float(root.get("width")[:-2]) == pytest.approx(80 * about["length"] / 40)
    assert root.find(".//*[@id='r']").get("fill") == 'url(#a"b)'
    # The height of the strip can be given.
    assert packed(source, target, "--height", 20)["height"] == 20


REFUSALS = [
    ("<rect width='1' height='1'><animateTransform attributeName='transform' type='scale'/></rect>", 2, "<animateTransform> may move outlines"),
    ("<rect width='1' height='1'>\n<title>a</title><animate attributeName='x' to='3'/></rect>", 3, "<animate> may move outlines"),
    ("<set attributeName='x'/>", 2, "<set> may move outlines"),
    ("<g clip-path='url(#a)'><rect width='1' height='1'/></g>", 2, "clip-path: "),
    ("<g style='opacity: 1; mask: url(#a)'><rect width='1' height='1'/></g>", 2, "of <g> stays where it is"),
    ("<path d='M0 0 H1e400 V3Z'/>", 2, "at '1e400 V3Z'"),
    ("<circle r='3'/>", 2, "<circle> cannot be packed"),
    ("<text>x</text>", 2, "<text> cannot be packed"),
    ("<rect width='-1' height='2'/>", 2, "-1 of <rect>"),
    ("<polygon style='fill:red; transform : scale(2)' points='0,0 1,0 1,1'/>", 2, "a style with 'transform'"),
    ("<g style='rotate: 3deg'/>", 2, "a style with 'rotate'"),
    ("<g style='TRANSFORM: scale(2)'/>", 2, "a style with 'transform'"),
    ("<g style='tr\\61nsform: scale(2)'/>", 2, "a style with"),
    ("<g style='transform/**/: scale(2)'/>", 2, "a style with 'transform'"),
    ("<style>polygon { &#116;ransform: scale(2) }</style>", 2, "a style with '&'"),
    ("<style>@import url(a.css);</style>", 2, "a style with '@import'"),
    ("<style>\n polygon { scale: 2 }</style>", 2, "a style with 'scale'"),
    ("<path d='M0 0 C 1 1 2 2 3 0'/>", 2, "flatten curves"),
    ("<path d='M0 0 H3 V3Z M1 1 2 1 2 2Z'/>", 2, "second outline"),
    ("<path d='L0 0'/>", 2, "'L' in a path"),
    ("<path d='M0 0 H'/>", 2, "a number"),
    ("\n<polygon points='0,0 1,x 1,1'/>", 3, "a number"),
    ("<polygon points='0,0 1,nan 1,1'/>", 2, "a number"),
    ("<polygon points='0,0 1,0x10 1,1'/>", 2, "a number"),
    ("<polygon points='0,0 1,1e99 1,1'/>", 2, "a number"),
    ("<polygon points='0,0 1'/>", 2, "a number"),
    ("<polygon points='0,0 1,0'/>", 2, "from 3 to"),
    ("<polygon/>", 2, "from 3 to"),
    ("<polygon points='0,0 5,5 5,0 0,5'/>", 2, "cross"),
    ("<polygon points='0,0 5,5 3,3'/>", 2, "runs back"),
    ("<rect width='3' height='0'/>", 2, "no area"),
    ("<rect width='3' height='3' rx='1'/>", 2, "round corners"),
    ("<rect width='3' height='11'/>", 2, "higher"),
    ("<rect y='8' width='3' height='3'/>", 2, "into the strip"),
    ("<rect x='-8' width='3' height='3'/>", 2, "before the strip"),
    ("<rect width='3' height='3' transform='rotate(3)'/>", 2, "only translate"),
    ("<rect width='3' height='3' transform='translate(3'/>", 2, "only translate"),
    ("<rect width='3' height='3'/>\n<rect x='2' width='3' height='3'/>", 2, "with the one of line 3: two polygons overlap by 1"),
    ("<g>" * 300 + "</g>" * 300, 2, "256 levels"),
    ("<rect width='3' height='3'/>" * 4097, 2, "4096 shapes"),
    ("<polygon points='" + "1,2 " * 1025 + "'/>", 2, "from 3 to 1024"),
    ("<polygon points='" + "1,2 " * 65537 + "'/>", 2, "65536 corners"),
    ("", 1, "no polygon"),
    ("<rect", 3, "not well-formed"),
]


@pytest.mark.parametrize("text,line,reason", REFUSALS, ids=range(len(REFUSALS)))
def test_what_cannot_be_packed_is_refused_by_its_line(tmp_path, text, line, reason):
    source, target = tmp_path / "in.svg", tmp_path / "out.svg"
    source.write_text(BOX % text, encoding="utf-8")
    code, _, err = run(source, target)
    assert code == 1 and f"in.svg:{line}: " in err and reason in err and not target.exists(), err


@pytest.mark.parametrize("text,reason", [
    ('<!DOCTYPE svg [<!ENTITY a "b">]>\n<svg viewBox="0 0 9 9"/>', "entities are refused"),
    ("<html/>", "begins with <html>"),
    ("", "no element"),
    ("<svg><rect width='1' height='1'/></svg>", "--height"),
    ('<svg viewBox="0 0 0 9"/>', "above 0"),
    ('<svg viewBox="0 0 9"/>', "a number"),
])
def test_a_file_that_is_no_drawing_is_refused(tmp_path, text, reason):
    source = tmp_path / "in.svg"
    source.write_text(text, encoding="utf-8")
    code, _, err = run(source, tmp_path / "out.svg")
    assert code == 1 and reason in err and "in.svg:" in err, err


def test_bytes_at_random_crash_nothing(tmp_path):
    rng, source = random.Random(25), tmp_path / "in.svg"
    good = LOOSE.read_bytes()
    for _ in range(40):
        text = bytearray(good)
        for _ in range(rng.randrange(1, 12)):
            text[rng.randrange(len(text))] = rng.choice(b"<>\"'/-.,0eMz \x00\xff&")
        source.write_bytes(text)
        code, _, err = run(source, tmp_path / "out.svg", "--jumps", 1)
        assert code in (0, 1) and (code == 0 or "cairnd pack: " in err)


def test_options_and_files_that_are_wrong(tmp_path):
    for words, reason in ((("--pull", "2"), "from 0 to 1"), (("--rest", "x"), "from 0 to 1"), (("--height", "-1"), "from 0 to"),
                          (("--jumps", "0"), "jumps")):
        code, _, err = run(LOOSE, tmp_path / "out.svg", *words)
        assert code != 0 and reason in err
    assert run(LOOSE)[0] == 2
    code, _, err = run(tmp_path / "none.svg", tmp_path / "out.svg")
    assert code == 1 and "cannot be opened" in err
    code, _, err = run(LOOSE, tmp_path / "no" / "out.svg")
    assert code == 1 and "cannot be written" in err
