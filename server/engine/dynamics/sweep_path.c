/* See sweep_path.h. */
#include "server/engine/dynamics/sweep_path.h"

#include "server/engine/collision/time_of_impact.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/one_way.h"

/* m, and of the body's inner radius. Pieces nearer than this touch: a body is stopped this far before an
 * obstacle, so that the contact is there in the next tick. Larger: bodies hover for a tick; smaller: rounding
 * decides which contacts touch at the start. */
#define SWEEP_GAP 5e-4
#define SWEEP_GAP_PART 0.05
/* Of the inner radius. The core is a ball of this radius about the mass centre. */
#define SWEEP_CORE 0.5
/* Of the inner radius. A body that ends less than this deep behind the plane of a hit is not stopped: its
 * contacts stop it. Larger: fast bodies sink in for a tick; smaller: bodies that slide or roll over a floor
 * of many pieces are stopped by the next piece. */
#define SWEEP_GRAZING 0.125
/* Iterations of a search for one pair of pieces. After these the path ends where it is known to be free. */
enum { SWEEP_ITERATIONS = 25 };

/* ---- paths --------------------------------------------------------------------------------- */

/* Adds whole turns to the shorter turn between two rotations, so that the path turns as far as the spin
 * says. */
static void wind(struct sweep_path *path, vec3 spin, double dt)
{
	double most = SWEEP_PARTS_MAX * SWEEP_TURN, whole = vec3_length(spin) * dt;
	if (!(whole > PI))
		return;
	if (path->angle < 1e-3)
		path->axis = vec3_normalize(spin);
	double along = vec3_dot(spin, path->axis) * dt;
	double turns = scalar_floor((along - path->angle) / TWO_PI + 0.5);
	double angle = path->angle + turns * TWO_PI;
	if (scalar_abs(angle) > most) {
		path->wound = true;
		return;
	}
	path->axis = angle < 0 ? vec3_negate(path->axis) : path->axis;
	path->angle = scalar_abs(angle);
}

bool sweep_path_of(const struct dynamics *self, uint32_t body, const struct body_motion *motion,
		   double dt, struct sweep_path *out)
{
	const struct body_cache *cache = &self->bodies.items[body];
	pose from = pose_make(cache->centre, self->tables->body.rotation[body]);
	pose to = pose_make(motion->centre, motion->rotation);
	if (!pose_is_finite(to) || !vec3_is_finite(motion->angular_velocity) ||
	    !(quat_dot(to.rotation, to.rotation) > 0.25) ||
	    vec3_max_component(vec3_abs(to.position)) > LENGTH_MAX)
		return false;
	to.rotation = quat_normalize(to.rotation);
	*out = sweep_path_between(from, to, cache->reach);
	wind(out, motion->angular_velocity, dt);
	return true;
}

struct sweep_path sweep_path_still(const struct dynamics *self, uint32_t body)
{
	const struct body_cache *cache = &self->bodies.items[body];
	pose at = pose_make(cache->centre, self->tables->body.rotation[body]);
	return (struct sweep_path){
		.from = at, .to = at, .axis = vec3_make(1, 0, 0), .reach = cache->reach
	};
}

struct sweep_path sweep_path_between(pose from, pose to, double reach)
{
	struct sweep_path path = { .from = from, .to = to, .reach = reach };
	quat turn = quat_mul(to.rotation, quat_conjugate(from.rotation));
	quat_to_axis_angle(turn, &path.axis, &path.angle);
	return path;
}

pose sweep_path_at(const struct sweep_path *path, double fraction)
{
	VALIDATE(fraction >= 0 && fraction <= 1);
	if (fraction == 0)
		return path->from;
	if (fraction == 1)
		return path->to;
	pose at = path->from;
	at.position = vec3_lerp(path->from.position, path->to.position, fraction);
	if (path->angle > 0) {
		quat turn = quat_from_axis_angle(path->axis, path->angle * fraction);
		at.rotation = quat_normalize(quat_mul(turn, at.rotation));
	}
	return at;
}

void sweep_path_cut(struct sweep_path *path, double fraction)
{
	if (fraction == 1)
		return;
	path->to = sweep_path_at(path, fraction);
	path->angle *= fraction;
}

struct aabb sweep_path_box(const struct sweep_path *path, double from, double to)
{
	vec3 a = vec3_lerp(path->from.position, path->to.position, from);
	vec3 b = vec3_lerp(path->from.position, path->to.position, to);
	return aabb_grow(aabb_make(vec3_min(a, b), vec3_max(a, b)), path->reach + SWEEP_GAP);
}

uint32_t sweep_parts(const struct sweep_path *a, const struct sweep_path *b)
{
	double turn = scalar_max(a->angle, b->angle);
	double parts = scalar_clamp(scalar_ceil(turn / SWEEP_TURN), 1, SWEEP_PARTS_MAX);
	return (uint32_t)parts;
}

/* ---- two placements ------------------------------------------------------------------------ */

/* The piece of a placement and its pose in the frame of its body's mass centre. */
static struct impact_side side_of(const struct dynamics *self, uint32_t placement,
				  const struct motion *motion)
{
	const struct tables *tables = self->tables;
	uint32_t body = placement_body(tables, placement);
	pose at = placement_pose(tables, placement);
	at.position = vec3_sub(at.position, tables->body.centre[body]);
	return (struct impact_side){ { placement_shape(self, placement), IMPACT_WHOLE },
				     at,
				     motion };
}

static bool part_motion(const struct sweep_path *path, uint32_t part, uint32_t parts,
			struct motion *out)
{
	double from = part / (double)parts, to = (part + 1) / (double)parts;
	return motion_between(sweep_path_at(path, from), from, sweep_path_at(path, to), to, out) ==
	       STATUS_OK;
}

void sweep_placements(const struct dynamics *self, const struct sweep_path *path_a, uint32_t a,
		      const struct sweep_path *path_b, uint32_t b, uint32_t part, uint32_t parts,
		      struct sweep_hit *hit)
{
	ASSERT(part < parts);
	struct motion motion_a, motion_b;
	if (!part_motion(path_a, part, parts, &motion_a) ||
	    !part_motion(path_b, part, parts, &motion_b))
		return;
	struct impact_side side_a = side_of(self, a, &motion_a);
	struct impact_side side_b = side_of(self, b, &motion_b);
	double inner = self->bodies.items[placement_body(self->tables, a)].inner;
	struct impact_options options = { .tolerance =
						  scalar_min(SWEEP_GAP, SWEEP_GAP_PART * inner),
					  .iterations_max = SWEEP_ITERATIONS,
					  .core_a = SWEEP_CORE * inner,
					  .one_sided = true };
	/* Before the last part the body goes on turning, so an end on its own side means nothing. */
	if (part + 1 == parts)
		options.grazing = SWEEP_GRAZING * inner;
	/* Of a field only the core is searched, because its surface may have very many triangles. */
	struct shape core = { .kind = SHAPE_SPHERE, .sphere = { SWEEP_CORE * inner } };
	if (shape_is_field(side_a.piece.shape)) {
		side_a.piece.shape = &core;
		side_a.in_frame = pose_identity();
	}
	struct impact_result found;
	enum status status = time_of_impact(&side_a, &side_b, &options, &found);
	if (status != STATUS_OK)
		return; /* two kinds that do not collide */
	hit->limits += found.limits;
	uint32_t body_a = placement_body(self->tables, a), body_b = placement_body(self->tables, b);
	if (found.outcome != IMPACT_APART &&
	    !one_way_ends_path(self, body_a, body_b, found.normal, found.core))
		return;
	if (found.outcome == IMPACT_APART || found.time > hit->fraction ||
	    (found.time == hit->fraction && (hit->fraction == 1 || b > hit->placement)))
		return;
	hit->fraction = found.time;
	hit->placement = b;
	hit->normal = found.normal;
	hit->core = found.core;
	/* A motion is timed in fractions of the path. */
	vec3 origin = motion_at(&motion_b, found.time).position;
	hit->obstacle_way = motion_point_velocity(&motion_b, origin, found.point_b);
}
