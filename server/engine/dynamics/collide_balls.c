/* See collide_balls.h. */
#include "server/engine/dynamics/collide_balls.h"

#include "server/engine/dynamics/collide.h"

/* m. Nearer centres, which define no normal, are left to pair_sphere_sphere. */
#define BALLS_APART_MIN 1e-100

/* ---- the chain -------------------------------------------------------------------------------- */

ALWAYS_INLINE struct balls3 vectors_of(const vec3 *p, const vec3 *q)
{
	return (struct balls3){ { p->x, q->x }, { p->y, q->y }, { p->z, q->z } };
}

ALWAYS_INLINE struct balls4 turns_of(const quat *p, const quat *q)
{
	return (struct balls4){ { p->w, q->w }, { p->x, q->x }, { p->y, q->y }, { p->z, q->z } };
}

ALWAYS_INLINE balls balls_sqrt(balls a)
{
	return (balls){ scalar_sqrt(a[0]), scalar_sqrt(a[1]) };
}

/* Relative poses, distances and normals. */
static void measure_balls(const struct body_table *body, double dt, struct ball_batch *batch)
{
	const vec3 *position = body->position, *velocity = body->velocity;
	const quat *rotation = body->rotation;
	ASSERT(batch->count <= BALLS_AT_ONCE && dt >= 0);
	for (uint32_t k = 0; k * BALL_LANES < batch->count; k++) {
		uint32_t first = k * BALL_LANES, second = MIN_OF(first + 1, batch->count - 1);
		uint32_t a = batch->body_a[first], a2 = batch->body_a[second];
		uint32_t b = batch->body_b[first], b2 = batch->body_b[second];
		struct balls4 to_a = balls4_conjugate(turns_of(&rotation[a], &rotation[a2]));
		struct balls3 apart = balls3_sub(vectors_of(&position[b], &position[b2]),
						 vectors_of(&position[a], &position[a2]));
		struct balls3 faster = balls3_sub(vectors_of(&velocity[a], &velocity[a2]),
						  vectors_of(&velocity[b], &velocity[b2]));
		struct balls3 at = balls4_rotate(to_a, apart);
		balls squared = balls3_dot(at, at), distance = balls_sqrt(squared);
		batch->at[k].position = at;
		batch->at[k].turn = balls4_mul(to_a, turns_of(&rotation[b], &rotation[b2]));
		batch->at[k].unit = balls3_scale(at, 1.0 / distance);
		batch->at[k].squared = squared;
		batch->at[k].distance = distance;
		batch->at[k].straight = balls_sqrt(balls3_dot(faster, faster)) * dt;
	}
}

/* ---- one pair --------------------------------------------------------------------------------- */

/* One lane of a batch. */
struct ball_pair {
	const struct body_cache *a, *b; /* their reaches are the radii */
	double squared, distance;
	vec3 unit;
	pose b_in_a;
	double needed; /* m: near and far of struct needed_distance, which only turning sets apart */
};

ALWAYS_INLINE void ball_pair_of(const struct dynamics *dynamics, const struct ball_batch *batch,
				uint32_t lane, double near, struct ball_pair *out)
{
	const uint8_t *status = dynamics->tables->body.status;
	uint32_t k = lane / BALL_LANES, i = lane % BALL_LANES;
	uint32_t a = batch->body_a[lane], b = batch->body_b[lane];
	VALIDATE(lane < batch->count);
	out->a = &dynamics->bodies.items[a];
	out->b = &dynamics->bodies.items[b];
	out->squared = batch->at[k].squared[i];
	out->distance = batch->at[k].distance[i];
	out->unit =
		vec3_make(batch->at[k].unit.x[i], batch->at[k].unit.y[i], batch->at[k].unit.z[i]);
	out->b_in_a = pose_make(vec3_make(batch->at[k].position.x[i], batch->at[k].position.y[i],
					  batch->at[k].position.z[i]),
				quat_make(batch->at[k].turn.w[i], batch->at[k].turn.x[i],
					  batch->at[k].turn.y[i], batch->at[k].turn.z[i]));
	double least = __builtin_inf();
	if (status[a] == BODY_DYNAMIC)
		least = out->a->reach;
	if (status[b] == BODY_DYNAMIC)
		least = scalar_min(least, out->b->reach);
	out->needed = near + scalar_min(batch->at[k].straight[i], CONTACT_LOOK_AHEAD * least);
}

/* Whether the manifold of a pair that was apart is kept; a point of balls never is. */
ALWAYS_INLINE bool keeps_balls_apart(const struct contact_table *contact, uint32_t row,
				     const struct ball_pair *pair)
{
	VALIDATE(row < contact->count && contact->used[row]);
	if (contact->fresh[row] || contact->point_count[row] > 0)
		return false;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	double angle;
	double moved =
		collide_moved(pair->a->reach, pair->b->reach, &before, &pair->b_in_a, &angle);
	return collide_still_empty(contact, row, moved, pair->needed);
}

/* pair_sphere_sphere and place_made of its point. */
ALWAYS_INLINE void make_balls(const struct tables *tables, const struct ball_pair *pair,
			      enum collide_carry carry, struct contact_state *out,
			      struct contact_made *made)
{
	VALIDATE(pair->a->ball && pair->b->ball);
	VALIDATE(pair->needed >= 0);
	double radius_a = pair->a->reach, radius_b = pair->b->reach;
	double reach = radius_a + radius_b + (pair->needed + CONTACT_SPARE);
	const mat3 *rotation = &pair->a->rotation;
	made->margin = pair->needed + CONTACT_SPARE;
	made->b_in_a = pair->b_in_a;
	made->manifold.count = 0;
	collide_hints(tables, out, &made->cache);
	bool near = !(pair->squared > reach * reach);
	if (near)
		manifold_one(&made->manifold, pair->unit,
			     vec3_mul_add(vec3_zero(), pair->unit, radius_a),
			     pair->distance - radius_a - radius_b,
			     feature_make(FEATURE_NEAREST, 0, 0));
	collide_begin(tables, out, carry, made);
	out->point_count = near;
	out->normal = mat3_mul_vec(*rotation, near ? pair->unit : vec3_zero());
	if (!near)
		return;
	const struct manifold_point *point = &made->manifold.points[0];
	VALIDATE(point->separation <= made->margin + reach * 1e-9);
	struct contact_point *to = &out->points[0];
	to->arm_a =
		mat3_mul_vec(*rotation, vec3_sub(point->point, tables->body.centre[out->body_a]));
	to->arm_b = vec3_sub(to->arm_a, vec3_sub(pair->b->centre, pair->a->centre));
	to->separation = point->separation;
	to->feature = point->feature;
}

void balls_flush(struct ball_batch *batch, const struct step *step, const struct contact_list *list,
		 const struct collide_options *options)
{
	const struct tables *tables = step->dynamics->tables;
	if (batch->count == 0)
		return;
	ASSERT(options->motions == NULL);
	measure_balls(&tables->body, options->dt, batch);
	for (uint32_t lane = 0; lane < batch->count; lane++) {
		struct contact_state *out = &list->items[batch->contact[lane]];
		struct contact_made *made = &list->made[batch->contact[lane]];
		struct ball_pair pair;
		ball_pair_of(step->dynamics, batch, lane, options->near, &pair);
		if (!(pair.distance > BALLS_APART_MIN)) {
			collide_contact(step, out, made, options);
			continue;
		}
		out->one_way = 0;
		out->holds = out->reaches = false;
		out->kept = !out->is_new && !options->anew &&
			    keeps_balls_apart(&tables->contact, out->row, &pair);
		if (out->kept) {
			out->point_count = 0;
			out->normal =
				mat3_mul_vec(pair.a->rotation, tables->contact.normal[out->row]);
			continue;
		}
		make_balls(tables, &pair, options->carry, out, made);
		if (out->point_count > 0 && out->points[0].separation > pair.needed)
			out->point_count = 0;
	}
	batch->count = 0;
}
