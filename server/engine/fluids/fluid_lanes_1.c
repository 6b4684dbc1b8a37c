/* The sums of fluid_lanes.h one number after the other, to which tests hold the others. */
#include "server/engine/fluids/fluid_work.h"

static float way(uint32_t a, uint32_t b)
{
	return (float)(int32_t)(a - b);
}

static uint32_t find_places(const struct fluid_near_x *near, const struct fluid_runs *runs,
			    const struct fluid_spot *own, uint32_t *out)
{
	const uint32_t cells = 2 * runs->reach + 1;
	uint32_t found = 0;
	for (uint32_t r = 0; r < cells * cells; r++)
		for (uint32_t k = runs->first[r]; k < runs->last[r]; k++) {
			float x = way(own->x, near->x[k]);
			float y = way(own->y, near->y[k]);
			float z = way(own->z, near->z[k]);
			if (x * x + y * y + z * z < runs->squared)
				out[found++] = k;
		}
	return found;
}

static float total(const float a[8])
{
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static void fill_pairs(const struct fluid_site *sites, const float *weights, uint32_t place,
		       uint32_t *found, uint32_t count, struct fluid_pair *out,
		       struct fluid_pair_sums *sums)
{
	float spread[8] = { 0 }, trace[8] = { 0 }, slope[3][8] = { { 0 } };
	double density[8] = { 0 }, *d = density;
	const struct fluid_site *own = &sites[place];
	for (uint32_t k = 0; k < (count + 7) / 8 * 8; k++) {
		uint32_t j = k < count ? found[k] : place;
		double x = own->x - sites[j].x, y = own->y - sites[j].y, z = own->z - sites[j].z;
		double r = __builtin_sqrt(x * x + y * y + z * z), q = r < 1 ? r : 1, u = 1 - q;
		float fx = (float)x, fy = (float)y, fz = (float)z, fq = (float)q, fu = 1.0f - fq;
		float squares = fx * fx + fy * fy + fz * fz, volume = (float)sites[j].volume;
		float scale = fq < 0.5f ? 18.0f * fq - 12.0f : -6.0f * fu * fu / fq;
		scale *= (float)(8 / FLUID_PI);
		out[k] = (struct fluid_pair){ scale, j };
		if (k >= count)
			continue;
		density[k % 8] +=
			sites[j].volume * (q < 0.5 ? 6 * q * q * (q - 1) + 1 : 2 * u * u * u);
		spread[k % 8] += weights[j] * (scale * scale * squares);
		trace[k % 8] += volume * (scale * squares);
		slope[0][k % 8] += volume * (scale * fx);
		slope[1][k % 8] += volume * (scale * fy);
		slope[2][k % 8] += volume * (scale * fz);
	}
	double sum = ((d[0] + d[4]) + (d[2] + d[6])) + ((d[1] + d[5]) + (d[3] + d[7]));
	*sums = (struct fluid_pair_sums){
		.density = sum * (8 / FLUID_PI),
		.spread = total(spread),
		.trace = -total(trace),
		.slope = { total(slope[0]), total(slope[1]), total(slope[2]) },
	};
}

static void press_places(const struct fluid_iteration *it, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++) {
		float sums[4][3] = { { 0 } };
		const struct fluid_spot *own = &it->spots[i];
		for (uint32_t k = it->starts[i]; k < it->ends[i]; k++) {
			const struct fluid_pair *pair = &it->pairs[k];
			const struct fluid_spot *other = &it->spots[pair->place];
			float *sum = sums[(k - it->starts[i]) % 4];
			float factor = pair->scale * other->load;
			sum[0] += way(own->x, other->x) * factor;
			sum[1] += way(own->y, other->y) * factor;
			sum[2] += way(own->z, other->z) * factor;
		}
		for (uint32_t c = 0; c < 3; c++) {
			float push = (sums[0][c] + sums[2][c]) + (sums[1][c] + sums[3][c]);
			push = push * FLUID_QUANTUM + it->sides[i].slope[c] * it->pressures[i];
			it->flows[i].at[c] = (it->speeds[i].v[c] - push * it->speeds[i].yield) *
					     it->sides[i].volume;
		}
		it->flows[i].at[3] = 0;
	}
}

static void rate_places(const struct fluid_iteration *it, uint32_t first, uint32_t last,
			float *rates)
{
	for (uint32_t i = first; i < last; i++) {
		float sums[4][3] = { { 0 } }, out[3], own_rate[3];
		const struct fluid_spot *own = &it->spots[i];
		for (uint32_t k = it->starts[i]; k < it->ends[i]; k++) {
			const struct fluid_pair *pair = &it->pairs[k];
			const struct fluid_spot *other = &it->spots[pair->place];
			const float *flow = it->flows[pair->place].at;
			float *sum = sums[(k - it->starts[i]) % 4];
			sum[0] += way(own->x, other->x) * pair->scale * flow[0];
			sum[1] += way(own->y, other->y) * pair->scale * flow[1];
			sum[2] += way(own->z, other->z) * pair->scale * flow[2];
		}
		for (uint32_t c = 0; c < 3; c++) {
			out[c] = (sums[0][c] + sums[2][c]) + (sums[1][c] + sums[3][c]);
			own_rate[c] = it->flows[i].at[c] * it->sides[i].slope[c];
		}
		float rate = (own_rate[0] + own_rate[1] + own_rate[2]) / it->sides[i].volume;
		rates[i - first] = rate - (out[0] + out[1] + out[2]) * FLUID_QUANTUM;
	}
}

static vec3 sum_pushes(const struct fluid_pair *pairs, uint32_t count,
		       const struct fluid_site *sites, const double *numbers, uint32_t place,
		       double number)
{
	vec3 sums[2] = { vec3_zero(), vec3_zero() };
	const struct fluid_site *own = &sites[place];
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_site *other = &sites[pairs[k].place];
		double weight =
			(double)pairs[k].scale * (numbers[pairs[k].place] + other->volume * number);
		vec3 from = vec3_make(own->x - other->x, own->y - other->y, own->z - other->z);
		sums[k % 2] = vec3_mul_add(sums[k % 2], from, weight);
	}
	return vec3_add(sums[0], sums[1]);
}

static double slip_weight(const struct fluid_slips *slips, const struct fluid_pair *pair,
			  double number)
{
	float s = pair->scale * (float)(-FLUID_PI / 8);
	float far = __builtin_sqrtf(s * s + 24.0f * s);
	float rest = s > 3.0f ? (s + 6.0f) * (1.0f / 18.0f) : (far - s) * (1.0f / 12.0f);
	return (double)rest *
	       (slips->numbers[pair->place] + slips->sites[pair->place].volume * number);
}

static vec3 way_to(const struct fluid_slips *slips, uint32_t from, uint32_t to)
{
	const struct fluid_site *a = &slips->sites[from], *b = &slips->sites[to];
	return vec3_make(b->x - a->x, b->y - a->y, b->z - a->z);
}

static void sum_swirls(const struct fluid_slips *slips, const struct fluid_pair *pairs,
		       uint32_t count, uint32_t place, double number, struct fluid_swirl *out)
{
	struct fluid_swirl sums[2] = { 0 };
	for (uint32_t k = 0; k < count; k++) {
		struct fluid_swirl *sum = &sums[k % 2];
		vec3 e = way_to(slips, place, pairs[k].place);
		vec3 weighted = vec3_scale(e, slip_weight(slips, &pairs[k], number));
		vec3 slip = vec3_sub(slips->v[pairs[k].place], slips->v[place]);
		sum->zxy[0] += weighted.x * slip.y - weighted.y * slip.x;
		sum->zxy[1] += weighted.y * slip.z - weighted.z * slip.y;
		sum->zxy[2] += weighted.z * slip.x - weighted.x * slip.z;
		sum->squares[0] += weighted.x * e.x;
		sum->squares[1] += weighted.y * e.y;
		sum->squares[2] += weighted.z * e.z;
		sum->mixed[0] += weighted.x * e.y;
		sum->mixed[1] += weighted.y * e.z;
		sum->mixed[2] += weighted.z * e.x;
	}
	for (uint32_t c = 0; c < 3; c++) {
		out->zxy[c] = sums[0].zxy[c] + sums[1].zxy[c];
		out->squares[c] = sums[0].squares[c] + sums[1].squares[c];
		out->mixed[c] = sums[0].mixed[c] + sums[1].mixed[c];
	}
}

static vec3 sum_slips(const struct fluid_slips *slips, const struct fluid_pair *pairs,
		      uint32_t count, uint32_t place, double number)
{
	vec3 sums[2] = { vec3_zero(), vec3_zero() };
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_turn *a = &slips->turns[pairs[k].place];
		const struct fluid_turn *b = &slips->turns[place];
		vec3 turn = vec3_make(a->x + b->x, a->y + b->y, a->z + b->z);
		vec3 e = way_to(slips, place, pairs[k].place);
		vec3 slip = vec3_sub(slips->v[pairs[k].place], slips->v[place]);
		slip = vec3_sub(vec3_scale(slip, a->share + b->share), vec3_cross(turn, e));
		sums[k % 2] =
			vec3_mul_add(sums[k % 2], slip, slip_weight(slips, &pairs[k], number));
	}
	return vec3_add(sums[0], sums[1]);
}

static uint32_t find_inside(const struct fluid_cloud *cloud, const float at[3], uint32_t *out)
{
	uint32_t found = 0;
	for (uint32_t k = 0; k < cloud->count; k++) {
		float x = at[0] - cloud->x[k], y = at[1] - cloud->y[k], z = at[2] - cloud->z[k];
		if (x * x + y * y + z * z < FLUID_INSIDE)
			out[found++] = cloud->places[k];
	}
	return found;
}

static double total4(const double a[4])
{
	return ((a[0] + a[2]) + (a[1] + a[3])) * (8 / FLUID_PI);
}

static void find_slopes(double r2, double *slope, double *bend)
{
	double r = __builtin_sqrt(r2), q = r < 1 ? r : 1, u = 1 - q;
	*slope = q < 0.5 ? 18 * q - 12 : -6 * u * u / q;
	*bend = ((q < 0.5 ? 36 * q - 12 : 12 * u) - *slope) / (r2 > 1e-18 ? r2 : 1);
}

static void add_colour(vec3 d, double volume, double sums[10][4], uint32_t lane)
{
	double slope, bend;
	find_slopes(d.x * d.x + d.y * d.y + d.z * d.z, &slope, &bend);
	double s = volume * slope, t = volume * bend;
	double tx = t * d.x, ty = t * d.y, tz = t * d.z;
	const double parts[10] = { s * d.x,  s * d.y,  s * d.z,	 s,	   tx * d.x,
				   ty * d.y, tz * d.z, tx * d.y, ty * d.z, tz * d.x };
	for (uint32_t n = 0; n < 10; n++)
		sums[n][lane] += parts[n];
}

static void sum_colour(const struct fluid_site *sites, const double at[3], uint32_t *found,
		       uint32_t count, double most, struct fluid_colour *out)
{
	double value[4] = { 0 }, sums[10][4] = { { 0 } };
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_site *site = &sites[found[k]];
		double x = at[0] - site->x, y = at[1] - site->y, z = at[2] - site->z;
		double r = __builtin_sqrt(x * x + y * y + z * z), q = r < 1 ? r : 1, u = 1 - q;
		value[k % 4] += site->volume * (q < 0.5 ? 6 * q * q * (q - 1) + 1 : 2 * u * u * u);
	}
	*out = (struct fluid_colour){ .value = total4(value) };
	if (!(out->value < most))
		return;
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_site *site = &sites[found[k]];
		vec3 d = vec3_make(at[0] - site->x, at[1] - site->y, at[2] - site->z);
		add_colour(d, site->volume, sums, k % 4);
	}
	for (uint32_t n = 0; n < 10; n++)
		*(n < 3	   ? &out->slope[n]
		  : n == 3 ? &out->round
			   : &out->bend[n - 4]) = total4(sums[n]);
}

static void sum_pulls(const struct fluid_node *nodes, const double at[3], uint32_t *found,
		      uint32_t count, double sum[3])
{
	double sums[3][4] = { { 0 } };
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_node *node = &nodes[found[k]];
		const double *way_of = node->way;
		double x = node->at[0] - at[0], y = node->at[1] - at[1], z = node->at[2] - at[2];
		double slope, bend, along = way_of[0] * x + way_of[1] * y + way_of[2] * z;
		find_slopes(x * x + y * y + z * z, &slope, &bend);
		double factor = node->rise * slope + bend * along;
		sums[0][k % 4] += x * factor + way_of[0] * slope;
		sums[1][k % 4] += y * factor + way_of[1] * slope;
		sums[2][k % 4] += z * factor + way_of[2] * slope;
	}
	for (uint32_t n = 0; n < 3; n++)
		sum[n] += total4(sums[n]);
}

const struct fluid_kernels fluid_kernels_1 = { find_places, fill_pairs, press_places, rate_places,
					       sum_pushes,  sum_swirls, sum_slips,    find_inside,
					       sum_colour,  sum_pulls };
