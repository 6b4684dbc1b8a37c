/* particle_passes.h: the kernels of particle_kernels.h for vectors of PARTICLE_LANES doubles. Included once for each
 * width, with PARTICLE_LANES and PARTICLE_KERNELS defined. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_PASSES_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_PASSES_H

#include "server/engine/particles/particle_kernels.h"
#include "server/engine/particles/particle_lanes.h"

/* ---- free motion --------------------------------------------------------------------------------- */

static void fly(const struct weave_nodes *nodes, uint32_t count, vec3 a, bool fields, double h)
{
	const double gravity[3] = { a.x, a.y, a.z };
	for (uint32_t i = 0; i < count; i += PARTICLE_LANES) {
		lanes_mask moves = lanes_load(nodes->mass_inv + i) > 0;
		lanes decay = lanes_load(nodes->decay + i);
		lanes gain = lanes_load(nodes->coast + i) * h;
		for (uint32_t k = 0; k < 3; k++) {
			lanes x = lanes_load(nodes->x[k] + i), v = lanes_load(nodes->v[k] + i);
			lanes pull = lanes_all(gravity[k]);
			if (fields)
				pull = pull + lanes_load(nodes->field[k] + i);
			lanes faster = v * decay + pull * gain;
			*(lanes_stored *)(nodes->before[k] + i) = x;
			*(lanes_stored *)(nodes->v[k] + i) = lanes_select(moves, faster, v);
			*(lanes_stored *)(nodes->x[k] + i) = lanes_select(moves, x + faster * h, x);
		}
	}
}

/* ---- links --------------------------------------------------------------------------------------- */

/* An end of links side by side. */
struct lane_end {
	struct lanes3 x, v;
	lanes mass_inv;
};

LANES_INLINE lanes read(const double *from, const uint32_t *slots, bool scattered)
{
	return scattered ? lanes_gather(from, slots) : lanes_load(from + slots[0]);
}

LANES_INLINE struct lanes3 read3(double *const from[3], const uint32_t *slots, bool scattered)
{
	return (struct lanes3){ read(from[0], slots, scattered), read(from[1], slots, scattered),
				read(from[2], slots, scattered) };
}

LANES_INLINE void write3(double *const to[3], const uint32_t *slots, struct lanes3 all,
			 uint32_t count, bool scattered)
{
	if (scattered) {
		lanes_scatter(to[0], slots, all.x, count);
		lanes_scatter(to[1], slots, all.y, count);
		lanes_scatter(to[2], slots, all.z, count);
	} else {
		lanes_store(to[0] + slots[0], all.x, count);
		lanes_store(to[1] + slots[0], all.y, count);
		lanes_store(to[2] + slots[0], all.z, count);
	}
}

LANES_INLINE struct lane_end read_end(const struct weave_nodes *nodes, const uint32_t *slots,
				      bool scattered)
{
	return (struct lane_end){ read3(nodes->x, slots, scattered),
				  read3(nodes->v, slots, scattered),
				  read(nodes->mass_inv, slots, scattered) };
}

/* Velocities change with places, not by their differences, so that momentum is kept to the rounding of
 * velocities. */
LANES_INLINE void push_end(const struct weave_nodes *nodes, const uint32_t *slots,
			   const struct lane_end *end, struct lanes3 along, lanes push, double rate,
			   lanes_mask live, uint32_t count, bool scattered)
{
	lanes way = end->mass_inv * push;
	struct lanes3 x = lanes3_mul_add(end->x, along, way);
	struct lanes3 v = lanes3_mul_add(end->v, along, way * rate);
	if (!lanes_every(live)) {
		x = lanes3_select(live, x, end->x);
		v = lanes3_select(live, v, end->v);
	}
	write3(nodes->x, slots, x, count, scattered);
	write3(nodes->v, slots, v, count, scattered);
}

/* Links at places from `place` on; `first` is where their numbers are. */
LANES_INLINE void correct_some(const struct weave_nodes *nodes, const struct weave_links *links,
			       uint32_t place, uint32_t first, uint32_t count, double rate,
			       bool damped, bool scattered, bool uniform)
{
	const uint32_t *at_a = links->a + place, *at_b = links->b + place;
	struct lane_end a = read_end(nodes, at_a, scattered);
	struct lane_end b = read_end(nodes, at_b, scattered);
	struct lanes3 way = lanes3_sub(a.x, b.x);
#define NUMBER(column) (uniform ? lanes_all((column)[first]) : lanes_load((column) + first))
	lanes length = lanes_sqrt(lanes3_dot(way, way));
	struct lanes3 n = lanes3_scale(way, lanes_all(1) / length);
	lanes error = length - NUMBER(links->rest), mass_inv = a.mass_inv + b.mass_inv;
	lanes_mask live = (length > 0) & (mass_inv > 0) & (error > NUMBER(links->least));
	if (damped) {
		lanes gamma = NUMBER(links->gamma);
		struct lanes3 moved_a = lanes3_sub(a.x, read3(nodes->before, at_a, scattered));
		struct lanes3 moved_b = lanes3_sub(b.x, read3(nodes->before, at_b, scattered));
		lanes more = gamma * lanes3_dot(n, lanes3_sub(moved_a, moved_b));
		error = lanes_select(gamma > 0, error + more, error);
		mass_inv = (1 + gamma) * mass_inv;
	}
	lanes push = -error / (mass_inv + NUMBER(links->softness));
#undef NUMBER
	if (links->pull != NULL)
		for (uint32_t i = 0; i < count; i++)
			links->pull[place + i] -= live[i] ? push[i] * rate : 0;
	push_end(nodes, at_a, &a, n, push, rate, live, count, scattered);
	push_end(nodes, at_b, &b, n, -push, rate, live, count, scattered);
}

LANES_INLINE void correct_all(const struct weave_nodes *nodes, const struct weave_links *links,
			      const struct weave_run *run, double rate, bool damped, bool scattered,
			      bool uniform)
{
	for (uint32_t i = 0; i < run->count; i += PARTICLE_LANES) {
		uint32_t count = run->count - i < PARTICLE_LANES ? run->count - i : PARTICLE_LANES;
		uint32_t place = run->first + i;
		correct_some(nodes, links, place, uniform ? run->first : place, count, rate, damped,
			     scattered, uniform);
	}
}

static void correct(const struct weave_nodes *nodes, const struct weave_links *links,
		    const struct weave_run *run, double rate)
{
	if (run->scattered)
		correct_all(nodes, links, run, rate, true, true, false);
	else if (run->damped || !run->uniform)
		correct_all(nodes, links, run, rate, true, false, false);
	else
		correct_all(nodes, links, run, rate, false, false, true);
}

LANES_INLINE double stretch_all(const struct weave_nodes *nodes, const struct weave_links *links,
				const struct weave_run *run, double *out, bool scattered)
{
	lanes most = lanes_all(0);
	double all = 0;
	for (uint32_t i = 0; i < run->count; i += PARTICLE_LANES) {
		uint32_t place = run->first + i;
		struct lanes3 way = lanes3_sub(read3(nodes->x, links->a + place, scattered),
					       read3(nodes->x, links->b + place, scattered));
		lanes rest = lanes_load(links->rest + place);
		lanes ratio = lanes_sqrt(lanes3_dot(way, way)) / rest - 1;
		ratio = lanes_select(rest > 0, ratio, lanes_all(0));
		if (run->count - i >= PARTICLE_LANES) {
			lanes_store(out + place, ratio, PARTICLE_LANES);
			most = lanes_max(most, ratio);
			continue;
		}
		for (uint32_t k = 0; k < run->count - i; k++) {
			out[place + k] = ratio[k];
			all = scalar_max(all, ratio[k]);
		}
	}
	for (uint32_t k = 0; k < PARTICLE_LANES; k++)
		all = scalar_max(all, most[k]);
	return all;
}

static double stretch(const struct weave_nodes *nodes, const struct weave_links *links,
		      const struct weave_run *run, double *out)
{
	return run->scattered ? stretch_all(nodes, links, run, out, true)
			      : stretch_all(nodes, links, run, out, false);
}

const struct particle_kernels PARTICLE_KERNELS = { fly, correct, stretch };

#endif
