"""Scenes of the server's folder, opened by clients, and scene files that clients send (cairnd --scene-folder)."""
import asyncio

import pytest
from cairn import aio
from support import SOURCE, Cli, cairn, daemon, refused

BALL = "shapes: { ball: { kind: sphere, radius: 0.5 } }\n"
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ROBOT = """<?xml version="1.0"?>
<!-- An arm  of one
link. No more. --><robot name="arm"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="1 1 1"/></geometry></collision></link><gazebo/></robot>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two scenes, a robot, a mesh and a faulty scene, some in folders, and what no list may show."""
    top = tmp_path_factory.mktemp("operator") / "scenes"
    for below in ("robots", "parts", ".hidden"):
        (top / below).mkdir(parents=True)
    (top / "one.yaml").write_text("# One ball, or\n# more: N. No title.\nvariables: { n: 1 }\n" + BALL +
                                  "bodies:\n  - { shape: ball, at: [0, 5, 0], grid: { count: [$n, 1, 1], spacing: [2, 1, 1] } }\n")
    (top / "solid.yaml").write_text("shapes: { part: { kind: solid, file: parts/part.obj } }\nbodies: [{ shape: part }]\n")
    (top / "parts" / "part.obj").write_text(TETRAHEDRON)
    (top / "parts" / "wrong.yaml").write_text(BALL + "bodies:\n  - { shape: ball, mass: -1 }\n")
    (top / "robots" / "arm.urdf").write_text(ROBOT)
    (top / ".hidden" / "secret.yaml").write_text(BALL)
    (top.parent / "outside.yaml").write_text(BALL + "bodies: [{ shape: ball }]\n")
    return top


@pytest.fixture(scope="module")
def server(folder):
    with daemon("--scene-folder", str(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def cli(server):
    return Cli(server.address)


def count(world):
    """Bodies of a world that does not run."""
    return len(world.step(0, bodies=True).bodies)


def names_of(client):
    return [name for _, name, _, _ in client.list()]


def test_the_list_has_paths_sizes_and_titles_in_order(cli, folder):
    names = ["one.yaml", "parts/wrong.yaml", "robots/arm.urdf", "solid.yaml"]
    with cairn.connect(cli.address) as client:
        listed = client.scenes()
    assert [name for name, _, _ in listed] == names
    assert [size for _, size, _ in listed] == [(folder / name).stat().st_size for name in names]
    assert [title for _, _, title in listed] == ["One ball, or more: N.", "", "An arm of one link.", ""]
    assert [line["name"] for line in cli.lines("scenes")] == names
    assert "One ball, or more: N." in cli.text("scenes")


def test_a_list_of_many_pages_is_whole(tmp_path):
    for number in range(450):
        (tmp_path / f"scene-{number:03}.yaml").write_text(f"# Number {number}.\n")
    with daemon("--scene-folder", str(tmp_path)) as server, cairn.connect(server.address) as client:
        listed = client.scenes()
        assert [title for _, _, title in listed] == [f"Number {number}." for number in range(450)]
        assert len(Cli(server.address).lines("scenes")) == 450


def test_an_opened_scene_is_the_world_that_a_loaded_one_is(cli, folder):
    with cairn.connect(cli.address) as client:
        cli.text("open", "opened", "one.yaml", "--let", "n=7", "--paused")
        cli.text("load", "loaded", folder / "one.yaml", "--let", "n=7")
        opened, loaded = client.join("opened"), client.join("loaded")
        assert count(opened) == count(loaded) == 7
        assert opened.step(50).hash == loaded.step(50).hash
        solid = client.open_scene("solid.yaml", running=False)
        assert solid.name == "solid" and count(solid) == 1 and solid.notes == []
        arm = client.open_scene("robots/arm.urdf", base="floating", running=False)
        assert arm.name == "arm" and count(arm) == 1
        sent = client.open_scene("mine.yaml", "sent", text=(folder / "solid.yaml").read_bytes(), running=False)
        assert count(sent) == 1 and sent.step(0).hash == solid.step(0).hash


def test_what_is_said_of_robots_is_checked_before_it_is_sent(cli):
    with cairn.connect(cli.address) as client:
        for make in client.open_scene, client.load:
            with pytest.raises(ValueError, match="base is 'sky': it must be None, 'fixed' or 'floating'"):
                make("robots/arm.urdf", "sky", base="sky")
            for share in 0, 0.2, -1, float("nan"):
                with pytest.raises(cairn.BadNumber, match="joint_link_share is"):
                    make("robots/arm.urdf", "sky", base="fixed", joint_link_share=share)


def test_the_asynchronous_client_opens_scenes(server):
    async def run():
        async with aio.connect(server.address) as client:
            assert [name for name, _, _ in await client.scenes()][0] == "one.yaml"
            world = await client.open_scene("one.yaml", "from-aio", variables={"n": 2}, running=False)
            return len((await world.step(0, bodies=True)).bodies)
    assert asyncio.run(run()) == 2


def test_a_robot_file_says_what_it_does_not_get(cli):
    with cairn.connect(cli.address) as client:
        world = client.open_scene("arm.urdf", "noted", text=ROBOT.encode(), base="floating")
        told = client.open_scene("robots/arm.urdf", "told", base="floating").notes
    assert len(told) == 1 and told[0].startswith("robots/arm.urdf:5")
    assert len(world.notes) == 1 and "arm.urdf:" in world.notes[0] and "gazebo" in world.notes[0]


def test_links_between_joints_have_the_share_that_is_asked_for(cli):
    text = (SOURCE / "tests" / "data" / "robots" / "two_anchors.xml").read_bytes()

    async def asynchronous(name):
        async with aio.connect(cli.address) as other:
            await other.open_scene("robot.xml", name, text=text, joint_link_share=1e-4)

    with cairn.connect(cli.address) as client:
        client.open_scene("robot.xml", "usual", text=text)
        client.open_scene("robot.xml", "light", text=text, joint_link_share=1e-4)
        asyncio.run(asynchronous("light-too"))
        shares = [cli.json("query", name, "body", 2)["mass"] / 2 for name in ("usual", "light", "light-too")]
        with pytest.raises(cairn.Refused, match="joint_link_share is 0.5. it must be from 1e-15 to 0.1"):
            client.open_scene("robot.xml", "refused", text=text, joint_link_share=0.5)
    assert shares == [0.01, 1e-4, 1e-4]


def test_faults_name_file_and_line_and_never_the_place_of_the_folder(cli, folder):
    for scene, word in (("parts/wrong.yaml", "cairn: parts/wrong.yaml:3"), ("none.yaml", "cairn: none.yaml")):
        text, code = cli.error("open", "faulty", scene)
        assert code != 0 and word in text and str(folder) not in text and str(folder.parent) not in text, text
    with cairn.connect(cli.address) as client:
        with pytest.raises(cairn.Refused) as why:
            client.open_scene("sent.yaml", "faulty", text=BALL.encode() + b"bodies: [{ shape: cone }]\n")
        assert "sent.yaml:2" in str(why.value) and str(folder) not in str(why.value)
        for what in ("kind: mesh, file: none.obj", "kind: mesh, file: one.yaml", "kind: solid, file: parts/wrong.yaml"):
            with pytest.raises(cairn.Refused) as why:
                client.open_scene("sent.yaml", "faulty", text=f"shapes: {{ a: {{ {what} }} }}\nbodies: [{{ shape: a }}]".encode())
            assert "sent.yaml:1" in str(why.value) and str(folder.parent) not in str(why.value), why.value
        with pytest.raises(cairn.Refused) as why:
            client.open_scene("sent.yaml", "faulty", text=b"include: parts/wrong.yaml")
        assert "parts/wrong.yaml:3" in str(why.value) and "..." not in str(why.value)
        with pytest.raises(cairn.Refused, match="no variable"):
            client.open_scene("one.yaml", "faulty", variables={"m": 3})
        assert "faulty" not in names_of(client)


@pytest.mark.parametrize("path", ["../outside.yaml", "/etc/passwd", ".hidden/secret.yaml", "parts/../one.yaml", "parts//wrong.yaml",
                                  "", "one.yaml/", "a/b/c/d/e.yaml"])
def test_no_path_leaves_the_folder(cli, path):
    with cairn.connect(cli.address) as client, refused("range"):
        client.open_scene(path, "escaped")


@pytest.mark.parametrize("line", ["include: ../outside.yaml", "shapes: { a: { kind: mesh, file: ../../outside.obj } }",
                                  "shapes: { a: { kind: mesh, file: /etc/passwd } }"])
def test_no_sent_scene_reads_a_file_outside(cli, line):
    with cairn.connect(cli.address) as client:
        with pytest.raises(cairn.Refused) as why:
            client.open_scene("sent.yaml", "escaped", text=line.encode())
        assert "root:" not in str(why.value)
        assert "escaped" not in names_of(client)


def test_a_name_that_is_taken_is_refused_and_its_world_kept(cli):
    with cairn.connect(cli.address) as client:
        kept = client.create("kept", running=False)
        before = kept.step(0).hash
        with refused("exists"):
            client.open_scene("one.yaml", "kept")
        with refused("range"):
            client.open_scene("one.yaml", "no such/name")
        assert kept.step(0).hash == before


def test_requests_at_once_are_answered_or_told_to_wait(cli):
    async def run():
        async with aio.connect(cli.address) as client:
            asked = [client.open_scene("one.yaml", f"many-{i}") for i in range(40)]
            return await asyncio.gather(*asked, return_exceptions=True)
    answers = asyncio.run(run())
    opened = [one for one in answers if not isinstance(one, Exception)]
    assert opened and all(one.status == "busy" for one in answers if isinstance(one, Exception))
    with cairn.connect(cli.address) as client:
        names = names_of(client)
        assert sum(name.startswith("many-") for name in names) == len(opened)


def test_without_a_folder_nothing_is_parsed():
    with daemon() as server, cairn.connect(server.address) as client:
        with refused("unsupported"):
            client.scenes()
        with refused("unsupported"):
            client.open_scene("one.yaml", "none", text=BALL.encode())


def test_an_opened_world_is_kept_as_others_are(folder, tmp_path):
    """Its scene may change afterwards: the world is its file's, and the scene's durability holds."""
    data = ["--data", str(tmp_path / "data")]
    scenes = tmp_path / "scenes"
    scenes.mkdir()
    (scenes / "kept.yaml").write_text("world: { durability: command }\n" + (folder / "one.yaml").read_text())
    with daemon("--scene-folder", str(scenes), *data) as server, cairn.connect(server.address) as client:
        world = client.open_scene("kept.yaml", running=False)
        value = world.step(20).hash
    (scenes / "kept.yaml").unlink()
    with daemon("--scene-folder", str(scenes), *data) as server, cairn.connect(server.address) as client:
        assert client.join("kept").step(0).hash == value
        assert client.scenes() == []


def test_the_shipped_scenes_open():
    """As the quickstart offers them: each that a file of clients/scenes holds, but for the parts of others."""
    # Meshes are made ready when a scene is opened; with sanitizers on a busy machine that takes over the usual 10 s.
    with daemon("--scene-folder", str(SOURCE / "clients" / "scenes")) as server, cairn.connect(server.address, timeout=60) as client:
        listed = client.scenes()
        assert len([name for name, _, _ in listed if name.startswith("gallery/")]) > 10
        for name in ("tower.yaml", "visuals.yaml", "robots/arm.urdf", "gallery/racket.yaml"):
            if name in [one for one, _, _ in listed]:
                assert count(client.open_scene(name, running=False)) > 0
