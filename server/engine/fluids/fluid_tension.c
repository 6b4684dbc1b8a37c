/* fluid_tension.c: surface tension of a fluid; see fluid_work.h.
 *
 * Its energy is the area of the free surface times γ. With the smoothed colour c = Σ V_j W, an integral over
 * levels gives that area exactly, however wide the kernel is:
 *
 *   A = ∫ w(c) |∇c| dV = ∫ w(t) area{c = t} dt,   ∫ w dt = 1   (the coarea formula)
 *
 * w is 0 from LEVEL_MAX on, so that levels lie outside of the particles, and a fluid that is thinned gains
 * area as it grows; with w = 1 it would lose some, and drops would evaporate. A particle alone has five
 * times the area that it has in a flat surface, so the energy holds particles together.
 *
 * At the particles |∇c| says nothing of the outer half of the surface, so the integral is over nodes in
 * space that particles carry: Σ_i V_i W/c = 1, so
 *
 *   A = Σ_i V_i ∫ W(y) f(x_i + y)/c(x_i + y) dy,   f = w(c) (√(|∇c|² + ε²) − ε)
 *
 * with two radii (Gauss) and the twelve corners of an icosahedron (exact to the fifth degree) for y. Forces
 * are the slope of this sum: a node acts on the particles that make its colour, and the opposite of all
 * that on its owner, so momentum is kept to rounding. Nodes also turn with the fluid around their owner,
 * by the turn ω_i of fluid_forces.c with weights V_i V_j (1 − q): what turns them is given to the owner's
 * neighbours as forces whose sum is 0, so angular momentum is kept to rounding as well.
 *
 * Walls have no tension: nodes towards a wall fade out, so a free surface meets it at a right angle. */
#include "server/engine/fluids/fluid_work.h"

#include "server/engine/math/sym3.h"

#define LEVEL_MAX 0.7
/* What the sum has of an area. Flat surfaces of a lattice, jittered by a tenth of a spacing, have 0.965; with
 * 0.9175 drops have Laplace's pressure and Rayleigh's period (bench_fluid drop). */
#define AREA_PART 0.9175
#define SLOPE_NOISE 0.05 /* ε, by the radius */
/* A particle with less of a slope, by the radius, and more of a density has no nodes. With 0.25 drops
 * lost nodes that had energy, and their pressure fell by a sixth; with 0.08 it rose by a tenth at 6
 * across. */
#define RIM_SLOPE 0.15
#define RIM_DENSITY 0.8
/* Gauss for the weight 4π q² W. */
#define INNER 0.285764222538026
#define OUTER 0.6266817923814318
#define INNER_PART 0.539205561064878
#define FAR_SQUARED ((float)((1 + OUTER) * (1 + OUTER)) * FLUID_REACH)
#define NODE_SQUARED (FLUID_INSIDE * FLUID_REACH)
/* Radii, from a wall: nodes fade out in the first FADE, for owners nearer than NEAR. */
#define FADE 0.25
#define NEAR 0.588
#define NEAR_WIDTH 0.2
/* Of the moment of inertia of neighbours that are nearly on one line, where the turn has no inverse. */
#define TURN_FLOOR 0.01
#define TURN_DET 100.0

enum { DIRECTIONS = 12, FAR = 2, FAR_ROWS = 25, FAR_MAX = 5 * FAR_ROWS * FLUID_CROWD };

#define SHORT 0.5257311121191336
#define LONG 0.8506508083520399
static const vec3 DIRECTION[DIRECTIONS] = {
	{ 0, SHORT, LONG }, { 0, SHORT, -LONG }, { 0, -SHORT, LONG }, { 0, -SHORT, -LONG },
	{ SHORT, LONG, 0 }, { SHORT, -LONG, 0 }, { -SHORT, LONG, 0 }, { -SHORT, -LONG, 0 },
	{ LONG, 0, SHORT }, { -LONG, 0, SHORT }, { LONG, 0, -SHORT }, { -LONG, 0, -SHORT },
};

/* ---- rims: particles that carry nodes -------------------------------------------------------------- */

static bool is_rim(const struct fluid_work *self, uint32_t place)
{
	const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[place]];
	bool loose = place < self->loose, thin = self->colour.items[place] < RIM_DENSITY;
	return loose && liquid->tension > 0 && (thin || self->edge.items[place] > RIM_SLOPE);
}

/* In the order of places, with room for all their nodes. */
static enum status find_rims(struct fluid_work *self)
{
	uint32_t count = 0;
	ASSERT(self->rim_of.capacity >= self->points.count);
	for (uint32_t i = 0; i < self->points.count; i++)
		self->rim_of.items[i] = is_rim(self, i) ? count++ : DYNAMICS_NONE;
	enum status status = ARRAY_RESERVE(&self->rims, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->rim_keys, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->nodes, (uint64_t)count * FLUID_NODES);
	if (status != STATUS_OK)
		return status;
	self->rims.count = count;
	for (uint32_t i = 0; i < self->points.count; i++)
		if (self->rim_of.items[i] != DYNAMICS_NONE) {
			self->rims.items[self->rim_of.items[i]] = (struct fluid_rim){ .place = i };
			self->rim_keys.items[self->rim_of.items[i]] = self->keys.items[i];
		}
	return STATUS_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

/* w(c), and its slope. */
static double level_weight(double c, double *slope)
{
	ASSERT(c > 0 && c < LEVEL_MAX);
	double t = c / LEVEL_MAX, u = 1 - t * t, unit = 15 / (8 * LEVEL_MAX * AREA_PART);
	*slope = -4 * unit * u * t / LEVEL_MAX;
	return unit * u * u;
}

/* 0 up to 0, 1 from 1 on; its slope. */
static double smooth_step(double t, double *slope)
{
	t = scalar_clamp(t, 0, 1);
	*slope = 6 * t * (1 - t);
	return t * t * (3 - 2 * t);
}

/* The part that a wall leaves of a node at `offset` from its owner; its slopes by the distances of owner and
 * node from the wall. */
static double wall_part(const struct fluid_work *self, const struct fluid_wall *wall, vec3 offset,
			vec3 *normal, double slopes[2])
{
	double size = vec3_length(wall->slope), inverse = 1 / self->radius, near, far;
	slopes[0] = slopes[1] = 0;
	if (!(size > 0))
		return 1;
	*normal = vec3_scale(wall->slope, -1 / size);
	double own = wall->distance * inverse, at = own + vec3_dot(*normal, offset);
	double fade = smooth_step((NEAR - own) / NEAR_WIDTH, &near);
	double left = smooth_step(at / FADE, &far);
	slopes[0] = near / NEAR_WIDTH * (1 - left);
	slopes[1] = fade * far / FADE;
	return 1 - fade * (1 - left);
}

/* What all walls leave of a node. */
static double shade_of(const struct fluid_work *self, uint32_t place, vec3 offset)
{
	double part = 1, slopes[2];
	vec3 normal;
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_ends.items[place]; k++)
		part *= wall_part(self, &self->walls.items[k], offset, &normal, slopes);
	return part;
}

/* What walls do to an owner and its node of such an energy, and these to the walls: the force on a node
 * acts at its place. */
static void push_walls(struct fluid_work *self, struct fluid_rim *rim, vec3 offset, double energy)
{
	uint32_t place = rim->place;
	ASSERT(!(energy < 0));
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_ends.items[place]; k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		double slopes[2];
		vec3 normal;
		double part = wall_part(self, wall, offset, &normal, slopes);
		if (slopes[0] == 0 && slopes[1] == 0)
			continue;
		vec3 own = vec3_scale(normal, -energy * slopes[0] / part);
		vec3 node = vec3_scale(normal, -energy * slopes[1] / part);
		vec3 twist = vec3_cross(offset, node);
		rim->pull = vec3_add(rim->pull, vec3_add(own, node));
		rim->turn = vec3_add(rim->turn, twist);
		struct fluid_push *out = &self->pushes.items[wall->sum];
		vec3 push = vec3_scale(vec3_add(own, node), self->step * self->radius);
		vec3 arm = vec3_sub(self->x.items[place], self->bodies.items[wall->body].centre);
		out->push = vec3_sub(out->push, push);
		out->twist = vec3_sub(out->twist, vec3_cross(arm, push));
		double unit = self->step * self->radius * self->radius;
		out->twist = vec3_mul_sub(out->twist, twist, unit);
	}
}

/* What the colour of a node of this part of an integral gives. */
static void add_node(struct fluid_work *self, struct fluid_rim *rim, vec3 offset, double unit,
		     const struct fluid_colour *c)
{
	const struct fluid_site *own = &self->sites.items[rim->place];
	const double *b = c->bend, noise = SLOPE_NOISE;
	vec3 slope = vec3_make(c->slope[0], c->slope[1], c->slope[2]);
	double root = scalar_sqrt(vec3_length_squared(slope) + noise * noise), bent;
	double weight = level_weight(c->value, &bent), steep = root - noise;
	vec3 way = vec3_scale(slope, unit * weight / (c->value * root));
	struct fluid_node node = {
		.at = { own->x + offset.x, own->y + offset.y, own->z + offset.z },
		.rise = unit * steep * (bent * c->value - weight) / (c->value * c->value),
		.way = { way.x, way.y, way.z },
	};
	ASSERT(rim->last - rim->first < FLUID_NODES);
	self->nodes.items[rim->last++] = node;
	/* The opposite of what all particles get. */
	sym3 bend = sym3_make(b[0], b[1], b[2], b[3], b[4], b[5]);
	vec3 pull = vec3_mul_add(vec3_scale(slope, node.rise), way, c->round);
	pull = vec3_negate(vec3_add(pull, mat3_mul_vec(sym3_matrix(bend), way)));
	rim->pull = vec3_add(rim->pull, pull);
	rim->turn = vec3_add(rim->turn, vec3_cross(offset, pull));
	push_walls(self, rim, offset, unit * steep * weight / c->value);
}

/* A node at `offset` (radii) with this part of the integral, if its energy is not 0. */
static void try_node(struct fluid_work *self, struct fluid_rim *rim, vec3 offset, double part,
		     const struct fluid_cloud *cloud, uint32_t *found)
{
	const struct fluid_site *own = &self->sites.items[rim->place];
	const float near[3] = { (float)offset.x, (float)offset.y, (float)offset.z };
	const double at[3] = { own->x + offset.x, own->y + offset.y, own->z + offset.z };
	double tension = self->liquids[self->liquid.items[rim->place]].tension;
	double shade = shade_of(self, rim->place, offset);
	struct fluid_colour colour;
	if (!(shade > 0))
		return;
	uint32_t count = self->kernels->find_inside(cloud, near, found);
	self->kernels->sum_colour(self->sites.items, at, found, count, LEVEL_MAX, &colour);
	if (colour.value < LEVEL_MAX && colour.value > 0)
		add_node(self, rim, offset, tension * own->volume * part * shade, &colour);
}

/* From the torque of a rim's nodes, the turn by which its neighbours get forces (turn_pulls). */
static void spread_turn(const struct fluid_work *self, struct fluid_rim *rim)
{
	const struct fluid_site *sites = self->sites.items, *own = &sites[rim->place];
	sym3 inertia = sym3_zero();
	mat3 inverse;
	for (uint32_t k = self->starts.items[rim->place]; k < self->pair_ends.items[rim->place];
	     k++) {
		const struct fluid_site *site = &sites[self->pairs.items[k].place];
		double x = site->x - own->x, y = site->y - own->y, z = site->z - own->z;
		double q = scalar_min(scalar_sqrt(x * x + y * y + z * z), 1);
		double w = own->volume * site->volume * (1 - q);
		inertia.xx += w * (y * y + z * z), inertia.yy += w * (z * z + x * x);
		inertia.zz += w * (x * x + y * y), inertia.xy -= w * x * y;
		inertia.yz -= w * y * z, inertia.zx -= w * z * x;
	}
	double all = 0.5 * (inertia.xx + inertia.yy + inertia.zz);
	ASSERT(!(all < 0));
	vec3 torque = rim->turn;
	rim->turn = vec3_zero();
	if (!(all > 0))
		return;
	inertia = sym3_scale(inertia, 1 / all);
	double det = mat3_det(sym3_matrix(inertia));
	double floor = TURN_FLOOR * scalar_max(1 - TURN_DET * det, 0);
	inertia.xx += floor, inertia.yy += floor, inertia.zz += floor;
	if (mat3_inverse(sym3_matrix(inertia), &inverse))
		rim->turn = vec3_scale(mat3_mul_vec(inverse, torque), 1 / all);
}

struct room {
	float x[FAR_MAX + FLUID_EIGHT], y[FAR_MAX + FLUID_EIGHT], z[FAR_MAX + FLUID_EIGHT];
	uint32_t places[FAR_MAX + FLUID_EIGHT], found[FAR_MAX + FLUID_EIGHT];
};

/* The places around a rim whose kernels reach its nodes, in radii from it. */
static uint32_t find_far(const struct fluid_work *self, uint32_t place,
			 const struct fluid_runs *runs, struct room *room)
{
	const struct fluid_near_x near = { self->near_x.items, self->near_y.items,
					   self->near_z.items };
	const struct fluid_site *sites = self->sites.items, *own = &sites[place];
	uint32_t count =
		self->kernels->find_places(&near, runs, &self->spots.items[place], room->places);
	ASSERT(count <= FAR_MAX);
	for (uint32_t k = 0; k < count; k++) {
		const struct fluid_site *site = &sites[room->places[k]];
		room->x[k] = (float)(site->x - own->x);
		room->y[k] = (float)(site->y - own->y);
		room->z[k] = (float)(site->z - own->z);
	}
	return count;
}

static void fill_rim(struct fluid_work *self, struct fluid_rim *rim, const struct fluid_runs *runs,
		     struct room *room)
{
	uint32_t count = find_far(self, rim->place, runs, room);
	self->sums.items[rim->place / FLUID_BLOCK].visits += (double)count * FLUID_NODES;
	const struct fluid_cloud cloud = { room->x, room->y, room->z, room->places, count };
	ASSERT(rim->first == rim->last);
	for (uint32_t k = 0; k < DIRECTIONS; k++) {
		try_node(self, rim, vec3_scale(DIRECTION[k], INNER), INNER_PART / DIRECTIONS,
			 &cloud, room->found);
		try_node(self, rim, vec3_scale(DIRECTION[k], OUTER), (1 - INNER_PART) / DIRECTIONS,
			 &cloud, room->found);
	}
	spread_turn(self, rim);
}

static void node_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_keys keys = { self->keys.items, self->loose };
	struct room room;
	for (uint32_t block = first; block < last; block++) {
		self->sums.items[block].visits = 0;
		struct fluid_runs runs = { .reach = FAR, .squared = FAR_SQUARED };
		for (uint32_t i = block * FLUID_BLOCK; i < fluid_block_end(self, block); i++) {
			uint32_t at = self->rim_of.items[i];
			if (at == DYNAMICS_NONE)
				continue;
			struct fluid_rim *rim = &self->rims.items[at];
			rim->first = rim->last = at * FLUID_NODES;
			fluid_move_runs(self, &keys, keys.items[i], &runs);
			fill_rim(self, rim, &runs, &room);
		}
	}
}

/* ---- forces ----------------------------------------------------------------------------------------- */

static uint32_t quanta(double radii)
{
	return (uint32_t)(int32_t)(radii * FLUID_QUANTA);
}

/* Nodes without gaps, in the order of rims, so that those of a run of cells are a run. */
static enum status number_nodes(struct fluid_work *self)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->rims.count; i++) {
		struct fluid_rim *rim = &self->rims.items[i];
		rim->packed = count;
		count += rim->last - rim->first;
	}
	ASSERT(count <= self->rims.count * FLUID_NODES);
	enum status status = ARRAY_RESERVE(&self->packed, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->node_x, (uint64_t)count + FLUID_EIGHT);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->node_y, (uint64_t)count + FLUID_EIGHT);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->node_z, (uint64_t)count + FLUID_EIGHT);
	if (status == STATUS_OK)
		self->packed.count = count;
	return status;
}

static void pack_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		if (self->rim_of.items[i] == DYNAMICS_NONE)
			continue;
		const struct fluid_rim *rim = &self->rims.items[self->rim_of.items[i]];
		const struct fluid_site *own = &self->sites.items[i];
		const struct fluid_spot *spot = &self->spots.items[i];
		for (uint32_t k = rim->first; k < rim->last; k++) {
			const struct fluid_node *node = &self->nodes.items[k];
			uint32_t to = rim->packed + k - rim->first;
			self->packed.items[to] = *node;
			self->node_x.items[to] = spot->x + quanta(node->at[0] - own->x);
			self->node_y.items[to] = spot->y + quanta(node->at[1] - own->y);
			self->node_z.items[to] = spot->z + quanta(node->at[2] - own->z);
		}
	}
}

enum { PULLS = 1024, PULLS_MAX = PULLS + 5 * FLUID_CROWD * FLUID_NODES };

/* What all nodes do to a place, by the radius; false if no rim is near. */
static bool node_pulls(const struct fluid_work *self, uint32_t place, const struct fluid_runs *rims,
		       double sum[3])
{
	const struct fluid_site *own = &self->sites.items[place];
	const double at[3] = { own->x, own->y, own->z };
	const struct fluid_near_x near = { self->node_x.items, self->node_y.items,
					   self->node_z.items };
	uint32_t found[PULLS_MAX + FLUID_EIGHT], count = 0;
	bool any = false;
	for (uint32_t r = 0; r < FAR_ROWS; r++) {
		if (rims->first[r] == rims->last[r])
			continue;
		const struct fluid_rim *last = &self->rims.items[rims->last[r] - 1];
		struct fluid_runs row = { .squared = NODE_SQUARED };
		row.first[0] = self->rims.items[rims->first[r]].packed;
		row.last[0] = last->packed + last->last - last->first;
		count += self->kernels->find_places(&near, &row, &self->spots.items[place],
						    &found[count]);
		any = true;
		if (count >= PULLS) {
			self->kernels->sum_pulls(self->packed.items, at, found, count, sum);
			count = 0;
		}
	}
	ASSERT(count < PULLS);
	self->kernels->sum_pulls(self->packed.items, at, found, count, sum);
	return any;
}

static vec3 turn_at(const struct fluid_work *self, uint32_t place)
{
	uint32_t rim = self->rim_of.items[place];
	ASSERT(rim == DYNAMICS_NONE || rim < self->rims.count);
	return rim == DYNAMICS_NONE ? vec3_zero() : self->rims.items[rim].turn;
}

/* What turns the nodes of a place and of its neighbours: the opposite for the two of a pair. */
static vec3 turn_pulls(const struct fluid_work *self, uint32_t place)
{
	const struct fluid_site *sites = self->sites.items, *own = &sites[place];
	vec3 sum = vec3_zero(), turn = turn_at(self, place);
	ASSERT(place < self->loose);
	for (uint32_t k = self->starts.items[place]; k < self->pair_ends.items[place]; k++) {
		uint32_t j = self->pairs.items[k].place;
		vec3 e = vec3_make(sites[j].x - own->x, sites[j].y - own->y, sites[j].z - own->z);
		double q = scalar_min(vec3_length(e), 1);
		vec3 both = vec3_cross(vec3_add(turn, turn_at(self, j)), e);
		sum = vec3_mul_add(sum, both, -(own->volume * sites[j].volume * (1 - q)));
	}
	return sum;
}

static void pull_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_keys keys = { self->rim_keys.items, self->rims.count };
	for (uint32_t block = first; block < last; block++) {
		struct fluid_runs runs = { .reach = FAR };
		for (uint32_t i = block * FLUID_BLOCK; i < fluid_block_end(self, block); i++) {
			double sums[3] = { 0 };
			self->pull.items[i] = vec3_zero();
			if (i >= self->loose)
				continue;
			fluid_move_runs(self, &keys, self->keys.items[i], &runs);
			if (!node_pulls(self, i, &runs, sums))
				continue;
			vec3 sum = vec3_make(sums[0], sums[1], sums[2]);
			sum = vec3_add(vec3_scale(sum, self->sites.items[i].volume),
				       turn_pulls(self, i));
			if (self->rim_of.items[i] != DYNAMICS_NONE)
				sum = vec3_add(sum, self->rims.items[self->rim_of.items[i]].pull);
			self->pull.items[i] = vec3_scale(sum, self->radius);
		}
	}
}

enum status fluid_stretch(struct fluid_work *self)
{
	enum status status = find_rims(self);
	if (status != STATUS_OK)
		return status;
	fluid_run(self, node_blocks);
	status = number_nodes(self);
	if (status != STATUS_OK)
		return status;
	fluid_run(self, pack_blocks);
	fluid_run(self, pull_blocks);
	double visits = 0;
	for (uint32_t block = 0; block < fluid_blocks(self); block++)
		visits += self->sums.items[block].visits;
	self->node_work = FLUID_WORK_NODE * visits;
	self->work -= self->node_work;
	ASSERT(self->rims.count <= self->points.count);
	return STATUS_OK;
}
