/* constraint.c: rows of constraints; the contact kind.
 *
 * A contact's point lies midway between two surface points, p_a fixed in a and p_b fixed in b. With
 * D = p_b − p_a and n the normal at the present motions:
 *
 *   gap = n·D                    gap' = n·D' + n'·D          gap'' = n·D'' + 2 n'·D' + n''·D
 *
 * n turns with a face (n' = ω × n), with two edges (n = N/|N|, N = e_a × e_b), or with the line of two
 * centres. At the motions where the contact was found, D is parallel to n, so n'·D = 0 and J is the plain
 * one. At others, J on the body that owns the face has the additional term n × D, which makes it
 * the exact derivative. For two centres with Q between them, gap = |Q| − |Q| at touch, and gap'' =
 * n·Q'' + |Q'_⊥|²/|Q| (ch. 3 P-30, ch. 4 K2).
 *
 * Tangent rows have no q. Their bias t·D'' + 2 D'·t' is the book's (K2), with t' of the turning frame.
 */
#include "server/engine/dynamics/constraint.h"

#include "server/engine/dynamics/frame_rate.h"
#include "server/engine/dynamics/tuning.h"

struct constraint_room constraint_room(const struct constraint *constraints, uint32_t count,
				       const struct constraint_options *options)
{
	struct constraint_room sum = { 0, 0, 0 };
	for (uint32_t i = 0; i < count; i++) {
		struct constraint_room room = constraints[i].kind->room(&constraints[i], options);
		sum.rows += room.rows;
		sum.blocks += room.blocks;
		ASSERT(room.parts <= ROW_PARTS_MAX * room.rows && room.blocks <= room.rows);
		sum.parts += room.parts;
	}
	return sum;
}

void constraint_rows(const struct constraint *constraints, uint32_t count,
		     const struct body_motion *motions, const struct constraint_options *options,
		     struct row_list *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct constraint *self = &constraints[i];
		bool found_a = motions == NULL || self->body_a == ROW_NO_BODY;
		bool found_b = motions == NULL || self->body_b == ROW_NO_BODY;
		ASSERT(self->body_a != self->body_b || self->body_a == ROW_NO_BODY);
		self->kind->rows(self, i, found_a ? NULL : &motions[self->body_a],
				 found_b ? NULL : &motions[self->body_b], options, out);
	}
}

/* ---- a contact at given motions ------------------------------------------------------------ */

/* Values at the given motions that are equal for all points of a contact. */
struct contact_at {
	const struct constraint *constraint;
	const struct contact_found *found;
	const struct constraint_options *options;
	const struct body_motion *a, *b;
	bool moved;	     /* a and b are not the motions it was found at */
	quat turn_a, turn_b; /* rotations since then */
	vec3 normal, tangent[2];
	/* n', t', and n'' without the terms of angular acceleration. Only at CONSTRAINT_ACCELERATION. */
	vec3 normal_rate, normal_bend, tangent_rate[2];
	vec3 edge_a,
		edge_b; /* now; their cross product's length, with the sign of the normal against it */
	double edges;
	bool rough;	 /* the surface has a friction axis */
	double along[2]; /* its direction, as in row_block */
	double swing;	 /* 1/s: how fast it turns in the frame of the tangents */
};

static vec3 turn_found(const struct contact_at *at, quat turn, vec3 found)
{
	return at->moved ? quat_rotate(turn, found) : found;
}

static vec3 centre_line(const struct contact_at *at)
{
	vec3 to = vec3_add(at->b->centre, turn_found(at, at->turn_b, at->found->ball_b));
	return vec3_sub(to, vec3_add(at->a->centre, turn_found(at, at->turn_a, at->found->ball_a)));
}

static vec3 spin_of(const struct body_motion *motion)
{
	return motion->angular_velocity;
}

static vec3 point_velocity(const struct body_motion *motion, vec3 arm)
{
	return vec3_add(motion->velocity, vec3_cross(motion->angular_velocity, arm));
}

/* ω × (ω × arm): the acceleration of a point without the body's own. */
static vec3 point_turning(const struct body_motion *motion, vec3 arm)
{
	vec3 spin = motion->angular_velocity;
	return vec3_cross(spin, vec3_cross(spin, arm));
}

/* The normal at these motions; the found one where edges are parallel or centres coincide. */
static void find_normal(struct contact_at *at)
{
	const struct contact_found *found = at->found;
	vec3 along = vec3_zero();
	double length = 0;
	at->normal = found->normal;
	if (found->normal_of == CONTACT_NORMAL_OF_EDGES) {
		at->edge_a = turn_found(at, at->turn_a, found->edge_a);
		at->edge_b = turn_found(at, at->turn_b, found->edge_b);
		along = vec3_normalize_length(vec3_cross(at->edge_a, at->edge_b), &length);
		bool against =
			vec3_dot(vec3_cross(found->edge_a, found->edge_b), found->normal) < 0;
		at->edges = against ? -length : length;
		if (against)
			along = vec3_negate(along);
	}
	if (!at->moved)
		return;
	if (found->normal_of == CONTACT_NORMAL_OF_CENTRES)
		along = vec3_normalize_length(centre_line(at), &length);
	if (length > 0)
		at->normal = along;
	else if (found->normal_of == CONTACT_NORMAL_OF_A)
		at->normal = quat_rotate(at->turn_a, found->normal);
	else if (found->normal_of == CONTACT_NORMAL_OF_B)
		at->normal = quat_rotate(at->turn_b, found->normal);
}

/* n' and n'' of n = N/|N|, N = e_a × e_b, from N, N', N''. */
static void find_edge_rates(struct contact_at *at)
{
	ASSERT(at->edges != 0);
	vec3 wa = spin_of(at->a), wb = spin_of(at->b);
	vec3 a1 = vec3_cross(wa, at->edge_a), b1 = vec3_cross(wb, at->edge_b);
	vec3 a2 = vec3_cross(wa, a1), b2 = vec3_cross(wb, b1);
	vec3 rate = vec3_add(vec3_cross(a1, at->edge_b), vec3_cross(at->edge_a, b1));
	vec3 bend = vec3_add(vec3_cross(a2, at->edge_b), vec3_cross(at->edge_a, b2));
	bend = vec3_mul_add(bend, vec3_cross(a1, b1), 2);
	/* N and the normal may be opposite: then n = N/(−|N|), and |N| is negative here. */
	double length = at->edges;
	double grows = vec3_dot(at->normal, rate);
	vec3 n1 = vec3_scale(vec3_mul_sub(rate, at->normal, grows), 1 / length);
	double grows_more = vec3_dot(n1, rate) + vec3_dot(at->normal, bend);
	vec3 n2 = vec3_mul_sub(vec3_mul_sub(bend, n1, 2 * grows), at->normal, grows_more);
	at->normal_rate = n1;
	at->normal_bend = vec3_scale(n2, 1 / length);
}

static void find_frame_rates(struct contact_at *at)
{
	ASSERT(at->options->level == CONSTRAINT_ACCELERATION);
	const struct contact_found *found = at->found;
	vec3 spin = spin_of(found->normal_of == CONTACT_NORMAL_OF_A ? at->a : at->b);
	vec3 line, u;
	switch (found->normal_of) {
	case CONTACT_NORMAL_OF_A:
	case CONTACT_NORMAL_OF_B:
		at->normal_rate = vec3_cross(spin, at->normal);
		at->normal_bend = vec3_cross(spin, at->normal_rate);
		break;
	case CONTACT_NORMAL_OF_EDGES:
		if (at->edges != 0)
			find_edge_rates(at);
		break;
	case CONTACT_NORMAL_OF_CENTRES:
		line = centre_line(at);
		u = vec3_sub(point_velocity(at->b, turn_found(at, at->turn_b, found->ball_b)),
			     point_velocity(at->a, turn_found(at, at->turn_a, found->ball_a)));
		at->normal_rate = frame_rate_unit(line, u);
		break;
	case CONTACT_NORMAL_GIVEN:
		at->normal_rate = found->normal_rate;
		at->normal_bend = vec3_scale(at->normal, -vec3_length_squared(found->normal_rate));
		break;
	}
	vec3 side = row_frame_side(at->normal);
	bool mirrored = !vec3_equal(side, at->normal);
	frame_rate_tangents(side, mirrored ? vec3_negate(at->normal_rate) : at->normal_rate,
			    &at->tangent_rate[0], &at->tangent_rate[1]);
}

/* The friction axis p = c t + s k in the tangent plane, and the rate of its angle against t. */
static void find_axis(struct contact_at *at)
{
	const struct contact_surface *surface = &at->found->surface;
	const struct body_motion *of = surface->axis_of_b ? at->b : at->a;
	vec3 axis = turn_found(at, surface->axis_of_b ? at->turn_b : at->turn_a, surface->axis);
	double c = vec3_dot(axis, at->tangent[0]), s = vec3_dot(axis, at->tangent[1]);
	double square = c * c + s * s, length = scalar_sqrt(square);
	if (!(length > FRICTION_AXIS_LEAST * vec3_length(axis)))
		return;
	at->along[0] = c / length;
	at->along[1] = s / length;
	if (at->options->level != CONSTRAINT_ACCELERATION)
		return;
	vec3 rate = vec3_cross(spin_of(of), axis);
	double c1 = vec3_dot(rate, at->tangent[0]) + vec3_dot(axis, at->tangent_rate[0]);
	double s1 = vec3_dot(rate, at->tangent[1]) + vec3_dot(axis, at->tangent_rate[1]);
	at->swing = (c * s1 - s * c1) / square;
}

static bool has_axis(const struct contact_at *at)
{
	return at->along[0] != 0 || at->along[1] != 0;
}

static struct contact_at contact_at(const struct constraint *self, const struct body_motion *a,
				    const struct body_motion *b,
				    const struct constraint_options *options)
{
	const struct contact_found *found = self->data;
	struct contact_at at = { .constraint = self, .found = found, .options = options };
	at.moved = a != NULL || b != NULL;
	at.a = a != NULL ? a : &found->a;
	at.b = b != NULL ? b : &found->b;
	at.turn_a = quat_mul(at.a->rotation, quat_conjugate(found->a.rotation));
	at.turn_b = quat_mul(at.b->rotation, quat_conjugate(found->b.rotation));
	find_normal(&at);
	row_frame(at.normal, &at.tangent[0], &at.tangent[1]);
	if (options->level == CONSTRAINT_ACCELERATION)
		find_frame_rates(&at);
	at.rough = options->friction != CONSTRAINT_SMOOTH &&
		   !vec3_equal(found->surface.axis, vec3_zero());
	if (at.rough)
		find_axis(&at);
	return at;
}

/* ---- rows of a contact --------------------------------------------------------------------- */

/* One point at these motions: arms, m, from the mass centres to the surface points and to the
 * midpoint. */
struct point_place {
	vec3 on_a, on_b, middle_a, middle_b;
	vec3 core_a,
		core_b; /* as on_a and on_b, but fixed in the bodies (contact_found.radius_a) */
	vec3 apart;	/* D */
	double gap;
};

static struct point_place place_point(const struct contact_at *at,
				      const struct contact_found_point *point)
{
	const struct contact_found *found = at->found;
	vec3 half = vec3_scale(found->normal, 0.5 * point->separation);
	vec3 on_a = vec3_sub(point->arm_a, half), on_b = vec3_add(point->arm_b, half);
	vec3 core_a = vec3_mul_sub(on_a, found->normal, found->radius_a);
	vec3 core_b = vec3_mul_add(on_b, found->normal, found->radius_b);
	if (!at->moved)
		return (struct point_place){ on_a,
					     on_b,
					     point->arm_a,
					     point->arm_b,
					     core_a,
					     core_b,
					     vec3_scale(found->normal, point->separation),
					     point->separation };
	struct point_place place = { .core_a = quat_rotate(at->turn_a, core_a),
				     .core_b = quat_rotate(at->turn_b, core_b) };
	place.on_a = vec3_mul_add(place.core_a, at->normal, found->radius_a);
	place.on_b = vec3_mul_sub(place.core_b, at->normal, found->radius_b);
	vec3 between = vec3_sub(at->b->centre, at->a->centre);
	place.apart = vec3_sub(vec3_add(between, place.on_b), place.on_a);
	place.middle_a = vec3_mul_add(place.on_a, place.apart, 0.5);
	place.middle_b = vec3_mul_sub(place.on_b, place.apart, 0.5);
	place.gap = vec3_dot(at->normal, place.apart);
	if (found->normal_of == CONTACT_NORMAL_OF_CENTRES) {
		vec3 line = vec3_sub(vec3_add(found->b.centre, found->ball_b),
				     vec3_add(found->a.centre, found->ball_a));
		place.gap = vec3_length(centre_line(at)) - (vec3_length(line) - point->separation);
	}
	return place;
}

/* Appends a row with parts on a and b, and its approach above position level. */
static struct constraint_row *add_row(const struct contact_at *at, struct row_list *out,
				      struct spatial on_a, struct spatial on_b)
{
	ASSERT(at->options->level <= CONSTRAINT_ACCELERATION);
	struct constraint_row *row = row_list_row(out);
	row_list_part(out, at->constraint->body_a, on_a);
	row_list_part(out, at->constraint->body_b, on_b);
	if (at->options->level == CONSTRAINT_POSITION)
		return row;
	struct spatial a = { at->a->velocity, at->a->angular_velocity };
	struct spatial b = { at->b->velocity, at->b->angular_velocity };
	row->approach = spatial_dot(on_a, a) + spatial_dot(on_b, b);
	return row;
}

static void add_normal_row(const struct contact_at *at, const struct point_place *place,
			   struct row_list *out)
{
	vec3 n = at->normal;
	enum contact_normal of = at->found->normal_of;
	bool centres = of == CONTACT_NORMAL_OF_CENTRES;
	vec3 ball_a = centres ? turn_found(at, at->turn_a, at->found->ball_a) : vec3_zero();
	vec3 ball_b = centres ? turn_found(at, at->turn_b, at->found->ball_b) : vec3_zero();
	/* At the motions where it was found, the midpoint's arms give the same J with the bits of
	 * every other method. */
	vec3 arm_a = !at->moved ? place->middle_a : centres ? ball_a : place->on_a;
	vec3 arm_b = !at->moved ? place->middle_b : centres ? ball_b : place->on_b;
	struct spatial on_a = spatial_negate(spatial_along(arm_a, n));
	struct spatial on_b = spatial_along(arm_b, n);
	if (at->moved) {
		/* The change of the gap by a turning normal, n'·D, where D is not parallel to n. */
		vec3 across = vec3_mul_sub(place->apart, n, vec3_dot(place->apart, n));
		if (of == CONTACT_NORMAL_OF_A)
			on_a.angular = vec3_add(on_a.angular, vec3_cross(n, across));
		if (of == CONTACT_NORMAL_OF_B)
			on_b.angular = vec3_add(on_b.angular, vec3_cross(n, across));
		if (of == CONTACT_NORMAL_OF_EDGES && at->edges != 0) {
			vec3 by_a = vec3_cross(at->edge_a, vec3_cross(at->edge_b, across));
			vec3 by_b = vec3_cross(at->edge_b, vec3_cross(at->edge_a, across));
			on_a.angular = vec3_mul_add(on_a.angular, by_a, 1 / at->edges);
			on_b.angular = vec3_mul_sub(on_b.angular, by_b, 1 / at->edges);
		}
	}
	struct constraint_row *row = add_row(at, out, on_a, on_b);
	row->set = ROW_POSITIVE;
	row->gap = place->gap;
	row->upper = __builtin_inf();
	if (at->options->level != CONSTRAINT_ACCELERATION)
		return;
	/* gap'' without the bodies' accelerations: of points fixed in the bodies, or of the two centres. */
	arm_a = centres ? ball_a : place->core_a;
	arm_b = centres ? ball_b : place->core_b;
	vec3 turning = vec3_sub(point_turning(at->b, arm_b), point_turning(at->a, arm_a));
	vec3 u = vec3_sub(point_velocity(at->b, arm_b), point_velocity(at->a, arm_a));
	if (centres)
		row->bias = vec3_dot(n, turning) + vec3_dot(at->normal_rate, u);
	else
		row->bias = vec3_dot(n, turning) + 2 * vec3_dot(at->normal_rate, u) +
			    vec3_dot(at->normal_bend, place->apart);
}

/* Slip directions of two friction rows: joint for a cone, separate for a pyramid. With a friction axis those
 * of the rows that are rotated to it. */
static void find_slip(const struct constraint_options *options, const double along[2],
		      struct constraint_row *rows)
{
	double u[2], weighted[2];
	bool rough = rows[0].dynamic_friction > 0 || rows[1].dynamic_friction > 0;
	for (uint32_t k = 0; k < 2; k++)
		u[k] = rows[k].approach - rows[k].wanted;
	if (along[0] != 0 || along[1] != 0) {
		double first = along[0] * u[0] + along[1] * u[1];
		u[1] = along[0] * u[1] - along[1] * u[0];
		u[0] = first;
	}
	for (uint32_t k = 0; k < 2; k++)
		weighted[k] = u[k] * (rough ? rows[k].dynamic_friction : 1);
	ASSERT(options->slip_speed >= 0);
	double speed = scalar_sqrt(u[0] * u[0] + u[1] * u[1]);
	double length = scalar_sqrt(weighted[0] * weighted[0] + weighted[1] * weighted[1]);
	for (uint32_t k = 0; k < 2; k++)
		if (options->friction == CONSTRAINT_PYRAMID)
			rows[k].slip =
				scalar_abs(u[k]) > options->slip_speed ? scalar_sign(u[k]) : 0;
		else
			rows[k].slip = speed > options->slip_speed && length > 0
					       ? weighted[k] / length
					       : 0;
}

static void bound_by_normal(const struct contact_at *at, struct constraint_row *row, double resting,
			    double sliding)
{
	ASSERT(at->options->friction != CONSTRAINT_SMOOTH);
	row->set = at->options->friction == CONSTRAINT_CONE ? ROW_CONE : ROW_PYRAMID;
	row->static_friction = resting;
	row->dynamic_friction = sliding;
}

/* s'' of a tangent's slip s' = t·u without the bodies' accelerations, if a surface is round: its contact
 * point moves by v_b + w_b × core − r n' and not with the material,
 * s'' = t'·u + t·(w_b × (p' − v_b) − w_a × (p' − v_a)). */
static double round_slip_bias(const struct contact_at *at, const struct point_place *place,
			      vec3 axis, vec3 axis_rate, vec3 u)
{
	const struct contact_found *found = at->found;
	bool of_b = found->radius_b > 0;
	vec3 moves = of_b ? vec3_mul_sub(point_velocity(at->b, place->core_b), at->normal_rate,
					 found->radius_b)
			  : vec3_mul_add(point_velocity(at->a, place->core_a), at->normal_rate,
					 found->radius_a);
	vec3 on_b = vec3_cross(spin_of(at->b), vec3_sub(moves, at->b->velocity));
	vec3 on_a = vec3_cross(spin_of(at->a), vec3_sub(moves, at->a->velocity));
	return vec3_dot(axis_rate, u) + vec3_dot(axis, vec3_sub(on_b, on_a));
}

/* J'v of tangent k where there is a friction axis: the tangents turn with the axis in their plane, not
 * with row_frame, and a point of one body passes over the face of the other, which turns, too. */
static double axis_slip_bias(const struct contact_at *at, const struct point_place *place,
			     uint32_t k, vec3 turning, vec3 u)
{
	const struct contact_found *found = at->found;
	vec3 axis = at->tangent[k];
	double swing = k == 0 ? at->swing : -at->swing;
	vec3 rate = vec3_mul_add(at->tangent_rate[k], at->tangent[1 - k], swing);
	if (found->radius_a > 0 || found->radius_b > 0)
		return round_slip_bias(at, place, axis, rate, u);
	vec3 face = at->tangent_rate[k];
	if (found->normal_of == CONTACT_NORMAL_OF_A || found->normal_of == CONTACT_NORMAL_OF_B)
		face = vec3_cross(spin_of(found->normal_of == CONTACT_NORMAL_OF_A ? at->a : at->b),
				  axis);
	return vec3_dot(axis, turning) + vec3_dot(u, rate) + vec3_dot(u, face);
}

/* The place where friction along an axis acts, after a motion: at the point of the body that passes over
 * the other's face. Midway between that point and where it was found, a force that is not along the slip
 * would turn the body. */
static struct point_place place_friction(const struct contact_at *at, struct point_place place)
{
	enum contact_normal of = at->found->normal_of;
	ASSERT(at->moved && has_axis(at));
	if (of == CONTACT_NORMAL_OF_A) {
		place.middle_a = vec3_add(place.on_a, place.apart);
		place.middle_b = place.on_b;
	} else if (of == CONTACT_NORMAL_OF_B) {
		place.middle_a = place.on_a;
		place.middle_b = vec3_sub(place.on_b, place.apart);
	}
	return place;
}

static void add_tangent_rows(const struct contact_at *at, const struct point_place *place,
			     struct row_list *out)
{
	ASSERT(out->row_count > 0 && out->rows[out->row_count - 1].set == ROW_POSITIVE);
	const struct contact_surface *surface = &at->found->surface;
	bool is_round = at->found->radius_a > 0 || at->found->radius_b > 0;
	bool along = at->rough && has_axis(at);
	bool across = at->rough && !along;
	struct constraint_row *first = out->rows + out->row_count;
	vec3 turning = vec3_sub(point_turning(at->b, place->middle_b),
				point_turning(at->a, place->middle_a));
	vec3 u = vec3_sub(point_velocity(at->b, place->middle_b),
			  point_velocity(at->a, place->middle_a));
	for (uint32_t k = 0; k < 2; k++) {
		vec3 axis = at->tangent[k];
		struct constraint_row *row =
			add_row(at, out, spatial_negate(spatial_along(place->middle_a, axis)),
				spatial_along(place->middle_b, axis));
		uint32_t of = across ? 1 : k;
		bound_by_normal(at, row, surface->static_friction[of],
				surface->dynamic_friction[of]);
		row->wanted = vec3_dot(axis, surface->velocity);
		if (at->options->level == CONSTRAINT_ACCELERATION && along)
			row->bias = axis_slip_bias(at, place, k, turning, u);
		else if (at->options->level == CONSTRAINT_ACCELERATION && is_round)
			row->bias = round_slip_bias(at, place, axis, at->tangent_rate[k], u);
		else if (at->options->level == CONSTRAINT_ACCELERATION)
			row->bias = vec3_dot(axis, turning) + 2 * vec3_dot(u, at->tangent_rate[k]);
	}
	if (at->options->level == CONSTRAINT_ACCELERATION)
		find_slip(at->options, at->along, first);
}

/* A row of twist or rolling friction: about the normal or a tangent. */
static void add_turning_row(const struct contact_at *at, vec3 axis, vec3 rate, double friction,
			    struct row_list *out)
{
	ASSERT(friction > 0);
	struct constraint_row *row =
		add_row(at, out, spatial_negate(spatial_about(axis)), spatial_about(axis));
	bound_by_normal(at, row, friction, friction);
	if (at->options->level == CONSTRAINT_ACCELERATION)
		row->bias = vec3_dot(rate, vec3_sub(spin_of(at->b), spin_of(at->a)));
}

static void add_turning_friction(const struct contact_at *at, struct row_list *out)
{
	const struct contact_surface *surface = &at->found->surface;
	if (surface->twist_friction > 0) {
		add_turning_row(at, at->normal, at->normal_rate, surface->twist_friction, out);
		struct constraint_row *row = &out->rows[out->row_count - 1];
		row->set = ROW_PYRAMID;
		if (at->options->level == CONSTRAINT_ACCELERATION &&
		    scalar_abs(row->approach) > at->options->slip_speed)
			row->slip = scalar_sign(row->approach);
	}
	if (!(surface->rolling_friction > 0))
		return;
	for (uint32_t k = 0; k < 2; k++)
		add_turning_row(at, at->tangent[k], at->tangent_rate[k], surface->rolling_friction,
				out);
	if (at->options->level == CONSTRAINT_ACCELERATION)
		find_slip(at->options, (double[2]){ 0, 0 }, &out->rows[out->row_count - 2]);
}

static struct constraint_room contact_room(const struct constraint *self,
					   const struct constraint_options *options)
{
	const struct contact_found *found = self->data;
	uint32_t rows = 1;
	if (options->friction != CONSTRAINT_SMOOTH)
		rows += 2 + (found->surface.twist_friction > 0) +
			2 * (found->surface.rolling_friction > 0);
	return (struct constraint_room){ rows * found->point_count, found->point_count,
					 2 * rows * found->point_count };
}

static void write_contact_rows(const struct constraint *self, uint32_t index,
			       const struct body_motion *a, const struct body_motion *b,
			       const struct constraint_options *options, struct row_list *out)
{
	ASSERT(self->kind == &constraint_contact);
	struct contact_at at = contact_at(self, a, b, options);
	const struct contact_found *found = at.found;
	for (uint32_t p = 0; p < found->point_count; p++) {
		const struct contact_found_point *point = &found->points[p];
		struct point_place place = place_point(&at, point);
		struct row_key key = { found->child_a, found->child_b, point->feature };
		struct row_block *block = row_list_block(out, index, key);
		block->restitution = found->surface.restitution;
		block->along[0] = at.along[0];
		block->along[1] = at.along[1];
		add_normal_row(&at, &place, out);
		if (options->friction == CONSTRAINT_SMOOTH)
			continue;
		if (at.rough && at.moved && has_axis(&at))
			place = place_friction(&at, place);
		add_tangent_rows(&at, &place, out);
		add_turning_friction(&at, out);
	}
}

const struct constraint_kind constraint_contact = {
	.name = "contact",
	.room = contact_room,
	.rows = write_contact_rows,
};
