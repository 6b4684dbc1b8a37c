/* pile.c: `pile`: a heap of spheres and polyhedra comes to rest in a handful of steps, without overlap at any
 * instant (papers P-01, P-02, P-18, P-19; position-based physics).
 *
 * The state is places alone. A tick is one step: every pair that may meet gets a half-space that keeps
 * it apart, which makes the permitted displacements convex, and the bodies go to the place of least
 * energy in it, by a linear programme (pile_solve.c). As the set is convex, everything on the straight
 * way there is permitted as well, so pictures between two ticks are free of overlap. Energy never
 * grows. When no permitted displacement lowers it, the bodies are at rest, and the multipliers of the
 * programme are forces that balance them: the proof.
 *
 * Time plays no part: the length of a tick, mass as inertia and damping change nothing, velocities read
 * as 0. Gravity, constant forces, a wind that is everywhere and attractors are potentials
 * (pile_potential.c). Bodies move without turning. What has no meaning here (velocities, impulses, torques,
 * other force fields, particles, animated bodies) is refused by name.
 *
 * Bodies that overlap at the start are parted first (papers P-03); energy may grow in such steps.
 *
 * What goes wrong, and what then happens. A programme that was not solved is a fallback of the step: its
 * move is shortened to a permitted one or left out. Overlap that cannot be removed, as of a sphere in a
 * box that is too small, stays as small as the programme could make it, and shows in the penetration.
 *
 * A step of a large heap may cost much more than others, so a step has a limit of work (pile.work). A
 * group whose programme is not solved by then stays where it is, counted as a fallback, and goes on from
 * its basis in the next tick. The group with which a step begins changes from tick to tick.
 *
 * Bodies whose group is at rest fall asleep after sleep.time; a step without a best place for a group
 * never puts it to sleep, however little it moved.
 *
 * Forces of contacts are the prices of their rows, in newtons times the tick. A tick ends in a place where
 * its rows were made at the beginning, so they are exact at rest.
 */
#include "server/base/heap.h"
#include "server/engine/collision/epa.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/method.h"
#include "server/engine/methods/pile.h"
#include "server/engine/world/parameters.h"

#include <stdio.h>
#include <string.h>

/* Of the way that a body may go: so much counts as all of it, because moves are rounded. */
#define WHOLE_WAY (1 - 1e-9)

/* 1: normals of a contact and of a force that differ by no more are one but for rounding. Larger: forces that
 * contacts tell balance less well; smaller: contacts of faces are told as one point. */
#define SAME_NORMAL 1e-10

/* ---- refusals ---------------------------------------------------------------------------------- */

enum status pile_refuse(struct reason *why, const char *field, const char *what, const char *remedy)
{
	return reason_set(why, STATUS_METHOD_REFUSES, -1, field,
			  "pile does not support %s: %s, or choose another method", what, remedy);
}

/* 0: a body that a command makes. Earlier commands of its batch may make others, so its id is not known. */
enum { BODY_TEXT = 24 };
static const char *body_text(body_id body, char text[BODY_TEXT])
{
	snprintf(text, BODY_TEXT, "body %u", body);
	return body > 0 ? text : "the body";
}

static enum status refuse_body(struct reason *why, const char *field, body_id body,
			       const char *what)
{
	char name[BODY_TEXT];
	return reason_set(why, STATUS_METHOD_REFUSES, -1, field,
			  "%s %s: change that, or choose another method", body_text(body, name),
			  what);
}

static enum status check_shape(const struct shape *shape, uint8_t status, body_id id,
			       struct reason *why)
{
	bool dynamic = status == BODY_DYNAMIC;
	if (status == BODY_INACTIVE || (dynamic ? pile_is_mover(shape) : pile_is_obstacle(shape)))
		return STATUS_OK;
	char name[BODY_TEXT];
	return reason_set(
		why, STATUS_METHOD_REFUSES, -1, "shapes",
		"%s has a %s, where pile needs %s: change it, or the method", body_text(id, name),
		shape_kind_name(shape->kind),
		dynamic ? "spheres, boxes, hulls or solids (form hull, parts)"
			: "spheres, planes, boxes, hulls, meshes or solids (form hull, parts)");
}

/* Whether a body with so many shapes can have the status. */
static enum status check_status(uint32_t shapes, uint8_t status, body_id id, struct reason *why)
{
	if (status == BODY_ANIMATED)
		return refuse_body(why, "status", id, "is animated, which pile does not support");
	if (status == BODY_DYNAMIC && shapes == 0)
		return refuse_body(why, "shapes", id,
				   "is dynamic and has no shape, which pile needs");
	return STATUS_OK;
}

static enum status check_row(const struct dynamics *dynamics, uint32_t row, uint8_t status,
			     struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	uint32_t count = 0;
	body_id id = tables->body.id[row];
	ASSERT(id != 0);
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = tables->placement.next[p - 1])
		count++;
	enum status result = check_status(count, status, id, why);
	for (uint32_t p = tables->body.first_placement[row]; p != 0 && result == STATUS_OK;
	     p = tables->placement.next[p - 1])
		result = check_shape(placement_shape(dynamics, p - 1), status, id, why);
	return result;
}

static enum status check_world(const struct dynamics *dynamics, struct reason *why)
{
	const struct body_table *bodies = &dynamics->tables->body;
	if (dynamics->tables->world.planar[0])
		return reason_set(why, STATUS_METHOD_REFUSES, -1, "planar",
				  "pile does not support planar worlds: make the world in space");
	for (uint32_t row = 0; row < dynamics->tables->field.count; row++) {
		enum status status = dynamics->tables->field.id[row] == 0
					     ? STATUS_OK
					     : pile_check_field(&dynamics->tables->field, row, why);
		if (status != STATUS_OK)
			return status;
	}
	if (dynamics->system_used.count > 0)
		return pile_refuse(why, "particles", "particle systems", "remove what is there");
	const struct bitset *joints = &dynamics->joint_used;
	for (uint32_t row = bitset_next(joints, 0); row != BITSET_NONE;
	     row = bitset_next(joints, row + 1)) {
		enum status status = pile_check_joint(&dynamics->tables->joint, row, why);
		if (status != STATUS_OK)
			return status;
	}
	for (uint32_t row = 0; row < bodies->count; row++) {
		if (bodies->id[row] == 0)
			continue;
		enum status status = check_row(dynamics, row, bodies->status[row], why);
		if (status == STATUS_OK && vec3_length_squared(bodies->one_way[row]) > 0)
			status = refuse_body(why, "one_way", bodies->id[row],
					     "is solid from one side, which pile does not support");
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status refuse_command(struct reason *why, const char *field, const char *what)
{
	return pile_refuse(why, field, what, "leave it out");
}

static enum status admit_spawn(const struct command *command, const struct shape *const *shapes,
			       uint32_t count, struct reason *why)
{
	if (vec3_length_squared(command->spawn.velocity) > 0)
		return refuse_command(why, "velocity", "velocities");
	if (vec3_length_squared(command->spawn.angular_velocity) > 0)
		return refuse_command(why, "angular_velocity", "velocities");
	if (vec3_length_squared(command->spawn.one_way) > 0)
		return refuse_command(why, "one_way", "bodies that are solid from one side");
	enum status status = check_status(count, command->spawn.status, 0, why);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = check_shape(shapes[i], command->spawn.status, 0, why);
	return status;
}

/* A body that an earlier command of the batch makes has been checked as what it was made. */
static enum status admit_status(const struct dynamics *dynamics, const struct command *command,
				struct reason *why)
{
	uint32_t row = command->set_status.body > 0
			       ? dynamics_find_body(dynamics, (body_id)command->set_status.body)
			       : DYNAMICS_NONE;
	if (row != DYNAMICS_NONE)
		return check_row(dynamics, row, command->set_status.status, why);
	if (command->set_status.status == BODY_INACTIVE)
		return STATUS_OK;
	return refuse_command(why, "status", "a change of status in the batch that makes the body");
}

static enum status admit_command(const struct dynamics *dynamics, const struct command *command,
				 const struct shape *const *shapes, uint32_t count,
				 struct reason *why)
{
	switch (command->op) {
	case COMMAND_SPAWN:
		return admit_spawn(command, shapes, count, why);
	case COMMAND_SET_STATUS:
		return admit_status(dynamics, command, why);
	case COMMAND_SET_VELOCITY: /* 0 is what each body has */
		if (vec3_length_squared(command->set_velocity.velocity) > 0 ||
		    vec3_length_squared(command->set_velocity.angular_velocity) > 0)
			return refuse_command(why, "op", "velocities");
		return STATUS_OK;
	case COMMAND_IMPULSE:
	case COMMAND_ANGULAR_IMPULSE:
	case COMMAND_EXPLODE:
		return refuse_command(why, "op", "impulses");
	case COMMAND_TORQUE:
		return refuse_command(why, "op", "torques, because bodies do not turn under it");
	case COMMAND_FIELD_CREATE:
	case COMMAND_FIELD_SET:
		return pile_admit_field(command, why);
	case COMMAND_JOINT_CREATE:
	case COMMAND_JOINT_AXIS:
	case COMMAND_JOINT_ARMATURE:
		return pile_admit_joint(command, why);
	case COMMAND_PARTICLES_CREATE:
		return refuse_command(why, "op", "particle systems");
	case COMMAND_SET_SURFACE:
		if (vec3_length_squared(command->set_surface.one_way) > 0)
			return refuse_command(why, "one_way",
					      "bodies that are solid from one side");
		return STATUS_OK;
	default:
		return STATUS_OK;
	}
}

/* ---- life -------------------------------------------------------------------------------------- */

static void stop_all(struct dynamics *dynamics)
{
	struct body_table *bodies = &dynamics->tables->body;
	for (uint32_t row = 0; row < bodies->count; row++)
		if (bodies->id[row] != 0 && bodies->status[row] == BODY_DYNAMIC)
			bodies->velocity[row] = bodies->angular_velocity[row] = vec3_zero();
}

static void attach_pile(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
	stop_all(dynamics);
}

static void detach_pile(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

struct pile_state {
	struct pile_basis basis;
	struct pile_room room;
};

static void destroy_pile(void *state)
{
	struct pile_state *self = state;
	pile_basis_release(&self->basis);
	ARRAY_RELEASE(&self->room.rows);
	ARRAY_RELEASE(&self->room.spheres);
	ARRAY_RELEASE(&self->room.obstacles);
	ARRAY_RELEASE(&self->room.faces);
	ARRAY_RELEASE(&self->room.corners);
	ARRAY_RELEASE(&self->room.cuts);
	ARRAY_RELEASE(&self->room.own);
	ARRAY_RELEASE(&self->room.pieces);
	ARRAY_RELEASE(&self->room.near);
	ARRAY_RELEASE(&self->room.pairs);
	heap_free(self->room.epa);
	free_region_release(&self->room.region);
	heap_free(self);
}

static enum status create_pile(const struct dynamics *dynamics, const uint8_t *block,
			       uint32_t bytes, void **state, struct reason *why)
{
	UNUSED(dynamics);
	struct pile_state *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	free_region_init(&self->room.region);
	self->room.epa = heap_alloc(sizeof *self->room.epa);
	if (self->room.epa == NULL) {
		destroy_pile(self);
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	}
	enum status status = pile_basis_read(block, bytes, &self->basis, why);
	if (status == STATUS_OK)
		*state = self;
	else
		destroy_pile(self);
	return status;
}

static void save_pile(const void *state, const struct dynamics *dynamics, uint8_t *block)
{
	const struct pile_state *self = state;
	ASSERT(dynamics->tables->method_block.count == pile_basis_bytes(&self->basis));
	pile_basis_write(&self->basis, block);
}

/* ---- the step ---------------------------------------------------------------------------------- */

/* Three orthonormal axes of the boxes: upright, the third against `down`; else a corner is down, and
 * each has the same part of it (papers P-06). */
static void choose_axes(struct pile *self, vec3 down)
{
	static const double TURNS[3][2] = { { 1, 0 },
					    { -0.5, 0.5 * PILE_DIAGONAL },
					    { -0.5, -0.5 * PILE_DIAGONAL } };
	double size;
	vec3 u, v;
	down = vec3_normalize_length(down, &size);
	if (!(size > 0))
		down = vec3_make(0, -1, 0);
	vec3_frame(down, &u, &v);
	ASSERT(scalar_abs(vec3_dot(u, down)) < 1e-12);
	self->axes[0] = u;
	self->axes[1] = v;
	self->axes[2] = self->down = down;
	self->leads_down[2] = true;
	double side = scalar_sqrt(2.0 / 3.0);
	for (uint32_t k = 0; k < 3 && self->box == PILE_BOX_CORNER_DOWN; k++) {
		vec3 across = vec3_add(vec3_scale(u, TURNS[k][0]), vec3_scale(v, TURNS[k][1]));
		self->axes[k] = vec3_mul_add(vec3_scale(down, 1 / PILE_DIAGONAL), across, side);
		self->leads_down[k] = true;
	}
}

static struct pile pile_of(struct step *step, struct pile_state *state)
{
	const double *parameter = step->dynamics->tables->parameter.value;
	struct pile self = {
		.step = step,
		.before = &state->basis,
		.room = &state->room,
		.box = parameter[PARAMETER_PILE_BOX] > 0 ? PILE_BOX_UPRIGHT : PILE_BOX_CORNER_DOWN,
		.reach = parameter[PARAMETER_PILE_REACH],
		.conservative = parameter[PARAMETER_PILE_CONSERVATIVE],
		.rest = parameter[PARAMETER_PILE_REST],
		.soft = parameter[PARAMETER_PILE_SOFT],
		.acceleration = parameter[PARAMETER_PILE_ACCELERATION],
		.work_max = parameter[PARAMETER_PILE_WORK],
	};
	if (!scalar_to_u32(parameter[PARAMETER_PILE_PIVOTS], &self.pivots_max))
		self.pivots_max = 0;
	if (!scalar_to_u32(parameter[PARAMETER_PILE_ZONE], &self.zone_max))
		self.zone_max = 1;
	ASSERT(self.reach > 0 && self.rest > 0);
	choose_axes(&self, step->dynamics->tables->world.gravity[0]);
	return self;
}

/* Counts for each body in how many steps in a row it went as far as the axes that lead down permit (papers
 * P-07). */
static void note_growth(struct pile *self)
{
	for (uint32_t slot = 0; slot < self->step->body_count; slot++) {
		struct pile_body *body = &self->bodies[slot];
		bool all = self->acceleration > 0;
		for (uint32_t k = 0; k < 3; k++)
			all = all &&
			      (!self->leads_down[k] || vec3_dot(self->moves[slot], self->axes[k]) >=
							       WHOLE_WAY * body->ahead);
		body->grown = all ? (uint8_t)MIN_OF(body->grown + 1, UINT8_MAX) : 0;
	}
	ASSERT(self->reach > 0);
}

static enum status solve_step(struct pile *self, struct pile_basis *after)
{
	enum status status = pile_make_bodies(self);
	if (status == STATUS_OK)
		status = pile_make_rows(self);
	if (status != STATUS_OK)
		return status;
	pile_basis_recall(self);
	status = pile_make_terms(self);
	if (status == STATUS_OK)
		status = pile_solve(self);
	if (status != STATUS_OK)
		return status;
	note_growth(self);
	return pile_basis_of(self, after);
}

static struct body_motion *end_motions(const struct pile *self)
{
	const struct step *step = self->step;
	struct body_motion *motions =
		ARENA_ARRAY(&step->dynamics->scratch, struct body_motion, step->body_count);
	for (uint32_t slot = 0; motions != NULL && slot < step->body_count; slot++) {
		motions[slot] = dynamics_motion(step->dynamics, step->bodies[slot]);
		motions[slot].centre = vec3_add(motions[slot].centre, self->moves[slot]);
		motions[slot].velocity = motions[slot].angular_velocity = vec3_zero();
	}
	return motions;
}

/* Place of a contact row in the step's list; its count: the row is new, or was not listed. */
static uint32_t find_contact(const struct contact_list *list, uint32_t row)
{
	uint32_t low = 0, high = list->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list->items[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->items[low].row == row ? low : list->count;
}

/* What the rows of a contact tell. */
struct told_force {
	vec3 force;   /* N: on B */
	uint32_t row; /* of the rows that press the one with the largest force; UINT32_MAX: none */
};

/* Whether `a` of the row is the first of its key. */
static bool is_first(const struct pile *self, const struct pile_row *row)
{
	return placement_body(self->step->dynamics->tables, row->key.low) ==
	       self->bodies[row->a].row;
}

static bool is_of_parts(const struct dynamics *dynamics, uint32_t placement)
{
	return placement_shape(dynamics, placement)->kind == SHAPE_SOLID;
}

/* The place in the list of the contact of the row's placements whose normal is nearest to the row's; of
 * several the one of the lowest row. Of parts of a solid it is that of the same two parts, if there is one.
 * The parts of a surface that contacts and rows name may differ where several meet. A row that is closed has
 * a contact even if the narrow phase found no points: then that of its parts. UINT32_MAX: the two are too far
 * apart for a contact. */
static uint32_t contact_of_row(const struct pile *self, const struct pile_row *row)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct contact_table *table = &dynamics->tables->contact;
	const struct contact_list *list = &self->step->contacts;
	bool first = is_first(self, row), exact = false;
	bool parts = is_of_parts(dynamics, row->key.low) || is_of_parts(dynamics, row->key.high);
	uint32_t best = UINT32_MAX, empty = UINT32_MAX;
	double most = 0;
	uint32_t edge = dynamics->bodies.items[self->bodies[row->a].row].first_edge;
	for (; edge != DYNAMICS_NONE; edge = dynamics->edges.items[edge].next) {
		uint32_t contact = edge_row(edge), at = find_contact(list, contact);
		if (table->placement_a[contact] != row->key.low ||
		    table->placement_b[contact] != row->key.high || at == list->count)
			continue;
		bool same = list->items[at].a.child == (row->key.part_low & ~PILE_ALONG) &&
			    list->items[at].b.child == row->key.part_high;
		if (list->items[at].point_count == 0) {
			if (same)
				empty = at;
			continue;
		}
		double along = vec3_dot(list->items[at].normal, row->normal) * (first ? -1 : 1);
		bool prefers = parts && along > 0 && same != exact;
		if (prefers ? same : along > most || (along == most && at < best)) {
			most = along;
			best = at;
			exact = same;
		}
	}
	return best == UINT32_MAX && row->gap <= PILE_OVERLAP ? empty : best;
}

/* Sums the forces of rows by contact. */
static void sum_forces(const struct pile *self, struct told_force *told)
{
	const struct contact_list *list = &self->step->contacts;
	for (uint32_t i = 0; i < list->count; i++)
		told[i] = (struct told_force){ vec3_zero(), UINT32_MAX };
	for (uint32_t i = 0; i < self->row_count; i++) {
		const struct pile_row *row = &self->rows[i];
		uint32_t at = row->taken && row->force > 0 ? contact_of_row(self, row) : UINT32_MAX;
		if (at == UINT32_MAX)
			continue;
		ASSERT(at < list->count);
		bool first = is_first(self, row);
		struct told_force *to = &told[at];
		to->force = vec3_mul_add(to->force, row->normal, first ? -row->force : row->force);
		if (to->row == UINT32_MAX || row->force > self->rows[to->row].force)
			to->row = i;
	}
}

/* The forces of rows as impulses of contacts. Where a contact's normal is not that of the force, the
 * contact gets the row's: the narrow phase chooses among the axes of faces and edges, and where a corner is
 * nearest to a corner or an edge, none of them is the shortest connection. */
static void store_forces(const struct pile *self, struct told_force *told)
{
	struct contact_table *table = &self->step->dynamics->tables->contact;
	struct contact_list *list = &self->step->contacts;
	sum_forces(self, told);
	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t contact = list->items[i].row;
		double force;
		vec3 normal = vec3_normalize_length(told[i].force, &force);
		ASSERT(scalar_is_finite(force) && contact < table->count);
		if (force > 0 && vec3_distance(normal, list->items[i].normal) > SAME_NORMAL) {
			const struct pile_row *row = &self->rows[told[i].row];
			step_set_contact(self->step, list, i, normal, row->point, row->distance);
		}
		memset(table->normal_impulse[contact], 0, sizeof table->normal_impulse[0]);
		memset(table->friction_impulse[contact], 0, sizeof table->friction_impulse[0]);
		memset(table->multiplier[contact], 0, sizeof table->multiplier[0]);
		table->normal_impulse[contact][0] = force * self->step->dt;
	}
}

/* Only bodies at rest fall asleep, however slowly others move: their sleep_time stays below 0 while
 * islands are judged. */
static void sleep_resting(struct pile *self)
{
	struct body_table *bodies = &self->step->dynamics->tables->body;
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		if (!self->resting[slot])
			bodies->sleep_time[self->step->bodies[slot]] = -2 * self->step->dt;
	step_sleep(self->step);
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		if (!self->resting[slot])
			bodies->sleep_time[self->step->bodies[slot]] = 0;
}

static void report_figures(const struct pile *self)
{
	struct step_report *report = &self->step->dynamics->report;
	report->islands = self->groups;
	report->islands_sparse = self->groups + self->zones;
	report->iterations = self->pivots;
	report->fallbacks = self->fallbacks;
	report->residual = self->residual;
}

/* A polyhedron that comes as near to a sleeping one as their gap reaches it: it may rest there. */
static void reach_across_gaps(struct step *step)
{
	const struct dynamics *dynamics = step->dynamics;
	const uint32_t *sleep_set = dynamics->tables->body.sleep_set;
	for (uint32_t i = 0; i < step->contacts.count; i++) {
		struct contact_state *contact = &step->contacts.items[i];
		bool a_moves = step_takes_part(step, contact->body_a);
		bool b_moves = step_takes_part(step, contact->body_b);
		const struct shape *a = placement_shape(dynamics, contact->a.placement);
		const struct shape *b = placement_shape(dynamics, contact->b.placement);
		ASSERT(contact->body_a != contact->body_b);
		uint32_t moves = a_moves ? contact->body_a : contact->body_b;
		if (a_moves == b_moves || a->kind == SHAPE_SPHERE || b->kind == SHAPE_SPHERE ||
		    sleep_set[a_moves ? contact->body_b : contact->body_a] == 0)
			continue;
		struct pile_body body = { .radius = dynamics->bodies.items[moves].reach };
		double reach = pile_smoothing(&body) + PILE_OVERLAP;
		for (uint32_t k = 0; k < contact->point_count; k++)
			contact->reaches |= contact->points[k].separation <= reach;
	}
}

static enum status step_pile(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	struct pile_state *kept = state;
	struct pile_basis after;
	ASSERT(dt > 0 && kept != NULL);
	struct step step;
	enum status status = step_begin(&step, dynamics, dt, true, NULL, why);
	if (status != STATUS_OK)
		return status;
	struct pile self = pile_of(&step, kept);
	struct collide_options options = collide_options_default(dt);
	options.anew = true;
	options.touch = PILE_OVERLAP; /* rows close up to rounding, on either side of 0 */
	step_collide(&step, &step.contacts, 0, &options);
	reach_across_gaps(&step);
	status = pile_wake_attracted(&step, &kept->room, &options);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "out of memory");
	step_number(&step);
	step_report_contacts(&step, &step.contacts);
	profile_enter(dynamics->profile, PROFILE_SOLVE);
	status = solve_step(&self, &after);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory for the rows of %u bodies",
				  step.body_count);
	struct body_motion *motions = end_motions(&self);
	struct told_force *told =
		ARENA_ARRAY(&dynamics->scratch, struct told_force, step.contacts.count);
	step.block_bytes = pile_basis_bytes(&after);
	status = motions == NULL || told == NULL
			 ? reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory")
			 : step_commit(&step, &step.contacts, why);
	if (status != STATUS_OK) {
		pile_basis_release(&after);
		return status;
	}
	pile_basis_release(&kept->basis);
	kept->basis = after;
	store_forces(&self, told);
	pile_store_springs(&self);
	step_contacts_solved(&step, &step.contacts, NULL);
	step_store_all(&step, motions);
	sleep_resting(&self);
	report_figures(&self);
	step_finish(&step);
	return STATUS_OK;
}

const struct method method_pile = {
	.name = "pile",
	.summary =
		"places alone: spheres and polyhedra go to rest in few steps, without overlap at any instant",
	.number = 9,
	.motion = 0,
	.supports = check_world,
	.admit = admit_command,
	.attach = attach_pile,
	.detach = detach_pile,
	.create = create_pile,
	.destroy = destroy_pile,
	.step = step_pile,
	.save = save_pile,
	.shapes = 1u << SHAPE_SPHERE | 1u << SHAPE_PLANE | 1u << SHAPE_BOX | 1u << SHAPE_HULL |
		  1u << SHAPE_MESH | 1u << SHAPE_SOLID,
	.sleep = true,
	.three_d = true,
	.joints = true,
	.no_locks = true,
	.mutual = true,
	.refuses = MATERIAL_FRICTION | MATERIAL_RESTITUTION | MATERIAL_ROLLING | MATERIAL_SPINNING |
		   MATERIAL_AXIS,
};
