/* bench_particle_frames [PARTICLES]: bytes of a particle in a frame, and the time that its frames
 * take, by scene and profile.
 *
 * Every tick of a world is reported and told to clients of one profile, all columns, a hash with
 * every frame. Bytes are those of whole frames as they are sent. The time of the server is that of
 * the fan-out (copying the report, encoding and hashing once for all clients), that of a client
 * decodes and hashes one frame; both come from runs with one and with eight clients. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/host/report_queue.h"
#include "server/host/report_world.h"
#include "tests/lib/fan_hall.h"
#include "tests/lib/worlds.h"

enum { WARM = 130, TICKS = 60 };

/* s of this process: others share the machine. */
static double processor_time(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct world *make_ground(void)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
	return world;
}

static struct command emitter_of(uint32_t count, double height)
{
	struct command create = test_command(COMMAND_PARTICLES_CREATE);
	create.particles_create.name = test_text("bench");
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.position = vec3_make(0, height, 0);
	create.particles_create.half = vec3_make(10, 0.4 * height, 10);
	create.particles_create.capacity = create.particles_create.rate = count;
	create.particles_create.recycle = 0;
	create.particles_create.life = 0;
	create.particles_create.speed = 5;
	return create;
}

static struct world *make_flight(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(count, 2000);
	test_do(world, &create);
	return world;
}

static struct world *make_drag(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(count, 2000);
	create.particles_create.drag = 0.0005;
	create.particles_create.mass_deviation = 0.0005;
	test_do(world, &create);
	return world;
}

/* As many are born as die: each lives two seconds and falls on the ground. */
static struct world *make_fountain(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(count, 2);
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.recycle = 1;
	create.particles_create.capacity = 2 * count;
	create.particles_create.rate = MAX_OF(count / 120, 1u);
	create.particles_create.life = 2;
	create.particles_create.life_deviation = 0.3;
	create.particles_create.spread = 1;
	create.particles_create.restitution = 0.5;
	test_do(world, &create);
	return world;
}

static struct world *make_rest(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(count, 0.5);
	create.particles_create.speed = 0;
	test_do(world, &create);
	return world;
}

static struct world *make_cloth(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(count, 9),
		       lattice = test_command(COMMAND_PARTICLES_LATTICE);
	create.particles_create.emitter = EMITTER_NONE;
	create.particles_create.rate = 0;
	create.particles_create.capacity = 128 * 128;
	test_do(world, &create);
	lattice.particles_lattice.system = 1;
	lattice.particles_lattice.position = vec3_make(0, 3, 0);
	lattice.particles_lattice.spacing = 0.05;
	for (uint32_t side = 1; side <= 128 && side * side <= count; side++)
		lattice.particles_lattice.columns = lattice.particles_lattice.rows = side;
	test_do(world, &lattice);
	struct command pin = test_command(COMMAND_PARTICLES_PIN);
	pin.particles_pin.system = 1;
	pin.particles_pin.particle = 1;
	test_do(world, &pin);
	return world;
}

static void add_wall(struct world *world, vec3 at, uint32_t axis, double angle)
{
	struct attachment item;
	struct command wall = test_spawn_command(world, TEST_PLANE, at, &item);
	double half[3] = { 0 };
	half[axis] = sqrt(0.5) * (angle < 0 ? -1 : 1);
	wall.spawn.status = BODY_STATIC;
	wall.spawn.rotation = (quat){ sqrt(0.5), half[0], half[1], half[2] };
	test_do(world, &wall);
}

/* A trough of 2 m in which a column of 1 m has collapsed. At most 4000 particles, because a fluid
 * takes long. */
static struct world *make_pool(uint32_t count)
{
	struct world *world = make_ground();
	struct command create = emitter_of(4000, 1), fluid = test_command(COMMAND_PARTICLES_FLUID),
		       fill = test_command(COMMAND_PARTICLES_FILL);
	uint32_t side = 1;
	while ((side + 1) * (side + 1) * (side + 1) <= MIN_OF(count, 4000u))
		side++;
	double spacing = 1.0 / side;
	add_wall(world, vec3_make(-1, 0, 0), 2, -1);
	add_wall(world, vec3_make(1, 0, 0), 2, 1);
	add_wall(world, vec3_make(0, 0, -0.5), 0, 1);
	add_wall(world, vec3_make(0, 0, 0.5), 0, -1);
	create.particles_create.emitter = EMITTER_NONE;
	create.particles_create.size = spacing / 2;
	create.particles_create.mass = 1000 * spacing * spacing * spacing;
	create.particles_create.restitution = 0;
	test_do(world, &create);
	fluid.particles_fluid.system = fill.particles_fill.system = 1;
	fluid.particles_fluid.kernel_radius = 2 * spacing;
	test_do(world, &fluid);
	fill.particles_fill.position = vec3_make(-0.5, 0.5, 0);
	fill.particles_fill.size = vec3_all(1);
	fill.particles_fill.spacing = spacing;
	test_do(world, &fill);
	return world;
}

static struct report *report_of(const struct world *world)
{
	struct report *report = heap_alloc_zero(sizeof *report);
	if (report == NULL)
		exit(1);
	report->kind = REPORT_TICK;
	if (report_world(world, (struct report_choice){ .particles = true }, &report->ticked) !=
	    STATUS_OK)
		exit(1);
	return report;
}

struct figures {
	uint64_t bytes, rows; /* of one client */
	double best;	      /* s: the fastest tick */
};

static struct figures run_clients(struct world *(*make)(uint32_t), uint32_t count,
				  enum wire_profile profile, wire_mask columns, uint32_t clients)
{
	static struct fan_hall hall;
	struct world *world = make(count);
	struct message ask;
	struct figures figures = { .best = 1e30 };
	fan_open(&hall);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.profile = profile;
	ask.subscribe.particles = columns;
	for (uint32_t i = 0; i < clients; i++)
		fan_enter(&hall, i, &ask.subscribe, true, WIRE_FRAME_DOWN);
	for (uint32_t tick = 0; tick < WARM + TICKS; tick++) {
		if (world_step(world, &parallel_serial, NULL) != STATUS_OK)
			exit(1);
		struct report *report = report_of(world);
		/* Only the first state is whole: bodies do not change. */
		report->ticked.whole = tick == 0;
		report->ticked.step = true;
		report->ticked.body_count = tick == 0 ? report->ticked.body_count : 0;
		uint64_t before = hall.clients[0].bytes;
		double start = processor_time();
		fan_report(&hall, report, NS_PER_S / 60, true);
		while (subscription_is_busy(hall.clients[0].subscription)) {
			for (uint32_t i = 0; i < clients; i++)
				fanout_on_writable(hall.fanout, hall.clients[i].subscription,
						   hall.now);
			outbox_set_flush(&hall.set);
		}
		double took = processor_time() - start;
		for (uint32_t i = 0; i < clients; i++)
			fan_acknowledge(&hall, i);
		if (tick < WARM)
			continue;
		figures.best = figures.best < took ? figures.best : took;
		figures.bytes += hall.clients[0].bytes - before;
		figures.rows += hall.clients[0].mirror.particles.shown.items.count;
	}
	fan_close(&hall);
	world_destroy(world);
	return figures;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct world *(*make)(uint32_t count);
		wire_mask without; /* columns */
	} SCENES[] = { { "flight", make_flight, 0 },
		       { "flight, drag, masses differ", make_drag, 0 },
		       { "fountain on the ground", make_fountain, 0 },
		       { "at rest", make_rest, 0 },
		       { "cloth", make_cloth, 0 },
		       { "fluid", make_pool, 0 },
		       { "fluid, no density, pressure", make_pool, WIRE_PARTICLE_COLUMNS_SCALAR } };
	static const char *const PROFILES[] = { "exact", "view", "sim" };
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	if (count < 1 || count > 1 << 17)
		return fprintf(stderr, "usage: bench_particle_frames [particles]\n"), 2;
	printf("%-28s %-6s %9s %12s %14s %14s\n", "scene", "", "particles", "B a particle",
	       "server ns each", "client ns each");
	for (uint32_t scene = 0; scene < COUNT_OF(SCENES); scene++)
		for (uint32_t profile = 0; profile < COUNT_OF(PROFILES); profile++) {
			wire_mask columns = WIRE_PARTICLE_COLUMNS_ALL & ~SCENES[scene].without;
			struct figures one = run_clients(SCENES[scene].make, count,
							 WIRE_PROFILE_EXACT + profile, columns, 1);
			struct figures many =
				run_clients(SCENES[scene].make, count, WIRE_PROFILE_EXACT + profile,
					    columns, FAN_CLIENTS);
			double each = (many.best - one.best) / (FAN_CLIENTS - 1);
			double rows = (double)one.rows / TICKS;
			printf("%-28s %-6s %9.0f %12.2f %14.1f %14.1f\n", SCENES[scene].name,
			       PROFILES[profile], rows, (double)one.bytes / (double)one.rows,
			       1e9 * (one.best - each) / rows, 1e9 * each / rows);
		}
	return 0;
}
