/* invariants.c: the slow check of the tables: every invariant of a valid state.
 *
 * An image is used only after this check, and tests run it after each operation. A failed check
 * reports table, column and row. References into shapes, and the caches, are checked by
 * world_check (checks.c).
 */
#include "server/base/arena.h"
#include "server/base/bitset.h"
#include "server/base/table.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/world/body_mass.h"
#include "server/engine/world/carriers.h"
#include "server/engine/world/checking.h"
#include "server/engine/world/labels.h"
#include "server/engine/world/parameters.h"
#include "server/engine/world/pending.h"

#include <string.h>

/* m, of an origin: the mass centre is within LENGTH_MAX, and the origin is near it. */
#define PLACE_MAX (4 * LENGTH_MAX)
/* CONTACT_FAR, m: distance of two bodies, with their sizes. MULTIPLIER_MAX, N s: far above the
 * largest mass times the largest speed, and representable in float. */
#define CONTACT_FAR (4 * PLACE_MAX)
#define MULTIPLIER_MAX 1e30
/* A rotation has length 1 to rounding; errors of many steps may accumulate. */
#define UNIT_TOLERANCE 1e-9

bool check_within(double value, double low, double high)
{
	return value >= low && value <= high; /* false for NaN */
}

bool check_vector_within(vec3 v, double most)
{
	return check_within(v.x, -most, most) && check_within(v.y, -most, most) &&
	       check_within(v.z, -most, most);
}

bool check_unit(quat q)
{
	return check_within(quat_dot(q, q), 1 - UNIT_TOLERANCE, 1 + UNIT_TOLERANCE);
}

/* ---- the world and its parameters
 * ------------------------------------------------------------- */

static enum status check_world(const struct tables *tables, struct reason *why)
{
	const struct world_table *t = &tables->world;
	if (t->count != 1)
		return BROKEN(TABLE_WORLD, 0, "rows", "must be exactly one");
	uint64_t rate = t->rate_den[0] > 0 ? t->rate_num[0] / t->rate_den[0] : 0;
	EXPECT(rate >= 1 && rate <= 10000, TABLE_WORLD, 0, "rate_num");
	EXPECT(t->planar[0] <= 1, TABLE_WORLD, 0, "planar");
	EXPECT(t->broad_phase[0] < BROAD_PHASE_KINDS, TABLE_WORLD, 0, "broad_phase");
	EXPECT(t->stopped[0] <= 1, TABLE_WORLD, 0, "stopped");
	EXPECT(check_vector_within(t->gravity[0], GRAVITY_MAX), TABLE_WORLD, 0, "gravity");
	EXPECT(t->bounds_mode[0] <= BOUNDS_WALLS, TABLE_WORLD, 0, "bounds_mode");
	EXPECT(check_vector_within(t->bounds_min[0], LENGTH_MAX), TABLE_WORLD, 0, "bounds_min");
	EXPECT(check_vector_within(t->bounds_max[0], LENGTH_MAX), TABLE_WORLD, 0, "bounds_max");
	vec3 span = vec3_sub(t->bounds_max[0], t->bounds_min[0]);
	EXPECT(vec3_min_component(span) > 0, TABLE_WORLD, 0, "bounds_max");
	EXPECT(method_by_number(t->method[0]) != NULL, TABLE_WORLD, 0, "method");
	EXPECT((t->rng[0][0] | t->rng[0][1] | t->rng[0][2] | t->rng[0][3]) != 0, TABLE_WORLD, 0,
	       "rng");
	EXPECT(t->next_body[0] >= 1 && t->next_body[0] <= IDS_END, TABLE_WORLD, 0, "next_body");
	EXPECT(t->next_shape[0] >= 1 && t->next_shape[0] <= IDS_END, TABLE_WORLD, 0, "next_shape");
	EXPECT(t->bodies_max[0] >= 1, TABLE_WORLD, 0, "bodies_max");
	EXPECT(t->placements_max[0] >= 1, TABLE_WORLD, 0, "placements_max");
	EXPECT(t->contacts_max[0] >= 1, TABLE_WORLD, 0, "contacts_max");
	EXPECT(t->shapes_max[0] >= 1, TABLE_WORLD, 0, "shapes_max");
	EXPECT(t->events_max[0] >= 1, TABLE_WORLD, 0, "events_max");
	EXPECT(t->next_joint[0] >= 1 && t->next_joint[0] <= IDS_END, TABLE_WORLD, 0, "next_joint");
	EXPECT(t->joints_max[0] >= 1, TABLE_WORLD, 0, "joints_max");
	EXPECT(t->next_field[0] >= 1 && t->next_field[0] <= IDS_END, TABLE_WORLD, 0, "next_field");
	EXPECT(t->next_system[0] >= 1 && t->next_system[0] <= IDS_END, TABLE_WORLD, 0,
	       "next_system");
	return STATUS_OK;
}

static enum status check_parameters(const struct tables *tables, struct reason *why)
{
	EXPECT(tables->parameter.count == PARAMETER_COUNT, TABLE_PARAMETER, 0, "value");
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++)
		EXPECT(check_within(tables->parameter.value[row], parameter_entries[row].min,
				    parameter_entries[row].max),
		       TABLE_PARAMETER, row, "value");
	return STATUS_OK;
}

/* Each visual is once in the list of its body and shows a shape of the world. */
static enum status check_visuals(const struct tables *tables, struct checking *work,
				 struct reason *why)
{
	const struct visual_table *t = &tables->visual;
	memset(work->counts, 0, t->count * sizeof *work->counts);
	for (uint32_t row = 0; row < tables->body.count; row++) {
		uint32_t listed = 0;
		for (uint32_t at = tables->body.first_visual[row]; at != 0; at = t->next[at - 1]) {
			EXPECT(at <= t->count, TABLE_BODY, row, "first_visual");
			EXPECT(t->body[at - 1] == row + 1, TABLE_VISUAL, at - 1, "body");
			EXPECT(work->counts[at - 1]++ == 0, TABLE_VISUAL, at - 1, "next");
			EXPECT(++listed <= VISUALS_MAX, TABLE_BODY, row, "first_visual");
		}
	}
	for (uint32_t row = 0; row < t->count; row++) {
		if (t->body[row] == 0)
			continue;
		EXPECT(work->counts[row] == 1, TABLE_VISUAL, row, "body");
		EXPECT(t->shape[row] < tables->shape.count && tables->shape.id[t->shape[row]] != 0,
		       TABLE_VISUAL, row, "shape");
		EXPECT(check_vector_within(t->position[row], LENGTH_MAX), TABLE_VISUAL, row,
		       "position");
		EXPECT(check_unit(t->rotation[row]), TABLE_VISUAL, row, "rotation");
		EXPECT(t->colour[row] == 0 || (t->colour[row] >= COLOUR_GIVEN &&
					       t->colour[row] < 2 * COLOUR_GIVEN),
		       TABLE_VISUAL, row, "colour");
	}
	return STATUS_OK;
}

/* ---- shapes
 * ----------------------------------------------------------------------------------- */

/* Each shape id is below next_shape or is that of a wall; `uses` is the number of placements. */
static enum status check_shapes(const struct tables *tables, struct checking *work,
				struct reason *why)
{
	const struct shape_table *shape = &tables->shape;
	const struct placement_table *placement = &tables->placement;
	uint32_t used = 0;
	for (uint32_t row = 0; row < placement->count; row++)
		if (placement->body[row] != 0)
			EXPECT(placement->shape[row] < shape->count, TABLE_PLACEMENT, row, "shape");
	memset(work->counts, 0, shape->count * sizeof *work->counts);
	for (uint32_t row = 0; row < placement->count; row++)
		if (placement->body[row] != 0)
			work->counts[placement->shape[row]]++;
	for (uint32_t row = 0; row < shape->count; row++) {
		if (shape->id[row] == 0) {
			EXPECT(work->counts[row] == 0, TABLE_SHAPE, row, "id");
			continue;
		}
		bool wall = shape->id[row] >= SHAPE_WALLS;
		EXPECT(wall ? shape->id[row] < SHAPE_WALLS + WALLS_MAX
			    : shape->id[row] < tables->world.next_shape[0],
		       TABLE_SHAPE, row, "id");
		EXPECT(shape->uses[row] == work->counts[row], TABLE_SHAPE, row, "uses");
		used += !wall;
	}
	EXPECT(used <= tables->world.shapes_max[0], TABLE_SHAPE, 0, "id");
	return STATUS_OK;
}

/* ---- bodies
 * ----------------------------------------------------------------------------------- */

static enum status check_body_motion(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct body_table *body = &tables->body;
	double spin = ANGULAR_SPEED_MAX, speed = SPEED_MAX;
	bool dynamic = body->status[row] == BODY_DYNAMIC;
	/* Impulses may exceed the speed limit until the next step clamps it. */
	EXPECT(check_vector_within(body->velocity[row], dynamic ? SCALAR_MAX : speed), TABLE_BODY,
	       row, "velocity");
	EXPECT(check_vector_within(body->angular_velocity[row], dynamic ? SCALAR_MAX : spin),
	       TABLE_BODY, row, "angular_velocity");
	EXPECT(check_vector_within(body->position[row], PLACE_MAX), TABLE_BODY, row, "position");
	EXPECT(check_unit(body->rotation[row]), TABLE_BODY, row, "rotation");
	if (body->status[row] == BODY_STATIC) {
		EXPECT(vec3_equal(body->velocity[row], vec3_zero()), TABLE_BODY, row, "velocity");
		EXPECT(vec3_equal(body->angular_velocity[row], vec3_zero()), TABLE_BODY, row,
		       "angular_velocity");
	}
	if (tables->world.planar[0]) {
		EXPECT(body->position[row].z == 0 && body->velocity[row].z == 0, TABLE_BODY, row,
		       "position");
		EXPECT(body->rotation[row].x == 0 && body->rotation[row].y == 0, TABLE_BODY, row,
		       "rotation");
		EXPECT(body->angular_velocity[row].x == 0 && body->angular_velocity[row].y == 0,
		       TABLE_BODY, row, "angular_velocity");
	}
	return STATUS_OK;
}

/* The inverses equal, bit for bit, those computed from status, mass, inertia and flags. */
static enum status check_body_mass(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct body_table *body = &tables->body;
	bool dynamic = body->status[row] == BODY_DYNAMIC, planar = tables->world.planar[0] != 0;
	EXPECT(check_within(body->mass[row], dynamic ? MASS_MIN : 0, SCALAR_MAX), TABLE_BODY, row,
	       "mass");
	EXPECT(check_vector_within(body->centre[row], PLACE_MAX), TABLE_BODY, row, "centre");
	EXPECT(body->mass_inv[row] == (dynamic ? 1.0 / body->mass[row] : 0.0), TABLE_BODY, row,
	       "mass_inv");
	for (uint32_t i = 0; i < 6; i++)
		EXPECT(scalar_is_finite(body->inertia[row][i]), TABLE_BODY, row, "inertia");
	double inverse[6] = { 0 };
	bool turns = dynamic && !(body->flags[row] & BODY_FIXED_ROTATION);
	EXPECT(!turns || body_inertia_inverse(body->inertia[row], planar, inverse), TABLE_BODY, row,
	       "inertia");
	for (uint32_t i = 0; i < 6; i++)
		EXPECT(body->inertia_inv[row][i] == inverse[i], TABLE_BODY, row, "inertia_inv");
	return STATUS_OK;
}

static enum status check_body_settings(const struct tables *tables, uint32_t row,
				       struct reason *why)
{
	const struct body_table *body = &tables->body;
	EXPECT(body->status[row] <= BODY_ANIMATED, TABLE_BODY, row, "status");
	uint8_t targets = BODY_AIMED | BODY_ARRIVES, flags = body->flags[row];
	bool limited = body->speed_max[row] > 0 || body->angular_speed_max[row] > 0;
	EXPECT(limited == ((flags & BODY_LIMITED) != 0) &&
		       (!(flags & targets) || body->status[row] == BODY_ANIMATED),
	       TABLE_BODY, row, "flags");
	EXPECT(body->quarantined[row] == 0 ||
		       (body->quarantined[row] == 1 && body->status[row] == BODY_INACTIVE),
	       TABLE_BODY, row, "quarantined");
	EXPECT(check_within((double)body->tag[row], -INTEGER_MAX, INTEGER_MAX), TABLE_BODY, row,
	       "tag");
	EXPECT(check_within(body->static_friction[row], 0, FRICTION_MAX), TABLE_BODY, row,
	       "static_friction");
	EXPECT(check_within(body->dynamic_friction[row], 0, body->static_friction[row]), TABLE_BODY,
	       row, "dynamic_friction");
	EXPECT(check_within(body->restitution[row], 0, 1), TABLE_BODY, row, "restitution");
	EXPECT(body->friction_rule[row] <= COMBINE_GEOMETRIC, TABLE_BODY, row, "friction_rule");
	EXPECT(body->restitution_rule[row] <= COMBINE_GEOMETRIC, TABLE_BODY, row,
	       "restitution_rule");
	EXPECT(check_within(body->rolling_friction[row], 0, ROLLING_MAX), TABLE_BODY, row,
	       "rolling_friction");
	EXPECT(check_within(body->spinning_friction[row], 0, ROLLING_MAX), TABLE_BODY, row,
	       "spinning_friction");
	EXPECT(check_vector_within(body->friction_axis[row], 1), TABLE_BODY, row, "friction_axis");
	EXPECT(check_within(body->axis_friction[row], 0, FRICTION_MAX), TABLE_BODY, row,
	       "axis_friction");
	double one_way = vec3_length(body->one_way[row]);
	EXPECT(one_way == 0 || scalar_abs(one_way - 1) <= 1e-9, TABLE_BODY, row, "one_way");
	EXPECT(check_vector_within(body->surface_velocity[row], SPEED_MAX), TABLE_BODY, row,
	       "surface_velocity");
	EXPECT(check_within(body->density[row], 0, SCALAR_MAX), TABLE_BODY, row, "density");
	EXPECT(body->locks[row] < 64, TABLE_BODY, row, "locks");
	bool scaled = (body->flags[row] & BODY_SCALED) != 0;
	EXPECT(check_within(body->gravity_scale[row], -GRAVITY_SCALE_MAX, GRAVITY_SCALE_MAX) &&
		       (scaled || body->gravity_scale[row] == 0),
	       TABLE_BODY, row, "gravity_scale");
	EXPECT(check_within(body->speed_max[row], 0, SPEED_MAX), TABLE_BODY, row, "speed_max");
	EXPECT(check_within(body->angular_speed_max[row], 0, ANGULAR_SPEED_MAX), TABLE_BODY, row,
	       "angular_speed_max");
	EXPECT(body->ends_with[row] == 0 || body->ends_with[row] < body->id[row], TABLE_BODY, row,
	       "ends_with");
	EXPECT(body->ends_with_owner[row] <= 1, TABLE_BODY, row, "ends_with_owner");
	EXPECT(body->colour[row] == 0 || body->colour[row] >> 24 == 1, TABLE_BODY, row, "colour");
	EXPECT(body->integrator[row] < INTEGRATORS_END, TABLE_BODY, row, "integrator");
	EXPECT(check_within(body->tolerance[row], 0, TOLERANCE_MAX), TABLE_BODY, row, "tolerance");
	EXPECT(body->substeps[row] <= SUBSTEPS_MAX, TABLE_BODY, row, "substeps");
	EXPECT(check_within(body->linear_damping[row], 0, DAMPING_MAX), TABLE_BODY, row,
	       "linear_damping");
	EXPECT(check_within(body->angular_damping[row], 0, DAMPING_MAX), TABLE_BODY, row,
	       "angular_damping");
	EXPECT(check_within(body->sleep_time[row], 0, SCALAR_MAX), TABLE_BODY, row, "sleep_time");
	return STATUS_OK;
}

static enum status check_body(const struct tables *tables, uint32_t row, struct reason *why)
{
	body_id id = tables->body.id[row];
	if (id == 0)
		return STATUS_OK;
	EXPECT(id == BODY_WALLS || id < tables->world.next_body[0], TABLE_BODY, row, "id");
	enum status status = check_body_settings(tables, row, why);
	if (status == STATUS_OK)
		status = check_body_motion(tables, row, why);
	if (status == STATUS_OK)
		status = check_body_mass(tables, row, why);
	return status;
}

/* Every placement is in the list of its body exactly once. */
static enum status check_placements(const struct tables *tables, struct checking *work,
				    struct reason *why)
{
	const struct body_table *body = &tables->body;
	const struct placement_table *placement = &tables->placement;
	memset(work->counts, 0, placement->count * sizeof *work->counts);
	for (uint32_t row = 0; row < body->count; row++) {
		uint32_t p = body->first_placement[row];
		while (p != 0) {
			EXPECT(p <= placement->count, TABLE_BODY, row, "first_placement");
			EXPECT(placement->body[p - 1] == row + 1, TABLE_PLACEMENT, p - 1, "body");
			EXPECT(work->counts[p - 1]++ == 0, TABLE_PLACEMENT, p - 1, "next");
			p = placement->next[p - 1];
		}
	}
	for (uint32_t row = 0; row < placement->count; row++) {
		if (placement->body[row] == 0)
			continue;
		EXPECT(work->counts[row] == 1, TABLE_PLACEMENT, row, "body");
		EXPECT(tables->shape.id[placement->shape[row]] != 0, TABLE_PLACEMENT, row, "shape");
		EXPECT(check_vector_within(placement->position[row], PLACE_MAX), TABLE_PLACEMENT,
		       row, "position");
		EXPECT(check_unit(placement->rotation[row]), TABLE_PLACEMENT, row, "rotation");
		vec3 size = vec3_sub(placement->fat_max[row], placement->fat_min[row]);
		EXPECT(vec3_is_finite(size) && vec3_min_component(size) >= 0, TABLE_PLACEMENT, row,
		       "fat_min");
		EXPECT(placement->active[row] <= 1, TABLE_PLACEMENT, row, "active");
	}
	return STATUS_OK;
}

/* The bodies of a sleep set form one ring; an awake body is a ring of its own. */
static enum status check_sleep(const struct tables *tables, struct checking *work,
			       struct reason *why)
{
	const struct body_table *body = &tables->body;
	memset(work->counts, 0, body->count * sizeof *work->counts);
	for (uint32_t row = 0; row < body->count; row++) {
		if (body->id[row] == 0 || body->sleep_set[row] == 0) {
			EXPECT(body->id[row] == 0 || body->sleep_next[row] == row, TABLE_BODY, row,
			       "sleep_next");
			continue;
		}
		EXPECT(body->status[row] == BODY_DYNAMIC, TABLE_BODY, row, "sleep_set");
		EXPECT(body->sleep_set[row] < tables->world.next_sleep_set[0], TABLE_BODY, row,
		       "sleep_set");
		if (work->counts[row] > 0)
			continue;
		/* The first body of a ring: all bodies of the ring have one set, and no other
		 * ring has it. */
		EXPECT(table_insert(&work->ids, (uint64_t)2 << 32 | body->sleep_set[row], row) ==
			       STATUS_OK,
		       TABLE_BODY, row, "sleep_set");
		uint32_t at = row;
		do {
			EXPECT(work->counts[at]++ == 0, TABLE_BODY, at, "sleep_next");
			uint32_t next = body->sleep_next[at];
			EXPECT(next < body->count && body->sleep_set[next] == body->sleep_set[row],
			       TABLE_BODY, at, "sleep_next");
			at = next;
		} while (at != row);
	}
	return STATUS_OK;
}

static enum status check_bodies(const struct tables *tables, struct checking *work,
				struct reason *why)
{
	uint32_t used = 0, walls = 0;
	for (uint32_t row = 0; row < tables->body.count; row++) {
		enum status status = check_body(tables, row, why);
		if (status != STATUS_OK)
			return status;
		used += tables->body.id[row] != 0;
		walls += tables->body.id[row] == BODY_WALLS;
	}
	EXPECT(walls == (tables->world.bounds_mode[0] == BOUNDS_WALLS), TABLE_BODY, 0, "id");
	EXPECT(used - walls <= tables->world.bodies_max[0], TABLE_BODY, 0, "id");
	enum status status = check_placements(tables, work, why);
	return status == STATUS_OK ? check_sleep(tables, work, why) : status;
}

/* ---- contacts, drives, pending
 * ---------------------------------------------------------------- */

static enum status check_contact(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct contact_table *contact = &tables->contact;
	const struct placement_table *placement = &tables->placement;
	uint32_t a = contact->placement_a[row], b = contact->placement_b[row];
	EXPECT(contact->used[row] == 1, TABLE_CONTACT, row, "used");
	EXPECT(a < b && b < placement->count, TABLE_CONTACT, row, "placement_b");
	EXPECT(placement->body[a] != 0 && placement->body[b] != 0, TABLE_CONTACT, row,
	       "placement_a");
	EXPECT(placement->body[a] != placement->body[b], TABLE_CONTACT, row, "placement_b");
	EXPECT(contact->touching[row] <= 1, TABLE_CONTACT, row, "touching");
	EXPECT(contact->fresh[row] <= 1, TABLE_CONTACT, row, "fresh");
	EXPECT(contact->point_count[row] <= 4, TABLE_CONTACT, row, "point_count");
	EXPECT(contact->passage[row] <= PASSAGE_ABOVE, TABLE_CONTACT, row, "passage");
	EXPECT(check_vector_within(contact->normal[row], 2), TABLE_CONTACT, row, "normal");
	/* Methods convert these to float, so they must be within its range. */
	for (uint32_t i = 0; i < 12; i++) {
		EXPECT(scalar_abs(contact->anchor[row][i]) <= CONTACT_FAR, TABLE_CONTACT, row,
		       "anchor");
		EXPECT(scalar_abs(contact->multiplier[row][i]) <= MULTIPLIER_MAX, TABLE_CONTACT,
		       row, "multiplier");
	}
	for (uint32_t i = 0; i < 4; i++) {
		EXPECT(scalar_abs(contact->separation[row][i]) <= CONTACT_FAR, TABLE_CONTACT, row,
		       "separation");
		EXPECT(scalar_is_finite(contact->normal_impulse[row][i]), TABLE_CONTACT, row,
		       "normal_impulse");
	}
	EXPECT(check_vector_within(contact->relative_position[row], CONTACT_FAR), TABLE_CONTACT,
	       row, "relative_position");
	EXPECT(quat_dot(contact->relative_rotation[row], contact->relative_rotation[row]) <= 2,
	       TABLE_CONTACT, row, "relative_rotation");
	return STATUS_OK;
}

static enum status check_contacts(const struct tables *tables, struct reason *why)
{
	uint32_t used = 0;
	for (uint32_t row = 0; row < tables->contact.count; row++) {
		enum status status =
			tables->contact.used[row] ? check_contact(tables, row, why) : STATUS_OK;
		if (status != STATUS_OK)
			return status;
		used += tables->contact.used[row] != 0;
	}
	EXPECT(used <= tables->world.contacts_max[0], TABLE_CONTACT, 0, "used");
	return STATUS_OK;
}

static enum status check_overlaps(const struct tables *tables, struct reason *why)
{
	const struct overlap_table *overlap = &tables->overlap;
	for (uint32_t row = 0; row < overlap->count; row++) {
		uint32_t sensor = (uint32_t)(overlap->pair[row] >> 32);
		uint32_t body = (uint32_t)overlap->pair[row], end = tables->world.next_body[0];
		EXPECT(sensor > 0 && sensor < end && body > 0 && body < end && body != sensor &&
			       (row == 0 || overlap->pair[row - 1] < overlap->pair[row]),
		       TABLE_OVERLAP, row, "pair");
	}
	return STATUS_OK;
}

static enum status check_drives(const struct tables *tables, struct reason *why)
{
	const struct drive_table *drive = &tables->drive;
	for (uint32_t row = 0; row < drive->count; row++) {
		EXPECT(drive->body[row] < tables->body.count &&
			       tables->body.id[drive->body[row]] != 0,
		       TABLE_DRIVE, row, "body");
		EXPECT(check_vector_within(drive->force[row], FORCE_MAX), TABLE_DRIVE, row,
		       "force");
		EXPECT(check_vector_within(drive->point[row], LENGTH_MAX), TABLE_DRIVE, row,
		       "point");
		EXPECT(check_vector_within(drive->torque[row], FORCE_MAX), TABLE_DRIVE, row,
		       "torque");
		EXPECT(drive->ticks[row] > 0, TABLE_DRIVE, row, "ticks");
	}
	return STATUS_OK;
}

/* Batches are in order, their bytes have no gaps, and every command passes its checks. */
static enum status check_pending(const struct tables *tables, struct checking *work,
				 struct reason *why)
{
	const struct pending_table *pending = &tables->pending;
	uint32_t offset = 0;
	for (uint32_t row = 0; row < pending->count; row++) {
		EXPECT(pending->due[row] >= tables->world.tick[0], TABLE_PENDING, row, "due");
		EXPECT(row == 0 || pending->due[row - 1] <= pending->due[row], TABLE_PENDING, row,
		       "due");
		EXPECT(pending->restricted[row] <= 1, TABLE_PENDING, row, "restricted");
		EXPECT(pending->offset[row] == offset, TABLE_PENDING, row, "offset");
		EXPECT(pending->bytes[row] <= tables->pending_bytes.count - offset, TABLE_PENDING,
		       row, "bytes");
		offset += pending->bytes[row];
		struct arena_mark mark = arena_mark(&work->arena);
		struct batch batch;
		enum status status = pending_read(tables, row, &work->arena, &batch);
		if (status == STATUS_NO_MEMORY)
			return status;
		EXPECT(status == STATUS_OK, TABLE_PENDING, row, "bytes");
		for (uint32_t i = 0; i < batch.count; i++) {
			status = command_check_values(&batch.commands[i], i, why);
			EXPECT(status == STATUS_OK, TABLE_PENDING, row, "bytes");
		}
		arena_rewind(&work->arena, mark);
	}
	EXPECT(offset == tables->pending_bytes.count, TABLE_PENDING_BYTES, offset, "byte");
	return STATUS_OK;
}

/* ---- all
 * -------------------------------------------------------------------------------------- */

static enum status check_movers(const struct tables *tables, struct reason *why)
{
	const struct mover_table *t = &tables->mover;
	uint32_t linked = 0;
	for (uint32_t body = 0; body < tables->body.count; body++)
		linked += tables->body.mover[body] != 0;
	for (uint32_t row = 0; row < t->count; row++) {
		uint32_t body = t->body[row] - 1;
		if (t->body[row] == 0)
			continue;
		EXPECT(body < tables->body.count && tables->body.id[body] != 0 &&
			       tables->body.mover[body] == row + 1 && !tables->world.planar[0],
		       TABLE_MOVER, row, "body");
		uint32_t first = tables->body.first_placement[body];
		EXPECT(first != 0 && first <= tables->placement.count &&
			       tables->placement.next[first - 1] == 0,
		       TABLE_MOVER, row, "body");
		EXPECT(t->flags[row] < 2 * MOVER_RESTS, TABLE_MOVER, row, "flags");
		EXPECT(check_within(t->step_height[row], 0, MOVER_STEP_MAX), TABLE_MOVER, row,
		       "step_height");
		EXPECT(check_within(t->slope[row], 0, MOVER_SLOPE_MAX), TABLE_MOVER, row, "slope");
		EXPECT(check_within(t->push_force[row], 0, FORCE_MAX), TABLE_MOVER, row,
		       "push_force");
		EXPECT(check_within(t->snap[row], 0, MOVER_STEP_MAX), TABLE_MOVER, row, "snap");
		EXPECT(check_vector_within(t->wish[row], SPEED_MAX), TABLE_MOVER, row, "wish");
		EXPECT(t->ticks[row] > 0, TABLE_MOVER, row, "ticks");
		EXPECT(check_within(t->jump[row], 0, SPEED_MAX), TABLE_MOVER, row, "jump");
		EXPECT(check_vector_within(t->velocity[row], 2 * SPEED_MAX), TABLE_MOVER, row,
		       "velocity");
		EXPECT(check_vector_within(t->normal[row], 1 + 1e-9), TABLE_MOVER, row, "normal");
		linked--;
	}
	EXPECT(linked == 0, TABLE_MOVER, 0, "body");
	return STATUS_OK;
}

static enum status check_all(const struct tables *tables, struct checking *work, struct reason *why)
{
	enum status status = check_world(tables, why);
	if (status == STATUS_OK)
		status = check_parameters(tables, why);
	for (uint32_t table = 0; table < TABLE_COUNT && status == STATUS_OK; table++) {
		if (tables_key_column((enum table_index)table) == COLUMNS_MAX)
			continue;
		table_reset(&work->ids);
		status = tables_check_rows(tables, (enum table_index)table, &work->ids, why);
	}
	table_reset(&work->ids);
	if (status == STATUS_OK)
		status = check_shapes(tables, work, why);
	if (status == STATUS_OK)
		status = check_bodies(tables, work, why);
	if (status == STATUS_OK)
		status = check_contacts(tables, why);
	if (status == STATUS_OK)
		status = check_drives(tables, why);
	if (status == STATUS_OK)
		status = check_overlaps(tables, why);
	if (status == STATUS_OK)
		status = joints_check_tables(tables, work, why);
	if (status == STATUS_OK)
		status = force_fields_check_tables(tables, why);
	if (status == STATUS_OK)
		status = check_movers(tables, why);
	if (status == STATUS_OK)
		status = carriers_check_tables(tables, why);
	if (status == STATUS_OK)
		status = pieces_check(tables, work, why);
	if (status == STATUS_OK)
		status = check_visuals(tables, work, why);
	if (status == STATUS_OK)
		status = labels_check_tables(tables, why);
	if (status == STATUS_OK)
		status = particles_check_tables(tables, why);
	if (status == STATUS_OK)
		status = fluids_check_tables(tables, why);
	if (status == STATUS_OK)
		status = check_pending(tables, work, why);
	return status;
}

enum status tables_check(const struct tables *tables, struct reason *why)
{
	struct checking work = { 0 };
	enum status status = arena_init(&work.arena, 0);
	if (status == STATUS_OK)
		status = tables_check_with(tables, &work, why);
	else
		reason_set(why, status, -1, "image", "out of memory");
	table_release(&work.ids);
	arena_release(&work.arena);
	return status;
}

enum status tables_check_with(const struct tables *tables, struct checking *work,
			      struct reason *why)
{
	uint32_t most = MAX_OF(MAX_OF(tables->body.count, tables->placement.count),
			       MAX_OF(tables->shape.count, 1u));
	most = MAX_OF(most, MAX_OF(2 * tables->joint.count, tables->piece.count));
	uint64_t keys = (uint64_t)tables->body.count * 2 +
			MAX_OF(MAX_OF(tables->shape.count, tables->joint.count),
			       MAX_OF(tables->field.count, tables->system.count));
	work->counts = ARENA_ARRAY(&work->arena, uint32_t, most);
	enum status status = keys <= UINT32_MAX / 2 && work->counts != NULL
				     ? table_reserve(&work->ids, (uint32_t)keys)
				     : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = check_all(tables, work, why);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "image", "out of memory");
	arena_reset(&work->arena);
	return status;
}
