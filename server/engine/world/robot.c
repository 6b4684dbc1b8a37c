/* robot.c: the bodies that joints link, in reduced coordinates: the questions of engine/articulated/ about a
 * world. */
#include "server/base/heap.h"
#include "server/engine/world/robot_work.h"

#include <string.h>

/* ---- state ------------------------------------------------------------------------------------- */

static void view_links(const struct robot_work *work, struct robot_view *out)
{
	ASSERT(out->links == work->tree.link_count);
	ASSERT(out->links <= ROBOT_LINKS_MAX);
	for (uint32_t i = 0; i < out->links; i++) {
		const struct articulation_link *link = &work->tree.links[i];
		struct robot_view_link *to = &out->link[i];
		*to = (struct robot_view_link){
			.body = work->tables->body.id[work->rows[link->body]],
			.kind = link->kind,
			.axes = (uint8_t)link->count,
		};
		memcpy(to->axis, link->axis, sizeof to->axis);
		if (link->joint != ARTICULATION_NONE)
			to->joint = work->tables->joint.id[work->joint_rows[link->joint]];
		if (link->parent != ARTICULATION_NONE)
			to->parent = out->link[link->parent].body;
	}
}

/* A joint's force on b less those of its rotors, which are part of M. */
static struct spatial without_rotors(const struct tables *tables, uint32_t row,
				     const struct joint *joint, struct spatial force)
{
	double rate = (double)tables->world.rate_num[0] / (double)tables->world.rate_den[0];
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		double impulse = tables->joint.rotor_multiplier[row][axis];
		struct spatial on[2];
		if (impulse == 0)
			continue;
		joint_axis_jacobian(joint, axis, &joint->a, &joint->b, on);
		force = spatial_mul_add(force, on[1], -impulse * rate);
	}
	return force;
}

/* The force of a link's joint along each of its axes: the joint's force on b, as one on the link. */
static void view_forces(const struct robot_work *work, double *out)
{
	const struct articulation *tree = &work->tree;
	ASSERT(out != NULL || tree->axis_count == 0);
	for (uint32_t i = 0; i < tree->link_count; i++) {
		const struct articulation_link *link = &tree->links[i];
		struct spatial on = spatial_zero();
		if (link->joint != ARTICULATION_NONE) {
			const struct joint *joint = &tree->source.joints[link->joint].joint;
			uint32_t row = work->joint_rows[link->joint];
			vec3 force = work->tables->joint.force[row];
			vec3 arm = vec3_sub(joint_anchor_b(joint, &joint->b), link->centre);
			on.linear = force;
			on.angular =
				vec3_add(work->tables->joint.torque[row], vec3_cross(arm, force));
			on = without_rotors(work->tables, row, joint, on);
		}
		for (uint32_t k = link->first; k < link->first + link->count; k++)
			out[k] = spatial_dot(tree->axes[k], on) * (link->reversed ? -1 : 1);
	}
}

static enum status view_state(struct robot_work *work, struct robot_view *out)
{
	uint32_t axes = work->tree.axis_count;
	*out = (struct robot_view){ .links = work->tree.link_count,
				    .axes = axes,
				    .coordinates = articulation_coordinate_count(&work->tree),
				    .closure_rows = work->closures.row_count };
	out->link = heap_alloc((out->links + 1u) * sizeof *out->link);
	out->q = heap_alloc((out->coordinates + 4u * axes + 1u) * sizeof *out->q);
	if (out->link == NULL || out->q == NULL) {
		robot_view_release(out);
		return STATUS_NO_MEMORY;
	}
	out->rates = out->q + out->coordinates;
	out->accelerations = out->rates + axes;
	out->bias = out->accelerations + axes;
	out->forces = out->bias + axes;
	view_links(work, out);
	view_forces(work, out->forces);
	articulation_coordinates(&work->tree, out->q);
	memcpy(out->rates, work->tree.rates, axes * sizeof *out->rates);
	tree_inverse(&work->dynamics, NULL, work->loads, out->bias);
	out->regular = tree_factor(&work->dynamics);
	if (!out->regular) {
		memset(out->accelerations, 0, axes * sizeof *out->accelerations);
		return STATUS_OK;
	}
	closures_factor(&work->closures, &work->dynamics);
	closures_forward(&work->closures, &work->dynamics, NULL, work->loads, out->accelerations);
	out->closure_rank = work->closures.rank;
	out->residual = work->closures.residual;
	return STATUS_OK;
}

/* Initialises the work with one robot. */
static enum status open_one(struct robot_work *work, const struct world *world, body_id body,
			    struct reason *why)
{
	enum status status = robot_work_init(work, world, why);
	return status == STATUS_OK ? robot_work_open(work, body, false) : status;
}

enum status world_robot(const struct world *world, body_id body, struct robot_view *out,
			struct reason *why)
{
	struct robot_work work;
	enum status status = open_one(&work, world, body, why);
	if (status == STATUS_OK)
		status = view_state(&work, out);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	robot_work_release(&work);
	return status;
}

void robot_view_release(struct robot_view *self)
{
	heap_free(self->link);
	heap_free(self->q);
	*self = (struct robot_view){ 0 };
}

/* ---- matrices ---------------------------------------------------------------------------------- */

enum status world_robot_mass(const struct world *world, body_id body, double **matrix,
			     uint32_t *axes, struct reason *why)
{
	struct robot_work work;
	enum status status = open_one(&work, world, body, why);
	uint32_t count = work.tree.axis_count;
	*matrix = NULL;
	if (status == STATUS_OK && count > ROBOT_MATRIX_MAX)
		status = reason_set(why, STATUS_LIMIT, -1, "axes",
				    "the robot has %u axes, a mass matrix at most %u",
				    (unsigned)count, (unsigned)ROBOT_MATRIX_MAX);
	if (status == STATUS_OK) {
		*matrix = heap_alloc(((size_t)count * count + 1) * sizeof **matrix);
		if (*matrix == NULL)
			status = reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
		else
			tree_mass_matrix(&work.dynamics, *matrix);
	}
	*axes = count;
	robot_work_release(&work);
	return status;
}

enum status world_robot_jacobian(const struct world *world, body_id body, vec3 point,
				 double **matrix, uint32_t *axes, struct reason *why)
{
	struct robot_work work;
	*matrix = NULL;
	*axes = 0;
	if (body == 0)
		return reason_set(why, STATUS_UNKNOWN_BODY, -1, "body",
				  "body is 0: a Jacobian is that of a point of one body");
	enum status status = open_one(&work, world, body, why);
	*axes = work.tree.axis_count;
	if (status == STATUS_OK && *axes > ROBOT_JACOBIAN_MAX)
		status = reason_set(why, STATUS_LIMIT, -1, "axes",
				    "the robot has %u axes, a Jacobian at most %u", (unsigned)*axes,
				    (unsigned)ROBOT_JACOBIAN_MAX);
	if (status == STATUS_OK) {
		uint32_t row = dynamics_find_body(&world->dynamics, body);
		*matrix = heap_alloc((6 * (size_t)*axes + 1) * sizeof **matrix);
		if (*matrix == NULL)
			status = reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
		else
			tree_jacobian(&work.tree, work.tree.link_of[work.index[row]], point,
				      *matrix);
	}
	robot_work_release(&work);
	return status;
}
