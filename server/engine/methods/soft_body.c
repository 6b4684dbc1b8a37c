/* soft_body.c: bodies of the soft step: from the tables, through a sub-step, and back.
 *
 * Over a sub-step of h seconds, with a what forces give and c the damping rate:
 *   v ← (v + h a) / (1 + h c)                 linear and angular alike (implicit in the damping)
 *   x ← x + h v,   q ← exp(h ω) q             as differences from the step's start
 *
 * A body whose inertia differs between axes turns its angular momentum's axis about: I ω' + ω × I ω = 0.
 * Taken explicitly that feeds energy into fast spinning bodies; implicitly, in body axes,
 *   I (ω₁ − ω₀) + h ω₁ × I ω₁ = 0,
 * it takes a little. One Newton step from ω₀ is enough at a sub-step's size:
 *   (I + h ([ω₀]× I − [I ω₀]×)) δ = −h ω₀ × I ω₀,   ω₁ = ω₀ + δ.
 */
#include "server/engine/methods/soft_step.h"

#include "server/engine/dynamics/contact.h"

enum { BODY_GRAIN = 128 };

/* ---- small things ----------------------------------------------------------------------------- */

static lanes lanes_of(vec3 v)
{
	return (lanes){ (float)v.x, (float)v.y, (float)v.z, 0 };
}

static vec3 widen(lanes v)
{
	return vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

static bool is_spherical(const double *t)
{
	double spread = scalar_max(scalar_abs(t[0] - t[1]), scalar_abs(t[1] - t[2]));
	double off = scalar_max(scalar_max(scalar_abs(t[3]), scalar_abs(t[4])), scalar_abs(t[5]));
	return scalar_max(spread, off) <= 1e-6 * t[0];
}

/* ---- from the tables -------------------------------------------------------------------------- */

static void drive_init(const struct soft_step *self, struct soft_drive *drive, uint32_t body,
		       vec3 force, vec3 torque)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct body_table *table = &dynamics->tables->body;
	const mat3 *rotation = &dynamics->bodies.items[body].rotation;
	*drive = (struct soft_drive){ .keep = 1, .spin_keep = 1 };
	drive->dynamic = table->status[body] == BODY_DYNAMIC;
	if (!drive->dynamic)
		return;
	const double *inverse = table->inertia_inv[body];
	drive->mass_inv = (float)table->mass_inv[body];
	mat3 inertia_inv = mat3_rotate_tensor(*rotation, sym3_matrix(sym3_load(inverse)));
	drive->inertia_inv = sym3f_from(sym3_of(inertia_inv));
	drive->acceleration = lanes_of(vec3_scale(force, table->mass_inv[body]));
	drive->spin_acceleration = lanes_of(mat3_mul_vec(inertia_inv, torque));
	double h = self->dt / self->substeps;
	drive->keep = (float)(1 / (1 + h * table->linear_damping[body]));
	drive->spin_keep = (float)(1 / (1 + h * table->angular_damping[body]));
	drive->gyroscopic = !self->planar && inverse[0] != 0 && !is_spherical(table->inertia[body]);
	drive->inertia = sym3f_from(sym3_load(table->inertia[body]));
	quat q = table->rotation[body];
	drive->rotation = (lanes){ (float)q.x, (float)q.y, (float)q.z, (float)q.w };
}

struct body_work {
	struct soft_step *self;
	const vec3 *forces, *torques;
	struct body_motion *motions;
};

static void prepare_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct body_work *work = context;
	struct soft_step *self = work->self;
	const struct body_table *table = &self->dynamics->tables->body;
	for (uint32_t i = first; i < last; i++) {
		uint32_t body = self->rows[i];
		drive_init(self, &self->drives[i], body, work->forces[i], work->torques[i]);
		self->bodies[i + 1] = (struct soft_body){
			.velocity = lanes_of(table->velocity[body]),
			.spin = lanes_of(table->angular_velocity[body]),
			.turn = { 0, 0, 0, 1 },
		};
	}
}

void soft_prepare_bodies(struct soft_step *self)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	uint32_t count = self->step->body_count;
	self->body_count = count;
	self->rows = self->step->bodies;
	self->bodies = ARENA_ARRAY(scratch, struct soft_body, count + 1);
	self->drives = ARENA_ARRAY(scratch, struct soft_drive, count);
	struct arena_mark mark = arena_mark(scratch);
	vec3 *forces = ARENA_ARRAY(scratch, vec3, count);
	vec3 *torques = ARENA_ARRAY(scratch, vec3, count);
	ASSERT(self->bodies != NULL && self->drives != NULL);
	ASSERT(forces != NULL && torques != NULL);
	dynamics_forces(dynamics, self->rows, count, forces, torques);
	self->bodies[0] = (struct soft_body){ .turn = { 0, 0, 0, 1 } };
	struct body_work work = { self, forces, torques, NULL };
	parallel_run(dynamics->parallel, count, BODY_GRAIN, prepare_piece, &work);
	arena_rewind(scratch, mark);
}

/* ---- a sub-step ------------------------------------------------------------------------------- */

static inline vec3f vec3f_of(lanes v)
{
	return vec3f_make(v[0], v[1], v[2]);
}

/* The vector turned by the unit quaternion x y z w. */
static vec3f turn_vector(lanes q, vec3f p)
{
	vec3f v = vec3f_of(q);
	vec3f t = vec3f_scale(vec3f_cross(v, p), 2);
	return vec3f_add(vec3f_mul_add(p, t, q[3]), vec3f_cross(v, t));
}

/* Unit quaternions as plain floats: single lanes of a vector are slow to reach. */
struct quatf {
	float x, y, z, w;
};

static inline struct quatf quatf_of(lanes q)
{
	return (struct quatf){ q[0], q[1], q[2], q[3] };
}

static inline lanes quatf_lanes(struct quatf q)
{
	return (lanes){ q.x, q.y, q.z, q.w };
}

static inline struct quatf quatf_mul(struct quatf a, struct quatf b)
{
	return (struct quatf){ a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
			       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
			       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
			       a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

static inline struct quatf quatf_normalize(struct quatf q)
{
	float scale = 1 / __builtin_sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
	return (struct quatf){ q.x * scale, q.y * scale, q.z * scale, q.w * scale };
}

/* Solves the 3×3 system with columns a, b, c; zero when it is singular. */
static vec3f solve3(vec3f a, vec3f b, vec3f c, vec3f right)
{
	vec3f bc = vec3f_cross(b, c);
	float det = vec3f_dot(a, bc);
	float inverse = det != 0 ? 1 / det : 0;
	return vec3f_make(inverse * vec3f_dot(right, bc),
			  inverse * vec3f_dot(a, vec3f_cross(right, c)),
			  inverse * vec3f_dot(a, vec3f_cross(b, right)));
}

/* The Newton step of the story; columns of the matrix are its products with the axes. */
static lanes gyroscopic(const struct soft_drive *drive, lanes turn, lanes spin, float h)
{
	lanes q = quatf_lanes(quatf_mul(quatf_of(turn), quatf_of(drive->rotation)));
	lanes back = q * (lanes){ -1, -1, -1, 1 };
	vec3f w = turn_vector(back, vec3f_of(spin));
	vec3f momentum = sym3f_apply(&drive->inertia, w);
	vec3f columns[3];
	for (uint32_t i = 0; i < 3; i++) {
		vec3f axis = vec3f_make(i == 0, i == 1, i == 2);
		vec3f along = sym3f_apply(&drive->inertia, axis);
		vec3f change = vec3f_sub(vec3f_cross(w, along), vec3f_cross(momentum, axis));
		columns[i] = vec3f_mul_add(along, change, h);
	}
	vec3f right = vec3f_scale(vec3f_cross(w, momentum), -h);
	vec3f delta = solve3(columns[0], columns[1], columns[2], right);
	vec3f world = turn_vector(q, delta);
	return spin + (lanes){ world.x, world.y, world.z, 0 };
}

static void velocities_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *self = context;
	lanes h = lanes_all(self->h);
	for (uint32_t i = first; i < last; i++) {
		struct soft_body *body = &self->bodies[i + 1];
		const struct soft_drive *drive = &self->drives[i];
		if (drive->gyroscopic)
			body->spin = gyroscopic(drive, body->turn, body->spin, self->h);
		body->velocity = (body->velocity + drive->acceleration * h) * lanes_all(drive->keep);
		body->spin = (body->spin + drive->spin_acceleration * h) *
			     lanes_all(drive->spin_keep);
	}
}

/* exp(h ω) as a quaternion: the series of sine and cosine of half the angle θ to θ⁵, brought to unit
 * length. At a radian a sub-step it is 1e-6 off. */
static inline struct quatf spin_to_turn(vec3f spin, float h)
{
	float xx = h * h * (spin.x * spin.x + spin.y * spin.y + spin.z * spin.z);
	float sine = h * (0.5f - xx * (1.0f / 48.0f) + xx * xx * (1.0f / 3840.0f));
	float cosine = 1.0f - xx * 0.125f + xx * xx * (1.0f / 384.0f);
	return (struct quatf){ spin.x * sine, spin.y * sine, spin.z * sine, cosine };
}

static void positions_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *self = context;
	lanes h = lanes_all(self->h);
	for (uint32_t i = first; i < last; i++) {
		struct soft_body *body = &self->bodies[i + 1];
		body->shift += body->velocity * h;
		struct quatf turn = spin_to_turn(vec3f_of(body->spin), self->h);
		turn = quatf_normalize(quatf_mul(turn, quatf_of(body->turn)));
		body->turn = quatf_lanes(turn);
	}
}

void soft_integrate_velocities(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->body_count, BODY_GRAIN, velocities_piece, self);
}

void soft_integrate_positions(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->body_count, BODY_GRAIN, positions_piece, self);
}

/* ---- back ------------------------------------------------------------------------------------- */

/* What a script said holds exactly: its velocities are not rounded to float. */
static struct body_motion scripted(const struct soft_step *self, uint32_t body)
{
	const struct body_table *table = &self->dynamics->tables->body;
	vec3 centre = self->dynamics->bodies.items[body].centre;
	return (struct body_motion){
		vec3_mul_add(centre, table->velocity[body], self->dt),
		quat_integrate(table->rotation[body], table->angular_velocity[body], self->dt),
		table->velocity[body],
		table->angular_velocity[body],
	};
}

static void motion_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct body_work *work = context;
	struct soft_step *self = work->self;
	const struct dynamics *dynamics = self->dynamics;
	for (uint32_t i = first; i < last; i++) {
		const struct soft_body *soft = &self->bodies[i + 1];
		uint32_t body = self->rows[i];
		if (!self->drives[i].dynamic) {
			work->motions[i] = scripted(self, body);
			continue;
		}
		quat turn = quat_make((double)soft->turn[3], (double)soft->turn[0],
				      (double)soft->turn[1], (double)soft->turn[2]);
		work->motions[i] = (struct body_motion){
			vec3_add(dynamics->bodies.items[body].centre, widen(soft->shift)),
			quat_mul(turn, dynamics->tables->body.rotation[body]),
			widen(soft->velocity),
			widen(soft->spin),
		};
	}
}

void soft_store_bodies(struct soft_step *self)
{
	struct dynamics *dynamics = self->dynamics;
	struct body_motion *motions =
		ARENA_ARRAY(&dynamics->scratch, struct body_motion, self->body_count);
	ASSERT(motions != NULL);
	struct body_work work = { self, NULL, NULL, motions };
	parallel_run(dynamics->parallel, self->body_count, BODY_GRAIN, motion_piece, &work);
	step_store_all(self->step, motions);
}
