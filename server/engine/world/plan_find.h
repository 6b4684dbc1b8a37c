/* plan_find.h: finds the bodies, shapes, joints and fields that a command names, in the plan. Private to the
 * checks of commands. */
#ifndef CAIRN_ENGINE_WORLD_PLAN_FIND_H
#define CAIRN_ENGINE_WORLD_PLAN_FIND_H

#include "server/engine/world/plan.h"

/* One command being checked. */
struct check {
	struct world *world;
	struct batch_plan *plan;
	uint32_t index;
	bool planar;
	struct reason *why;
};

#define REFUSE(check, status, field, ...)                                                          \
	reason_set((check)->why, (status), (check)->index, (field), __VA_ARGS__)

/* Keys of the plan's index. They differ for items of different kinds with equal ids. */
uint64_t plan_body_key(body_id id);
uint64_t plan_shape_key(shape_id id);
uint64_t plan_joint_key(joint_id id);
uint64_t plan_field_key(field_id id);
uint64_t plan_system_key(system_id id);
void plan_index_put(struct check *check, uint64_t key, uint32_t value);

/* The body, the shape with this id after the commands checked so far, or NULL; borrowed from the plan. */
struct planned_body *plan_body(struct check *check, body_id id);
struct planned_shape *plan_shape(struct check *check, shape_id id);

/* Each replaces a back reference in *id by the id it refers to and looks it up. On failure fills
 * the reason: BACK_REFERENCE, UNKNOWN_BODY, UNKNOWN_SHAPE, UNKNOWN_JOINT, UNKNOWN_FIELD,
 * UNKNOWN_PARTICLES,
 * NOT_OWNER. */
MUST_CHECK enum status plan_find_body(struct check *check, int64_t *id, struct planned_body **body);
MUST_CHECK enum status plan_find_named_body(struct check *check, int64_t *id,
					    struct planned_body **body, const char *field);
MUST_CHECK enum status plan_find_joint(struct check *check, int64_t *id,
				       struct planned_joint **joint, const char *field);
MUST_CHECK enum status plan_find_field(struct check *check, int64_t *id,
				       struct planned_field **field);
MUST_CHECK enum status plan_find_system(struct check *check, int64_t *id,
					struct planned_system **system);
MUST_CHECK enum status plan_find_named_system(struct check *check, int64_t *id,
					      struct planned_system **system, const char *field);
MUST_CHECK enum status plan_find_shape(struct check *check, int64_t *id,
				       struct planned_shape **shape, const char *field);
/* A body that may be given velocity; one that a force or an impulse may act on, which changes
 * nothing that the plan knows of it, so that no copy is made. Also QUARANTINED, STATUS_WRONG. */
MUST_CHECK enum status plan_find_moving(struct check *check, int64_t *id,
					struct planned_body **body);
MUST_CHECK enum status plan_find_pushed(struct check *check, int64_t *id);

/* Rules that hold for commands of several kinds (commands_check.c): a player may not use the command;
 * a vector of a planar world is in the plane; an angular one is about z. */
MUST_CHECK enum status check_world_command(struct check *check);
MUST_CHECK enum status check_in_plane(struct check *check, vec3 v, const char *field);
MUST_CHECK enum status check_about_z(struct check *check, vec3 v, const char *field);
MUST_CHECK enum status check_rotation_plane(struct check *check, quat q, const char *field);

#endif
