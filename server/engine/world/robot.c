/* robot.c: the bodies that joints link, in reduced coordinates: the questions of engine/articulated/ about a
 * world. */
#include "server/base/heap.h"
#include "server/engine/articulated/closure.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/world/world.h"

#include <string.h>

struct robot_work {
	const struct world *world;
	const struct tables *tables;
	uint32_t *rows;	 /* of its bodies, ascending */
	uint32_t *index; /* by row of the body table; ARTICULATION_NONE: another body */
	uint32_t *joint_rows;
	struct body_motion *motions;
	struct mass_body *masses;
	struct articulation_joint *joints;
	struct force_sum *sums;
	struct spatial *loads; /* by link */
	uint32_t count, joint_count;
	struct articulation tree;
	struct tree_dynamics dynamics;
	struct closures closures;
	struct reason *why;
};

static bool body_moves(const struct tables *tables, uint32_t row)
{
	ASSERT(row < tables->body.count);
	return tables->body.id[row] != 0 && tables->body.status[row] == BODY_DYNAMIC &&
	       tables->body.mass_inv[row] > 0;
}

static void add_body(struct robot_work *work, uint32_t row)
{
	ASSERT(work->index[row] == ARTICULATION_NONE);
	work->index[row] = 0;
	work->rows[work->count++] = row;
}

/* The bodies that joints link with `first`; they are numbered by rows afterwards. */
static void follow_joints(struct robot_work *work, uint32_t first)
{
	const struct tables *tables = work->tables;
	add_body(work, first);
	for (uint32_t i = 0; i < work->count; i++)
		for (uint32_t e = joint_first(tables, work->rows[i]); e != DYNAMICS_NONE;
		     e = joint_next(tables, e)) {
			uint32_t other = joint_other(tables, e);
			if (other != DYNAMICS_NONE && work->index[other] == ARTICULATION_NONE &&
			    body_moves(tables, other))
				add_body(work, other);
		}
}

static enum status find_bodies(struct robot_work *work, body_id body)
{
	const struct tables *tables = work->tables;
	uint32_t bodies = tables->body.count;
	work->rows = heap_alloc((bodies + 1u) * sizeof *work->rows);
	work->index = heap_alloc((bodies + 1u) * sizeof *work->index);
	if (work->rows == NULL || work->index == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < bodies; row++)
		work->index[row] = ARTICULATION_NONE;
	uint32_t first = body != 0 ? dynamics_find_body(&work->world->dynamics, body) : 0;
	if (body != 0 && (first == DYNAMICS_NONE || body == BODY_WALLS))
		return reason_set(work->why, STATUS_UNKNOWN_BODY, -1, "body", "there is no body %u",
				  (unsigned)body);
	if (body != 0 && !body_moves(tables, first))
		return reason_set(work->why, STATUS_RANGE, -1, "body",
				  "body %u does not move by forces: ask for a dynamic body of the "
				  "robot",
				  (unsigned)body);
	if (body != 0)
		follow_joints(work, first);
	work->count = 0;
	for (uint32_t row = 0; row < bodies; row++) {
		if (body == 0 ? !body_moves(tables, row) : work->index[row] == ARTICULATION_NONE)
			continue;
		work->index[row] = work->count;
		work->rows[work->count++] = row;
	}
	if (work->count <= ROBOT_LINKS_MAX)
		return STATUS_OK;
	return reason_set(
		work->why, STATUS_LIMIT, -1, "links",
		"%u bodies are linked, one answer has at most %u: ask for one robot of the "
		"world by one of its bodies",
		(unsigned)work->count, (unsigned)ROBOT_LINKS_MAX);
}

static uint32_t end_of(const struct robot_work *work, uint32_t row, uint32_t side)
{
	ASSERT(side < 2);
	uint32_t body = joint_body(work->tables, row, side);
	return body == DYNAMICS_NONE ? ARTICULATION_NONE : work->index[body];
}

/* The joints of its bodies, each once, by rows. */
static enum status find_joints(struct robot_work *work)
{
	const struct joint_table *table = &work->tables->joint;
	work->joint_rows = heap_alloc((table->count + 1u) * sizeof *work->joint_rows);
	work->joints = heap_alloc((table->count + 1u) * sizeof *work->joints);
	if (work->joint_rows == NULL || work->joints == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->id[row] == 0 || !joint_may_act(work->tables, row))
			continue;
		uint32_t a = end_of(work, row, 0), b = end_of(work, row, 1);
		if (a == ARTICULATION_NONE && b == ARTICULATION_NONE)
			continue;
		struct articulation_joint *to = &work->joints[work->joint_count];
		joint_from_tables(&work->world->dynamics, row, 0, &to->joint);
		to->body[0] = a;
		to->body[1] = b;
		work->joint_rows[work->joint_count++] = row;
	}
	return STATUS_OK;
}

/* Motions, masses, and forces that do not come from joints and contacts. */
static enum status find_motions(struct robot_work *work)
{
	uint32_t count = work->count;
	ASSERT(count <= ROBOT_LINKS_MAX);
	work->motions = heap_alloc((count + 1u) * sizeof *work->motions);
	work->masses = heap_alloc((count + 1u) * sizeof *work->masses);
	work->sums = heap_alloc_zero((count + 1u) * sizeof *work->sums);
	work->loads = heap_alloc((count + 1u) * sizeof *work->loads);
	if (work->motions == NULL || work->masses == NULL || work->sums == NULL ||
	    work->loads == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		work->motions[i] = dynamics_motion(&work->world->dynamics, work->rows[i]);
	mass_bodies_from_tables(work->tables, work->rows, count, work->motions, work->masses);
	force_all(&work->world->dynamics, work->rows, count, 0, work->sums);
	return STATUS_OK;
}

static enum status make_tree(struct robot_work *work)
{
	const struct articulation_source source = { work->motions, work->masses, work->joints,
						    work->count, work->joint_count };
	enum status status = articulation_make(&work->tree, &source, work->why);
	if (status == STATUS_UNSUPPORTED) {
		uint32_t row = work->rows[work->why != NULL ? work->why->index : 0];
		return reason_set(
			work->why, status, -1, "locks",
			"the locks of body %u hold a part of an axis of its joint: reduced "
			"coordinates need bodies without locks, or a planar world whose "
			"joints stay in the plane",
			(unsigned)work->tables->body.id[row]);
	}
	if (status == STATUS_OK)
		status = tree_dynamics_make(&work->dynamics, &work->tree);
	if (status == STATUS_OK)
		status = closures_make(&work->closures, &work->tree, work->why);
	for (uint32_t i = 0; status == STATUS_OK && i < work->tree.link_count; i++) {
		uint32_t body = work->tree.links[i].body;
		const struct force_sum *sum = &work->sums[body];
		double mass = work->tables->body.mass[work->rows[body]];
		work->loads[i] =
			(struct spatial){ vec3_mul_add(sum->force, sum->acceleration, mass),
					  sum->torque };
	}
	return status;
}

static enum status open_robot(struct robot_work *work, const struct world *world, body_id body,
			      struct reason *why)
{
	*work = (struct robot_work){ .world = world, .tables = &world->tables, .why = why };
	enum status status = find_bodies(work, body);
	if (status == STATUS_OK)
		status = find_joints(work);
	if (status == STATUS_OK)
		status = find_motions(work);
	if (status == STATUS_OK)
		status = make_tree(work);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	return status;
}

static void close_robot(struct robot_work *work)
{
	closures_release(&work->closures);
	tree_dynamics_release(&work->dynamics);
	articulation_release(&work->tree);
	heap_free(work->rows);
	heap_free(work->index);
	heap_free(work->joint_rows);
	heap_free(work->motions);
	heap_free(work->masses);
	heap_free(work->joints);
	heap_free(work->sums);
	heap_free(work->loads);
}

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

static enum status view_state(struct robot_work *work, struct robot_view *out)
{
	uint32_t axes = work->tree.axis_count;
	*out = (struct robot_view){ .links = work->tree.link_count,
				    .axes = axes,
				    .coordinates = articulation_coordinate_count(&work->tree),
				    .closure_rows = work->closures.row_count };
	out->link = heap_alloc((out->links + 1u) * sizeof *out->link);
	out->q = heap_alloc((out->coordinates + 3u * axes + 1u) * sizeof *out->q);
	if (out->link == NULL || out->q == NULL) {
		robot_view_release(out);
		return STATUS_NO_MEMORY;
	}
	out->rates = out->q + out->coordinates;
	out->accelerations = out->rates + axes;
	out->bias = out->accelerations + axes;
	view_links(work, out);
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

enum status world_robot(const struct world *world, body_id body, struct robot_view *out,
			struct reason *why)
{
	struct robot_work work;
	enum status status = open_robot(&work, world, body, why);
	if (status == STATUS_OK)
		status = view_state(&work, out);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	close_robot(&work);
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
	enum status status = open_robot(&work, world, body, why);
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
	close_robot(&work);
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
	enum status status = open_robot(&work, world, body, why);
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
	close_robot(&work);
	return status;
}
