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

struct colouring {
	uint64_t *used;	   /* by soft body: bit per colour of this round that it has */
	uint32_t *waiting; /* contacts without a colour, in order */
	uint16_t *group;   /* by contact: colour × classes + class */
	uint32_t waiting_count;
	uint32_t counts[GROUPS_MAX];
	uint32_t first_block[GROUPS_MAX];
};

/* Number of a soft body, 0 for one that does not take part. */
static uint32_t number_of(const struct soft_step *self, uint32_t body)
{
	if (!step_takes_part(self->step, body))
		return 0;
	return self->dynamics->bodies.items[body].slot + 1;
}

static bool is_dynamic(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number <= self->body_count);
	return number != 0 && self->drives[number].dynamic;
}

static const struct contact_state *manifold_of(const struct soft_step *self, uint32_t i)
{
	return soft_manifold(&self->clusters, self->step, i);
}

static uint32_t class_of(const struct contact_state *contact)
{
	VALIDATE(contact->point_count > 0);
	return contact->point_count == 1 ? 0 : contact->point_count == 2 ? 1 : 2;
}

/* One round over the waiting manifolds; those without a free colour remain waiting. */
static void colour_round(struct soft_step *self, struct colouring *c, uint32_t round)
{
	uint32_t left = 0;
	memset(c->used, 0, (self->body_count + 1) * sizeof *c->used);
	for (uint32_t i = 0; i < c->waiting_count; i++) {
		uint32_t index = c->waiting[i];
		const struct contact_state *contact = manifold_of(self, index);
		uint32_t a = number_of(self, contact->body_a);
		uint32_t b = number_of(self, contact->body_b);
		bool dynamic_a = is_dynamic(self, a), dynamic_b = is_dynamic(self, b);
		uint64_t free = ~((dynamic_a ? c->used[a] : 0) | (dynamic_b ? c->used[b] : 0));
		if (free == 0) {
			c->waiting[left++] = index;
			continue;
		}
		uint32_t bit = dynamic_a && dynamic_b ? (uint32_t)__builtin_ctzll(free)
						      : 63 - (uint32_t)__builtin_clzll(free);
		c->used[a] |= UINT64_C(1) << bit;
		c->used[b] |= UINT64_C(1) << bit;
		uint32_t group =
			(round * COLOUR_BITS + bit + 1) * COLOUR_CLASSES + class_of(contact);
		VALIDATE(bit < COLOUR_BITS && group < GROUPS_MAX && (dynamic_a || dynamic_b));
		c->group[index] = (uint16_t)group;
		c->counts[group]++;
	}
	ASSERT(left <= c->waiting_count);
	c->waiting_count = left;
}

/* Manifolds with points and a dynamic body wait, in order; the rest get no group. */
static void collect_manifolds(struct soft_step *self, struct colouring *c)
{
	uint32_t count = soft_manifolds(&self->clusters);
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = manifold_of(self, i);
		c->group[i] = UINT16_MAX;
		if (contact->point_count > 0 && !soft_is_clustered(&self->clusters, i) &&
		    (is_dynamic(self, number_of(self, contact->body_a)) ||
		     is_dynamic(self, number_of(self, contact->body_b))))
			c->waiting[c->waiting_count++] = i;
	}
}

/* Numbers the blocks: those of a group are adjacent, and groups of a colour too; colour 0 is the serial
 * one. */
static void lay_out_blocks(struct soft_step *self, struct colouring *c)
{
	uint32_t blocks = 0;
	self->colour_count = 0;
	for (uint32_t colour = 0; colour < COLOURS_MAX; colour++) {
		uint32_t first = blocks;
		for (uint32_t class = 0; class < COLOUR_CLASSES; class ++) {
			uint32_t group = colour * COLOUR_CLASSES + class;
			c->first_block[group] = blocks;
			blocks += (c->counts[group] + BLOCK_LANES - 1) / BLOCK_LANES;
			c->counts[group] = 0;
		}
		if (blocks > first)
			self->colours[self->colour_count++] = (struct soft_colour){ first, blocks };
	}
	self->block_count = blocks;
	ASSERT(self->colour_count <= COLOURS_MAX);
}

static void block_init(struct soft_block *block)
{
	memset(block->body_a, 0, sizeof block->body_a);
	memset(block->body_b, 0, sizeof block->body_b);
	memset(block->contact, 0xff, sizeof block->contact); /* DYNAMICS_NONE */
	block->writes_a = block->writes_b = block->point_count = 0;
	block->serial = block->bounces = block->rough = block->strikes = false;
	block->slides = block->spins = false;
}

static void fill_blocks(struct soft_step *self, struct colouring *c)
{
	for (uint32_t b = 0; b < self->block_count; b++)
		block_init(&self->blocks[b]);
	uint32_t count = soft_manifolds(&self->clusters);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t group = c->group[i];
		if (group == UINT16_MAX)
			continue;
		const struct contact_state *contact = manifold_of(self, i);
		uint32_t at = c->counts[group]++, lane = at % BLOCK_LANES;
		struct soft_block *block = &self->blocks[c->first_block[group] + at / BLOCK_LANES];
		VALIDATE(block < &self->blocks[self->block_count]);
		uint32_t a = number_of(self, contact->body_a);
		uint32_t b = number_of(self, contact->body_b);
		block->contact[lane] = i;
		block->body_a[lane] = a;
		block->body_b[lane] = b;
		self->drives[a].constrained = self->drives[b].constrained = true;
		block->spins |= self->drives[a].spins || self->drives[b].spins;
		block->writes_a |= (uint8_t)(is_dynamic(self, a) << lane);
		block->writes_b |= (uint8_t)(is_dynamic(self, b) << lane);
		block->point_count = MAX_OF(block->point_count, contact->point_count);
		block->serial = group < COLOUR_CLASSES;
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

void soft_colour(struct soft_step *self)
{
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t contacts = soft_manifolds(&self->clusters);
	self->dynamics->report.colours = 0;
	if (contacts == 0)
		return; /* no memory is reserved for the colouring then */
	self->colours = ARENA_ARRAY(scratch, struct soft_colour, COLOURS_MAX);
	struct colouring *c = arena_push_zero(scratch, sizeof *c);
	ASSERT(self->colours != NULL && c != NULL);
	c->used = ARENA_ARRAY(scratch, uint64_t, self->body_count + 1);
	c->waiting = ARENA_ARRAY(scratch, uint32_t, contacts);
	c->group = ARENA_ARRAY(scratch, uint16_t, contacts);
	ASSERT(c->used != NULL && c->waiting != NULL && c->group != NULL);
	collect_manifolds(self, c);
	for (uint32_t round = 0; round < COLOUR_ROUNDS && c->waiting_count > 0; round++)
		colour_round(self, c, round);
	for (uint32_t i = 0; i < c->waiting_count; i++) {
		uint32_t group = class_of(manifold_of(self, c->waiting[i]));
		c->group[c->waiting[i]] = (uint16_t)group;
		c->counts[group]++;
	}
	lay_out_blocks(self, c);
	ASSERT(self->block_count <= soft_blocks_max(contacts));
	self->blocks = ARENA_ARRAY(scratch, struct soft_block, self->block_count);
	self->slides = ARENA_ARRAY(scratch, struct soft_slide, self->block_count);
	self->roughs = ARENA_ARRAY(scratch, struct soft_rough, self->block_count);
	ASSERT(self->blocks != NULL && self->slides != NULL && self->roughs != NULL);
	fill_blocks(self, c);
	for (uint32_t b = 0; b < self->block_count; b++)
		VALIDATE(has_own_bodies(&self->blocks[b]));
	self->dynamics->report.colours = self->colour_count;
}
