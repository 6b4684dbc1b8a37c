"""What the programs refuse before they begin: names of files that promise another format, empty ranges, options that exclude or
need each other, names and values that are given twice. Each refusal names the option, the values and what to do."""
import json
import subprocess

import pytest
from support import BUILD, CLIENT, DAEMON, SEEDLESS, SOURCE, daemon
from test_run import SCENE

SCENES = SOURCE / "clients" / "scenes"
TOWER, CRADLE = str(SCENES / "tower.yaml"), str(SCENES / "gallery" / "cradle.yaml")
LOOSE = str(SOURCE / "docs" / "images" / "pack-loose.svg")
MESH = "cube.obj"  # names of written files are looked at before it is opened


def run(program, *words, cwd=None):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=60, env=SEEDLESS, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words,says", [
    (["pack", LOOSE, "out.yaml"], ["out.yaml", "SVG", ".yaml", "ends with .svg"]),
    (["pack", LOOSE, "out.png"], ["out.png", "ends with .svg"]),
    (["pack", TOWER, "out.svg"], ["out.svg", "YAML", "ends with .yaml"]),
    (["compare", CRADLE, "--plot", "x.png"], ["plot", "x.png", "SVG", "ends with .svg"]),
    (["mesh", MESH, "--hull", "x.stl"], ["hull", "x.stl", "OBJ", "ends with .obj"]),
    (["mesh", MESH, "--parts", "x.stl"], ["parts", "x.stl", "ends with .obj"]),
    (["mesh", MESH, "--field", 8, "x.ply"], ["surface", "x.ply", "ends with .obj"]),
])
def test_a_name_of_another_format_is_refused_and_nothing_is_written(tmp_path, words, says):
    code, out, err = run(CLIENT, *words, cwd=tmp_path)
    assert code != 0 and all(word in err for word in says), err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words,says", [
    (["run", "drop.yaml", "--ticks", 1, "--poses", "p.json"], ["poses", "p.json", "CSV", "ends with .csv"]),
    (["run", "drop.yaml", "--ticks", 1, "--trajectory", "t.npy"], ["trajectory", "t.npy", "ends with .csv"]),
    (["run", "drop.yaml", "--ticks", 1, "--every", 2], ["--every", "--trajectory FILE", "give both"]),
    (["run", "drop.yaml", "--ticks", 1, "--set", "sleep.enabled=0", "--set", "sleep.enabled=1"],
     ["--set", "sleep.enabled", "twice", "give it once"]),
    (["run", "drop.yaml", "--ticks", 1, "--let", "a=1", "--let", "a=2"], ["--let", '"a"', '"a=2"']),
    (["replay", "w.cairn", "--bisect"], ["--bisect", "--against FILE"]),
    (["past", "w.cairn", "--when", "any x > 1", "--from", 3], ["--from", "--when", "leave one"]),
    (["past", "w.cairn", "--diff", "--from", 1, "--to", 2, "--names", "s.yaml"], ["--names", "--export FILE"]),
    (["draw", "drop.yaml", "--pictures", 2, "--animate"], ["--pictures", "--animate", "leave one"]),
    (["draw", "drop.yaml", "--touch", 1], ["--touch", "--forces"]),
    (["draw", "drop.yaml", "--methods", "lcp,gauss,lcp"], ["lcp", "twice", "once"]),
    (["compare", "drop.yaml", "--methods", "lcp,lcp"], ["lcp", "lcp,lcp", "twice", "once"]),
    (["compare", "drop.yaml", "--methods", "lcp,"], ["--methods", "lcp,", "separated by commas"]),
    (["stability", "drop.yaml", "--body", 1], ["--body", "--margin KIND"]),
    (["mesh", MESH, "--surface", "x.obj"], ["--surface", "--field N"]),
    (["--scene", "a.yaml", "--scene", "a.yaml"], ["--scene", "a.yaml", "twice"]),
])
def test_the_daemons_program_refuses(tmp_path, words, says):
    (tmp_path / "drop.yaml").write_text(SCENE)
    code, out, err = run(DAEMON, *words, cwd=tmp_path)
    assert code != 0 and out == "" and all(word in err for word in says), err
    assert [path.name for path in tmp_path.iterdir()] == ["drop.yaml"]


def test_two_scenes_for_one_world_are_refused(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text(SCENE)
    words = ["--unix", tmp_path / "s", "--paused"]
    for scenes in (["x/a.yaml", "y/a.yaml"], ["a=x/a.yaml", "y/a.yaml"]):
        code, _, err = run(DAEMON, *words, *(word for scene in scenes for word in ("--scene", scene)), cwd=tmp_path)
        assert code == 1 and scenes[0] in err and scenes[1] in err and "world is a" in err and "NAME=FILE" in err, err


# No server is asked: there is none.
@pytest.mark.parametrize("words,says", [
    (["push", "w", 1, "0,0,1", "--ticks", 2, "--impulse"], ["--ticks", "--impulse", "exclude", "leave one"]),
    (["piece", "w", 1, 0, "--sensor", "--solid"], ["--sensor", "--solid", "exclude"]),
    (["when", "w", "any x > 1", "--first", "--last"], ["--first", "--last", "exclude"]),
    (["watch", "w", "--speed", 2], ["--speed", "--from", "give both"]),
    (["watch", "w", "--recording", "r"], ["--recording", "--from"]),
    (["fork", "w", "v", "--snapshot", "s", "--tick", 3], ["--snapshot", "--tick", "exclude"]),
    (["fork", "w", "v", "--epoch", 3], ["--epoch", "--tick"]),
    (["restore", "w", "--rollback", "--tick", 3], ["--rollback", "--tick", "exclude"]),
    (["replay", "f.cairn", "--bisect"], ["--bisect", "--against"]),
    (["stability", "w", "--body", 3], ["--body", "--margin"]),
    (["draw", "w", "--touch", 3], ["--touch", "--forces"]),
    (["worlds", "--unix", "a", "--connect", "unix:b"], ["--unix", "--connect", "exclude"]),
    (["load", "w", "s.yaml", "--let", "a=1", "--let", "a=2"], ["--let", '"a"', '"a=2"', "give it once"]),
    (["create", "w", "--limit", "bodies=1", "--limit", "bodies=2"], ["--limit", '"bodies"', "twice"]),
])
def test_the_client_refuses_words_that_do_not_go_together(words, says):
    code, out, err = run(CLIENT, "--connect", "unix:/nonexistent/socket", *words) if "--unix" not in words else run(CLIENT, *words)
    assert code == 1 and out == "" and all(word in err for word in says), err


@pytest.mark.parametrize("words", [
    ["fork", "w", "v", "--recording", "r", "--tick", 3, "--epoch", 1],
    ["record", "w", "start", "r", "--last", 3, "--bytes", 5, "--title", "t"],
    ["draw", "w", "--forces", "--touch", 1, "--animate"],
    ["stability", "w", "--margin", "load", "--body", 3, "--lowest"],
    ["watch", "w", "--from", 3, "--epoch", 1, "--speed", -1, "--recording", "r"],
    ["load", "w", TOWER, "--let", "a=1", "--let", "b=1"],
])
def test_what_goes_together_reaches_the_server(words):
    code, _, err = run(CLIENT, "--connect", "unix:/nonexistent/socket", *words)
    assert code == 1 and "/nonexistent/socket" in err, err


@pytest.mark.parametrize("words,says", [
    (["--players", "2.5"], ["--players", "2.5", "whole number"]),
    (["--players", 1, "--seed", "x1"], ["--seed", "x1", "18446744073709551615"]),
    (["--players", 1, "--stall-every", 500], ["--stall-every 500 ms", "--stall MS"]),
    (["--players", 1, "--seconds", 5, "--half-open", 5], ["--half-open 5 s", "--seconds 5"]),
    (["--players", 1, "--json", "r.csv"], ["r.csv", "JSON", "ends with .json"]),
])
def test_the_bot_refuses(words, says):
    code, out, err = run(BUILD / "cairn-bot", "--world", "w", *words)
    assert code == 2 and out == "" and all(word in err for word in says), err


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """(cairn's words for a server with a world of two robots, a recording of 20 ticks)."""
    folder = tmp_path_factory.mktemp("refusals")
    (folder / "drop.yaml").write_text(SCENE)
    code, _, err = run(DAEMON, "run", "drop.yaml", "--ticks", 20, "--record", "r.cairn", cwd=folder)
    assert code == 0, err
    with daemon("--scene", f"arm={SCENES / 'robots' / 'arm.urdf'}", "--scene", f"drop={folder / 'drop.yaml'}",
                "--paused") as server:
        yield ["--connect", server.address], folder / "r.cairn"


def test_an_empty_range_of_ticks_is_refused_with_both_values(world, tmp_path):
    _, file = world
    for words in (["export", file, tmp_path / "o.csv"], ["draw", file]):
        code, out, err = run(CLIENT, *words, "--from", 15, "--to", 5)
        assert code != 0 and out == "" and "--from 15" in err and "--to 5" in err and "at most" in err, err
    # Beyond the end there is nothing, before the first tick neither.
    code, _, err = run(CLIENT, "export", file, tmp_path / "o.csv", "--from", 21)
    assert code != 0 and "21" in err, err
    code, out, _ = run(CLIENT, "export", file, tmp_path / "o.csv", "--from", 15, "--to", 1000)
    assert code == 0 and "6 states" in out
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


@pytest.mark.parametrize("words,says", [
    (["query", "arm", "dynamics", "3,2.5"], ["3,2.5", "whole numbers"]),
    (["query", "drop", "body", 4294967298], ["4294967298", "at most 4294967295"]),
    (["lock", "drop", 2, "x,ry,x"], ["x twice", "once"]),
    (["push", "drop", 2, "0,1,0", "--ticks", 4294967296], ["ticks", "4294967296", "at most 4294967295"]),
    (["command", "drop", "impulse", "body=2", "body=3"], ["body", "twice", "body=3"]),
    (["command", "drop", "set_tag", "body=2", "tag=99999999999999999999"], ["tag", "99999999999999999999", "whole number"]),
    (["create", "x", "--rate", "60x"], ["rate", "60x", "whole number"]),
    (["create", "x", "--rate", "60/"], ["rate", "whole number"]),
    (["config", "log", "info", "log", "warn"], ["log", "twice", "once"]),
    (["target", "drop", 2, "1,2"], ["1,2", "3 finite numbers"]),
])
def test_values_are_refused_with_what_they_may_be(world, words, says):
    code, out, err = run(CLIENT, *world[0], *words)
    assert code != 0 and out == "" and all(word in err for word in says), err


def test_a_robot_that_a_list_names_twice_is_answered_twice(world):
    """With forces of its own each time: how two lists of forces act is one question."""
    def values(*words):
        code, out, err = run(CLIENT, *world[0], "--json", "query", "arm", "dynamics", *words)
        assert code == 0, err
        return [json.loads(line)["values"] for line in out.splitlines()]
    one, other = values("3", "1,2,3,4,5,6"), values("3")
    assert values("3,3", "1,2,3,4,5,6,0,0,0,0,0,0") == one + other and one != other
    assert values("3,4") == other + other  # two bodies of one robot


def test_a_recording_does_not_begin_if_its_file_is_there(world):
    code, out, err = run(CLIENT, *world[0], "record", "drop", world[1], "--for", 300)
    assert code == 1 and out == "" and "r.cairn exists already" in err and "another name" in err, err
    code, out, err = run(CLIENT, *world[0], "record", "drop", f"{world[1]}.d/x.cairn", "--for", 300)
    assert code == 1 and out == "" and "x.cairn cannot be written: No such file or directory" in err, err


@pytest.mark.parametrize("words,says", [
    (["token", "bearer", "a b"], ["a b", "without blanks"]),
    (["token", "bearer", "a", "--world", "x y"], ["--world", "x y", "without blanks"]),
    (["token", "bearer", "a", "--role", "king"], ["--role king", "observer, player, controller or admin"]),
    (["token", "key", 4294967296], ["4294967296", "at most 4294967295"]),
    (["token", "connect", 4294967303], ["4294967303", "at most 4294967295"]),
    (["token", "connect", 9], ["9", "cairn token key 9"]),
])
def test_tokens_that_no_file_could_have_are_refused(tmp_path, words, says):
    file = tmp_path / "tokens"
    assert run(CLIENT, "token", "key", 7, "--file", file)[0] == 0
    before = file.read_bytes()
    code, out, err = run(CLIENT, *words, "--file", file)
    assert code == 1 and out == "" and all(word in err for word in says), err
    assert file.read_bytes() == before


# What the daemon's program does for a verb, without a server.
@pytest.mark.parametrize("words", [
    ["pack", "none.svg", "out.svg"], ["pack", "drop.yaml", "out.svg"], ["pack", "drop.yaml", "out.yaml", "--jumps", "x"],
    ["replay", "none.cairn"], ["replay", "drop.yaml"], ["export", "none.cairn", "o.csv"], ["export", "none.cairn", "o.csv", "--every", 0],
    ["when", "none.cairn", "any x > 1"], ["when", "drop.yaml", "any x > 1"], ["diff", "drop.yaml", 1, 2],
    ["store", "check", "none"], ["store", "mend", "none"], ["mesh", "none.obj"], ["mesh", "drop.yaml"], ["mesh", "drop.yaml", "--weld", "x"],
    ["compare", "none.yaml"], ["compare", "drop.yaml", "--methods", "x"], ["stability", "none.yaml"], ["convert", "none.yaml"],
    ["scene", "tower", "--kind", "x"], ["scene", "castle"], ["draw", "drop.yaml"], ["draw", "drop.yaml", "--width", 1],
    ["load", "w", "none.yaml"], ["token", "show", "x"],
])
def test_with_json_every_refusal_is_an_object(tmp_path, words):
    (tmp_path / "drop.yaml").write_text(SCENE)
    code, out, err = run(CLIENT, "--connect", "unix:/nonexistent/socket", "--json", *words, cwd=tmp_path)
    error = json.loads(err)["error"]
    assert code != 0 and out == "" and error["text"] and error["code"] > 0 and error["status"] != "ok"
    code, out, plain = run(CLIENT, "--connect", "unix:/nonexistent/socket", *words, cwd=tmp_path)
    assert code != 0 and error["text"] in plain and not plain.startswith("{")


def test_with_json_questions_of_a_file_are_answered_in_json_alone(world, tmp_path):
    file = world[1]
    for words in (["when", file, "any y < 100"], ["diff", file, 3, 4], ["diff", file, 3, 3], ["export", file, tmp_path / "o.csv"]):
        _, out, err = run(CLIENT, "--json", *words)
        assert err == "" and len(out.splitlines()) == 1, out
        json.loads(out)


DEEP = "a-long-name-of-a-folder/" * 8


@pytest.mark.parametrize("words,says", [
    (["run", "{}none/drop.yaml", "--ticks", 1], ["drop.yaml", "cannot be opened"]),
    (["run", "drop.yaml", "--ticks", 1, "--record", "{}none/x.cairn"], ["x.cairn", "No such file or directory"]),
    (["run", "drop.yaml", "--ticks", 1, "--poses", "{}none/x.csv"], ["x.csv", "No such file or directory"]),
    (["run", "{}bad.yaml", "--ticks", 1], ["bad.yaml:1", "scene has no key 'tick'"]),
    (["pack", "drop.yaml", "{}none/x.yaml"], ["x.yaml", "may be written"]),
    (["past", "{}r.cairn", "--export", "{}x.foo"], ["x.foo", "the ending must be .csv, .npy, .json, .mcap or .sqlite"]),
    (["past", "{}r.cairn", "--export", "{}r.csv"], ["r.csv", "exists already: remove it, or choose another name"]),
    (["mesh", "{}none.stl"], ["none.stl", "glmark2-data fills"]),
    (["--tokens", "{}none"], ["none: No such file or directory"]),
    (["--data", "{}none/none/data"], ["none/data", "No such file or directory"]),
    (["store", "check", "{}none.cairn"], ["none.cairn", "unable to open"]),
])
def test_a_long_path_leaves_the_remedy_in_the_refusal(tmp_path, words, says):
    (tmp_path / DEEP).mkdir(parents=True)
    (tmp_path / "drop.yaml").write_text(SCENE)
    (tmp_path / DEEP / "bad.yaml").write_text("tick: 3\nbodies: []\n")
    (tmp_path / DEEP / "r.csv").write_text("")
    assert run(DAEMON, "run", "drop.yaml", "--ticks", 2, "--record", DEEP + "r.cairn", cwd=tmp_path)[0] == 0
    code, _, err = run(DAEMON, *(str(word).replace("{}", str(tmp_path / DEEP) + "/") for word in words), cwd=tmp_path)
    told = err.splitlines()[-1]
    assert code != 0 and all(word in told for word in says), err
