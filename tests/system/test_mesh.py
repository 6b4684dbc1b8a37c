"""`cairn mesh`: its report about a mesh file, its refusals, and the OBJ files it writes."""
import json
import os
import subprocess

import pytest
from support import CLIENT

CORNERS = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
FACES = [(1, 3, 2), (2, 3, 4), (5, 6, 7), (6, 8, 7), (1, 2, 5), (2, 6, 5), (3, 7, 4), (4, 7, 8),
         (1, 5, 3), (3, 5, 7), (2, 4, 6), (4, 8, 6)]


def run(*words):
    done = subprocess.run([CLIENT, "mesh", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def report_of(*words):
    code, out, err = run(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def write_obj(path, corners, faces):
    lines = ["v %r %r %r" % corner for corner in corners] + ["f %d %d %d" % face for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return path


def read_obj(path):
    corners, faces, objects = [], [], 0
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        objects += word == "o"
        if word == "v":
            corners.append(tuple(map(float, rest)))
        if word == "f":
            faces.append([int(index) - 1 for index in rest])
    return corners, faces, objects


def volume(corners, faces):
    total = 0.0
    for face in faces:
        a = corners[face[0]]
        for left, right in zip(face[1:], face[2:]):
            b, c = corners[left], corners[right]
            total += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                      + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
    return total


def two_boxes(path):
    """A box and, beside it, one half as large: one solid of two shells."""
    small = [(4 + x / 2, y / 2, z / 2) for x, y, z in CORNERS]
    return write_obj(path, CORNERS + small, FACES + [tuple(i + 8 for i in face) for face in FACES])


def test_a_file_name_with_quotes_is_a_json_string(tmp_path):
    source = write_obj(tmp_path / 'a "box" of\ttwo.obj', CORNERS, FACES)
    assert report_of(source)["file"] == str(source)


def test_a_solid_is_described_and_its_hull_and_parts_are_written(tmp_path):
    source = two_boxes(tmp_path / "two.obj")
    about = report_of(source, "--hull", tmp_path / "hull.obj", "--parts", tmp_path / "parts.obj")
    assert about["closed"] and (about["shells"], about["solid faces"], about["solid edges"]) == (2, 24, 36)
    assert about["volume"] == pytest.approx(9) and about["centre"] == pytest.approx([4 / 9, 0, 0])
    assert about["parts"] == 2 and about["parts volume"] == pytest.approx(9)
    assert about["crossing pairs"] == 0
    corners, faces, objects = read_obj(tmp_path / "parts.obj")
    assert objects == 2 and len(faces) == 12 and volume(corners, faces) == pytest.approx(9)
    corners, faces, objects = read_obj(tmp_path / "hull.obj")
    assert objects == 1 and volume(corners, faces) == pytest.approx(about["hull volume"])
    assert about["hull volume"] > 9


def test_a_field_is_computed_and_its_surface_written(tmp_path):
    source = two_boxes(tmp_path / "two.obj")
    code, out, err = run(source, "--json", "--field", 40, tmp_path / "surface.obj")
    assert code == 0, err
    about = json.loads(out)
    assert max(about["field cells"]) >= 40 and about["field cell"] == pytest.approx(5.5 / 40)
    assert about["field bytes"] > 1000
    corners, faces, _ = read_obj(tmp_path / "surface.obj")
    # Trilinear between exact distances: corners are cut by a fraction of a cell.
    assert volume(corners, faces) == pytest.approx(9, rel=0.03)


def test_text_has_the_same_values_as_json(tmp_path):
    code, out, _ = run(two_boxes(tmp_path / "two.obj"))
    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert code == 0 and lines["closed"] == "yes" and float(lines["volume"]) == pytest.approx(9)
    assert int(lines["parts"]) == 2


def test_turned_and_doubled_triangles_are_repaired_and_counted(tmp_path):
    faces = [face[::-1] if i % 3 == 0 else face for i, face in enumerate(FACES)] + [FACES[5]]
    about = report_of(write_obj(tmp_path / "soup.obj", CORNERS, faces))
    assert about["closed"] and about["triangles turned"] == 4 and about["triangles repeated"] == 1
    assert about["volume"] == pytest.approx(8)


def test_an_open_mesh_is_refused_with_its_edges_and_nothing_is_written(tmp_path):
    source = write_obj(tmp_path / "open.obj", CORNERS, FACES[:-1])
    code, out, err = run(source, "--hull", tmp_path / "hull.obj", "--json")
    about = json.loads(out)
    assert code == 1 and not about["closed"] and about["edges of one triangle"] == 3
    assert len(about["border"]) == 3 and "one triangle" in err and "one triangle" in about["refused"]
    assert not (tmp_path / "hull.obj").exists()


@pytest.mark.parametrize("words, text", [
    (["nothing.obj"], "no nothing.obj"),
    ([], "mesh FILE"),
    (["x.obj", "--weld", "much"], "weld"),
    (["x.obj", "--parts-max", "0"], "parts-max"),
    (["x.obj", "y.obj"], "mesh FILE"),
])
def test_invalid_arguments_are_refused_with_a_reason(words, text):
    code, _, err = run(*words)
    assert code != 0 and text in err


@pytest.mark.skipif(not os.path.exists("/usr/share/glmark2/models/horse.3ds"), reason="no glmark2-data")
@pytest.mark.parametrize("name, key, count, first", [
    ("horse.3ds", "edges of three or more", 24, [121, 351]),
    ("cat.3ds", "edges of one triangle", 330, [0, 2]),
])
def test_the_horse_and_the_cat_are_refused_because_of_their_edges(name, key, count, first):
    code, out, _ = run(name, "--json")
    about = json.loads(out)
    assert code == 1 and about[key] == count and first in about.get("crowded", []) + about.get("border", [])
