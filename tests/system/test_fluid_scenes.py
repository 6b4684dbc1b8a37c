"""The scenes fluid-*.yaml: what users of another simulator reported of fluids, each held to what must be. In every tick no particle is lost
or has a number that is not finite, and none is faster than the energy that the scene has allows."""
import math

import pytest
from support import SOURCE, Cli, cairn, daemon

SCENES = SOURCE / "clients" / "scenes"


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


class Watch:
    """A world whose particles are watched, exactly, without a query."""

    def __init__(self, server, client, name, grows=False):
        self.grows = grows
        Cli(server.address).text("load", name, SCENES / f"{name}.yaml")
        self.world = client.join(name)
        self.world.subscribe(1, profile="exact", particles=["position", "velocity", "pressure"])
        self.particles = self.take()
        self.begun = len(self.particles)

    def take(self):
        for frame in self.world.frames(200, 1):
            if frame.tick == self.world.tick:
                self.frame = frame
                return frame.particles
        raise AssertionError(f"no frame of tick {self.world.tick}")

    def run(self, ticks, fastest, by=8):
        """Steps; returns the largest speed seen."""
        most = 0
        for _ in range(0, ticks, by):
            self.world.step(by)
            self.particles = self.take()
            numbers = [number for p in self.particles for number in (*p.position, *p.velocity, p.pressure)]
            assert (len(self.particles) == self.begun or self.grows) and all(map(math.isfinite, numbers))
            most = max(most, max(math.hypot(*p.velocity) for p in self.particles))
            assert most < fastest, f"{most} m/s at tick {self.world.tick}"
        for fluid in self.world.fluids():
            assert fluid["lost"] == fluid["bad"] == fluid["crowded"] == 0
        return most

    def heights(self, system):
        return sorted(p.position[1] for p in self.particles if p.system == system)

    def height(self, body):
        return self.frame.bodies[body].position[1]


@pytest.fixture
def client(server):
    with cairn.connect(server.address, caps=("ack", "exact")) as client:
        yield client


def test_a_body_inside_of_water_at_the_start_and_one_that_appears_in_it_burst_nothing(server, client):
    watch = Watch(server, client, "fluid-inside")
    assert watch.world.fluids()[0]["blocked"] > 30
    watch.run(40, 2.5)
    fluid = watch.world.fluids()[0]
    box = watch.world.shape(cairn.shapes.box(0.3, 0.3, 0.3))
    watch.world.spawn(position=(-0.3, 0.2, -0.3), density=500, shapes=[(box,)])
    watch.run(20, 2.5)
    assert watch.world.fluids()[0]["inside"] > fluid["inside"]


def test_particles_at_one_place_have_no_nan_and_need_the_room_of_two(server, client):
    watch = Watch(server, client, "fluid-burst")
    places = [p.position for p in watch.particles]
    assert len(places) == 432 and len(set(places)) == 216
    watch.run(140, 6)
    # 432 of a thousandth of a cubic metre each, on a square metre.
    assert sum(watch.heights(1)) / 432 == pytest.approx(0.216, rel=0.06)


def test_balls_of_waters_density_hang_where_they_are_at_three_radii(server, client):
    watch = Watch(server, client, "fluid-neutral")
    balls = [id for id, body in watch.frame.bodies.items() if body.status == "dynamic"]
    assert len(balls) == 3
    watch.run(40, 3)
    before = [watch.height(ball) for ball in balls]
    watch.run(32, 1.5)
    # In half a second a ball of a tenth more density goes farther.
    assert all(abs(watch.height(ball) - height) < 0.06 for ball, height in zip(balls, before))


def test_a_resting_column_keeps_its_height(server, client):
    watch = Watch(server, client, "fluid-column")
    before = sum(watch.heights(1)) / 192
    watch.run(80, 1)
    assert sum(watch.heights(1)) / 192 == pytest.approx(before, rel=0.03)
    assert watch.heights(1)[-16] > 0.95 * 1.15


def test_tanks_of_the_sizes_that_were_reported_hold_their_water(server, client):
    watch = Watch(server, client, "fluid-tanks")
    watch.run(60, 2 * math.sqrt(2 * 9.81 * 4))
    for system, (width, x) in enumerate(((4, 0), (3.6, 4.9), (0.84, 7.9)), 1):
        inside = [p for p in watch.particles if p.system == system]
        assert len(inside) == 72
        assert all(abs(p.position[0] - x) < 0.6 * width and abs(p.position[2] + width / 2) < 0.6 * width and p.position[1] > -0.1 * width for p in inside)
        assert max(math.hypot(*p.velocity) for p in inside) < 1.5 * math.sqrt(2 * 9.81 * width)


def test_one_splash_whatever_the_phase_of_the_wall(server, client):
    watch = Watch(server, client, "fluid-phase")
    shifts = [0, 0.011, 0.022]
    for _ in range(3):
        watch.run(8, 8)
        means = [sum(watch.heights(system)) / 64 - shift for system, shift in enumerate(shifts, 1)]
        assert max(means) - min(means) < 1e-3


def test_a_fountain_fills_its_basin_in_which_crates_float(server, client):
    watch = Watch(server, client, "fountain-basin", grows=True)
    crates = [id for id, body in watch.frame.bodies.items() if body.status == "dynamic"]
    watch.run(30, 7, by=30)
    assert len(crates) == 4 and len(watch.particles) == watch.begun + 60
    assert all(0.2 < watch.height(crate) < 0.7 for crate in crates), "on the floor they would be at half of 0.26 m"
    assert max(p.position[1] for p in watch.particles) > 0.72, "the jet rises from 0.65 m"
