/* controls.c: see controls.h.
 *
 * A target makes the velocities that take an animated body to it in one tick: straight, and by the shorter
 * turn about a fixed axis. The method moves the body by them like any animated body, so contacts see the
 * right velocity, and it arrives to rounding. The flag BODY_AIMED becomes BODY_ARRIVES when that tick begins;
 * a body that still has BODY_ARRIVES when the next one begins stops.
 *
 * An explosion examines the bodies by ascending row. Its impulse acts at the point of the body's shapes that
 * is nearest to the centre, along the line to it; from within a shape, along the line to the
 * mass centre. A body without shapes is a point at its mass centre.
 */
#include "server/engine/world/controls.h"

#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/row.h"
#include "server/engine/world/movers.h"

/* m. Nearer to the centre of an explosion than this, a body has no direction from it. */
#define EXPLOSION_LEAST 1e-9
/* Of the way to a body's nearest point: a shape that the ray meets only there does not shield it. */
#define SHADOW_LIMIT (1 - 1e-6)

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_body(&context->world->dynamics, (body_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

/* ---- impulses ---------------------------------------------------------------------------------- */

/* The change of spin of a body with locked axes by an angular impulse. */
static void turn_locked(struct body_table *body, uint32_t row, vec3 l, uint32_t locks)
{
	sym3 inverse = locks_inertia_inv(body, row, body->rotation[row], locks);
	body->angular_velocity[row] = vec3_add(body->angular_velocity[row], sym3_apply(inverse, l));
}

static void turn_body(struct world *world, uint32_t row, vec3 l)
{
	struct body_table *body = &world->tables.body;
	uint32_t locks = locks_of(&world->tables, row);
	if (locks & MASS_LOCK_TURNING) {
		turn_locked(body, row, l, locks);
		return;
	}
	const double *inverse = body->inertia_inv[row];
	quat q = body->rotation[row];
	vec3 local = quat_rotate_inverse(q, l);
	vec3 spin = vec3_make(inverse[0] * local.x + inverse[3] * local.y + inverse[5] * local.z,
			      inverse[3] * local.x + inverse[1] * local.y + inverse[4] * local.z,
			      inverse[5] * local.x + inverse[4] * local.y + inverse[2] * local.z);
	body->angular_velocity[row] = vec3_add(body->angular_velocity[row], quat_rotate(q, spin));
}

void controls_turn(struct world *world, uint32_t row, vec3 l)
{
	const struct body_table *body = &world->tables.body;
	struct spatial before = { body->velocity[row], body->angular_velocity[row] };
	turn_body(world, row, l);
	dynamics_body_struck(&world->dynamics, row, before);
}

void controls_push(struct world *world, uint32_t row, vec3 impulse, vec3 arm)
{
	struct body_table *body = &world->tables.body;
	struct spatial before = { body->velocity[row], body->angular_velocity[row] };
	vec3 felt = locks_along(locks_of(&world->tables, row), impulse);
	body->velocity[row] = vec3_mul_add(body->velocity[row], felt, body->mass_inv[row]);
	turn_body(world, row, vec3_cross(arm, impulse));
	dynamics_body_struck(&world->dynamics, row, before);
	dynamics_body_moved(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

/* ---- gravity's factor, speeds ------------------------------------------------------------------ */

enum status check_set_motion(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_motion.body, &body);
}

void controls_set_motion(struct body_table *body, uint32_t row, double gravity_scale,
			 double speed_max, double angular_speed_max)
{
	ASSERT(row < body->count);
	bool scaled = gravity_scale != 1, limited = speed_max > 0 || angular_speed_max > 0;
	body->flags[row] &= (uint8_t) ~(BODY_SCALED | BODY_LIMITED);
	body->flags[row] |= scaled ? BODY_SCALED : 0;
	body->flags[row] |= limited ? BODY_LIMITED : 0;
	body->gravity_scale[row] = scaled ? gravity_scale : 0;
	body->speed_max[row] = speed_max;
	body->angular_speed_max[row] = angular_speed_max;
}

void apply_set_motion(const struct apply_context *context, const struct command *command)
{
	const struct command_SET_MOTION *set = &command->set_motion;
	uint32_t row = row_of(context, set->body);
	dynamics_wake(&context->world->dynamics, row);
	controls_set_motion(&context->world->tables.body, row, set->gravity_scale, set->speed_max,
			    set->angular_speed_max);
}

/* ---- targets ----------------------------------------------------------------------------------- */

/* The velocities from one pose to another in `dt`; `centre`: the mass centre from the origin, body axes. */
static struct spatial velocity_to(pose from, pose to, vec3 centre, double dt)
{
	vec3 way = vec3_sub(pose_point(to, centre), pose_point(from, centre));
	quat turn = quat_mul(to.rotation, quat_conjugate(from.rotation));
	if (turn.w < 0)
		turn = quat_negate(turn);
	vec3 angle = quat_to_rotation_vector(quat_normalize(turn));
	return (struct spatial){ vec3_scale(way, 1 / dt), vec3_scale(angle, 1 / dt) };
}

enum status check_move_to(struct check *check, struct command *command)
{
	struct command_MOVE_TO *to = &command->move_to;
	struct planned_body *body;
	enum status status = plan_find_moving(check, &to->body, &body);
	if (status == STATUS_OK && body->status != BODY_ANIMATED)
		return REFUSE(check, STATUS_STATUS_WRONG, "body",
			      "body %u is dynamic: only an animated body has a target; set_status "
			      "changes that, a drag pulls a dynamic body",
			      body->id);
	if (status == STATUS_OK)
		status = check_no_mover(check, body);
	if (status == STATUS_OK)
		status = check_in_plane(check, to->position, "position");
	if (status == STATUS_OK)
		status = check_about_z(check, vec3_make(to->rotation.x, to->rotation.y, 0),
				       "rotation");
	if (status != STATUS_OK)
		return status;
	double dt = world_dt(check->world);
	struct spatial speed =
		velocity_to(pose_make(body->position, body->rotation),
			    pose_make(to->position, to->rotation), body->mass.centre, dt);
	if (vec3_length(speed.linear) > SPEED_MAX || vec3_length(speed.angular) > ANGULAR_SPEED_MAX)
		return REFUSE(
			check, STATUS_RANGE, "position",
			"the body would move at %.10g m/s and %.10g rad/s to arrive in a tick: "
			"at most %.10g and %.10g; set_pose moves it at once",
			vec3_length(speed.linear), vec3_length(speed.angular), SPEED_MAX,
			ANGULAR_SPEED_MAX);
	if ((body->flags & BODY_FIXED_ROTATION) && !vec3_equal(speed.angular, vec3_zero()))
		return REFUSE(check, STATUS_STATUS_WRONG, "rotation",
			      "flags fix the rotation of body %u: give the rotation that it has",
			      body->id);
	body->velocity = speed.linear;
	body->angular_velocity = speed.angular;
	return STATUS_OK;
}

void apply_move_to(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct body_table *body = &world->tables.body;
	const struct command_MOVE_TO *to = &command->move_to;
	uint32_t row = row_of(context, to->body);
	ASSERT(body->status[row] == BODY_ANIMATED);
	struct spatial speed = velocity_to(pose_make(body->position[row], body->rotation[row]),
					   pose_make(to->position, to->rotation), body->centre[row],
					   world_dt(world));
	body->velocity[row] = speed.linear;
	body->angular_velocity[row] = speed.angular;
	body->flags[row] |= BODY_AIMED;
	dynamics_body_moved(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

static void stop(struct world *world, uint32_t row)
{
	struct body_table *body = &world->tables.body;
	body->velocity[row] = body->angular_velocity[row] = vec3_zero();
	dynamics_body_moved(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

void controls_begin(struct world *world)
{
	const struct bitset *awake = &world->dynamics.awake;
	struct body_table *body = &world->tables.body;
	if (!(dynamics_all_flags(&world->tables) & (BODY_AIMED | BODY_ARRIVES)))
		return;
	for (uint32_t row = bitset_next(awake, 0); row != BITSET_NONE;
	     row = bitset_next(awake, row + 1)) {
		uint8_t flags = body->flags[row];
		if (!(flags & (BODY_AIMED | BODY_ARRIVES)))
			continue;
		bool aimed = (flags & BODY_AIMED) != 0;
		body->flags[row] &= (uint8_t) ~(BODY_AIMED | BODY_ARRIVES);
		body->flags[row] |= aimed ? BODY_ARRIVES : 0;
		if (!aimed)
			stop(world, row);
	}
}

/* ---- explosions -------------------------------------------------------------------------------- */

enum status check_explode(struct check *check, struct command *command)
{
	const struct command_EXPLODE *explode = &command->explode;
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = check_in_plane(check, explode->position, "position");
	if (status != STATUS_OK)
		return status;
	if (!(explode->radius > 0))
		return REFUSE(check, STATUS_RANGE, "radius",
			      "radius is %.10g m: it must be above 0", explode->radius);
	if (explode->core > explode->radius)
		return REFUSE(check, STATUS_RANGE, "core",
			      "core is %.10g m: at most radius, which is %.10g m", explode->core,
			      explode->radius);
	return STATUS_OK;
}

struct shadow {
	const struct world *world;
	vec3 from, way;
	bool falls;
};

static double cast_shadow(uint32_t placement, double fraction_max, void *context)
{
	struct shadow *shadow = context;
	const struct tables *tables = &shadow->world->tables;
	uint32_t row = tables->placement.body[placement] - 1;
	struct query_hit hit;
	if (tables->body.status[row] != BODY_STATIC ||
	    piece_is_sensor(&shadow->world->dynamics, placement))
		return fraction_max;
	pose body = pose_make(tables->body.position[row], tables->body.rotation[row]);
	pose at = pose_mul(body, pose_make(tables->placement.position[placement],
					   tables->placement.rotation[placement]));
	const struct shape *shape = shadow->world->shapes[tables->placement.shape[placement]];
	shadow->falls |=
		shape_ray(shape, &at, shadow->from, shadow->way, SHADOW_LIMIT, &hit) && !hit.inside;
	return shadow->falls ? -1 : fraction_max;
}

/* Whether a static body is between the two points. One that the first point is inside of is not. */
static bool is_shielded(const struct world *world, vec3 from, vec3 to)
{
	struct shadow shadow = { .world = world, .from = from, .way = vec3_sub(to, from) };
	broad_phase_ray(world->dynamics.broad_phase, from, shadow.way, SHADOW_LIMIT, cast_shadow,
			&shadow);
	return shadow.falls;
}

/* The point of a body that is nearest to `centre`, and its distance; false: farther than `reach`. */
static bool nearest_point(const struct world *world, uint32_t row, vec3 centre, double reach,
			  vec3 *point, double *distance)
{
	struct placed_shape shapes[ATTACHMENTS_MAX];
	struct closest_pair pair;
	struct shape dot = { .kind = SHAPE_SPHERE, .sphere = { 0 } };
	struct placed_shape own = { &dot, pose_make(centre, quat_identity()), 0, 0 };
	const struct tables *tables = &world->tables;
	uint32_t count = world_placed(world, tables->body.id[row], shapes, ATTACHMENTS_MAX);
	*point = dynamics_centre(tables, row);
	if (count == 0) {
		*distance = vec3_distance(*point, centre);
		return *distance <= reach;
	}
	if (!placed_closest(&own, 1, shapes, count, reach, &pair))
		return false;
	*distance = scalar_max(pair.distance, 0);
	if (pair.distance > 0)
		*point = pair.b.point;
	return true;
}

/* Whether the boxes of the body's shapes come near; true for a body without shapes. */
static bool comes_near(const struct tables *tables, uint32_t row, const struct aabb *box)
{
	uint32_t p = tables->body.first_placement[row];
	bool near = p == 0;
	for (; p != 0 && !near; p = tables->placement.next[p - 1])
		near = aabb_overlaps(aabb_make(tables->placement.fat_min[p - 1],
					       tables->placement.fat_max[p - 1]),
				     *box);
	return near;
}

static void push_away(struct world *world, uint32_t row, const struct command_EXPLODE *explode)
{
	vec3 point, centre = explode->position;
	double distance, strength = explode->impulse;
	if (!nearest_point(world, row, centre, explode->radius, &point, &distance))
		return;
	vec3 way = vec3_sub(point, centre);
	if (!(vec3_length(way) > EXPLOSION_LEAST) ||
	    (explode->shadow && is_shielded(world, centre, point)))
		return;
	if (distance > explode->core)
		strength *= (explode->radius - distance) / (explode->radius - explode->core);
	controls_push(world, row, vec3_scale(vec3_normalize(way), strength),
		      vec3_sub(point, dynamics_centre(&world->tables, row)));
}

void apply_explode(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct command_EXPLODE *explode = &command->explode;
	const struct body_table *body = &world->tables.body;
	struct aabb box =
		aabb_grow(aabb_make(explode->position, explode->position), explode->radius);
	for (uint32_t row = 0; row < body->count; row++)
		if (body->id[row] != 0 && body->status[row] == BODY_DYNAMIC &&
		    !body->quarantined[row] && !(body->flags[row] & BODY_SENSOR) &&
		    (body->category[row] & explode->mask) != 0 &&
		    comes_near(&world->tables, row, &box))
			push_away(world, row, explode);
}
