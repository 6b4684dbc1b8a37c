/* particles.c: particle systems and their particles as text and JSON, for the verb query. */
#include <stdio.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "server/base/bytes.h"
#include "server/engine/world/command.h"

enum { NAME_BYTES = 32 };

static void print_descent(const struct cli *cli, const struct wire_system *system)
{
	out_reals(cli, "split_number", system->split_number, 2);
	out_reals(cli, "split_age", system->split_age, 2);
	out_u64(cli, "split_delay", system->split_delay);
	out_u64(cli, "split_depth", system->split_depth);
	out_reals(cli, "split_velocity", system->split_velocity, 2);
	out_real(cli, "split_spread", system->split_spread);
	out_reals(cli, "split_burst", system->split_burst, 2);
	out_reals(cli, "split_size", system->split_size, 2);
	out_reals(cli, "split_life", system->split_life, 2);
	out_text(cli, "split_spend", command_word(WORDS_SPEND, system->split_spend));
	out_u64(cli, "splits", system->splits);
	out_u64(cli, "trail", system->trail);
	out_u64(cli, "trail_delay", system->trail_delay);
	out_u64(cli, "trail_depth", system->trail_depth);
	out_real(cli, "trail_velocity", system->trail_velocity);
	out_text(cli, "contacts", command_word(WORDS_CONTACTS, system->contacts));
	out_u64(cli, "holds", system->holds);
	out_real(cli, "self_thickness", system->self_thickness);
	out_real(cli, "self_friction", system->self_friction);
	out_real(cli, "self_overlap", system->self_overlap);
	out_u64(cli, "mount", system->mount);
	out_real(cli, "mount_velocity", system->mount_velocity);
	out_text(cli, "recoil", command_word(WORDS_RECOIL, system->recoil));
	out_text(cli, "room", command_word(WORDS_ROOM, system->room));
	out_real(cli, "stretch_limit", system->stretch_limit);
	out_u64(cli, "limit_passes", system->limit_passes);
	for (uint32_t i = 0; i < system->meets; i++)
		out_reals(cli, "meets", system->meet[i], 4);
}

static void print_sinks(const struct cli *cli, const struct wire_system *system)
{
	out_u64(cli, "taken", system->taken);
	out_list_begin(cli, "sinks");
	for (uint32_t i = 0; i < system->sink_count; i++) {
		const struct wire_sink *sink = &system->sinks[i];
		out_item_begin(cli);
		out_u64(cli, "number", sink->number);
		out_text(cli, "region", command_word(WORDS_SINK_REGION, sink->region));
		out_u64(cli, "body", sink->body);
		out_reals(cli, "position", sink->position, 3);
		out_reals(cli, "rotation", sink->rotation, 4);
		out_reals(cli, "size", sink->size, 3);
		out_real(cli, "radius", sink->radius);
		out_u64(cli, "taken", sink->taken);
		out_real(cli, "mass", sink->mass);
		out_item_end(cli);
	}
	out_list_end(cli);
}

bool cli_system(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_system system;
	char name[NAME_BYTES];
	if (answer_take_system(in, &system) != STATUS_OK)
		return false;
	snprintf(name, sizeof name, "%.*s",
		 (int)MIN_OF(system.name.bytes, (uint32_t)NAME_BYTES - 1),
		 (const char *)system.name.at);
	out_begin(cli);
	out_u64(cli, "system", system.id);
	out_text(cli, "name", name);
	out_text(cli, "emitter", command_word(WORDS_EMITTER, system.emitter));
	out_u64(cli, "alive", system.alive);
	out_u64(cli, "capacity", system.capacity);
	out_u64(cli, "born", system.born);
	out_u64(cli, "lost", system.lost);
	out_u64(cli, "refused", system.refused);
	out_u64(cli, "cut", system.cut);
	out_u64(cli, "owner", system.owner);
	out_real(cli, "tag", (double)system.tag);
	out_reals(cli, "position", system.position, 3);
	out_reals(cli, "rotation", system.rotation, 4);
	out_reals(cli, "half", system.half, 3);
	out_reals(cli, "size", system.size, 2);
	out_reals(cli, "mass", system.mass, 2);
	out_reals(cli, "life", system.life, 2);
	out_reals(cli, "speed", system.speed, 2);
	out_real(cli, "spread", system.spread);
	out_real(cli, "drag", system.drag);
	out_real(cli, "gravity_scale", system.gravity_scale);
	out_u64(cli, "category", system.category);
	out_u64(cli, "mask", system.mask);
	out_text(cli, "forces", command_word(WORDS_INTERACT, system.forces));
	out_text(cli, "collisions", command_word(WORDS_INTERACT, system.collisions));
	out_u64(cli, "substeps", system.substeps);
	out_real(cli, "cutoff", system.cutoff);
	out_real(cli, "core", system.core);
	out_real(cli, "charge", system.charge);
	out_real(cli, "gravitation", system.gravitation);
	out_real(cli, "well_depth", system.well_depth);
	out_real(cli, "well_distance", system.well_distance);
	out_real(cli, "repulsion", system.repulsion);
	out_real(cli, "repulsion_damping", system.repulsion_damping);
	out_u64(cli, "crowded", system.crowded);
	out_u64(cli, "links", system.links);
	out_u64(cli, "pins", system.pins);
	out_u64(cli, "link_substeps", system.link_substeps);
	out_u64(cli, "torn", system.torn);
	out_real(cli, "stretch", system.stretch);
	out_real(cli, "volume_error", system.volume_error);
	print_descent(cli, &system);
	print_sinks(cli, &system);
	out_end(cli);
	return true;
}

bool cli_fluid(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_fluid fluid;
	if (answer_take_fluid(in, &fluid) != STATUS_OK)
		return false;
	out_begin(cli);
	out_u64(cli, "system", fluid.system);
	out_u64(cli, "particles", fluid.particles);
	out_text(cli, "solver", command_word(WORDS_FLUID_SOLVER, fluid.solver));
	out_real(cli, "kernel_radius", fluid.kernel_radius);
	out_real(cli, "rest_density", fluid.rest_density);
	out_real(cli, "viscosity", fluid.viscosity);
	out_real(cli, "wall_viscosity", fluid.wall_viscosity);
	out_real(cli, "surface_tension", fluid.surface_tension);
	out_real(cli, "tolerance", fluid.tolerance);
	out_real(cli, "compression", fluid.compression);
	out_real(cli, "speed", fluid.speed);
	out_real(cli, "stiffness", fluid.stiffness);
	out_real(cli, "step_ratio", fluid.step_ratio);
	out_u64(cli, "substeps_max", fluid.substeps_max);
	out_u64(cli, "substeps", fluid.substeps);
	out_u64(cli, "iterations", fluid.iterations);
	out_real(cli, "density_error", fluid.density_error);
	out_real(cli, "density_error_max", fluid.density_error_max);
	out_real(cli, "residual", fluid.residual);
	out_real(cli, "divergence_error", fluid.divergence_error);
	out_real(cli, "speed_max", fluid.speed_max);
	out_u64(cli, "capped", fluid.capped);
	out_u64(cli, "unconverged", fluid.unconverged);
	out_u64(cli, "inside", fluid.inside);
	out_u64(cli, "crowded", fluid.crowded);
	out_u64(cli, "lost", fluid.lost);
	out_u64(cli, "bad", fluid.bad);
	out_u64(cli, "blocked", fluid.blocked);
	out_u64(cli, "unsampled", fluid.unsampled);
	out_u64(cli, "coarse", fluid.coarse);
	out_end(cli);
	return true;
}

static double real_at(struct wire_slice column, uint32_t index)
{
	uint64_t bits = get_le64(column.at + 8 * (size_t)index);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Text is one line: serial number, position, velocity, radius, mass, age. */
static void print_particle(const struct cli *cli, const struct wire_particles *page, uint32_t i)
{
	double position[3], velocity[3];
	for (uint32_t axis = 0; axis < 3; axis++) {
		position[axis] = real_at(page->positions, 3 * i + axis);
		velocity[axis] = real_at(page->velocities, 3 * i + axis);
	}
	uint64_t serial = get_le64(page->serials.at + 8 * (size_t)i);
	if (!cli->json) {
		printf("%8llu %12.6g %12.6g %12.6g %11.5g %11.5g %11.5g %9.4g %9.4g %8.4g\n",
		       (unsigned long long)serial, position[0], position[1], position[2],
		       velocity[0], velocity[1], velocity[2], real_at(page->radii, i),
		       real_at(page->masses, i), real_at(page->ages, i));
		return;
	}
	out_begin(cli);
	out_u64(cli, "serial", serial);
	out_reals(cli, "position", position, 3);
	out_reals(cli, "velocity", velocity, 3);
	out_real(cli, "radius", real_at(page->radii, i));
	out_real(cli, "mass", real_at(page->masses, i));
	out_real(cli, "age", real_at(page->ages, i));
	out_u64(cli, "generation", page->generations.at[i]);
	out_end(cli);
}

bool cli_particles(const struct cli *cli, struct wire_cursor *in, uint64_t *last, uint32_t *count)
{
	struct wire_particles page;
	if (answer_take_particles(in, &page) != STATUS_OK || page.form != WIRE_PARTICLES_EXACT)
		return false;
	*count = page.count;
	for (uint32_t i = 0; i < page.count; i++)
		print_particle(cli, &page, i);
	if (page.count > 0)
		*last = get_le64(page.serials.at + 8 * (size_t)(page.count - 1));
	return true;
}

bool cli_links(const struct cli *cli, struct wire_cursor *in, uint32_t *count)
{
	static const char *const kinds[] = { "rod", "rope", "volume" };
	struct wire_slice numbers;
	enum { BYTES = 20, ENDS = 4 };
	if (answer_take_matrix(in, count, &numbers) != STATUS_OK ||
	    numbers.bytes != (uint64_t)*count * BYTES)
		return false;
	for (uint32_t i = 0; i < *count; i++) {
		const uint8_t *at = numbers.at + (size_t)i * BYTES;
		uint32_t kind = get_le32(at);
		double serials[ENDS];
		for (uint32_t k = 0; k < ENDS; k++)
			serials[k] = get_le32(at + 4 + 4 * (size_t)k);
		out_begin(cli);
		out_text(cli, "kind", kind < COUNT_OF(kinds) ? kinds[kind] : "unknown");
		uint32_t ends = serials[3] > 0 ? ENDS : serials[2] > 0 ? ENDS - 1 : 2;
		out_reals(cli, "particles", serials, ends);
		out_end(cli);
	}
	return true;
}

/* Means over the particles of a system that the mirror shows. */
struct watched_system {
	uint32_t count;
	double middle[3], density, pressure; /* 0: of no fluid */
};

static struct watched_system means_of(const struct mirror_particles *particles, uint32_t system)
{
	struct watched_system means = { 0 };
	for (uint32_t i = 0; i < particles->shown.items.count; i++) {
		const struct wire_particle *particle = &particles->shown.items.items[i];
		if (particle->system != system)
			continue;
		means.count++;
		for (uint32_t axis = 0; axis < 3; axis++)
			means.middle[axis] +=
				(particle->position[axis] - means.middle[axis]) / means.count;
		means.density += (particle->density - means.density) / means.count;
		means.pressure += (particle->pressure - means.pressure) / means.count;
	}
	return means;
}

void cli_watched_particles(const struct cli *cli, const struct mirror *mirror)
{
	const struct mirror_particles *particles = &mirror->particles;
	for (uint32_t i = 0; i < particles->system_count; i++) {
		const struct wire_system_count *system = &particles->systems[i];
		const struct watched_system means = means_of(particles, system->system);
		if (!cli->json) {
			printf("  system %u particles %u shown %u middle %g %g %g",
			       (unsigned)system->system, (unsigned)system->alive,
			       (unsigned)means.count, means.middle[0], means.middle[1],
			       means.middle[2]);
			if (means.density > 0)
				printf(" density %g pressure %g", means.density, means.pressure);
			putchar('\n');
			continue;
		}
		out_begin(cli);
		out_u64(cli, "tick", mirror->tick);
		out_u64(cli, "system", system->system);
		out_u64(cli, "particles", system->alive);
		out_u64(cli, "shown", means.count);
		out_reals(cli, "middle", means.middle, 3);
		if (means.density > 0) {
			out_real(cli, "density", means.density);
			out_real(cli, "pressure", means.pressure);
		}
		out_end(cli);
	}
}
