"""cairn-bot against a real daemon: it does what its options say, and reports what it measured."""
import json
import subprocess

import pytest
from support import BUILD, SOURCE, tcp_daemon

BOT = str(BUILD / "cairn-bot")
SCENE = str(SOURCE / "clients" / "scenes" / "spheres.yaml")


def bot(*words, timeout=60):
    return subprocess.run([BOT, *map(str, words)], capture_output=True, text=True, timeout=timeout)


def report_of(path, address, *words, code=0):
    done = bot("--address", address, "--world", "spheres", "--json", path, *words)
    assert done.returncode == code, done.stdout + done.stderr
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def test_every_kind_of_bot_works_and_the_server_survives(tmp_path):
    with tcp_daemon("--scene", SCENE) as (server, address):
        report = report_of(tmp_path / "r.json", address, "--players", 4, "--observers", 6, "--stallers", 2, "--liars", 2,
                           "--seconds", 3, "--commands", 20)
        assert report["passed"] is True
        players, observers, stallers, liars = (report[k] for k in ("players", "observers", "stallers", "liars"))
        assert (players["sessions"], observers["sessions"], stallers["sessions"], liars["sessions"]) == (4, 6, 2, 2)
        # About 20 batches a second each; a busy machine makes fewer.
        assert 12 <= players["batches"] <= 4 * 20 * 3 * 2 and players["refused"] == 0
        assert players["latency_us"]["count"] == players["batches"]
        assert observers["frames"] > 30 and stallers["frames"] > 0
        assert sum(kind["diverged"] for kind in (players, observers, stallers)) == 0
        assert liars["lies"] >= 5 and liars["ended"] + liars["tolerated"] >= liars["lies"] and liars["ended"] > 0
        for kind in (players, observers):
            late = kind["lateness_us"]
            assert late["p50"] <= late["p90"] <= late["p99"] <= late["max"]
        with server.connect() as client:
            world = client.join("spheres")
            assert world.mode == "running"


def test_every_latency_includes_the_network_delay(tmp_path):
    with tcp_daemon("--scene", SCENE) as (_, address):
        report = report_of(tmp_path / "r.json", address, "--players", 2, "--seconds", 2, "--delay", 60, "--max-latency", 1,
                           code=1)
        assert report["passed"] is False
        # Both directions; a value is reported as the upper end of its step, which is 7 % wide.
        assert report["players"]["latency_us"]["count"] > 0
        assert report["players"]["latency_us"]["p50"] >= 120_000


def test_a_half_open_connection_ends_no_other_connection(tmp_path):
    with tcp_daemon("--scene", SCENE) as (server, address):
        report = report_of(tmp_path / "r.json", address, "--observers", 3, "--seconds", 3, "--half-open", 1)
        assert report["observers"]["frames"] > 0 and report["observers"]["diverged"] == 0
        with server.connect() as client:
            assert client.list()[0][1] == "spheres"


@pytest.mark.parametrize("words,field", [
    (["--players", "0"], "players"),
    (["--world", "w", "--players", "5000"], "--players: 5000"),
    (["--world", "w", "--players", "1x"], "--players: 1x"),
    (["--players", "1"], "--world"),
    (["--world", "w", "--observers", "1", "--profile", "best"], "--profile: best"),
    (["--world", "w", "--observers", "1", "--stall", "5", "--stall-every", "5"], "--stall-every"),
    (["--speed", "1"], "--speed"),
    (["--world", "w", "--observers", "1", "more"], "more"),
    (["--world", "w", "--observers", "1", "--address", "tcp:127.0.0.1:1"], "127.0.0.1:1"),
])
def test_an_invalid_option_is_named_and_gives_status_2(words, field):
    done = bot(*words)
    assert done.returncode == 2 and field in done.stderr, done.stderr


def test_a_report_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    done = bot("--address", "tcp:127.0.0.1:1", "--world", "w", "--players", 1, "--json", tmp_path / "none" / "r.json")
    assert done.returncode == 2 and "r.json cannot be written" in done.stderr


def test_help_lists_every_option():
    text = bot("--help").stdout
    for option in ("--players", "--half-open", "--json", "--max-latency", "--profile"):
        assert option in text
