"""What pictures show of bodies: colours and visuals, by scenes, commands and all clients."""
import re

import pytest
from support import Cli, cairn, daemon, write_scene


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


def test_visuals_of_a_scene_are_the_same_for_all_clients_and_in_every_state(cli, tmp_path):
    """By prototypes, lists and commands; saved, restored, forked; with shapes by name and their own."""
    scene = tmp_path / "visuals.yaml"
    scene.write_text("""
shapes: { ball: { kind: sphere, radius: 0.5 }, hat: { kind: cone, radius: 0.4, length: 1 } }
prototypes: { doll: { shape: ball, visuals: [{ shape: ball }, { shape: hat, at: [0, 0.8, 0], colour: 0x112233 }] } }
bodies:
  - { like: doll, grid: { count: [2, 1, 1], spacing: [3, 1, 1] } }
  - { shape: ball, at: [0, 4, 0] }
  - { shape: ball, at: [0, 8, 0], visuals: [{ shape: { kind: box, size: 1 }, rotation: { axis: [0, 0, 1], degrees: 180 } }] }
""")
    cli.text("load", "shown", scene)
    with cairn.connect(cli.address) as client:
        world = client.join("shown")
        first = world.visuals()
        assert {body: len(list_) for body, list_ in first.items()} == {1: 2, 2: 2, 4: 1}
        assert first[1] == first[2] and first[1][1][1] == (0, 0.8, 0)
        assert [colour for _, _, _, colour in first[1]] == [None, 0x112233]
        assert abs(first[4][0][2][3]) == 1
        cli.text("save", "shown", "before")
        cli.text("visual", "shown", 3, "box:1,2,3", "--position", "0,1,0", "--rotation", "0,1,0,0", "--colour", "#AABBCC")
        cli.text("visual", "shown", 1, "none")
        changed = world.visuals()
        assert set(changed) == {2, 3, 4} and changed[3][0][1:] == ((0, 1, 0), (0, 1, 0, 0), 0xAABBCC)
        cli.text("fork", "shown", "shown-too")
        assert client.join("shown-too").visuals() == changed
        cli.text("restore", "shown", "before")
        assert world.visuals() == first
        listed = cli.lines("visual", "shown")
        assert len(listed) == 5 and bytes.fromhex(listed[0]["shape"]) == first[1][0][0]
        world.apply(cairn.command("remove", 2))
        assert set(world.visuals()) == {1, 4}
    text, code = cli.error("visual", "shown", 99, "sphere:1")
    assert code != 0 and "body is 99" in text


def test_colours_of_a_scene_are_the_same_for_all_clients_and_in_every_state(cli, tmp_path):
    """By materials, entries, lists and commands; saved, restored and forked; and no hash depends on them."""
    scene = tmp_path / "colours.yaml"
    text = """
materials: { brick: { density: 1800, colour: 0xA0522D } }
shapes: { ball: { kind: sphere, radius: 0.5 } }
prototypes: { marble: { shape: ball, color: "#00ff7f" } }
bodies:
  - { shape: ball, material: brick, grid: { count: [2, 1, 1], spacing: [3, 1, 1] } }
  - { shape: ball, material: brick, at: [0, 2, 0], colour: 0x000000 }
  - { like: marble, at: [0, 4, 0], grid: { count: [3, 1, 1], spacing: [3, 1, 1] }, colour: [0xFFFFFF, 0x0000FF] }
  - { like: marble, at: [0, 6, 0] }
  - { name: plain, shape: ball, at: [0, 8, 0] }
joints:
  - { type: spherical, a: plain, at: [0, 9, 0] }
"""
    scene.write_text(text)
    cli.text("load", "coloured", scene)
    meant = {1: 0xA0522D, 2: 0xA0522D, 3: 0, 4: 0xFFFFFF, 5: 0x0000FF, 6: 0xFFFFFF, 7: 0x00FF7F}
    with cairn.connect(cli.address) as client:
        world = client.join("coloured")
        assert world.colours() == meant
        cli.text("save", "coloured", "before")
        first = cli.json("step", "coloured", 5)
        cli.text("colour", "coloured", 8, "#C87941")
        cli.text("colour", "coloured", 1, "none")
        changed = {**{body: colour for body, colour in meant.items() if body != 1}, 8: 0xC87941}
        assert world.colours() == changed
        cli.text("fork", "coloured", "coloured-too")
        assert client.join("coloured-too").colours() == changed
        cli.text("restore", "coloured", "before")
        assert world.colours() == meant
        assert cli.json("step", "coloured", 5)["hash"] == first["hash"]
    scene.write_text(re.sub(r"colou?r: (\[[^]]*\]|\"?[#\w]+\"?)", "tag: 0", text.replace(", colour: 0xA0522D", "")))
    assert "colour" not in scene.read_text() and "color" not in scene.read_text()
    cli.text("load", "grey", scene)
    assert cli.json("step", "grey", 5)["hash"] == first["hash"]
    assert cli.text("colour", "grey") == ""
    for key, says in (("colour: red", "colour is red; it must be 0xRRGGBB"), ("colour: 0xFFF", "it must be"),
                      ("colour: []", "the list of colours is empty"), ("colour: 0x000000, color: 0x000000", "exclude each other")):
        text, code = cli.error("load", "wrong", write_scene(tmp_path, key))
        assert code != 0 and says in text
    text, code = cli.error("colour", "coloured", 1, "12345")
    assert code != 0 and "six hexadecimal digits" in text
