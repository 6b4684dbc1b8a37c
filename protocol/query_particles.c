/* query_particles.c: the answers about particle systems and their particles. */
#include "protocol/query_items.h"

#include <string.h>

/* ---- systems ------------------------------------------------------------------------------------- */

enum { SYSTEM_ITEMS = 71, SINK_ITEMS = 9 };

static void pack_sinks(struct wire_packer *out, const struct wire_system *system)
{
	ASSERT(system->sink_count <= WIRE_SINKS_MAX);
	wire_pack_uint(out, system->taken);
	wire_pack_array(out, system->sink_count);
	for (uint32_t i = 0; i < system->sink_count; i++) {
		const struct wire_sink *sink = &system->sinks[i];
		wire_pack_array(out, SINK_ITEMS);
		wire_pack_uint(out, sink->number);
		wire_pack_uint(out, sink->region);
		wire_pack_uint(out, sink->body);
		pack_vector(out, sink->position, 3);
		pack_vector(out, sink->rotation, 4);
		pack_vector(out, sink->size, 3);
		wire_pack_real(out, sink->radius);
		wire_pack_uint(out, sink->taken);
		wire_pack_real(out, sink->mass);
	}
}

static void pack_descent(struct wire_packer *out, const struct wire_system *system)
{
	pack_vector(out, system->split_number, 2);
	pack_vector(out, system->split_age, 2);
	wire_pack_uint(out, system->split_delay);
	wire_pack_uint(out, system->split_depth);
	pack_vector(out, system->split_velocity, 2);
	wire_pack_real(out, system->split_spread);
	pack_vector(out, system->split_burst, 2);
	pack_vector(out, system->split_size, 2);
	pack_vector(out, system->split_life, 2);
	wire_pack_uint(out, system->split_spend);
	wire_pack_uint(out, system->splits);
	wire_pack_uint(out, system->trail);
	wire_pack_uint(out, system->trail_delay);
	wire_pack_uint(out, system->trail_depth);
	wire_pack_real(out, system->trail_velocity);
	wire_pack_uint(out, system->contacts);
	wire_pack_uint(out, system->holds);
	wire_pack_real(out, system->self_thickness);
	wire_pack_real(out, system->self_friction);
	wire_pack_real(out, system->self_overlap);
	wire_pack_uint(out, system->mount);
	wire_pack_real(out, system->mount_velocity);
	wire_pack_uint(out, system->recoil);
	wire_pack_uint(out, system->room);
	wire_pack_real(out, system->stretch_limit);
	wire_pack_uint(out, system->limit_passes);
	wire_pack_array(out, system->meets);
	for (uint32_t i = 0; i < system->meets; i++)
		pack_vector(out, system->meet[i], 4);
}

void answer_pack_system(struct wire_packer *out, const struct wire_system *system)
{
	ASSERT(system->colours <= WIRE_COLOURS_MAX);
	wire_pack_array(out, SYSTEM_ITEMS);
	wire_pack_uint(out, system->id);
	wire_pack_text(out, system->name);
	wire_pack_uint(out, system->owner);
	wire_pack_int(out, system->tag);
	wire_pack_uint(out, system->emitter);
	wire_pack_uint(out, system->alive);
	wire_pack_uint(out, system->capacity);
	wire_pack_uint(out, system->born);
	wire_pack_uint(out, system->lost);
	wire_pack_uint(out, system->refused);
	wire_pack_uint(out, system->cut);
	pack_vector(out, system->position, 3);
	pack_vector(out, system->rotation, 4);
	pack_vector(out, system->half, 3);
	pack_vector(out, system->size, 2);
	pack_vector(out, system->mass, 2);
	pack_vector(out, system->life, 2);
	pack_vector(out, system->speed, 2);
	wire_pack_real(out, system->spread);
	wire_pack_real(out, system->drag);
	wire_pack_real(out, system->gravity_scale);
	wire_pack_uint(out, system->category);
	wire_pack_uint(out, system->mask);
	wire_pack_array(out, system->colours);
	for (uint32_t i = 0; i < system->colours; i++)
		pack_vector(out, system->colour[i], 2);
	wire_pack_uint(out, system->forces);
	wire_pack_uint(out, system->collisions);
	wire_pack_uint(out, system->substeps);
	wire_pack_real(out, system->cutoff);
	wire_pack_real(out, system->core);
	wire_pack_real(out, system->charge);
	wire_pack_real(out, system->gravitation);
	wire_pack_real(out, system->well_depth);
	wire_pack_real(out, system->well_distance);
	wire_pack_real(out, system->repulsion);
	wire_pack_real(out, system->repulsion_damping);
	wire_pack_uint(out, system->crowded);
	wire_pack_uint(out, system->links);
	wire_pack_uint(out, system->pins);
	wire_pack_uint(out, system->link_substeps);
	wire_pack_uint(out, system->torn);
	wire_pack_real(out, system->stretch);
	wire_pack_real(out, system->volume_error);
	pack_descent(out, system);
	pack_sinks(out, system);
}

static void take_count(struct taker *taker, const char *field, uint64_t *value)
{
	if (more(taker, field, true))
		taker->status = wire_take_uint(&taker->in, WIRE_INTEGER_MAX, value);
}

/* A list of at most `most` tuples of `width` numbers; returns how many. */
static uint32_t take_tuples(struct taker *taker, const char *field, double *out, uint32_t width,
			    uint32_t most)
{
	uint32_t count = 0;
	if (!more(taker, field, true))
		return 0;
	taker->status = wire_take_array(&taker->in, &count);
	if (taker->status == STATUS_OK && count > most)
		taker->status = STATUS_RANGE;
	for (uint32_t i = 0; i < count && taker->status == STATUS_OK; i++)
		taker->status = wire_take_tuple(&taker->in, out + (size_t)i * width, width);
	return taker->status == STATUS_OK ? count : 0;
}

static enum status take_sink(struct wire_cursor *in, struct wire_sink *sink)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_u32(&taker, "number", true, UINT32_MAX, &sink->number);
	take_u8(&taker, "region", &sink->region);
	take_u32(&taker, "body", true, UINT32_MAX, &sink->body);
	take_vector(&taker, "position", true, sink->position, 3);
	take_vector(&taker, "rotation", true, sink->rotation, 4);
	take_vector(&taker, "size", true, sink->size, 3);
	take_real(&taker, "radius", &sink->radius);
	take_count(&taker, "taken", &sink->taken);
	take_real(&taker, "mass", &sink->mass);
	*in = taker.in;
	return taker.status;
}

static void take_sinks(struct taker *taker, struct wire_system *system)
{
	uint32_t count = 0;
	take_count(taker, "taken", &system->taken);
	if (!more(taker, "sinks", true))
		return;
	taker->status = wire_take_array(&taker->in, &count);
	if (taker->status == STATUS_OK && count > WIRE_SINKS_MAX)
		taker->status = STATUS_RANGE;
	for (uint32_t i = 0; i < count && taker->status == STATUS_OK; i++)
		taker->status = take_sink(&taker->in, &system->sinks[i]);
	system->sink_count = taker->status == STATUS_OK ? count : 0;
}

static void take_descent(struct taker *taker, struct wire_system *system)
{
	take_vector(taker, "split number", true, system->split_number, 2);
	take_vector(taker, "split age", true, system->split_age, 2);
	take_u32(taker, "split delay", true, UINT32_MAX, &system->split_delay);
	take_u32(taker, "split depth", true, UINT32_MAX, &system->split_depth);
	take_vector(taker, "split velocity", true, system->split_velocity, 2);
	take_real(taker, "split spread", &system->split_spread);
	take_vector(taker, "split burst", true, system->split_burst, 2);
	take_vector(taker, "split size", true, system->split_size, 2);
	take_vector(taker, "split life", true, system->split_life, 2);
	take_u8(taker, "split spend", &system->split_spend);
	take_count(taker, "splits", &system->splits);
	take_u32(taker, "trail", true, UINT32_MAX, &system->trail);
	take_u32(taker, "trail delay", true, UINT32_MAX, &system->trail_delay);
	take_u32(taker, "trail depth", true, UINT32_MAX, &system->trail_depth);
	take_real(taker, "trail velocity", &system->trail_velocity);
	take_u8(taker, "contacts", &system->contacts);
	take_u32(taker, "holds", true, UINT32_MAX, &system->holds);
	take_real(taker, "self thickness", &system->self_thickness);
	take_real(taker, "self friction", &system->self_friction);
	take_real(taker, "self overlap", &system->self_overlap);
	take_u32(taker, "mount", true, UINT32_MAX, &system->mount);
	take_real(taker, "mount velocity", &system->mount_velocity);
	take_u8(taker, "recoil", &system->recoil);
	take_u8(taker, "room", &system->room);
	take_real(taker, "stretch limit", &system->stretch_limit);
	take_count(taker, "limit passes", &system->limit_passes);
	system->meets = take_tuples(taker, "meets", system->meet[0], 4, WIRE_MEETINGS_MAX);
}

enum status answer_take_system(struct wire_cursor *in, struct wire_system *system)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(system, 0, sizeof *system);
	take_u32(&taker, "id", true, UINT32_MAX, &system->id);
	if (more(&taker, "name", true))
		taker.status = answer_take_text(&taker.in, &system->name);
	take_u32(&taker, "owner", true, UINT32_MAX, &system->owner);
	take_tag(&taker, &system->tag);
	take_u8(&taker, "emitter", &system->emitter);
	take_u32(&taker, "alive", true, UINT32_MAX, &system->alive);
	take_u32(&taker, "capacity", true, UINT32_MAX, &system->capacity);
	take_count(&taker, "born", &system->born);
	take_count(&taker, "lost", &system->lost);
	take_count(&taker, "refused", &system->refused);
	take_count(&taker, "cut", &system->cut);
	take_vector(&taker, "position", true, system->position, 3);
	take_vector(&taker, "rotation", true, system->rotation, 4);
	take_vector(&taker, "half", true, system->half, 3);
	take_vector(&taker, "size", true, system->size, 2);
	take_vector(&taker, "mass", true, system->mass, 2);
	take_vector(&taker, "life", true, system->life, 2);
	take_vector(&taker, "speed", true, system->speed, 2);
	take_real(&taker, "spread", &system->spread);
	take_real(&taker, "drag", &system->drag);
	take_real(&taker, "gravity scale", &system->gravity_scale);
	take_u32(&taker, "category", true, UINT32_MAX, &system->category);
	take_u32(&taker, "mask", true, UINT32_MAX, &system->mask);
	system->colours = take_tuples(&taker, "colours", system->colour[0], 2, WIRE_COLOURS_MAX);
	take_u8(&taker, "forces", &system->forces);
	take_u8(&taker, "collisions", &system->collisions);
	take_u32(&taker, "substeps", true, UINT32_MAX, &system->substeps);
	take_real(&taker, "cutoff", &system->cutoff);
	take_real(&taker, "core", &system->core);
	take_real(&taker, "charge", &system->charge);
	take_real(&taker, "gravitation", &system->gravitation);
	take_real(&taker, "well depth", &system->well_depth);
	take_real(&taker, "well distance", &system->well_distance);
	take_real(&taker, "repulsion", &system->repulsion);
	take_real(&taker, "repulsion damping", &system->repulsion_damping);
	take_count(&taker, "crowded", &system->crowded);
	take_u32(&taker, "links", true, UINT32_MAX, &system->links);
	take_u32(&taker, "pins", true, UINT32_MAX, &system->pins);
	take_u32(&taker, "link substeps", true, UINT32_MAX, &system->link_substeps);
	take_count(&taker, "torn", &system->torn);
	take_real(&taker, "stretch", &system->stretch);
	take_real(&taker, "volume error", &system->volume_error);
	take_descent(&taker, system);
	take_sinks(&taker, system);
	return taker.status;
}

/* ---- fluids -------------------------------------------------------------------------------------- */

void answer_pack_fluid(struct wire_packer *out, const struct wire_fluid *fluid)
{
	ASSERT(fluid->system != 0);
	wire_pack_array(out, 30);
	wire_pack_uint(out, fluid->system);
	wire_pack_uint(out, fluid->particles);
	wire_pack_uint(out, fluid->solver);
	wire_pack_real(out, fluid->kernel_radius);
	wire_pack_real(out, fluid->rest_density);
	wire_pack_real(out, fluid->viscosity);
	wire_pack_real(out, fluid->wall_viscosity);
	wire_pack_real(out, fluid->surface_tension);
	wire_pack_real(out, fluid->tolerance);
	wire_pack_real(out, fluid->compression);
	wire_pack_real(out, fluid->speed);
	wire_pack_real(out, fluid->stiffness);
	wire_pack_real(out, fluid->step_ratio);
	wire_pack_uint(out, fluid->substeps_max);
	wire_pack_uint(out, fluid->substeps);
	wire_pack_uint(out, fluid->iterations);
	wire_pack_real(out, fluid->density_error);
	wire_pack_real(out, fluid->density_error_max);
	wire_pack_real(out, fluid->residual);
	wire_pack_real(out, fluid->divergence_error);
	wire_pack_real(out, fluid->speed_max);
	wire_pack_uint(out, fluid->capped);
	wire_pack_uint(out, fluid->unconverged);
	wire_pack_uint(out, fluid->inside);
	wire_pack_uint(out, fluid->crowded);
	wire_pack_uint(out, fluid->lost);
	wire_pack_uint(out, fluid->bad);
	wire_pack_uint(out, fluid->blocked);
	wire_pack_uint(out, fluid->unsampled);
	wire_pack_uint(out, fluid->coarse);
}

enum status answer_take_fluid(struct wire_cursor *in, struct wire_fluid *fluid)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(fluid, 0, sizeof *fluid);
	take_u32(&taker, "system", true, UINT32_MAX, &fluid->system);
	take_u32(&taker, "particles", true, UINT32_MAX, &fluid->particles);
	take_u8(&taker, "solver", &fluid->solver);
	take_real(&taker, "kernel radius", &fluid->kernel_radius);
	take_real(&taker, "rest density", &fluid->rest_density);
	take_real(&taker, "viscosity", &fluid->viscosity);
	take_real(&taker, "wall viscosity", &fluid->wall_viscosity);
	take_real(&taker, "surface tension", &fluid->surface_tension);
	take_real(&taker, "tolerance", &fluid->tolerance);
	take_real(&taker, "compression", &fluid->compression);
	take_real(&taker, "speed", &fluid->speed);
	take_real(&taker, "stiffness", &fluid->stiffness);
	take_real(&taker, "step ratio", &fluid->step_ratio);
	take_u32(&taker, "substeps max", true, UINT32_MAX, &fluid->substeps_max);
	take_u32(&taker, "substeps", true, UINT32_MAX, &fluid->substeps);
	take_u32(&taker, "iterations", true, UINT32_MAX, &fluid->iterations);
	take_real(&taker, "density error", &fluid->density_error);
	take_real(&taker, "density error max", &fluid->density_error_max);
	take_real(&taker, "residual", &fluid->residual);
	take_real(&taker, "divergence error", &fluid->divergence_error);
	take_real(&taker, "speed max", &fluid->speed_max);
	take_count(&taker, "capped", &fluid->capped);
	take_count(&taker, "unconverged", &fluid->unconverged);
	take_count(&taker, "inside", &fluid->inside);
	take_count(&taker, "crowded", &fluid->crowded);
	take_count(&taker, "lost", &fluid->lost);
	take_count(&taker, "bad", &fluid->bad);
	take_count(&taker, "blocked", &fluid->blocked);
	take_u32(&taker, "unsampled", true, UINT32_MAX, &fluid->unsampled);
	take_u32(&taker, "coarse", true, UINT32_MAX, &fluid->coarse);
	return taker.status;
}

/* ---- particles ----------------------------------------------------------------------------------- */

static void pack_column(struct wire_packer *out, struct wire_slice column)
{
	wire_pack_bin(out, column.at, column.bytes);
}

void answer_pack_particles(struct wire_packer *out, const struct wire_particles *page)
{
	bool view = page->form == WIRE_PARTICLES_VIEW;
	ASSERT(page->count <= WIRE_PARTICLES_MAX);
	wire_pack_array(out, view ? 7 : 9);
	wire_pack_uint(out, page->form);
	wire_pack_uint(out, page->count);
	if (view) {
		wire_pack_uint(out, page->last);
		pack_vector(out, page->corner, 3);
		wire_pack_real(out, page->step);
		pack_column(out, page->places);
		pack_column(out, page->colours);
		return;
	}
	pack_column(out, page->serials);
	pack_column(out, page->positions);
	pack_column(out, page->velocities);
	pack_column(out, page->radii);
	pack_column(out, page->masses);
	pack_column(out, page->ages);
	pack_column(out, page->generations);
}

/* A column of `count` rows of so many bytes. */
static void take_column(struct taker *taker, const char *field, uint32_t count, uint32_t bytes,
			struct wire_slice *column)
{
	if (!more(taker, field, true))
		return;
	taker->status = wire_take_bin(&taker->in, column);
	if (taker->status == STATUS_OK && column->bytes != count * bytes)
		taker->status = STATUS_TYPE;
}

enum status answer_take_particles(struct wire_cursor *in, struct wire_particles *page)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(page, 0, sizeof *page);
	take_u32(&taker, "form", true, WIRE_PARTICLES_VIEW, &page->form);
	take_u32(&taker, "count", true, WIRE_PARTICLES_MAX, &page->count);
	if (page->form == WIRE_PARTICLES_VIEW) {
		take_count(&taker, "last", &page->last);
		take_vector(&taker, "corner", true, page->corner, 3);
		take_real(&taker, "step", &page->step);
		take_column(&taker, "positions", page->count, 6, &page->places);
		take_column(&taker, "colours", page->count, 1, &page->colours);
		return taker.status;
	}
	take_column(&taker, "serials", page->count, 8, &page->serials);
	take_column(&taker, "positions", page->count, 24, &page->positions);
	take_column(&taker, "velocities", page->count, 24, &page->velocities);
	take_column(&taker, "radii", page->count, 8, &page->radii);
	take_column(&taker, "masses", page->count, 8, &page->masses);
	take_column(&taker, "ages", page->count, 8, &page->ages);
	take_column(&taker, "generations", page->count, 1, &page->generations);
	return taker.status;
}
