/* soft_colour.c: graph colouring: which manifolds may be solved side by side.
 *
 * Manifolds are contacts, followed by clusters of contacts (soft_cluster.h). Two conflict if they share
 * a dynamic body; static, animated and sleeping bodies are only read. The colouring is greedy, made
 * anew in each step in order of manifold numbers, that is of contact rows: a manifold of two dynamic
 * bodies takes the lowest colour that neither has yet, one with a single dynamic body the highest, so
 * that contacts with the ground are solved last and hold best. 64 colours are one word per body. A
 * manifold without a free colour waits for the next round of 64; after four rounds the rest is solved
 * serially, before the colours. The result is a function of the list of manifolds.
 *
 * Colours are solved in order; within one nothing depends on order. Each colour's manifolds are divided
 * into blocks of eight by number of points, so that a sphere does not take as long as a box.
 */
#include "server/engine/methods/soft_step.h"

#include <string.h>

uint64_t soft_blocks_max(uint64_t contacts)
{
	return MIN_OF(contacts, contacts / BLOCK_LANES + GROUPS_MAX);
}

enum { ITEM_GRAIN = 256, BODY_GRAIN = 512, FILL_GRAIN = 32 };

/* What the colouring has to know of a manifold, apart from it: manifolds and bodies are large. */
struct coloured {
	uint32_t a, b;	/* numbers of soft bodies */
	uint16_t group; /* colour × classes + class; NO_GROUP: it is not solved here */
	uint8_t points;
	bool dynamic_a, dynamic_b;
};

enum { NO_GROUP = UINT16_MAX, NO_MANIFOLD = UINT32_MAX };

struct colouring {
	struct soft_step *step;
	uint64_t *used;		/* by soft body: bit per colour of this round that it has */
	uint32_t *waiting;	/* manifolds without a colour, in order; from the second round on */
	struct coloured *items; /* by manifold */
	uint32_t *lanes;	/* by block and lane: the manifold, or NO_MANIFOLD */
	uint32_t waiting_count;
	uint64_t taken[COLOUR_ROUNDS]; /* bit per colour that some manifold has */
	uint32_t counts[GROUPS_MAX];   /* of taken colours and of the serial one */
	uint32_t first_block[GROUPS_MAX];
};

uint64_t soft_colouring_need(uint64_t contacts)
{
	/* Clusters are numbered after the contacts; there is at most one for two of these. */
	return (contacts + contacts / 2) * (sizeof(uint32_t) + sizeof(struct coloured)) +
	       soft_blocks_max(contacts) * BLOCK_LANES * sizeof(uint32_t) +
	       sizeof(struct colouring) + COLOURS_MAX * sizeof(struct soft_colour);
}

/* Number of a soft body, 0 for one that does not take part. */
ALWAYS_INLINE uint32_t number_of(const struct soft_step *self, uint32_t body)
{
	if (!step_takes_part(self->step, body))
		return 0;
	return self->dynamics->bodies.items[body].slot + 1;
}

static uint32_t class_of(const struct coloured *item)
{
	VALIDATE(item->points > 0);
	return item->points == 1 ? 0 : item->points == 2 ? 1 : 2;
}

/* Manifolds with points and a dynamic body get a colour; of the others `group` is NO_GROUP. */
static void items_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct colouring *c = context;
	const struct soft_step *self = c->step;
	const uint8_t *status = self->dynamics->tables->body.status;
	for (uint32_t i = first; i < last; i++) {
		const struct contact_state *contact = soft_manifold(&self->clusters, self->step, i);
		struct coloured *item = &c->items[i];
		item->group = NO_GROUP;
		if (contact->point_count == 0 || soft_is_clustered(&self->clusters, i))
			continue;
		uint32_t a = number_of(self, contact->body_a), b = number_of(self, contact->body_b);
		bool dynamic_a = a != 0 && status[contact->body_a] == BODY_DYNAMIC;
		bool dynamic_b = b != 0 && status[contact->body_b] == BODY_DYNAMIC;
		item->a = a;
		item->b = b;
		item->points = (uint8_t)contact->point_count;
		item->dynamic_a = dynamic_a;
		item->dynamic_b = dynamic_b;
		if (dynamic_a || dynamic_b)
			item->group = 0;
		if (soft_trees_have(&self->trees, a) || soft_trees_have(&self->trees, b))
			item->group = NO_GROUP; /* in blocks after those of colours */
	}
}

static void clear_counts(struct colouring *c, uint32_t colour)
{
	memset(&c->counts[colour * COLOUR_CLASSES], 0, COLOUR_CLASSES * sizeof *c->counts);
}

/* One round over the waiting manifolds, which are all at first; those without a free colour remain
 * waiting. */
static void colour_round(struct soft_step *self, struct colouring *c, uint32_t round)
{
	uint32_t count = c->waiting_count, left = 0;
	c->taken[round] = 0;
	memset(c->used, 0, (self->body_count + 1) * sizeof *c->used);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = round == 0 ? i : c->waiting[i];
		struct coloured *item = &c->items[index];
		if (item->group == NO_GROUP)
			continue;
		uint32_t a = item->a, b = item->b;
		uint64_t free =
			~((item->dynamic_a ? c->used[a] : 0) | (item->dynamic_b ? c->used[b] : 0));
		if (free == 0) {
			c->waiting[left++] = index;
			continue;
		}
		uint32_t bit = item->dynamic_a && item->dynamic_b
				       ? (uint32_t)__builtin_ctzll(free)
				       : 63 - (uint32_t)__builtin_clzll(free);
		c->used[a] |= UINT64_C(1) << bit;
		c->used[b] |= UINT64_C(1) << bit;
		uint32_t colour = round * COLOUR_BITS + bit + 1;
		uint32_t group = colour * COLOUR_CLASSES + class_of(item);
		if ((c->taken[round] >> bit & 1) == 0)
			clear_counts(c, colour);
		c->taken[round] |= UINT64_C(1) << bit;
		VALIDATE(bit < COLOUR_BITS && group < GROUPS_MAX);
		item->group = (uint16_t)group;
		c->counts[group]++;
	}
	ASSERT(left <= count);
	c->waiting_count = left;
}

/* Marks the bodies with a colour of this round. */
static void constrained_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct colouring *c = context;
	for (uint32_t i = first; i < last; i++)
		if (c->used[i] != 0)
			c->step->drives[i].constrained = true;
}

/* Manifolds for which no round has a colour. */
static void collect_serial(struct soft_step *self, struct colouring *c)
{
	for (uint32_t i = 0; i < c->waiting_count; i++) {
		struct coloured *item = &c->items[c->waiting[i]];
		item->group = (uint16_t)class_of(item);
		c->counts[item->group]++;
		self->drives[item->a].constrained = self->drives[item->b].constrained = true;
	}
}

/* Numbers the blocks of a colour: those of a group are adjacent, and its groups too. */
static void lay_out_colour(struct soft_step *self, struct colouring *c, uint32_t colour)
{
	uint32_t first = self->block_count;
	ASSERT(colour < COLOURS_MAX);
	for (uint32_t class = 0; class < COLOUR_CLASSES; class ++) {
		uint32_t group = colour * COLOUR_CLASSES + class;
		c->first_block[group] = self->block_count;
		self->block_count += (c->counts[group] + BLOCK_LANES - 1) / BLOCK_LANES;
		c->counts[group] = 0;
	}
	if (self->block_count > first)
		self->colours[self->colour_count++] =
			(struct soft_colour){ first, self->block_count };
}

/* Colours ascend; 0 is the serial one. Only taken ones are visited: a small world has a few of hundreds. */
static void lay_out_blocks(struct soft_step *self, struct colouring *c, uint32_t rounds)
{
	self->colour_count = self->block_count = 0;
	lay_out_colour(self, c, 0);
	for (uint32_t round = 0; round < rounds; round++)
		for (uint64_t left = c->taken[round]; left != 0; left &= left - 1)
			lay_out_colour(self, c,
				       round * COLOUR_BITS + (uint32_t)__builtin_ctzll(left) + 1);
	ASSERT(self->colour_count <= COLOURS_MAX);
}

static void block_init(struct soft_block *block)
{
	memset(block->body_a, 0, sizeof block->body_a);
	memset(block->body_b, 0, sizeof block->body_b);
	memset(block->contact, 0xff, sizeof block->contact); /* DYNAMICS_NONE */
	block->writes_a = block->writes_b = block->point_count = 0;
	block->serial = block->bounces = block->rough = block->belts = block->strikes = false;
	block->slides = block->spins = block->locks = block->twists = false;
}

/* Gives each manifold its lane: of a group in order of their numbers. */
static void place_manifolds(struct soft_step *self, struct colouring *c)
{
	uint32_t count = soft_manifolds(&self->clusters);
	memset(c->lanes, 0xff, (size_t)self->block_count * BLOCK_LANES * sizeof *c->lanes);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t group = c->items[i].group;
		if (group == NO_GROUP)
			continue;
		uint32_t at = c->first_block[group] * BLOCK_LANES + c->counts[group]++;
		VALIDATE(at < self->block_count * BLOCK_LANES);
		c->lanes[at] = i;
	}
}

static void fill_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct colouring *c = context;
	const struct soft_step *self = c->step;
	for (uint32_t k = first; k < last; k++) {
		struct soft_block *block = &self->blocks[k];
		block_init(block);
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			uint32_t i = c->lanes[k * BLOCK_LANES + lane];
			if (i == NO_MANIFOLD)
				break;
			const struct coloured *item = &c->items[i];
			uint32_t a = item->a, b = item->b;
			block->contact[lane] = i;
			block->body_a[lane] = a;
			block->body_b[lane] = b;
			block->spins |= self->drives[a].spins || self->drives[b].spins;
			block->writes_a |= (uint8_t)(item->dynamic_a << lane);
			block->writes_b |= (uint8_t)(item->dynamic_b << lane);
			block->point_count = MAX_OF(block->point_count, item->points);
			block->serial = item->group < COLOUR_CLASSES;
		}
	}
}

#ifdef CAIRN_VALIDATE
/* Whether no two lanes of the block write to the same body, unless it is serial. */
static bool has_own_bodies(const struct soft_block *block)
{
	uint32_t written[2 * BLOCK_LANES], count = 0;
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (block->writes_a >> lane & 1)
			written[count++] = block->body_a[lane];
		if (block->writes_b >> lane & 1)
			written[count++] = block->body_b[lane];
	}
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t k = 0; k < i && !block->serial; k++)
			if (written[i] == written[k])
				return false;
	return true;
}
#endif

/* Colours all manifolds and lays out the blocks. */
static void assign_colours(struct soft_step *self, struct colouring *c)
{
	const struct parallel *parallel = self->dynamics->parallel;
	uint32_t count = soft_manifolds(&self->clusters), round = 0;
	parallel_run(parallel, count, ITEM_GRAIN, items_piece, c);
	c->waiting_count = count;
	for (; round < COLOUR_ROUNDS && c->waiting_count > 0; round++) {
		colour_round(self, c, round);
		parallel_run(parallel, self->body_count + 1, BODY_GRAIN, constrained_piece, c);
	}
	clear_counts(c, 0);
	collect_serial(self, c);
	lay_out_blocks(self, c, round);
}

enum status soft_colour(struct soft_step *self, struct reason *why)
{
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t contacts = soft_manifolds(&self->clusters);
	self->dynamics->report.colours = 0;
	if (contacts == 0)
		return STATUS_OK; /* no memory is reserved for the colouring then */
	self->colours = ARENA_ARRAY(scratch, struct soft_colour, COLOURS_MAX);
	struct colouring *c = ARENA_ARRAY(scratch, struct colouring, 1);
	ASSERT(self->colours != NULL && c != NULL);
	c->step = self;
	c->used = ARENA_ARRAY(scratch, uint64_t, self->body_count + 1);
	c->waiting = ARENA_ARRAY(scratch, uint32_t, contacts);
	c->items = ARENA_ARRAY(scratch, struct coloured, contacts);
	ASSERT(c->used != NULL && c->waiting != NULL && c->items != NULL);
	assign_colours(self, c);
	ASSERT(self->block_count <= soft_blocks_max(contacts));
	soft_trees_add_blocks(&self->trees, &self->block_count);
	self->blocks = ARENA_ARRAY(scratch, struct soft_block, self->block_count);
	self->slides = ARENA_ARRAY(scratch, struct soft_slide, self->block_count);
	self->roughs = ARENA_ARRAY(scratch, struct soft_rough, self->block_count);
	c->lanes = ARENA_ARRAY(scratch, uint32_t, self->block_count * BLOCK_LANES);
	/* Reserved but for the blocks of trees. */
	if (self->blocks == NULL || self->slides == NULL || self->roughs == NULL ||
	    c->lanes == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory for contacts of trees");
	place_manifolds(self, c);
	soft_trees_fill(self, c->lanes);
	parallel_run(self->dynamics->parallel, self->block_count, FILL_GRAIN, fill_piece, c);
	for (uint32_t b = 0; b < self->trees.block_first; b++)
		VALIDATE(has_own_bodies(&self->blocks[b]));
	self->dynamics->report.colours = self->colour_count;
	return STATUS_OK;
}
