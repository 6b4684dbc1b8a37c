/* body.h: what dynamics' own files share about bodies. Private to dynamics. */
#ifndef CAIRN_ENGINE_DYNAMICS_BODY_H
#define CAIRN_ENGINE_DYNAMICS_BODY_H

#include "server/engine/dynamics/dynamics.h"

static inline pose body_pose(const struct tables *tables, uint32_t body)
{
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
/* Whether contacts may be looked for piece by piece: a mesh, a solid of several parts, a field. */
static inline bool shape_is_divided(const struct shape *shape)
{
	return shape->kind == SHAPE_MESH || shape_is_field(shape) || shape_piece_count(shape) > 1;
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

/* Makes the cache of a body that has no contacts yet. */
void body_cache_init(struct dynamics *self, uint32_t body);
/* Rotation matrix and centre from the columns. */
void body_cache_pose(struct dynamics *self, uint32_t body);
/* Puts the body into `awake` or takes it out, as its columns are, and its contacts into `live`. */
void body_refresh_awake(struct dynamics *self, uint32_t body);
/* Gives its placements' proxies to the broad phase if it is solid and takes them away if not. */
void body_refresh_proxies(struct dynamics *self, uint32_t body);
/* Marks its manifolds stale. */
void body_contacts_stale(struct dynamics *self, uint32_t body);
/* Drops all contacts of a body. */
void body_contacts_drop(struct dynamics *self, uint32_t body);
/* All its pairs are asked again in the next step. */
void body_ask_pairs(struct dynamics *self, uint32_t body);
/* Wakes the sets of the sleepers it touches or is joined to. */
void body_wake_touched(struct dynamics *self, uint32_t body);

#endif
