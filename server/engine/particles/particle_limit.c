/* See particle_limit.h. */
#include "server/engine/particles/particle_limit.h"

#include "server/base/heap.h"

#include <string.h>

/* Supports to which a particle is tethered. */
enum { SUPPORTS = 2 };
/* Of the limit: to which rigid and compliant links are shortened, and where passes end. A larger share of
 * rigid ones leaves too little room for what neighbours give back: with 0.45 a cloth of 64 by 64 takes
 * five times as many passes. */
#define LIMIT_RIGID 0.15
#define LIMIT_SOFT 0.6
#define LIMIT_END 0.9

/* A distance link as tethers see it. */
struct limit_edge {
	uint32_t a, b; /* nodes within the system; equal: none */
	double way;    /* m */
};

struct limit_way {
	uint32_t node, bond; /* the link's other end, and its place in the system */
};

/* A particle and a support. Those of a support are after the one on which their way ends. */
struct tether {
	uint32_t node, support; /* within the system; equal: a support itself */
	uint32_t parent, bond;	/* the tether before the way's last link, and that link */
	double way, pull;	/* m, N s in this tick */
};

/* Of one system. */
struct particle_limit {
	ARRAY_OF(struct limit_edge) edges; /* by bond, for which the tethers were made */
	ARRAY_OF(uint8_t) supports;	   /* likewise, by node */
	ARRAY_OF(uint32_t) firsts;	   /* of each node in `ways`, and the end */
	ARRAY_OF(struct limit_way) ways;
	ARRAY_OF(struct tether) tethers, queue; /* queue: a heap */
	ARRAY_OF(uint32_t) found;		/* by node: tether + 1 of each of its supports */
	ARRAY_OF(uint32_t) moved;		/* by node: the pass that moved it last */
	uint32_t nodes;
	uint64_t passes; /* in this tick */
	bool made, limited;
};

/* ---- memory --------------------------------------------------------------------------------------- */

static enum status reserve_system(struct particle_limit *self, uint64_t nodes, uint64_t links)
{
	enum status status = ARRAY_RESERVE(&self->edges, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->supports, nodes);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->firsts, nodes + 2);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->ways, 2 * links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->tethers, SUPPORTS * nodes);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->queue, nodes + 2 * SUPPORTS * links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->found, SUPPORTS * nodes);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->moved, nodes);
	return status;
}

enum status particle_limit_reserve(struct dynamics *self)
{
	struct particle_links *links = self->links;
	const struct system_table *table = &self->tables->system;
	enum status status = STATUS_OK;
	ASSERT(links != NULL);
	for (uint32_t row = 0; row < table->count && status == STATUS_OK; row++) {
		if (!(table->stretch_limit[row] > 0) || table->links[row] == 0)
			continue;
		if (links->limits == NULL)
			links->limits = heap_alloc_zero(SYSTEMS_MAX * sizeof *links->limits);
		if (links->limits == NULL)
			return STATUS_NO_MEMORY;
		status = reserve_system(&links->limits[row], table->alive[row], table->links[row]);
	}
	return status;
}

void particle_limit_release(struct particle_links *self)
{
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->limits != NULL; row++) {
		struct particle_limit *one = &self->limits[row];
		ARRAY_RELEASE(&one->edges);
		ARRAY_RELEASE(&one->supports);
		ARRAY_RELEASE(&one->firsts);
		ARRAY_RELEASE(&one->ways);
		ARRAY_RELEASE(&one->tethers);
		ARRAY_RELEASE(&one->queue);
		ARRAY_RELEASE(&one->found);
		ARRAY_RELEASE(&one->moved);
	}
	heap_free(self->limits);
	self->limits = NULL;
}

uint64_t particle_limit_memory(const struct particle_links *self)
{
	uint64_t sum = self->limits != NULL ? SYSTEMS_MAX * sizeof *self->limits : 0;
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->limits != NULL; row++) {
		const struct particle_limit *one = &self->limits[row];
		sum += (uint64_t)one->edges.capacity * sizeof *one->edges.items;
		sum += (uint64_t)one->supports.capacity;
		sum += ((uint64_t)one->firsts.capacity + one->found.capacity +
			one->moved.capacity) *
		       sizeof(uint32_t);
		sum += (uint64_t)one->ways.capacity * sizeof *one->ways.items;
		sum += ((uint64_t)one->tethers.capacity + one->queue.capacity) *
		       sizeof *one->tethers.items;
	}
	return sum;
}

/* ---- tethers -------------------------------------------------------------------------------------- */

static double limit_of(const struct particle_links *self, const struct linked_system *system)
{
	const struct system_table *table = &self->motion->dynamics->tables->system;
	ASSERT(system->row < table->count);
	return system->bonds > 0 ? table->stretch_limit[system->row] : 0;
}

bool particle_limit_keeps(const struct particle_links *self, const struct linked_system *system)
{
	return limit_of(self, system) > 0;
}

static struct limit_edge edge_of(const struct bond *bond, const struct linked_system *system,
				 double limit)
{
	if (bond->kind == LINK_VOLUME)
		return (struct limit_edge){ 0 };
	return (struct limit_edge){
		.a = bond->node[0] - system->first_node,
		.b = bond->node[1] - system->first_node,
		.way = bond->softness > 0 ? bond->rest * (1 + LIMIT_SOFT * limit) : bond->rest,
	};
}

/* Takes over links and supports; true: they are as before. */
static bool take_over(struct particle_limit *self, const struct particle_links *links,
		      const struct linked_system *system, double limit)
{
	const struct hold_table *hold = &links->motion->dynamics->tables->hold;
	bool same =
		self->made && self->edges.count == system->bonds && self->nodes == system->nodes;
	ASSERT(system->bonds <= self->edges.capacity && system->nodes <= self->supports.capacity);
	for (uint32_t i = 0; i < system->bonds; i++) {
		struct limit_edge edge =
			edge_of(&links->bonds.items[system->first_bond + i], system, limit);
		const struct limit_edge *old = &self->edges.items[i];
		same = same && old->a == edge.a && old->b == edge.b && old->way == edge.way;
		self->edges.items[i] = edge;
	}
	/* In `moved`: the supports of this tick. */
	for (uint32_t i = 0; i < system->nodes; i++)
		self->moved.items[i] = !(links->nodes.items[system->first_node + i].mass_inv > 0);
	for (uint32_t row = 0; row < hold->count; row++)
		if (hold->system[row] == system->row && !(hold->stiffness[row] > 0))
			self->moved.items[particle_links_node(links, system, hold->serial[row]) -
					  system->first_node] = 1;
	for (uint32_t i = 0; i < system->nodes; i++) {
		same = same && self->supports.items[i] == self->moved.items[i];
		self->supports.items[i] = (uint8_t)self->moved.items[i];
	}
	self->edges.count = system->bonds;
	self->nodes = system->nodes;
	return same;
}

/* The links of each node. */
static void list_ways(struct particle_limit *self)
{
	uint32_t *firsts = self->firsts.items;
	ASSERT(self->nodes + 2 <= self->firsts.capacity);
	memset(firsts, 0, ((size_t)self->nodes + 2) * sizeof *firsts);
	for (uint32_t i = 0; i < self->edges.count; i++) {
		const struct limit_edge *edge = &self->edges.items[i];
		if (edge->a == edge->b)
			continue;
		firsts[edge->a + 2]++;
		firsts[edge->b + 2]++;
	}
	for (uint32_t node = 0; node < self->nodes; node++)
		firsts[node + 2] += firsts[node + 1];
	ASSERT(firsts[self->nodes + 1] <= self->ways.capacity);
	for (uint32_t i = 0; i < self->edges.count; i++) {
		const struct limit_edge *edge = &self->edges.items[i];
		if (edge->a == edge->b)
			continue;
		self->ways.items[firsts[edge->a + 1]++] = (struct limit_way){ edge->b, i };
		self->ways.items[firsts[edge->b + 1]++] = (struct limit_way){ edge->a, i };
	}
}

/* A total order of what is in the queue: of two equal ones a support's tether to a node by one link is
 * there once. */
static bool comes_before(const struct tether *a, const struct tether *b)
{
	if (a->way != b->way)
		return a->way < b->way;
	if (a->support != b->support)
		return a->support < b->support;
	return a->node != b->node ? a->node < b->node : a->bond < b->bond;
}

static void push_queue(struct particle_limit *self, struct tether item)
{
	struct tether *items = self->queue.items;
	uint32_t at = self->queue.count++;
	ASSERT(self->queue.count <= self->queue.capacity);
	while (at > 0 && comes_before(&item, &items[(at - 1) / 2])) {
		items[at] = items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	items[at] = item;
}

static struct tether pop_queue(struct particle_limit *self)
{
	struct tether *items = self->queue.items, first = items[0];
	ASSERT(self->queue.count > 0);
	struct tether last = items[--self->queue.count];
	uint32_t at = 0, count = self->queue.count;
	for (uint32_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && comes_before(&items[child + 1], &items[child]))
			child++;
		if (!comes_before(&items[child], &last))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = last;
	return first;
}

/* Whether a node has room for a tether to another support. */
static bool wants_tether(const struct particle_limit *self, uint32_t node, uint32_t support)
{
	const uint32_t *found = self->found.items + (size_t)SUPPORTS * node;
	for (uint32_t i = 0; i < SUPPORTS; i++) {
		if (found[i] == 0)
			return true;
		if (self->tethers.items[found[i] - 1].support == support)
			return false;
	}
	return false;
}

/* The shortest ways from each support, for each node those of its nearest ones. */
static void make_tethers(struct particle_limit *self)
{
	ASSERT((uint64_t)SUPPORTS * self->nodes <= self->found.capacity);
	memset(self->found.items, 0, (size_t)SUPPORTS * self->nodes * sizeof *self->found.items);
	self->tethers.count = self->queue.count = 0;
	for (uint32_t node = 0; node < self->nodes; node++)
		if (self->supports.items[node])
			push_queue(self, (struct tether){ .node = node, .support = node });
	while (self->queue.count > 0) {
		struct tether next = pop_queue(self);
		if (!wants_tether(self, next.node, next.support))
			continue;
		uint32_t index = self->tethers.count++;
		uint32_t *found = self->found.items + (size_t)SUPPORTS * next.node;
		found[found[0] == 0 ? 0 : 1] = index + 1;
		self->tethers.items[index] = next;
		for (uint32_t i = self->firsts.items[next.node];
		     i < self->firsts.items[next.node + 1]; i++) {
			const struct limit_way *way = &self->ways.items[i];
			if (wants_tether(self, way->node, next.support))
				push_queue(self, (struct tether){
							 .node = way->node,
							 .support = next.support,
							 .parent = index,
							 .bond = way->bond,
							 .way = next.way +
								self->edges.items[way->bond].way,
						 });
		}
	}
}

void particle_limit_begin(struct particle_links *self, const struct linked_system *system)
{
	double limit = limit_of(self, system);
	if (!(limit > 0))
		return;
	struct particle_limit *one = &self->limits[system->row];
	one->passes = 0;
	one->limited = true;
	if (!take_over(one, self, system, limit)) {
		list_ways(one);
		make_tethers(one);
		one->made = true;
	}
	for (uint32_t i = 0; i < one->tethers.count; i++)
		one->tethers.items[i].pull = 0;
}

/* ---- corrections ---------------------------------------------------------------------------------- */

/* Draws two particles together to a distance of at most `most`; the push, and what it was before. */
static inline double draw(struct link_node *a, struct link_node *b, double most, double rate,
			  double *length)
{
	vec3 way = vec3_sub(a->x, b->x);
	double square = vec3_length_squared(way), mass_inv = a->mass_inv + b->mass_inv;
	*length = most;
	if (!(square > most * most) || !(mass_inv > 0))
		return 0;
	*length = scalar_sqrt(square);
	if (!(*length > most))
		return 0;
	double push = (*length - most) / mass_inv;
	vec3 move = vec3_scale(way, push / *length);
	a->x = vec3_mul_sub(a->x, move, a->mass_inv);
	b->x = vec3_mul_add(b->x, move, b->mass_inv);
	a->v = vec3_mul_sub(a->v, move, a->mass_inv * rate);
	b->v = vec3_mul_add(b->v, move, b->mass_inv * rate);
	return push;
}

static void correct_tethers(struct particle_limit *self, struct link_node *nodes, double rate,
			    uint32_t pass)
{
	for (uint32_t i = 0; i < self->tethers.count; i++) {
		struct tether *tether = &self->tethers.items[i];
		double length;
		if (tether->node == tether->support)
			continue;
		double push = draw(&nodes[tether->node], &nodes[tether->support], tether->way, rate,
				   &length);
		if (push > 0) {
			tether->pull += push * rate;
			self->moved.items[tether->node] = self->moved.items[tether->support] = pass;
		}
	}
}

/* Shortens links with an end that moved in the last pass; the largest elongation before. */
static double shorten_links(struct particle_limit *self, const struct particle_links *links,
			    const struct linked_system *system, double rate, uint32_t pass)
{
	struct link_node *nodes = links->nodes.items + system->first_node;
	const uint32_t *moved = self->moved.items;
	double limit = limit_of(links, system), worst = 0;
	ASSERT(pass > 0 && limit > 0);
	for (uint32_t i = 0; i < system->bonds; i++) {
		const struct limit_edge *edge = &self->edges.items[i];
		if ((moved[edge->a] + 1 < pass && moved[edge->b] + 1 < pass) || edge->a == edge->b)
			continue;
		struct bond *bond = &links->bonds.items[system->first_bond + i];
		double share = bond->softness > 0 ? LIMIT_SOFT : LIMIT_RIGID, length;
		double push = draw(&nodes[edge->a], &nodes[edge->b],
				   bond->rest * (1 + share * limit), rate, &length);
		if (!(push > 0))
			continue;
		bond->pull += push * rate;
		self->moved.items[edge->a] = self->moved.items[edge->b] = pass;
		worst = scalar_max(worst, length - bond->rest * (1 + LIMIT_END * limit));
	}
	return worst;
}

void particle_limit_correct(const struct particle_links *self, const struct linked_system *system,
			    double h)
{
	if (!(limit_of(self, system) > 0))
		return;
	struct particle_limit *one = &self->limits[system->row];
	struct link_node *nodes = self->nodes.items + system->first_node;
	uint32_t pass = 1;
	ASSERT(h > 0 && one->limited);
	memset(one->moved.items, 0, system->nodes * sizeof *one->moved.items);
	correct_tethers(one, nodes, 1 / h, 0);
	while (shorten_links(one, self, system, 1 / h, pass) > 0 && pass < LIMIT_PASSES_MAX) {
		correct_tethers(one, nodes, 1 / h, pass);
		pass++;
	}
	one->passes += pass;
}

void particle_limit_end(const struct particle_links *self, const struct linked_system *system)
{
	if (!(limit_of(self, system) > 0))
		return;
	struct particle_limit *one = &self->limits[system->row];
	for (uint32_t i = one->tethers.count; i-- > 0;) {
		const struct tether *tether = &one->tethers.items[i];
		if (tether->node == tether->support)
			continue;
		ASSERT(tether->parent < i);
		self->bonds.items[system->first_bond + tether->bond].pull += tether->pull;
		one->tethers.items[tether->parent].pull += tether->pull;
	}
}

void particle_limit_settle(struct dynamics *self)
{
	struct particle_limit *limits = self->links->limits;
	struct system_table *table = &self->tables->system;
	for (uint32_t row = 0; row < table->count && limits != NULL; row++) {
		if (limits[row].limited)
			table->limit_passes[row] += limits[row].passes;
		limits[row].limited = false;
	}
}
