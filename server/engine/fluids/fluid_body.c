/* fluid_body.c: the bodies of a fluid over the sub-steps of a tick; see fluid_work.h and fluid.h. */
#include "server/engine/fluids/fluid_work.h"

void fluid_run(struct fluid_work *self, parallel_piece *piece)
{
	ASSERT(self->points.count > 0);
	parallel_run(self->dynamics->parallel, fluid_blocks(self), 1, piece, self);
}

vec3 fluid_body_velocity(const struct fluid_body *body, vec3 at)
{
	vec3 velocity = vec3_mul_add(body->velocity, body->push, body->mass_inv);
	vec3 spin = vec3_add(body->spin, mat3_mul_vec(body->inertia_inv, body->twist));
	return vec3_add(velocity, vec3_cross(spin, vec3_sub(at, body->centre)));
}

void fluid_collect(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->bodies.count; i++)
		self->bodies.items[i].push = self->bodies.items[i].twist = vec3_zero();
	for (uint32_t i = 0; i < self->pushes.count; i++) {
		struct fluid_push *push = &self->pushes.items[i];
		struct fluid_body *body = &self->bodies.items[push->body];
		ASSERT(push->body < self->bodies.count);
		body->push = vec3_add(body->push, push->push);
		body->twist = vec3_add(body->twist, push->twist);
		push->push = push->twist = vec3_zero();
	}
}

void fluid_give(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->bodies.count; i++) {
		struct fluid_body *body = &self->bodies.items[i];
		vec3 turn = mat3_mul_vec(body->inertia_inv, body->twist);
		ASSERT(body->dynamic || body->mass_inv == 0);
		body->velocity = vec3_mul_add(body->velocity, body->push, body->mass_inv);
		body->spin = vec3_add(body->spin, turn);
		body->push_sum = vec3_add(body->push_sum, body->push);
		body->twist_sum = vec3_add(body->twist_sum, body->twist);
		body->push = body->twist = vec3_zero();
	}
}

void fluid_move_bodies(struct fluid_work *self)
{
	double h = self->step;
	ASSERT(h > 0);
	for (uint32_t i = 0; i < self->bodies.count; i++) {
		struct fluid_body *body = &self->bodies.items[i];
		vec3 half = vec3_scale(body->spin, 0.5 * h);
		vec3 way = vec3_scale(body->velocity, h);
		vec3 arm = pose_inverse_point(body->at, body->centre);
		quat turn = quat_normalize(quat_make(1, half.x, half.y, half.z));
		body->centre = vec3_add(body->centre, way);
		body->at.rotation = quat_normalize(quat_mul(turn, body->at.rotation));
		body->at.position = vec3_sub(body->centre, quat_rotate(body->at.rotation, arm));
	}
}
