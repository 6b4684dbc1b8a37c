/* fuzz_commands.c: what a client's COMMANDS do to a world: from bytes over every check into a small world
 * that is stepped. The first byte chooses the world and how its life is repeated:
 *
 *	bits 0-1  method (0 and 1 soft-step, 2 lcp, 3 free; with bit 7 lcp, projection, reflection,
 *	and that by
 *	          projection), 2 among round things only
 *	bit 2     planar
 *	bits 3-4  the second life: 0 the same, 1 caches made anew before each tick, 2 through an image
 *	          before each tick, 3 restored into itself before each tick
 *	bit 5     commands are a player's: of bodies of its own only
 *	bit 6     limits so tight that they are met
 *
 * then MessagePack values: an array is a batch of commands; 0 … 7 so many ticks; 8 questions; 16 … 19 the
 * session that sends from now on; 24, 25 batches to come are a tick late, to be done or refused; 32 … 40 how
 * many ticks ahead they are for.
 *
 * Nothing asserts; every invariant holds after each; all of the state is finite; a refused batch changes
 * nothing; and both lives give the same answers and the same states. */
#include <float.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/hash.h"
#include "tests/lib/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { TICKS_MAX = 24, BATCHES_MAX = 16, BODIES_MAX = 64, CONTACTS_MAX = 256, KINDS = 32 };

/* One life. */
struct life {
	struct world *world;
	struct arena arena;
	uint32_t ticks, batches, session, ahead;
	enum late_policy policy;
	bool late, restricted, second;
	uint8_t repeat;
	uint64_t told; /* hash of all that was answered and of all states */
};

static struct bytes beginnings[KINDS]; /* images of worlds, by bits 0-2, 6 and 7 */

static void tell(struct life *life, uint64_t what)
{
	uint64_t both[2] = { life->told, what };
	life->told = hash64(both, sizeof both, 0);
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

static void make_beginnings(void)
{
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		struct world *world = make_world(kind);
		beginnings[kind] = test_save(world);
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

/* Whether a normal impulse may be told below 0: the exact methods take back what a bounce was stopped by
 * on the way, point by point, and give the impact's, which may choose other points (docs/METHODS.md). */
static bool takes_back(const struct world *world)
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
	double least = takes_back(world) ? -DBL_MAX : 0; /* and finite */
	for (uint32_t i = 0; i < MIN_OF(count, (uint32_t)COUNT_OF(contacts)); i++)
		ASSERT(is_finite3(contacts[i].point) && is_finite3(contacts[i].normal) &&
		       is_finite3(contacts[i].friction_impulse) &&
		       contacts[i].normal_impulse >= least &&
		       contacts[i].normal_impulse <= DBL_MAX);
	check_joints(world);
}

/* ---- what happens --------------------------------------------------------------------------------- */

static void tell_results(struct life *life, const struct batch_result *results, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		tell(life, (uint64_t)results[i].status << 32 | results[i].value_count);
		for (uint32_t k = 0; k < results[i].value_count; k++)
			tell(life, results[i].values[k]);
	}
}

/* Makes the second life another way to the same state. */
static void disturb(struct life *life)
{
	struct reason why;
	uint8_t repeat = life->second ? life->repeat : 0;
	if (repeat == 1)
		ASSERT(world_rebuild_caches(life->world) == STATUS_OK);
	if (repeat < 2)
		return;
	struct bytes image = test_save(life->world);
	if (repeat == 2) {
		world_destroy(life->world);
		life->world = load(&image);
	} else {
		ASSERT(world_restore(life->world, image.data, image.count, &why) == STATUS_OK);
	}
	bytes_release(&image);
}

static void tell_kept(struct life *life)
{
	uint32_t count;
	const struct batch_result *kept = world_stored_results(life->world, &count);
	tell_results(life, kept, count);
}

static void step(struct life *life)
{
	struct reason why;
	if (life->ticks++ >= TICKS_MAX)
		return;
	/* An image has no answers: those to come with this tick are asked for before. */
	if (life->repeat >= 2) {
		ASSERT(world_apply(life->world, NULL, 0, NULL) == STATUS_OK);
		tell_kept(life);
	}
	disturb(life);
	enum status status = world_step(life->world, &parallel_serial, &why);
	ASSERT(status == STATUS_OK || status == STATUS_LIMIT || status == STATUS_NO_MEMORY);
	ASSERT(world_stopped(life->world) == (status != STATUS_OK));
	tell(life, status);
	if (life->repeat < 2)
		tell_kept(life);
	tell(life, test_hash(life->world));
	check_world(life->world);
}

static void apply(struct life *life, const struct wire_list *list)
{
	struct reason why;
	struct batch_result result;
	struct batch batch = { .session = life->session, .number = ++life->batches };
	batch.restricted = life->restricted;
	uint64_t tick = world_info(life->world).tick;
	batch.at = life->late ? tick - 1 : life->ahead > 0 ? tick + life->ahead : 0;
	batch.late = (uint8_t)life->policy;
	enum status status = command_take_list(list, &life->arena, &batch.commands, &why);
	tell(life, status);
	if (status != STATUS_OK)
		return;
	batch.count = list->count;
	/* The first call of a tick applies what was kept for it; let that be done. */
	ASSERT(world_apply(life->world, NULL, 0, NULL) == STATUS_OK);
	uint64_t before = test_hash(life->world);
	ASSERT(world_apply(life->world, &batch, 1, &result) == STATUS_OK);
	tell_results(life, &result, 1);
	tell(life, test_hash(life->world));
	if (result.status != STATUS_OK)
		ASSERT(test_hash(life->world) == before);
	check_world(life->world);
	arena_reset(&life->arena);
}

static void ask_of_body(struct life *life, body_id id)
{
	struct placement_view placements[4];
	struct mass_view mass;
	ASSERT(world_mass(life->world, id, &mass) == STATUS_OK);
	ASSERT(mass.mass >= 0 && is_finite3(mass.centre) && is_finite3(mass.moments));
	tell(life, world_body_placements(life->world, id, placements, COUNT_OF(placements)));
	tell(life, hash64(&mass.mass, sizeof mass.mass, 0));
	body_id linked[BODIES_MAX];
	uint32_t count;
	ASSERT(world_linked(life->world, id, linked, BODIES_MAX, &count) == STATUS_OK);
	tell(life, hash64(linked, count * sizeof *linked, 0));
}

static void ask(struct life *life)
{
	static const struct query_filter ALL = { 0xffffffff, 0xffffffff, 0 };
	static const struct aabb AROUND = { { -2, -2, -2 }, { 2, 2, 2 } };
	static struct placed_shape near[BODIES_MAX];
	struct ray_hit hits[8];
	body_id ids[BODIES_MAX];
	enum status status;
	uint32_t count = world_bodies(life->world, ids, BODIES_MAX);
	for (uint32_t i = 0; i < count; i++)
		ask_of_body(life, ids[i]);
	count = world_ray(life->world, vec3_make(0.1, 9, 0.05), vec3_make(0, -1, 0), 20, ALL, hits,
			  COUNT_OF(hits), &status);
	tell(life, (uint64_t)status << 32 | count);
	for (uint32_t i = 0; i < count; i++) {
		ASSERT(hits[i].fraction >= 0 && hits[i].fraction <= 1 &&
		       is_finite3(hits[i].normal));
		ASSERT(i == 0 || hits[i].fraction >= hits[i - 1].fraction);
		tell(life, hits[i].body);
	}
	if (!world_info(life->world).planar) {
		count = world_overlap(life->world, test_shape(TEST_SPHERE), vec3_make(0, 1, 0),
				      quat_identity(), ALL, ids, BODIES_MAX, &status);
		tell(life, (uint64_t)status << 32 | count);
	}
	status = world_near(life->world, &AROUND, ALL, near, COUNT_OF(near), &count);
	tell(life, (uint64_t)status << 32 | count);
	struct world_energy energy = world_energy(life->world);
	ASSERT(energy.kinetic >= 0);
}

/* False: that was the end. */
static bool take_one(struct life *life, struct wire_cursor *in)
{
	struct wire_list list;
	uint64_t number;
	if (life->batches < BATCHES_MAX && wire_take_list(in, &list) == STATUS_OK) {
		apply(life, &list);
		return true;
	}
	if (wire_take_uint(in, 40, &number) != STATUS_OK)
		return false;
	if (number >= 32)
		life->ahead = (uint32_t)number - 32;
	else if (number >= 24)
		life->policy = number & 1 ? LATE_REFUSE : LATE_NEXT_TICK;
	else if (number >= 16)
		life->session = (uint32_t)number % 4;
	else if (number >= 8)
		ask(life);
	if (number >= 24)
		life->late = number < 32;
	for (uint64_t i = 0; number < 8 && i < number; i++)
		step(life);
	return true;
}

static void live(struct life *life, const uint8_t *data, size_t bytes)
{
	struct wire_cursor in = wire_cursor_over(data + 1, (uint32_t)bytes - 1);
	struct mass_view mass;
	life->world = load(&beginnings[(data[0] & 7) | (data[0] >> 6 & 3) << 3]);
	life->session = 1;
	life->restricted = (data[0] & 32) != 0;
	life->repeat = data[0] >> 3 & 3;
	while (!wire_at_end(&in) && take_one(life, &in)) {
	}
	step(life);
	ASSERT(world_mass(life->world, 0, &mass) == STATUS_OK && mass.mass >= 0);
	world_destroy(life->world);
	arena_release(&life->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct life one = { .second = false }, other = { .second = true };
	if (bytes == 0 || bytes > 1 << 16)
		return 0;
	if (beginnings[0].count == 0)
		make_beginnings();
	live(&one, data, bytes);
	live(&other, data, bytes);
	ASSERT(one.told == other.told);
	return 0;
}
