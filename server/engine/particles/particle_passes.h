/* particle_passes.h: the kernels of particle_kernels.h for vectors of PARTICLE_LANES doubles.
 * Included once for each width, with PARTICLE_LANES and PARTICLE_KERNELS defined. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_PASSES_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_PASSES_H

#include "server/engine/particles/particle_kernels.h"
#include "server/engine/particles/particle_lanes.h"

/* ---- free motion --------------------------------------------------------------------------------- */

static void fly_nodes(const struct weave_nodes *nodes, uint32_t count, vec3 a, bool fields,
		      double h)
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
			lanes_store(nodes->before[k] + i, x);
			lanes_store(nodes->v[k] + i, lanes_select(moves, faster, v));
			lanes_store(nodes->x[k] + i, lanes_select(moves, x + faster * h, x));
		}
	}
}

/* ---- links --------------------------------------------------------------------------------------- */

/* An end of links side by side. */
struct lane_end {
	struct lanes3 x, v;
	lanes mass_inv;
};

ALWAYS_INLINE lanes read(const double *from, const uint32_t *slots, bool scattered)
{
	return scattered ? lanes_gather(from, slots) : lanes_load(from + slots[0]);
}

ALWAYS_INLINE struct lanes3 read3(double *const from[3], const uint32_t *slots, bool scattered)
{
	return (struct lanes3){ read(from[0], slots, scattered), read(from[1], slots, scattered),
				read(from[2], slots, scattered) };
}

/* Writes the lanes that are live. Those of slots that follow each other are all written, because
 * that is quick; the others as they are at this moment, because the other ends of the same links
 * may be among them. */
ALWAYS_INLINE void write_live(double *to, const uint32_t *slots, lanes all, lanes_mask live,
			      bool scattered)
{
	if (scattered)
		lanes_scatter(to, slots, all, live);
	else if (lanes_every(live))
		lanes_store(to + slots[0], all);
	else
		lanes_store(to + slots[0], lanes_select(live, all, lanes_load(to + slots[0])));
}

ALWAYS_INLINE void write3(double *const to[3], const uint32_t *slots, struct lanes3 all,
			  lanes_mask live, bool scattered)
{
	write_live(to[0], slots, all.x, live, scattered);
	write_live(to[1], slots, all.y, live, scattered);
	write_live(to[2], slots, all.z, live, scattered);
}

ALWAYS_INLINE struct lane_end read_end(const struct weave_nodes *nodes, const uint32_t *slots,
				       bool scattered)
{
	return (struct lane_end){ read3(nodes->x, slots, scattered),
				  read3(nodes->v, slots, scattered),
				  read(nodes->mass_inv, slots, scattered) };
}

/* Velocities change with places, not by their differences, so that momentum is kept to the
 * rounding of velocities. */
ALWAYS_INLINE void push_end(const struct weave_nodes *nodes, const uint32_t *slots,
			    const struct lane_end *end, struct lanes3 along, lanes push,
			    double rate, lanes_mask live, bool scattered)
{
	lanes way = end->mass_inv * push;
	write3(nodes->x, slots, lanes3_mul_add(end->x, along, way), live, scattered);
	write3(nodes->v, slots, lanes3_mul_add(end->v, along, way * rate), live, scattered);
}

/* Links at places from `place` on; `first` is where their numbers are. */
ALWAYS_INLINE void correct_some(const struct weave_nodes *nodes, const struct weave_links *links,
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
	if (count < PARTICLE_LANES)
		live &= lanes_first(count);
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
	push_end(nodes, at_a, &a, n, push, rate, live, scattered);
	push_end(nodes, at_b, &b, n, -push, rate, live, scattered);
}

ALWAYS_INLINE void correct_all(const struct weave_nodes *nodes, const struct weave_links *links,
			       const struct weave_run *run, double rate, bool damped,
			       bool scattered, bool uniform)
{
	for (uint32_t i = 0; i < run->count; i += PARTICLE_LANES) {
		uint32_t count = run->count - i < PARTICLE_LANES ? run->count - i : PARTICLE_LANES;
		uint32_t place = run->first + i;
		correct_some(nodes, links, place, uniform ? run->first : place, count, rate, damped,
			     scattered, uniform);
	}
}

static void correct_links(const struct weave_nodes *nodes, const struct weave_links *links,
			  const struct weave_run *run, double rate)
{
	if (run->scattered)
		correct_all(nodes, links, run, rate, true, true, false);
	else if (run->damped || !run->uniform)
		correct_all(nodes, links, run, rate, true, false, false);
	else
		correct_all(nodes, links, run, rate, false, false, true);
}

ALWAYS_INLINE double stretch_all(const struct weave_nodes *nodes, const struct weave_links *links,
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
			lanes_store(out + place, ratio);
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

static double stretch_links(const struct weave_nodes *nodes, const struct weave_links *links,
			    const struct weave_run *run, double *out)
{
	return run->scattered ? stretch_all(nodes, links, run, out, true)
			      : stretch_all(nodes, links, run, out, false);
}

/* ---- forces of neighbours ------------------------------------------------------------------------ */

/* Neighbours that are summed at once. */
enum { NEAR_MAX = 256 };

/* A point that looks for others. By value: a list may be written anywhere, for all that a compiler
 * knows. */
struct lane_search {
	struct lanes3 at;
	const double *x, *y, *z;
	const uint64_t *line; /* NULL: ranges have no others */
	double reach;
	uint32_t place;
};

ALWAYS_INLINE struct lane_search search_from(const struct pair_points *points, uint32_t place)
{
	const double *x = points->x[0], *y = points->x[1], *z = points->x[2];
	return (struct lane_search){
		.at = { lanes_all(x[place]), lanes_all(y[place]), lanes_all(z[place]) },
		.x = x,
		.y = y,
		.z = z,
		.line = points->line,
		.reach = points->reach,
		.place = place,
	};
}

/* Writes the places of first … last − 1 on a line within reach to `out`, in order and without
 * itself; how many. */
ALWAYS_INLINE uint32_t find(struct lane_search search, uint64_t line, uint32_t first, uint32_t last,
			    uint32_t *out)
{
	uint32_t found = 0;
	for (uint32_t k = first; k < last; k += PARTICLE_LANES) {
		const struct lanes3 d = { search.at.x - lanes_load(search.x + k),
					  search.at.y - lanes_load(search.y + k),
					  search.at.z - lanes_load(search.z + k) };
		lanes_mask near = lanes3_dot(d, d) <= search.reach;
		if (search.line != NULL)
			near &= *(const lanes_stored_mask *)(search.line + k) == (int64_t)line;
		uint32_t within = (1u << MIN_OF(last - k, PARTICLE_LANES)) - 1;
		uint32_t itself = (uint32_t)(UINT64_C(1) << MIN_OF(search.place - k, 32u));
		found += lanes_list(out + found, k, lanes_bits(near) & within & ~itself);
	}
	return found;
}

/* Neighbours side by side, as a point sees them. */
struct lane_pairs {
	struct lanes3 d; /* x1 − x2 */
	lanes square;	 /* of the distance */
	const uint32_t *near;
	uint32_t systems[PARTICLE_LANES];
	const struct pair_law *laws;
};

/* A number of the law of each; `field`: its place in the struct. */
ALWAYS_INLINE lanes law_of(const struct lane_pairs *pairs, size_t field, bool single)
{
	lanes all = { 0 };
	if (single)
		return lanes_all(*(const double *)((const char *)pairs->laws + field));
	for (uint32_t i = 0; i < PARTICLE_LANES; i++)
		all[i] = *(const double *)((const char *)&pairs->laws[pairs->systems[i]] + field);
	return all;
}

#define LAW(pairs, field) law_of(pairs, offsetof(struct pair_law, field), single)

/* The factor of d where balls overlap, else 0. */
ALWAYS_INLINE lanes repulsion_of(const struct pair_points *points, uint32_t place,
				 const struct lane_pairs *pairs, bool single)
{
	lanes stiffness = LAW(pairs, stiffness);
	lanes touching = points->radius[place] + lanes_gather(points->radius, pairs->near);
	lanes_mask over =
		(stiffness > 0) & (pairs->square > 0) & (pairs->square < touching * touching);
	if (lanes_bits(over) == 0)
		return lanes_all(0);
	const struct lanes3 v = { lanes_all(points->v[0][place]), lanes_all(points->v[1][place]),
				  lanes_all(points->v[2][place]) };
	const struct lanes3 v_b = { lanes_gather(points->v[0], pairs->near),
				    lanes_gather(points->v[1], pairs->near),
				    lanes_gather(points->v[2], pairs->near) };
	lanes mass = lanes_all(points->mass[place]);
	lanes mass_b = lanes_gather(points->mass, pairs->near);
	lanes distance = lanes_sqrt(pairs->square);
	lanes reduced = mass * mass_b / (mass + mass_b);
	lanes damping = 2 * LAW(pairs, damping_ratio) * lanes_sqrt(stiffness * reduced);
	lanes parting = lanes3_dot(pairs->d, lanes3_sub(v, v_b)) / distance;
	lanes push = stiffness * (touching - distance) - damping * parting;
	return lanes_select(over, lanes_max(push, lanes_all(0)) / distance, lanes_all(0));
}

/* The factor of d in the force on the point (particle_pairs.c). Of one law the parts that it has
 * not are left out. */
ALWAYS_INLINE lanes force_of(const struct pair_points *points, uint32_t place,
			     const struct lane_pairs *pairs, bool single)
{
	const struct pair_law *law = pairs->laws;
	lanes force = lanes_all(0);
	if (!single || law->coulomb != 0 || law->gravitation != 0 || law->depth > 0) {
		lanes masses = lanes_all(0);
		if (!single || law->gravitation != 0)
			masses = points->mass[place] * lanes_gather(points->mass, pairs->near);
		lanes r2 = lanes_max(pairs->square, LAW(pairs, core)), inverse2 = 1 / r2;
		lanes source = LAW(pairs, coulomb) - LAW(pairs, gravitation) * masses;
		lanes depth = LAW(pairs, depth);
		if (lanes_bits(source != 0) != 0)
			force = lanes_select(source != 0, source * inverse2 / lanes_sqrt(r2),
					     force);
		if (lanes_bits(depth > 0) != 0) {
			lanes s2 = LAW(pairs, sigma2) * inverse2, s6 = s2 * s2 * s2;
			lanes well = 24 * depth * inverse2 * (2 * s6 * s6 - s6);
			force = lanes_select(depth > 0, force + well, force);
		}
	}
	if ((single && !(law->stiffness > 0)) || lanes_bits(pairs->square < points->touching) == 0)
		return force;
	lanes push = repulsion_of(points, place, pairs, single);
	return lanes_select(push != 0, force + push, force);
}

ALWAYS_INLINE vec3 pull_some(const struct pair_points *points, uint32_t place, const uint32_t *near,
			     uint32_t count, const struct pair_law *laws, bool single, vec3 sum)
{
	struct lane_pairs pairs = { .near = near, .laws = laws };
	pairs.d.x = points->x[0][place] - lanes_gather(points->x[0], near);
	pairs.d.y = points->x[1][place] - lanes_gather(points->x[1], near);
	pairs.d.z = points->x[2][place] - lanes_gather(points->x[2], near);
	pairs.square = lanes3_dot(pairs.d, pairs.d);
	for (uint32_t i = 0; i < PARTICLE_LANES && !single; i++)
		pairs.systems[i] = points->system[near[i]];
	uint32_t acts = lanes_bits(pairs.square <= LAW(&pairs, cutoff));
	lanes factor = force_of(points, place, &pairs, single);
	if (lanes_bits(factor != 0) == 0) /* the sum, which is never −0, would stay as it is */
		return sum;
	struct lanes3 force = lanes3_scale(pairs.d, factor);
	for (uint32_t i = 0; i < count; i++) {
		if (!(acts >> i & 1))
			continue;
		sum.x += force.x[i];
		sum.y += force.y[i];
		sum.z += force.z[i];
	}
	return sum;
}
#undef LAW

ALWAYS_INLINE vec3 pull_all(const struct pair_points *points, uint32_t place, uint32_t *near,
			    uint32_t count, const struct pair_law *laws, bool single, vec3 sum)
{
	for (uint32_t i = 0; i < PARTICLE_LANES; i++)
		near[count + i] = place; /* lanes that nobody reads */
	for (uint32_t i = 0; i < count; i += PARTICLE_LANES)
		sum = pull_some(points, place, near + i, MIN_OF(count - i, PARTICLE_LANES), laws,
				single, sum);
	return sum;
}

ALWAYS_INLINE vec3 pull_point(const struct pair_points *points, uint32_t place,
			      const struct cell_span *ranges, uint32_t range_count, bool single)
{
	uint32_t near[2 * NEAR_MAX + PARTICLE_LANES], count = 0;
	const struct lane_search search = search_from(points, place);
	const struct pair_law *laws = points->laws;
	vec3 sum = vec3_zero();
	if (!single)
		laws += (size_t)points->law_stride * points->system[place];
	for (uint32_t i = 0; i < range_count; i++) {
		uint32_t last = ranges[i].last;
		for (uint32_t k = ranges[i].first; k < last; k += NEAR_MAX) {
			count += find(search, ranges[i].line, k, MIN_OF(last, k + NEAR_MAX),
				      near + count);
			if (count < NEAR_MAX)
				continue;
			sum = pull_all(points, place, near, count, laws, single, sum);
			count = 0;
		}
	}
	return pull_all(points, place, near, count, laws, single, sum);
}

static void pull_points(const struct pair_points *points, uint32_t first, uint32_t last,
			const struct cell_span *ranges, uint32_t range_count, vec3 *out)
{
	bool single = points->law_stride == 0;
	for (uint32_t place = first; place < last; place++, out++)
		*out = single ? pull_point(points, place, ranges, range_count, true)
			      : pull_point(points, place, ranges, range_count, false);
}

const struct particle_kernels PARTICLE_KERNELS = { fly_nodes, correct_links, stretch_links,
						   pull_points };

#endif
