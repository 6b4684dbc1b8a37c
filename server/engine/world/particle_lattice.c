/* particle_lattice.c: links between particles of a system, as clients command them: singly, or as a
 * lattice with its particles. */
#include "server/engine/particles/particle_links.h"
#include "server/engine/world/particle_systems.h"

/* A direction from a particle to one that it is linked with, and which bit of `links` asks for
 * it. */
struct offset {
	int8_t by[3];
	uint8_t bit;
};
static const struct offset OFFSETS[] = {
	{ { 1, 0, 0 }, LATTICE_EDGES },	     { { 0, 1, 0 }, LATTICE_EDGES },
	{ { 0, 0, 1 }, LATTICE_EDGES },	     { { 1, 1, 0 }, LATTICE_DIAGONALS },
	{ { 1, -1, 0 }, LATTICE_DIAGONALS }, { { 1, 0, 1 }, LATTICE_DIAGONALS },
	{ { 1, 0, -1 }, LATTICE_DIAGONALS }, { { 0, 1, 1 }, LATTICE_DIAGONALS },
	{ { 0, 1, -1 }, LATTICE_DIAGONALS }, { { 2, 0, 0 }, LATTICE_SECONDS },
	{ { 0, 2, 0 }, LATTICE_SECONDS },    { { 0, 0, 2 }, LATTICE_SECONDS },
};
/* Corners of a cell have the bits x, y, z. Cells of both parities alternate, so that faces
 * match. */
enum { CELL_TETRAHEDRA = 5 };
static const uint8_t TETRAHEDRA[2][CELL_TETRAHEDRA][LINK_ENDS] = {
	{ { 0, 3, 5, 6 }, { 1, 0, 3, 5 }, { 2, 0, 3, 6 }, { 4, 0, 5, 6 }, { 7, 3, 5, 6 } },
	{ { 1, 2, 4, 7 }, { 0, 1, 2, 4 }, { 3, 1, 2, 7 }, { 5, 1, 4, 7 }, { 6, 2, 4, 7 } },
};

/* In a planar world likewise, with triangles that are counter-clockwise. */
enum { CELL_TRIANGLES = 2 };
static const uint8_t TRIANGLES[2][CELL_TRIANGLES][3] = {
	{ { 0, 1, 3 }, { 0, 3, 2 } },
	{ { 0, 1, 2 }, { 1, 3, 2 } },
};

/* ---- sizes
 * --------------------------------------------------------------------------------------- */

uint64_t lattice_particles(const struct command_PARTICLES_LATTICE *lattice)
{
	return (uint64_t)lattice->columns * lattice->rows * lattice->layers;
}

static uint64_t left_over(uint32_t side, uint32_t step)
{
	return side > step ? side - step : 0;
}

uint64_t lattice_links(const struct command_PARTICLES_LATTICE *lattice, bool planar)
{
	const uint32_t side[3] = { lattice->columns, lattice->rows, lattice->layers };
	uint64_t count = 0;
	for (uint32_t i = 0; i < COUNT_OF(OFFSETS); i++) {
		uint64_t links = (lattice->links & OFFSETS[i].bit) != 0;
		for (uint32_t k = 0; k < 3; k++) {
			int step = OFFSETS[i].by[k];
			links *= left_over(side[k], (uint32_t)(step < 0 ? -step : step));
		}
		count += links;
	}
	if ((lattice->links & LATTICE_VOLUMES) && planar)
		count += CELL_TRIANGLES * left_over(side[0], 1) * left_over(side[1], 1);
	else if (lattice->links & LATTICE_VOLUMES)
		count += CELL_TETRAHEDRA * left_over(side[0], 1) * left_over(side[1], 1) *
			 left_over(side[2], 1);
	return count;
}

/* ---- checks
 * -------------------------------------------------------------------------------------- */

enum status check_particles_linkable(struct check *check, const struct planned_system *system)
{
	if (system->fluid)
		return REFUSE(check, STATUS_FLUID, "system",
			      "system %u is a fluid, so its particles cannot be linked: make "
			      "another system",
			      system->id);
	if (!system->interacts)
		return STATUS_OK;
	return REFUSE(check, STATUS_LINKED, "system",
		      "system %u has forces or collisions between its particles, so they cannot be "
		      "linked: particles_interact with forces 0 and collisions 0 ends these",
		      system->id);
}

static enum status check_links(struct check *check, uint64_t count)
{
	struct batch_plan *plan = check->plan;
	if (plan->links_after + count > PARTICLE_LINKS_MAX)
		return REFUSE(check, STATUS_LIMIT, "links",
			      "the world would have %llu links of particles, the limit is %u",
			      (unsigned long long)(plan->links_after + count), PARTICLE_LINKS_MAX);
	plan->links_after += count;
	plan->new_links += (uint32_t)count;
	return STATUS_OK;
}

enum status check_particle_serial(struct check *check, const struct planned_system *system,
				  uint32_t serial, const char *field)
{
	const struct tables *tables = &check->world->tables;
	uint32_t row = dynamics_find_system(&check->world->dynamics, system->id);
	uint64_t before = row != ROW_NONE ? tables->system.born[row] : 0;
	if (serial > before ? serial <= system->born
			    : dynamics_find_particle(tables, row, serial) != ROW_NONE)
		return STATUS_OK;
	if (serial >= 1 && serial <= system->born)
		return REFUSE(check, STATUS_UNKNOWN_PARTICLE, field,
			      "%s is %u: that particle of system %u has died or left the world; "
			      "query particles lists those that are there",
			      field, serial, system->id);
	return REFUSE(check, STATUS_UNKNOWN_PARTICLE, field,
		      "%s is %u: system %u has made particles 1 to %llu so far", field, serial,
		      system->id, (unsigned long long)system->born);
}

static enum status check_lattice_plane(struct check *check,
				       const struct command_PARTICLES_LATTICE *lattice)
{
	if (check->planar && lattice->layers > 1)
		return REFUSE(check, STATUS_PLANAR, "layers",
			      "layers is %u: in a planar world a lattice has one layer, and its "
			      "volumes are areas of its cells",
			      lattice->layers);
	enum status status = check_in_plane(check, lattice->position, "position");
	if (status == STATUS_OK)
		status = check_rotation_plane(check, lattice->rotation, "rotation");
	return status;
}

enum status check_particles_lattice(struct check *check, struct command *command)
{
	struct command_PARTICLES_LATTICE *lattice = &command->particles_lattice;
	struct planned_system *system;
	uint64_t links = 0;
	enum status status = plan_find_system(check, &lattice->system, &system);
	if (status == STATUS_OK)
		status = check_particles_linkable(check, system);
	if (status == STATUS_OK)
		status = check_particle_room(check, system, lattice_particles(lattice));
	if (status == STATUS_OK)
		status = check_lattice_plane(check, lattice);
	if (status == STATUS_OK)
		status = check_links(check, links = lattice_links(lattice, check->planar));
	if (status != STATUS_OK)
		return status;
	system->alive += (uint32_t)lattice_particles(lattice);
	system->born += lattice_particles(lattice);
	system->linked |= links > 0;
	check->plan->new_particles += (uint32_t)lattice_particles(lattice);
	return STATUS_OK;
}

static enum status check_ends(struct check *check, const struct planned_system *system,
			      const struct command_PARTICLES_LINK *link)
{
	static const char *const NAMES[LINK_ENDS] = { "a", "b", "c", "d" };
	const uint32_t serial[LINK_ENDS] = { link->a, link->b, link->c, link->d };
	uint32_t ends = particle_link_ends(&check->world->tables, link->kind);
	for (uint32_t k = 0; k < LINK_ENDS; k++) {
		if (k >= ends && serial[k] != 0)
			return REFUSE(
				check, STATUS_RANGE, NAMES[k],
				"%s is %u: only a volume has it%s, leave it 0", NAMES[k], serial[k],
				ends == 3 ? " (in a planar world the area of a, b and c)" : "");
		enum status status =
			k < ends ? check_particle_serial(check, system, serial[k], NAMES[k])
				 : STATUS_OK;
		if (status != STATUS_OK)
			return status;
		for (uint32_t i = 0; i < k && k < ends; i++)
			if (serial[i] == serial[k])
				return REFUSE(
					check, STATUS_RANGE, NAMES[k],
					"%s is %u, as %s is: a link needs different particles",
					NAMES[k], serial[k], NAMES[i]);
	}
	return STATUS_OK;
}

enum status check_particles_link(struct check *check, struct command *command)
{
	struct command_PARTICLES_LINK *link = &command->particles_link;
	struct planned_system *system;
	enum status status = plan_find_system(check, &link->system, &system);
	if (status == STATUS_OK)
		status = check_particles_linkable(check, system);
	if (status == STATUS_OK)
		status = check_ends(check, system, link);
	if (status == STATUS_OK && link->kind == LINK_VOLUME &&
	    (link->length > 0 || link->tear > 0 || link->tear_force > 0))
		return REFUSE(check, STATUS_RANGE,
			      link->length > 0 ? "length"
			      : link->tear > 0 ? "tear"
					       : "tear_force",
			      "a volume keeps the size that it has and does not tear: length, "
			      "tear and tear_force must be 0");
	if (status == STATUS_OK)
		status = check_links(check, 1);
	if (status == STATUS_OK)
		system->linked = true;
	return status;
}

enum status check_particles_pin(struct check *check, struct command *command)
{
	struct command_PARTICLES_PIN *pin = &command->particles_pin;
	struct planned_system *system;
	enum status status = plan_find_system(check, &pin->system, &system);
	if (status == STATUS_OK)
		status = check_particles_linkable(check, system);
	if (status == STATUS_OK)
		status = check_particle_serial(check, system, pin->particle, "particle");
	if (status == STATUS_OK && pin->pinned) {
		system->linked = true;
		check->plan->new_pins++;
	}
	return status;
}

/* ---- applying
 * ------------------------------------------------------------------------------------ */

uint32_t particles_linked_row(const struct apply_context *context, int64_t id, uint32_t substeps)
{
	struct world *world = context->world;
	uint32_t row = dynamics_find_system(&world->dynamics, (system_id)id);
	ASSERT(row != DYNAMICS_NONE);
	uint32_t *most = &world->tables.system.link_substeps[row];
	*most = MAX_OF(*most, substeps);
	return row;
}

/* A lattice whose particles have been made. */
struct weave {
	struct dynamics *dynamics;
	const struct command_PARTICLES_LATTICE *lattice;
	uint32_t system, side[3];
	uint64_t first; /* serial number */
};

static uint64_t serial_at(const struct weave *weave, const int64_t at[3])
{
	return weave->first + (uint64_t)at[0] +
	       weave->side[0] * ((uint64_t)at[1] + weave->side[1] * (uint64_t)at[2]);
}

static bool is_within(const struct weave *weave, const int64_t at[3])
{
	for (uint32_t k = 0; k < 3; k++)
		if (at[k] < 0 || at[k] >= (int64_t)weave->side[k])
			return false;
	return true;
}

static double compliance_of(const struct command_PARTICLES_LATTICE *lattice, uint8_t bit)
{
	if (bit == LATTICE_EDGES)
		return lattice->compliance;
	return bit == LATTICE_DIAGONALS ? lattice->shear_compliance : lattice->bend_compliance;
}

/* The links of an offset in two colours: no two of one colour share a particle, so each is solved
 * without waiting for the one before it. */
static void link_offset(const struct weave *weave, const struct offset *offset)
{
	const struct command_PARTICLES_LATTICE *lattice = weave->lattice;
	double length = 0;
	uint32_t axis = 0;
	ASSERT(weave->first >= 1);
	for (uint32_t k = 0; k < 3; k++)
		length += (double)(offset->by[k] * offset->by[k]);
	while (offset->by[axis] == 0)
		axis++;
	struct particle_link link = {
		.kind = LINK_ROD,
		.rest = scalar_sqrt(length) * lattice->spacing,
		.compliance = compliance_of(lattice, offset->bit),
		.damping_ratio = lattice->damping_ratio,
		.tear = offset->bit == LATTICE_SECONDS ? 0 : lattice->tear,
		.tear_force = offset->bit == LATTICE_SECONDS ? 0 : lattice->tear_force,
	};
	for (int64_t colour = 0; colour < 2; colour++)
		for (int64_t z = 0; z < weave->side[2]; z++)
			for (int64_t y = 0; y < weave->side[1]; y++)
				for (int64_t x = 0; x < weave->side[0]; x++) {
					const int64_t from[3] = { x, y, z };
					const int64_t to[3] = { x + offset->by[0],
								y + offset->by[1],
								z + offset->by[2] };
					if (from[axis] / offset->by[axis] % 2 != colour ||
					    !is_within(weave, to))
						continue;
					link.serial[0] = serial_at(weave, from);
					link.serial[1] = serial_at(weave, to);
					dynamics_link_add(weave->dynamics, weave->system, &link);
				}
}

static void link_cell(const struct weave *weave, const int64_t at[3])
{
	ASSERT(at[0] >= 0 && at[1] >= 0 && at[2] >= 0);
	uint32_t parity = (uint32_t)((at[0] + at[1] + at[2]) & 1);
	for (uint32_t i = 0; i < CELL_TETRAHEDRA; i++) {
		struct particle_link link = { .kind = LINK_VOLUME };
		for (uint32_t k = 0; k < LINK_ENDS; k++) {
			uint8_t corner = TETRAHEDRA[parity][i][k];
			const int64_t place[3] = { at[0] + (corner & 1), at[1] + (corner >> 1 & 1),
						   at[2] + (corner >> 2) };
			link.serial[k] = serial_at(weave, place);
		}
		dynamics_link_add(weave->dynamics, weave->system, &link);
	}
}

static void link_areas(const struct weave *weave)
{
	for (uint32_t y = 0; y + 1 < weave->side[1]; y++)
		for (uint32_t x = 0; x + 1 < weave->side[0]; x++)
			for (uint32_t i = 0; i < CELL_TRIANGLES; i++) {
				struct particle_link link = { .kind = LINK_VOLUME };
				for (uint32_t k = 0; k < 3; k++) {
					uint8_t corner = TRIANGLES[(x + y) & 1][i][k];
					const int64_t place[3] = { x + (corner & 1),
								   y + (corner >> 1), 0 };
					link.serial[k] = serial_at(weave, place);
				}
				dynamics_link_add(weave->dynamics, weave->system, &link);
			}
}

static void link_volumes(const struct weave *weave)
{
	for (int64_t z = 0; z + 1 < weave->side[2]; z++)
		for (int64_t y = 0; y + 1 < weave->side[1]; y++)
			for (int64_t x = 0; x + 1 < weave->side[0]; x++) {
				const int64_t at[3] = { x, y, z };
				link_cell(weave, at);
			}
}

static void add_lattice_particles(const struct weave *weave)
{
	const struct command_PARTICLES_LATTICE *lattice = weave->lattice;
	for (uint32_t z = 0; z < weave->side[2]; z++)
		for (uint32_t y = 0; y < weave->side[1]; y++)
			for (uint32_t x = 0; x < weave->side[0]; x++) {
				vec3 at = vec3_scale(vec3_make(x, y, z), lattice->spacing);
				at = vec3_add(lattice->position,
					      quat_rotate(lattice->rotation, at));
				dynamics_particle_add(weave->dynamics, weave->system, at,
						      vec3_zero());
			}
}

void apply_particles_lattice(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_LATTICE *lattice = &command->particles_lattice;
	struct world *world = context->world;
	uint32_t row = particles_linked_row(context, lattice->system, lattice->substeps);
	const struct weave weave = { .dynamics = &world->dynamics,
				     .lattice = lattice,
				     .system = row,
				     .side = { lattice->columns, lattice->rows, lattice->layers },
				     .first = world->tables.system.born[row] + 1 };
	add_lattice_particles(&weave);
	/* Weak links first: the last ones of a sub-step are kept best. */
	bool planar = world->tables.world.planar[0] != 0;
	if ((lattice->links & LATTICE_VOLUMES) && planar)
		link_areas(&weave);
	else if (lattice->links & LATTICE_VOLUMES)
		link_volumes(&weave);
	for (uint32_t i = COUNT_OF(OFFSETS); i-- > 0;)
		if (lattice->links & OFFSETS[i].bit)
			link_offset(&weave, &OFFSETS[i]);
}

void apply_particles_link(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_LINK *set = &command->particles_link;
	const struct particle_link link = {
		.kind = set->kind,
		.serial = { set->a, set->b, set->c, set->d },
		.rest = set->length,
		.compliance = set->compliance,
		.damping_ratio = set->damping_ratio,
		.tear = set->tear,
		.tear_force = set->tear_force,
	};
	dynamics_link_add(&context->world->dynamics,
			  particles_linked_row(context, set->system, set->substeps), &link);
}

void apply_particles_pin(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_PIN *pin = &command->particles_pin;
	uint32_t row = particles_linked_row(context, pin->system, 1);
	if (pin->pinned)
		dynamics_pin_add(&context->world->dynamics, row, pin->particle);
	else
		dynamics_pin_remove(&context->world->dynamics, row, pin->particle);
}
