/* fuzz_commands.c: COMMANDS of a client, from bytes through every check into a small world that is
 * stepped. The world runs twice. The first byte chooses the world and how the second run reaches
 * the same states:
 *
 *	bits 0-1  method (0 and 1 soft-step, 2 lcp, 3 free; with bit 7: lcp, projection, reflection and
 *	          projection), 2 with spheres only
 *	bit 2     planar
 *	bits 3-4  the second run: 0 the same, 1 rebuilds its caches before each tick, 2 saves and loads an
 *	          image before each tick, 3 restores its own image before each tick
 *	bit 5     the commands are a player's, allowed for its own bodies only
 *	bit 6     limits so low that they are reached
 *
 * Then MessagePack values: an array is a batch of commands; 0 … 7 that many ticks; 8 queries; 16 …
 * 19 the session that sends from now on; 24, 25 later batches are a tick late and are applied or
 * refused; 32 … 40 later batches are for a tick that many ahead.
 *
 * No assertion fails; every invariant holds after each value; the whole state is finite; a refused
 * batch changes nothing; and both runs give the same results and the same states. */
#include <float.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/hash.h"
#include "tests/lib/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { TICKS_MAX = 24, BATCHES_MAX = 16, BODIES_MAX = 64, CONTACTS_MAX = 256, KINDS = 32 };

/* One run of a world. */
struct run {
	struct world *world;
	struct arena arena;
	uint32_t ticks, batches, session, ahead;
	enum late_policy policy;
	bool late, restricted, second;
	uint8_t repeat;
	uint64_t hash; /* hash of all results, views and states */
};

static struct bytes initial_images[KINDS]; /* images of worlds, by bits 0-2, 6 and 7 */

static void hash_value(struct run *run, uint64_t what)
{
	uint64_t both[2] = { run->hash, what };
	run->hash = hash64(both, sizeof both, 0);
}

/* ---- worlds --------------------------------------------------------------------------------------- */

static struct world *make_world(uint32_t kind)
{
	static const char *const METHODS[] = { "soft-step",  "soft-step",
					       "lcp",	     "free",
					       "lcp",	     "projection",
					       "reflection", "gr-velocity-projection" };
	bool planar = (kind & 4) != 0, round = (kind & 19) == 2;
	struct world_options options = test_options(planar, METHODS[(kind & 3) | (kind & 16) >> 2]);
	options.limits.bodies = BODIES_MAX;
	options.limits.placements = 2 * BODIES_MAX;
	options.limits.contacts = kind & 8 ? 8 : CONTACTS_MAX;
	options.limits.shapes = 16;
	if (kind & 8)
		options.limits.bodies = options.limits.placements = 8;
	struct world *world = test_world_of(&options);
	if (!planar && !round)
		for (uint32_t shape = 0; shape < TEST_POLYGON; shape++)
			test_use(world, (enum test_shape)shape);
	enum test_shape thing = planar ? TEST_POLYGON : round ? TEST_SPHERE : TEST_BOX;
	struct attachment item;
	struct command ground = test_spawn_command(world, planar ? TEST_POLYGON : TEST_PLANE,
						   vec3_make(0, planar ? -0.5 : 0, 0), &item);
	ground.spawn.status = BODY_STATIC;
	test_do(world, &ground);
	test_spawn(world, thing, vec3_make(0, 0.5, 0));
	test_spawn(world, planar ? TEST_TRIANGLE : TEST_SPHERE, vec3_make(0.25, 1.5, 0));
	struct command own = test_spawn_command(world, thing, vec3_make(2, 0.5, 0), &item);
	own.spawn.owner = 1;
	test_do(world, &own);
	test_step(world, 1);
	return world;
}

static void make_initial_images(void)
{
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		struct world *world = make_world(kind);
		initial_images[kind] = test_save(world);
		world_destroy(world);
	}
}

static struct world *load(const struct bytes *image)
{
	struct world *world;
	struct reason why;
	ASSERT(world_load(image->data, image->count, test_shape_source(), &world, &why) ==
	       STATUS_OK);
	return world;
}

static bool is_finite3(vec3 v)
{
	return v.x - v.x == 0 && v.y - v.y == 0 && v.z - v.z == 0;
}

static void check_joints(const struct world *world)
{
	static joint_id ids[CONTACTS_MAX];
	struct world_joint_changes changes;
	uint32_t count = world_joints(world, 0, ids, COUNT_OF(ids));
	ASSERT(count == world_stats(world).joints);
	for (uint32_t i = 0; i < MIN_OF(count, (uint32_t)COUNT_OF(ids)); i++) {
		struct joint_view joint;
		ASSERT(world_joint(world, ids[i], &joint) == STATUS_OK);
		ASSERT(is_finite3(joint.force) && is_finite3(joint.torque));
		ASSERT(is_finite3(joint.anchor_a) && is_finite3(joint.anchor_b));
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			struct joint_axis_view view;
			ASSERT(world_joint_axis(world, ids[i], axis, &view) == STATUS_OK);
			ASSERT(joint.coordinates[axis] - joint.coordinates[axis] == 0);
		}
	}
	ASSERT(world_joint_changes(world, &changes) == STATUS_OK);
}

/* Whether a reported normal impulse may be negative. The exact methods subtract the impulses with
 * which a bounce was stopped, point by point, and add those of the impact, which may act at other
 * points (docs/METHODS.md). */
static bool may_report_negative_impulses(const struct world *world)
{
	const char *method = world_info(world).method;
	return strcmp(method, "lcp") == 0 || strcmp(method, "projection") == 0 ||
	       strcmp(method, "reflection") == 0;
}

static void check_world(const struct world *world)
{
	static body_id ids[BODIES_MAX];
	static struct contact_view contacts[4 * CONTACTS_MAX];
	struct reason why;
	ASSERT(world_check(world, &why) == STATUS_OK);
	uint32_t count = world_bodies(world, ids, BODIES_MAX);
	ASSERT(count <= BODIES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		struct body_view body = test_body(world, ids[i]);
		ASSERT(is_finite3(body.position) && is_finite3(body.velocity));
		ASSERT(is_finite3(body.angular_velocity) && is_finite3(body.centre));
		ASSERT(scalar_abs(quat_length(body.rotation) - 1) < 1e-6);
	}
	count = test_contacts(world, 0, contacts, COUNT_OF(contacts));
	double least = may_report_negative_impulses(world) ? -DBL_MAX : 0; /* at least: finite */
	for (uint32_t i = 0; i < MIN_OF(count, (uint32_t)COUNT_OF(contacts)); i++)
		ASSERT(is_finite3(contacts[i].point) && is_finite3(contacts[i].normal) &&
		       is_finite3(contacts[i].friction_impulse) &&
		       contacts[i].normal_impulse >= least &&
		       contacts[i].normal_impulse <= DBL_MAX);
	check_joints(world);
}

/* ---- values of the input -------------------------------------------------------------------------- */

static void hash_results(struct run *run, const struct batch_result *results, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		hash_value(run, (uint64_t)results[i].status << 32 | results[i].value_count);
		for (uint32_t k = 0; k < results[i].value_count; k++)
			hash_value(run, results[i].values[k]);
	}
}

/* Makes the second run reach the same state in another way. */
static void disturb(struct run *run)
{
	struct reason why;
	uint8_t repeat = run->second ? run->repeat : 0;
	if (repeat == 1)
		ASSERT(world_rebuild_caches(run->world) == STATUS_OK);
	if (repeat < 2)
		return;
	struct bytes image = test_save(run->world);
	if (repeat == 2) {
		world_destroy(run->world);
		run->world = load(&image);
	} else {
		ASSERT(world_restore(run->world, image.data, image.count, &why) == STATUS_OK);
	}
	bytes_release(&image);
}

static void hash_stored_results(struct run *run)
{
	uint32_t count;
	const struct batch_result *kept = world_stored_results(run->world, &count);
	hash_results(run, kept, count);
}

static void step(struct run *run)
{
	struct reason why;
	if (run->ticks++ >= TICKS_MAX)
		return;
	/* An image does not hold results, so the stored batches of this tick are applied and hashed
	 * first. */
	if (run->repeat >= 2) {
		ASSERT(world_apply(run->world, NULL, 0, NULL) == STATUS_OK);
		hash_stored_results(run);
	}
	disturb(run);
	enum status status = world_step(run->world, &parallel_serial, &why);
	ASSERT(status == STATUS_OK || status == STATUS_LIMIT || status == STATUS_NO_MEMORY);
	ASSERT(world_stopped(run->world) == (status != STATUS_OK));
	hash_value(run, status);
	if (run->repeat < 2)
		hash_stored_results(run);
	hash_value(run, test_hash(run->world));
	check_world(run->world);
}

static void apply(struct run *run, const struct wire_list *list)
{
	struct reason why;
	struct batch_result result;
	struct batch batch = { .session = run->session, .number = ++run->batches };
	batch.restricted = run->restricted;
	uint64_t tick = world_info(run->world).tick;
	batch.at = run->late ? tick - 1 : run->ahead > 0 ? tick + run->ahead : 0;
	batch.late = (uint8_t)run->policy;
	enum status status = command_take_list(list, &run->arena, &batch.commands, &why);
	hash_value(run, status);
	if (status != STATUS_OK)
		return;
	batch.count = list->count;
	/* The first call of a tick applies the batches stored for it. */
	ASSERT(world_apply(run->world, NULL, 0, NULL) == STATUS_OK);
	uint64_t before = test_hash(run->world);
	ASSERT(world_apply(run->world, &batch, 1, &result) == STATUS_OK);
	hash_results(run, &result, 1);
	hash_value(run, test_hash(run->world));
	if (result.status != STATUS_OK)
		ASSERT(test_hash(run->world) == before);
	check_world(run->world);
	arena_reset(&run->arena);
}

static void query_body(struct run *run, body_id id)
{
	struct placement_view placements[4];
	struct mass_view mass;
	ASSERT(world_mass(run->world, id, &mass) == STATUS_OK);
	ASSERT(mass.mass >= 0 && is_finite3(mass.centre) && is_finite3(mass.moments));
	hash_value(run, world_body_placements(run->world, id, placements, COUNT_OF(placements)));
	hash_value(run, hash64(&mass.mass, sizeof mass.mass, 0));
	body_id linked[BODIES_MAX];
	uint32_t count;
	ASSERT(world_linked(run->world, id, linked, BODIES_MAX, &count) == STATUS_OK);
	hash_value(run, hash64(linked, count * sizeof *linked, 0));
}

/* Forces are finite and press (except as above), and least norms are given only on request. */
static void query_forces(struct run *run, bool least)
{
	struct force_view forces[64];
	uint32_t count;
	ASSERT(world_forces(run->world, 0, least, forces, COUNT_OF(forces), &count) == STATUS_OK);
	hash_value(run, count);
	for (uint32_t i = 0; i < count; i++) {
		double least_force = may_report_negative_impulses(run->world) ? -DBL_MAX : 0;
		ASSERT(is_finite3(forces[i].friction_force) &&
		       forces[i].normal_force >= least_force && forces[i].normal_force <= DBL_MAX);
		ASSERT(forces[i].known < FORCE_KNOWN_KINDS);
		ASSERT(least || forces[i].known != FORCE_LEAST_NORM);
		hash_value(run, hash64(&forces[i].normal_force, sizeof(double), forces[i].known));
	}
}

static void query_world(struct run *run)
{
	static const struct query_filter ALL = { 0xffffffff, 0xffffffff, 0 };
	static const struct aabb AROUND = { { -2, -2, -2 }, { 2, 2, 2 } };
	static struct placed_shape near[BODIES_MAX];
	struct ray_hit hits[8];
	body_id ids[BODIES_MAX];
	enum status status;
	uint32_t count = world_bodies(run->world, ids, BODIES_MAX);
	for (uint32_t i = 0; i < count; i++)
		query_body(run, ids[i]);
	count = world_ray(run->world, vec3_make(0.1, 9, 0.05), vec3_make(0, -1, 0), 20, ALL, hits,
			  COUNT_OF(hits), &status);
	hash_value(run, (uint64_t)status << 32 | count);
	for (uint32_t i = 0; i < count; i++) {
		ASSERT(hits[i].fraction >= 0 && hits[i].fraction <= 1 &&
		       is_finite3(hits[i].normal));
		ASSERT(i == 0 || hits[i].fraction >= hits[i - 1].fraction);
		hash_value(run, hits[i].body);
	}
	if (!world_info(run->world).planar) {
		count = world_overlap(run->world, test_shape(TEST_SPHERE), vec3_make(0, 1, 0),
				      quat_identity(), ALL, ids, BODIES_MAX, &status);
		hash_value(run, (uint64_t)status << 32 | count);
	}
	status = world_near(run->world, &AROUND, ALL, near, COUNT_OF(near), &count);
	hash_value(run, (uint64_t)status << 32 | count);
	query_forces(run, false);
	query_forces(run, true);
	struct world_energy energy = world_energy(run->world);
	ASSERT(energy.kinetic >= 0);
}

/* Reads one value of the input; false: end of the input. */
static bool read_value(struct run *run, struct wire_cursor *in)
{
	struct wire_list list;
	uint64_t number;
	if (run->batches < BATCHES_MAX && wire_take_list(in, &list) == STATUS_OK) {
		apply(run, &list);
		return true;
	}
	if (wire_take_uint(in, 40, &number) != STATUS_OK)
		return false;
	if (number >= 32)
		run->ahead = (uint32_t)number - 32;
	else if (number >= 24)
		run->policy = number & 1 ? LATE_REFUSE : LATE_NEXT_TICK;
	else if (number >= 16)
		run->session = (uint32_t)number % 4;
	else if (number >= 8)
		query_world(run);
	if (number >= 24)
		run->late = number < 32;
	for (uint64_t i = 0; number < 8 && i < number; i++)
		step(run);
	return true;
}

static void run_input(struct run *run, const uint8_t *data, size_t bytes)
{
	struct wire_cursor in = wire_cursor_over(data + 1, (uint32_t)bytes - 1);
	struct mass_view mass;
	run->world = load(&initial_images[(data[0] & 7) | (data[0] >> 6 & 3) << 3]);
	run->session = 1;
	run->restricted = (data[0] & 32) != 0;
	run->repeat = data[0] >> 3 & 3;
	while (!wire_at_end(&in) && read_value(run, &in)) {
	}
	step(run);
	ASSERT(world_mass(run->world, 0, &mass) == STATUS_OK && mass.mass >= 0);
	world_destroy(run->world);
	arena_release(&run->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct run one = { .second = false }, other = { .second = true };
	if (bytes == 0 || bytes > 1 << 16)
		return 0;
	if (initial_images[0].count == 0)
		make_initial_images();
	run_input(&one, data, bytes);
	run_input(&other, data, bytes);
	ASSERT(one.hash == other.hash);
	return 0;
}
