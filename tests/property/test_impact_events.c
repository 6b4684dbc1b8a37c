/* `impact` against searches that know nothing of it, and against itself with its work in another order.
 *
 * Times. Cubes, octahedra and tetrahedra have one moment of inertia, so without forces they turn evenly
 * and their paths are known exactly. On these paths the first meeting of each pair is searched by
 * distances alone, once with V-Clip, which starts at the features of the call before, and once with GJK
 * from vertex 0. Both must agree in every distance to 1e-10 m, and in the times of a scene's first
 * collisions, ten at most, with each other and with the events of `impact` to 1e-9 s. Compared are
 * ticks that begin with all bodies apart.
 *
 * Order. Pairs, contacts and islands are handed to the workers in shuffled order, and caches are rebuilt
 * on the way; every hash must be that of a plain run, and of its repetition.
 *
 * CAIRN_IMPACT_SCENES=N is the number of scenes (6; `make soak-impact`: 1000), CAIRN_IMPACT_TICKS=N that
 * of ticks in another order (200; 10 000). */
#include "server/base/rng.h"
#include "server/engine/collision/vclip.h"
#include "server/engine/dynamics/body.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 6, PAIRS = BODIES * BODIES, EVENTS = 10, TICKS_MAX = 400, WORKERS = 3 };

static uint32_t number_of(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* ---- paths and distances ---------------------------------------------------------------------- */

struct free_body {
	const struct shape *shape;
	double reach;	       /* m: of its farthest point */
	struct body_motion at; /* as the tick begins */
};

static pose pose_after(const struct free_body *body, double time)
{
	return pose_make(vec3_mul_add(body->at.centre, body->at.velocity, time),
			 quat_integrate(body->at.rotation, body->at.angular_velocity, time));
}

struct search {
	bool clip;			/* by V-Clip */
	struct vclip_features features; /* of the last call */
	double worst;			/* m: difference of both distances */
	uint32_t calls;
};

static double distance_at(struct search *self, const struct free_body *a, const struct free_body *b,
			  double time)
{
	pose at_a = pose_after(a, time), at_b = pose_after(b, time);
	pose b_in_a = pose_relative(at_a, at_b);
	struct placing there = { mat3_from_quat(b_in_a.rotation), b_in_a.position };
	struct gjk_points room_a, room_b;
	struct gjk_core core_a = gjk_core_of(a->shape, 0, &room_a);
	struct gjk_core core_b = gjk_core_of(b->shape, 0, &room_b);
	struct vclip_result clip;
	struct gjk_result gjk;
	vclip_distance(a->shape->hull, b->shape->hull, &there, &self->features, &clip);
	gjk_distance(&core_a, &core_b, &there.rotation, there.translation, NULL, &gjk);
	self->features = clip.features;
	self->worst = scalar_max(self->worst, scalar_abs(clip.distance - gjk.distance));
	self->calls++;
	return self->clip ? clip.distance : gjk.distance;
}

/* The first time of a tick of dt at which the two are nearer than `near`; infinite: none. Steps never pass a
 * meeting, because no point is faster than the speeds allow. *closing: m/s, just before. */
static double first_meeting(struct search *self, const struct free_body *a,
			    const struct free_body *b, double dt, double *closing)
{
	const double near = 2e-11, before = 1e-6;
	double speed = vec3_distance(a->at.velocity, b->at.velocity) +
		       a->reach * vec3_length(a->at.angular_velocity) +
		       b->reach * vec3_length(b->at.angular_velocity);
	double time = 0, last = 0;
	for (uint32_t k = 0; k < 4000 && time < dt; k++) {
		double gap = distance_at(self, a, b, time);
		last = gap;
		if (gap <= near)
			break;
		time += gap / speed;
	}
	if (last > near)
		return __builtin_inf();
	*closing = (distance_at(self, a, b, scalar_max(time - before, 0)) - last) /
		   scalar_min(before, scalar_max(time, 1e-12));
	return time;
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static uint32_t even_shape(struct stage *stage, uint32_t kind)
{
	static const vec3 eight[] = { { 0.45, 0, 0 },  { -0.45, 0, 0 }, { 0, 0.45, 0 },
				      { 0, -0.45, 0 }, { 0, 0, 0.45 },	{ 0, 0, -0.45 } };
	static const vec3 four[] = {
		{ 0.3, 0.3, 0.3 }, { 0.3, -0.3, -0.3 }, { -0.3, 0.3, -0.3 }, { -0.3, -0.3, 0.3 }
	};
	return stage_shape(stage, kind == 0   ? make_box(0.25, 0.25, 0.25)
				  : kind == 1 ? make_hull(eight, COUNT_OF(eight))
					      : make_hull(four, COUNT_OF(four)));
}

static void open_scene(struct stage *stage, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	stage_init(stage, "impact");
	stage->tables.world.gravity[0] = vec3_zero();
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
	for (uint32_t i = 0; i < BODIES; i++) {
		vec3 place = vec3_make(i % 2 * 1.4, i / 2 % 2 * 1.4, i / 4 * 1.4);
		vec3 inward = vec3_scale(vec3_sub(vec3_all(0.7), place), 3);
		quat turn = quat_integrate(quat_identity(), random_vector(&rng, 2), 1);
		stage_add(stage, (struct stage_body){
					 .status = BODY_DYNAMIC,
					 .shape = even_shape(stage, i % 3),
					 .position = vec3_add(place, random_vector(&rng, 0.1)),
					 .rotation = turn,
					 .velocity = vec3_add(inward, random_vector(&rng, 1)),
					 .spin = random_vector(&rng, 4),
					 .friction = -1,
					 .restitution = 1 });
	}
}

/* The meeting that comes first in the next tick. */
struct meeting {
	double time, closing;
	uint32_t a, b;
	/* All pairs are apart as the tick begins and had no contact in the last one, which would go on
	 * without an event; no pair is so near to the first one in time that their order is rounding. */
	bool clear;
};

static struct meeting find_first(const struct stage *stage, struct search search[PAIRS])
{
	struct meeting first = { .time = __builtin_inf(), .clear = true };
	struct free_body body[BODIES];
	double second = __builtin_inf();
	for (uint32_t i = 0; i < BODIES; i++)
		body[i] = (struct free_body){ placement_shape(&stage->dynamics, i),
					      stage->dynamics.bodies.items[i].reach,
					      dynamics_motion(&stage->dynamics, i) };
	for (uint32_t a = 0; a < BODIES; a++)
		for (uint32_t b = a + 1; b < BODIES; b++) {
			struct search *with = &search[a * BODIES + b];
			double closing = 0;
			first.clear &= distance_at(with, &body[a], &body[b], 0) > 1e-5;
			double time = first_meeting(with, &body[a], &body[b], stage->dt, &closing);
			if (time < first.time) {
				second = first.time;
				first.time = time;
				first.closing = closing;
				first.a = a;
				first.b = b;
			} else {
				second = scalar_min(second, time);
			}
		}
	first.clear &= !(second < first.time + 1e-6);
	for (uint32_t row = 0; row < stage->tables.contact.count; row++)
		first.clear &= !stage->tables.contact.touching[row];
	return first;
}

/* s: of the earliest event of the tick; infinite: none. */
static double first_event(const struct stage *stage, const struct meeting *expected, bool *same)
{
	double time = __builtin_inf();
	for (uint32_t i = 0; i < stage->dynamics.events.count; i++) {
		const struct event *event = &stage->dynamics.events.items[i];
		if (event->kind != EVENT_CONTACT_BEGIN || event->fraction * stage->dt >= time)
			continue;
		time = event->fraction * stage->dt;
		*same = event->a == stage->tables.body.id[expected->a] &&
			event->b == stage->tables.body.id[expected->b];
	}
	return time;
}

START_TEST(the_first_ten_collisions_come_when_distances_say_so)
{
	uint32_t scenes = number_of("CAIRN_IMPACT_SCENES", 6), compared = 0, calls = 0;
	double worst_distance = 0, worst_time = 0, worst_engine = 0;
	for (uint32_t scene = 0; scene < scenes; scene++) {
		struct stage stage;
		struct search clip[PAIRS] = { 0 }, gjk[PAIRS] = { 0 };
		for (uint32_t p = 0; p < PAIRS; p++)
			clip[p].clip = true;
		open_scene(&stage, check_seed() + scene);
		for (uint32_t tick = 0, events = 0; tick < TICKS_MAX && events < EVENTS; tick++) {
			struct meeting expected = find_first(&stage, clip);
			struct meeting by_gjk = find_first(&stage, gjk);
			stage_step(&stage);
			bool same = false, in_tick = expected.time < stage.dt * (1 - 1e-6);
			/* A grazing meeting has no sharp time. */
			if (!expected.clear || !in_tick || expected.closing < 0.3)
				continue;
			double time = first_event(&stage, &expected, &same);
			events++;
			compared++;
			worst_time =
				scalar_max(worst_time, scalar_abs(by_gjk.time - expected.time));
			double off = time - expected.time;
			worst_engine = scalar_max(worst_engine, scalar_abs(off));
			ck_assert_msg(
				same && scalar_abs(off) <= 1e-9,
				"scene %u, tick %u: event at %.12g s, %u and %u meet at %.12g s, "
				"closing at %g m/s",
				scene, tick, time, expected.a, expected.b, expected.time,
				expected.closing);
		}
		for (uint32_t p = 0; p < PAIRS; p++) {
			worst_distance =
				scalar_max(worst_distance, scalar_max(clip[p].worst, gjk[p].worst));
			calls += clip[p].calls + gjk[p].calls;
		}
		stage_release(&stage);
	}
	printf("# %u scenes, %u collisions, %u distances: V-Clip and GJK differ by %.2g m and %.2g s, "
	       "events by %.2g s\n",
	       scenes, compared, calls, worst_distance, worst_time, worst_engine);
	ck_assert_uint_ge(compared, 2 * scenes);
	ck_assert_double_le(worst_distance, 1e-10);
	ck_assert_double_le(worst_time, 1e-9);
}
END_TEST

/* ---- order ------------------------------------------------------------------------------------ */

/* Runs the pieces of work in shuffled order, each on any worker. */
static void run_shuffled(const struct parallel *self, uint32_t count, uint32_t grain,
			 parallel_piece *piece, void *context)
{
	struct rng *rng = self->pool;
	grain = MAX_OF(grain, 1u);
	uint32_t pieces = (count - 1) / grain + 1, *order = malloc(pieces * sizeof *order);
	ck_assert_ptr_nonnull(order);
	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t at = rng_below(rng, i + 1);
		order[i] = order[at];
		order[at] = i;
	}
	for (uint32_t i = 0; i < pieces; i++)
		piece(order[i] * grain, MIN_OF((order[i] + 1) * grain, count),
		      rng_below(rng, self->workers), context);
	free(order);
}

/* Throws everything up again, so that the run has events to its end. */
static void throw_up(struct stage *stage, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	for (uint32_t row = 0; row < stage->tables.body.count; row++)
		if (stage->tables.body.status[row] == BODY_DYNAMIC)
			stage->tables.body.velocity[row] = random_vector(&rng, 4);
	ck_assert_int_eq(dynamics_rebuild(&stage->dynamics), STATUS_OK);
}

START_TEST(work_in_another_order_changes_no_bit)
{
	uint32_t ticks = number_of("CAIRN_IMPACT_TICKS", 200), events = 0;
	struct rng rng = rng_seeded(check_seed());
	struct parallel shuffled = { run_shuffled, WORKERS, &rng };
	struct stage runs[3];
	for (uint32_t r = 0; r < COUNT_OF(runs); r++) {
		stage_init(&runs[r], "impact");
		stage_parameter(&runs[r], PARAMETER_SLEEP_ENABLED, 0);
		stage_mixed(&runs[r], 12, check_seed());
	}
	runs[2].parallel = &shuffled;
	for (uint32_t tick = 0; tick < ticks; tick++) {
		for (uint32_t r = 0; r < COUNT_OF(runs); r++) {
			if (tick % 150 == 149)
				throw_up(&runs[r], tick);
			stage_step(&runs[r]);
		}
		events += stage_events(&runs[0], EVENT_CONTACT_BEGIN);
		/* New caches hand pairs over in another order, too. */
		if (tick % 37 == 36)
			ck_assert_int_eq(dynamics_rebuild(&runs[2].dynamics), STATUS_OK);
		uint64_t hash = stage_hash(&runs[0]);
		ck_assert_msg(hash == stage_hash(&runs[1]), "tick %u: run twice", tick);
		ck_assert_msg(hash == stage_hash(&runs[2]), "tick %u: in another order", tick);
	}
	printf("# %u ticks, %u contacts began\n", ticks, events);
	ck_assert_uint_gt(events, ticks / 20);
	for (uint32_t r = 0; r < COUNT_OF(runs); r++)
		stage_release(&runs[r]);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: events");
	TCase *tcase = tcase_create("events");
	tcase_set_timeout(tcase, 7200);
	tcase_add_test(tcase, the_first_ten_collisions_come_when_distances_say_so);
	tcase_add_test(tcase, work_in_another_order_changes_no_bit);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
