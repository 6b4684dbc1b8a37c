/* body.h: caches, boxes and lists of one body, shared by the files of dynamics. Private to dynamics
 * and statics; queries of a world read them.
 *
 * A body or placement is a row of its table, in use. No function here allocates or fails: rows, sets and
 * events are reserved before (dynamics_body_reserve). */
#ifndef CAIRN_ENGINE_DYNAMICS_BODY_H
#define CAIRN_ENGINE_DYNAMICS_BODY_H

#include "server/engine/dynamics/dynamics.h"

static inline pose body_pose(const struct tables *tables, uint32_t body)
{
	VALIDATE(body < tables->body.count);
	return pose_make(tables->body.position[body], tables->body.rotation[body]);
}
static inline pose placement_pose(const struct tables *tables, uint32_t placement)
{
	return pose_make(tables->placement.position[placement],
			 tables->placement.rotation[placement]);
}
static inline const struct shape *placement_shape(const struct dynamics *self, uint32_t placement)
{
	return self->shapes[self->tables->placement.shape[placement]];
}
/* True for shapes whose contacts may be found piece by piece: meshes, solids of several parts, fields. */
static inline bool shape_is_divided(const struct shape *shape)
{
	return shape_is_surface(shape) || shape_is_field(shape) || shape_piece_count(shape) > 1;
}
/* A segment or a point with a radius, which is its extent_min. */
static inline bool shape_is_round(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_CAPSULE;
}
static inline struct aabb placement_box(const struct tables *tables, uint32_t placement)
{
	return aabb_make(tables->placement.fat_min[placement],
			 tables->placement.fat_max[placement]);
}

/* Fills the cache of a body that has no contacts yet. */
void body_cache_init(struct dynamics *self, uint32_t body);
/* Adds the body to `awake` or removes it, as its columns say, and its contacts to or from `live`. */
void body_refresh_awake(struct dynamics *self, uint32_t body);
/* Adds its placements' proxies to the broad phase if it is solid, else removes them. */
void body_refresh_proxies(struct dynamics *self, uint32_t body);
/* Marks its placements moved, so that the next step looks for all its pairs again. */
void body_refresh_pairs(struct dynamics *self, uint32_t body);

#endif
