"""CONTROL and STEP with real sessions: which session may step a world, how often, and the answer to
a repeat."""
import pytest
from support import command, daemon, falling, refused, until


@pytest.fixture(scope="module")
def server():
    with daemon() as server:
        yield server


@pytest.fixture
def pair(server, request):
    """Two sessions in one paused world of the test's own."""
    name = request.node.name[5:60]
    with server.connect() as first, server.connect() as second:
        world, body = falling(first, name)
        world.body = body
        yield world, second.join(name)


def send_step(world, n=1, request=None, commands=(), from_tick=None, want=1):
    if request is None:
        world.request += 1
        request = world.request
    world.client.wire.send("step", world.number, request, from_tick, n, list(commands), want)
    return request


def stepped(world, request):
    return world._stepped(world.client.wait(
        ["stepped"], lambda f: f[0] == world.number and f[1] == request, request))


def test_a_step_makes_the_requested_number_of_ticks(pair):
    world, _ = pair
    tick = world.step(0).tick
    assert [world.step(n).tick - tick for n in (0, 1, 10, 100)] == [0, 1, 11, 111]


def test_small_steps_run_on_the_loop_without_allocation_or_hand_over(pair):
    world, _ = pair
    world.step(10)
    counts = []
    for steps in (0, 1000):
        for _ in range(steps):
            world.step(1, want=0)
        mine = next(w for w in world.client.info("worlds")["worlds"] if w["world"] == world.number)
        counts.append((mine["loop_slices"], world.client.info("server")["server"]["heap_calls"]))
    # A busy machine occasionally leaves one to the worker.
    assert counts[1][0] - counts[0][0] > 800
    assert counts[1][1] - counts[0][1] < 500


def test_a_step_from_another_tick_is_refused(pair):
    world, _ = pair
    tick = world.step(5).tick
    with refused("tick"):
        world.step(1, from_tick=tick + 1)
    assert world.step(1, from_tick=tick).tick == tick + 1


def test_a_repeated_step_is_answered_but_not_made(pair):
    world, other = pair
    body = world.body
    first = stepped(world, send_step(world, 3, commands=[command("impulse", body, (1, 0, 0))]))
    send_step(world, 3, request=world.request, commands=[command("impulse", body, (1, 0, 0))])
    again = stepped(world, world.request)
    assert (again.tick, again.hash) == (first.tick, first.hash)
    assert other.step(0).hash == first.hash
    with refused("expired"):
        send_step(world, 1, request=world.request - 1)
        stepped(world, world.request - 1)


def test_a_step_repeated_while_it_runs_is_answered_once(pair):
    world, _ = pair
    tick = world.step(0).tick
    request = send_step(world, 2000)
    send_step(world, 2000, request=request)
    assert stepped(world, request).tick == tick + 2000
    # A repeat that arrives after the first answer gets it again; the next STEP gets its own answer.
    assert world.step(1).tick == tick + 2001


def test_a_repeated_batch_is_answered_but_not_applied(pair):
    world, _ = pair
    world.resume()
    batch = world.send(command("spawn", position=(3, 3, 3)))
    made = world.result(batch)
    world.batch -= 1
    assert world.send(command("spawn", position=(3, 3, 3))) == batch
    assert world.result(batch) == made
    with refused("sequence"):
        world.batch += 5
        world.result(world.send(command("spawn", position=(3, 3, 3))))


def test_a_running_world_is_not_stepped(pair):
    world, other = pair
    world.resume()
    with refused("running"):
        other.step(1)
    other.pause()
    tick = other.step(0).tick
    assert world.step(0).tick == tick


def test_only_the_holder_of_the_lease_may_step(pair):
    world, other = pair
    world.lockstep()
    assert world.mode == "lockstep"
    with refused("leased"):
        other.step(1)
    with refused("leased"):
        other.lockstep()
    with refused("leased"):
        other.pause()
    world.step(10)
    world.pause()
    other.lockstep()
    with refused("leased"):
        world.step(1)
    assert other.step(1).tick == world.tick + 1


def test_a_lease_ends_with_its_session(server):
    with server.connect() as first:
        world, _ = falling(first, "left")
        with server.connect() as second:
            other = second.join("left")
            other.lockstep()
        def lease_is_free():
            world.client.take(0.02)
            return world.mode == "paused"
        until(lease_is_free)
        world.step(1)


def test_a_step_waits_for_its_turn(pair):
    """Without a lease several sessions may step; each is answered for its own request."""
    world, other = pair
    tick = world.step(0).tick
    mine, theirs = send_step(world, 500), send_step(other, 300)
    ticks = sorted([stepped(world, mine).tick, stepped(other, theirs).tick])
    assert ticks[1] == tick + 800 and ticks[0] in (tick + 300, tick + 500)


def test_pipelined_steps_are_answered_in_order(pair):
    world, _ = pair
    tick = world.step(0).tick
    requests = [send_step(world, 2) for _ in range(50)]
    assert [stepped(world, r).tick - tick for r in requests] == [2 * (i + 1) for i in range(50)]


def test_a_barrier_steps_when_all_sessions_have_sent_step(pair):
    world, other = pair
    world.barrier(2)
    tick = world.tick
    request = send_step(world, 1)
    other.client.take(0.1)
    # One session has sent STEP: nothing moves.
    assert [t for _, name, _, t in other.client.list() if name == world.name] == [tick]
    assert other.step(1).tick == tick + 1
    assert stepped(world, request).tick == tick + 1


def test_commands_of_a_barrier_are_applied_in_order_of_sessions(server):
    hashes = set()
    for turn in range(4):
        with server.connect() as first, server.connect() as second:
            world, body = falling(first, f"order-{turn}")
            other = second.join(world.name)
            world.barrier(2)
            push = {world: command("set_velocity", body, (1, 0, 0)), other: command("set_velocity", body, (0, 0, 1))}
            order = [world, other] if turn % 2 else [other, world]
            requests = [(w, send_step(w, 1, commands=[push[w]])) for w in order]
            results = [stepped(w, r) for w, r in requests]
            assert len({r.hash for r in results}) == 1
            hashes.add(results[0].hash)
            first.ask("reply", "world_destroy", world.number)
    assert len(hashes) == 1


def test_a_barrier_does_not_wait_for_a_session_that_left(server):
    with server.connect() as first:
        world, _ = falling(first, "gone")
        world.barrier(2)
        with server.connect() as second:
            sessions = first.info("server")["server"]["sessions"]
            send_step(second.join("gone"), 1)
        until(lambda: first.info("server")["server"]["sessions"] < sessions)
        tick = world.tick
        request = send_step(world, 1)
        assert world.client.take(0.2) is None or world.tick == tick
        with server.connect() as third:
            assert third.join("gone").step(1).tick == tick + 1
        assert stepped(world, request).tick == tick + 1


def test_a_resume_refuses_waiting_steps(pair):
    world, other = pair
    world.barrier(2)
    request = send_step(world, 1)
    other.resume()
    with refused("running"):
        stepped(world, request)


def test_refused_commands_of_a_step_change_only_the_tick(pair):
    world, _ = pair
    request = send_step(world, 1, commands=[command("spawn", position=(0, 0, 0)), command("remove", 999)])
    with refused("unknown_body"):
        stepped(world, request)
    assert len(world.step(0, bodies=True).bodies) == 1


def test_commands_for_a_later_tick_wait_for_it(pair):
    world, _ = pair
    tick = world.step(0).tick
    batch = world.send(command("spawn", position=(9, 9, 9)), at=tick + 10)
    world.step(5)
    assert world.waiting == {batch: tick + 10}
    assert len(world.step(0, bodies=True).bodies) == 1
    world.step(10)
    assert world.result(batch).values != []
    assert len(world.step(0, bodies=True).bodies) == 2


def test_late_commands_are_applied_or_refused_as_requested(pair):
    world, _ = pair
    world.step(20)
    refuse = world.send(command("spawn", position=(9, 9, 9)), at=3, late=1)
    apply = world.send(command("spawn", position=(9, 9, 9)), at=3, late=0)
    world.step(1)
    with refused("late"):
        world.result(refuse)
    assert world.result(apply).values != []


def test_speed_changes_the_tick_rate(pair):
    world, _ = pair
    world.speed(100)
    world.resume()
    def later():
        return [t for _, name, _, t in world.client.list() if name == world.name][0]
    start = later()
    until(lambda: later() > start + 600)


def test_pause_and_resume_work_and_invalid_values_are_refused(pair):
    world, _ = pair
    for action, value in ((2, 0), (2, -1), (4, 0), (4, 1e6), (9, 1)):
        with refused("range"):
            world.control(action, value)
    with refused("range"):
        world.step(10001)
