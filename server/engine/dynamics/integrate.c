/* integrate.c: motion of one body over one step.
 *
 * Linear: v' = a − c v has a closed form. With z = −c t, φ₁ = (e^z − 1)/z and φ₂ = (φ₁ − 1)/z,
 *   v(t) = e^z v + t φ₁ a,   x(t) = x + t φ₁ v + t² φ₂ a.
 * A body with equal moments of inertia turns by the same form, as does one that turns about one axis.
 *
 * For a body of uneven inertia the state is its angular momentum L = I(q) ω, which torque and
 * damping change and turning does not. Without torque it turns by the midpoint rule with L fixed,
 *   q½ = exp(h/2 ω) q,   q' = exp(h I(q½)⁻¹ L) q,   ω' = I(q')⁻¹ L,
 * so angular momentum is kept to rounding. Energy E(q) = ½ L·I(q)⁻¹L has an error of second order,
 * which a turn δ about a = L×ω/|L×ω| removes: dE/dδ = −|L×ω|, two or three Newton steps. If L and ω
 * are parallel (about a principal axis), E does not depend on small turns and needs no correction.
 */
#include "server/engine/dynamics/integrate.h"

#include "server/base/inline.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/math/trig.h"

mat3 integrate_inertia_inv(const struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	uint32_t locks = locks_of(self->tables, body);
	if (locks & MASS_LOCK_TURNING)
		return sym3_matrix(locks_inertia_inv(&self->tables->body, body,
						     self->tables->body.rotation[body], locks));
	return mat3_rotate_tensor(self->bodies.items[body].rotation,
				  sym3_matrix(sym3_load(self->tables->body.inertia_inv[body])));
}

/* 1. Moments of inertia that differ by less than this part count as equal; the angular momentum
 * then has a relative error of the same size. Smaller: rounding of a cube's inertia makes it
 * uneven, which costs time. */
#define EVEN 1e-13

static bool is_uneven(const struct dynamics *self, uint32_t body)
{
	const struct body_table *table = &self->tables->body;
	sym3 inverse = sym3_load(table->inertia_inv[body]), t = sym3_load(table->inertia[body]);
	if (t.xx == t.yy && t.yy == t.zz && t.xy == 0 && t.yz == 0 && t.zx == 0)
		return false; /* a quick test: many bodies are balls or cubes */
	if (table->status[body] != BODY_DYNAMIC || self->tables->world.planar[0] ||
	    !(sym3_trace(inverse) > 0) || locks_of(self->tables, body) & MASS_LOCK_TURNING)
		return false;
	double spread = scalar_max(scalar_abs(t.xx - t.yy), scalar_abs(t.yy - t.zz));
	double off = scalar_max(scalar_max(scalar_abs(t.xy), scalar_abs(t.yz)), scalar_abs(t.zx));
	return scalar_max(spread, off) > EVEN * t.xx;
}

/* ---- velocity ------------------------------------------------------------------------------ */

enum { SERIES_TERMS = 20 };

struct damped integrate_decay(double rate, double time)
{
	ASSERT(rate >= 0 && time >= 0);
	double z = -rate * time, one, two = 1;
	if (z < -1) {
		double keep = trig_exp(z);
		one = (keep - 1) / z;
		two = (one - 1) / z;
		return (struct damped){ keep, time * one, time * time * two };
	}
	/* φ₂ = Σ z^k/(k+2)!, because the closed forms lose digits by cancellation. */
	for (int k = SERIES_TERMS; k > 2; k--)
		two = 1 + z * two / k;
	two *= 0.5;
	one = 1 + z * two;
	return (struct damped){ 1 + z * one, time * one, time * time * two };
}

static vec3 clamp_vector(vec3 v, double most)
{
	ASSERT(most > 0);
	double square = vec3_length_squared(v);
	return square > most * most ? vec3_scale(v, most / scalar_sqrt(square)) : v;
}

/* Reduces both, so that v and keep v + gain a are at most `most` long. */
static void limit_fast(vec3 *velocity, vec3 *acceleration, struct damped d, double most)
{
	*velocity = clamp_vector(*velocity, most);
	vec3 kept = vec3_scale(*velocity, d.keep);
	vec3 after = vec3_mul_add(kept, *acceleration, d.gain);
	if (vec3_length_squared(after) > most * most)
		*acceleration = vec3_scale(vec3_sub(clamp_vector(after, most), kept), 1 / d.gain);
}

/* The same; the squares tell of most motions that they are slow. */
static inline void limit_speed(vec3 *velocity, vec3 *acceleration, struct damped d, double most)
{
	double fast = vec3_length_squared(*velocity);
	double faster = vec3_length_squared(*acceleration) * d.gain * d.gain;
	if (!(scalar_max(fast, faster) <= 0.25 * most * most))
		limit_fast(velocity, acceleration, d, most);
}

/* A body with locks starts without locked components of velocity and acceleration. */
static void lock_start(const struct body_table *table, uint32_t body,
		       const struct body_motion *from, const struct force_sum *sum, uint32_t locks,
		       struct body_start *start)
{
	ASSERT(locks != 0);
	start->velocity.linear = locks_along(locks, start->velocity.linear);
	start->velocity.angular = locks_about(locks, start->velocity.angular);
	start->acceleration.linear = locks_along(locks, start->acceleration.linear);
	if (locks & MASS_LOCK_TURNING)
		start->acceleration.angular = locks_accelerate(
			table, body, from->rotation, start->velocity.angular, sum->torque, locks);
}

struct body_start integrate_start_at(const struct dynamics *self, uint32_t body,
				     const struct body_motion *from, const struct force_sum *sum,
				     double dt)
{
	ASSERT(body < self->tables->body.count);
	ASSERT(dt >= 0);
	const struct body_table *table = &self->tables->body;
	struct body_start start = { { from->velocity, from->angular_velocity },
				    spatial_zero(),
				    is_uneven(self, body) };
	if (table->status[body] != BODY_DYNAMIC)
		return start;
	struct spatial *a = &start.acceleration;
	a->linear = vec3_mul_add(sum->acceleration, sum->force, table->mass_inv[body]);
	if (!vec3_equal(sum->torque, vec3_zero())) {
		mat3 inverse = mat3_rotate_tensor(mat3_from_quat(from->rotation),
						  sym3_matrix(sym3_load(table->inertia_inv[body])));
		a->angular = mat3_mul_vec(inverse, sum->torque);
	}
	uint32_t locks = locks_of(self->tables, body);
	if (locks != 0)
		lock_start(table, body, from, sum, locks, &start);
	limit_speed(&start.velocity.linear, &a->linear,
		    integrate_damped(table->linear_damping[body], dt),
		    dynamics_speed_max(self->tables, body));
	limit_speed(&start.velocity.angular, &a->angular,
		    integrate_damped(table->angular_damping[body], dt),
		    dynamics_angular_speed_max(self->tables, body));
	return start;
}

struct body_start integrate_start(const struct dynamics *self, uint32_t body,
				  const struct force_sum *sum, double dt)
{
	struct body_motion from = dynamics_motion(self, body);
	return integrate_start_at(self, body, &from, sum, dt);
}

struct spatial integrate_velocity(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt)
{
	ASSERT(body < self->tables->body.count);
	const struct body_table *table = &self->tables->body;
	if (table->status[body] != BODY_DYNAMIC)
		return start->velocity;
	struct damped linear = integrate_damped(table->linear_damping[body], dt);
	struct damped angular = integrate_damped(table->angular_damping[body], dt);
	vec3 v = vec3_scale(start->velocity.linear, linear.keep);
	vec3 w = vec3_scale(start->velocity.angular, angular.keep);
	return (struct spatial){ vec3_mul_add(v, start->acceleration.linear, linear.gain),
				 vec3_mul_add(w, start->acceleration.angular, angular.gain) };
}

/* ---- turning ------------------------------------------------------------------------------- */

/* A rotation of a body and its spin there, I⁻¹ L. */
struct turned {
	quat q;
	vec3 spin;
};

ALWAYS_INLINE struct turned turn_at(quat q, sym3 inertia_inv, vec3 momentum)
{
	return (struct turned){ q, integrate_tensor_at(inertia_inv, q, momentum) };
}

/* Turns q until ½ L·ω is `energy` again, to rounding or at most three Newton steps. */
ALWAYS_INLINE struct turned restore_energy(quat q, sym3 inertia_inv, vec3 momentum, double energy)
{
	struct turned now = turn_at(q, inertia_inv, momentum);
	for (int i = 0; i < 3; i++) {
		double too_much = 0.5 * vec3_dot(momentum, now.spin) - energy;
		vec3 slope = vec3_cross(momentum, now.spin);
		double steep = vec3_length_squared(slope);
		/* L and ω are nearly parallel: E has almost no slope, and no small turn changes it. */
		if (!(steep >
		      1e-12 * vec3_length_squared(momentum) * vec3_length_squared(now.spin)))
			return now;
		if (scalar_abs(too_much) <= 1e-15 * energy)
			return now;
		double angle = scalar_clamp(too_much / scalar_sqrt(steep), -0.1, 0.1);
		q = quat_integrate(now.q, vec3_scale(slope, 1 / scalar_sqrt(steep)), angle);
		now = turn_at(q, inertia_inv, momentum);
	}
	return now;
}

/* One step of the midpoint rule, with its energy restored. */
ALWAYS_INLINE struct turned turn_midpoint(struct turned from, sym3 inertia_inv, vec3 momentum,
					  double energy, double time)
{
	quat middle = quat_integrate(from.q, from.spin, 0.5 * time);
	quat q = quat_integrate(from.q, integrate_tensor_at(inertia_inv, middle, momentum), time);
	return restore_energy(quat_normalize(q), inertia_inv, momentum, energy);
}

/* rad. The longest turn in one step of the midpoint rule: beyond, Newton may not restore the energy. */
#define TURN_MAX 0.5
/* The most midpoint steps in one call: bounds the cost at any spin. */
#define PIECES_MAX (INTEGRATE_TURN_MAX / TURN_MAX)

ALWAYS_INLINE struct turned turn_in_parts(struct turned from, sym3 inertia_inv, vec3 momentum,
					  double energy, double time)
{
	double pieces =
		scalar_min(1 + scalar_floor(vec3_length(from.spin) * time / TURN_MAX), PIECES_MAX);
	ASSERT(pieces <= PIECES_MAX);
	for (double i = 0; i < pieces; i++)
		from = turn_midpoint(from, inertia_inv, momentum, energy, time / pieces);
	return from;
}

quat integrate_turn(quat q, sym3 inertia_inv, vec3 momentum, double time)
{
	struct turned from = turn_at(q, inertia_inv, momentum);
	double energy = 0.5 * vec3_dot(momentum, from.spin);
	return turn_in_parts(from, inertia_inv, momentum, energy, time).q;
}

/* Half of the change of L by torque and damping before each part's turn, half after (Strang
 * splitting). */
static void turn_uneven(const struct dynamics *self, uint32_t body, const struct body_start *start,
			double dt, uint32_t pieces, struct body_motion *motion)
{
	ASSERT(pieces >= 1);
	const struct body_table *table = &self->tables->body;
	sym3 inertia = sym3_load(table->inertia[body]);
	sym3 inverse = sym3_load(table->inertia_inv[body]);
	quat q = motion->rotation;
	double h = dt / pieces;
	struct damped half = integrate_damped(table->angular_damping[body], 0.5 * h);
	vec3 momentum = integrate_tensor_at(inertia, q, start->velocity.angular);
	vec3 torque = integrate_tensor_at(inertia, q, start->acceleration.angular);
	bool still = vec3_equal(momentum, vec3_zero()) && vec3_equal(torque, vec3_zero());
	for (uint32_t i = 0; i < pieces && !still; i++) {
		momentum = vec3_mul_add(vec3_scale(momentum, half.keep), torque, half.gain);
		q = integrate_turn(q, inverse, momentum, h);
		momentum = vec3_mul_add(vec3_scale(momentum, half.keep), torque, half.gain);
	}
	motion->rotation = q;
	motion->angular_velocity = integrate_tensor_at(inverse, q, momentum);
}

struct body_motion integrate_free_at(const struct dynamics *self, uint32_t body,
				     const struct body_motion *from, const struct body_start *start,
				     double dt, uint32_t pieces)
{
	ASSERT(body < self->tables->body.count);
	ASSERT(dt >= 0 && pieces >= 1);
	const struct body_table *table = &self->tables->body;
	bool dynamic = table->status[body] == BODY_DYNAMIC;
	struct damped linear = integrate_damped(dynamic ? table->linear_damping[body] : 0, dt);
	struct damped angular = integrate_damped(dynamic ? table->angular_damping[body] : 0, dt);
	struct spatial after = integrate_velocity(self, body, start, dt);
	vec3 way = vec3_scale(start->velocity.linear, linear.gain);
	way = vec3_mul_add(way, start->acceleration.linear, linear.rise);
	struct body_motion motion = { .centre = vec3_add(from->centre, way),
				      .rotation = from->rotation,
				      .velocity = after.linear,
				      .angular_velocity = after.angular };
	if (start->uneven) {
		turn_uneven(self, body, start, dt, pieces, &motion);
		return motion;
	}
	vec3 turn = vec3_scale(start->velocity.angular, angular.gain);
	turn = vec3_mul_add(turn, start->acceleration.angular, angular.rise);
	if (!vec3_equal(turn, vec3_zero()))
		motion.rotation = quat_integrate(motion.rotation, turn, 1);
	return motion;
}

struct body_motion integrate_free(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt, uint32_t pieces)
{
	struct body_motion from = dynamics_motion(self, body);
	return integrate_free_at(self, body, &from, start, dt, pieces);
}

/* ---- with constraints ---------------------------------------------------------------------- */

struct body_motion integrate_motion(const struct dynamics *self, uint32_t body,
				    const struct body_motion *start, struct spatial velocity,
				    struct spatial by, double dt)
{
	ASSERT(body < self->tables->body.count);
	const struct body_table *table = &self->tables->body;
	struct body_motion motion = { .centre = vec3_mul_add(start->centre, by.linear, dt),
				      .velocity = velocity.linear,
				      .angular_velocity = velocity.angular };
	sym3 inverse = sym3_load(table->inertia_inv[body]);
	if (table->status[body] != BODY_DYNAMIC || self->tables->world.planar[0] ||
	    !(sym3_trace(inverse) > 0) || locks_of(self->tables, body) & MASS_LOCK_TURNING) {
		motion.rotation = quat_integrate(start->rotation, by.angular, dt);
		return motion;
	}
	sym3 inertia = sym3_load(table->inertia[body]);
	vec3 momentum = integrate_tensor_at(inertia, start->rotation, velocity.angular);
	double energy = 0.5 * vec3_dot(momentum, velocity.angular);
	/* The removal of penetration turns the body first; it adds no velocity. */
	vec3 push = vec3_sub(by.angular, velocity.angular);
	quat q = vec3_equal(push, vec3_zero())
			 ? quat_normalize(quat_mul(quat_identity(), start->rotation))
			 : quat_integrate(start->rotation, push, dt);
	struct turned to =
		turn_in_parts(turn_at(q, inverse, momentum), inverse, momentum, energy, dt);
	motion.rotation = to.q;
	motion.angular_velocity = to.spin;
	return motion;
}
