/* arrange.c: which links become bodies, and which are parts of others.
 *
 * A link that is fixed to the world, directly or through others, is a static body and keeps
 * its name. A link without mass that is fixed to another is part of it. If it is the one that
 * moves, it and its joints become those of the first link with mass that is fixed to it. A
 * moving link without any mass is refused.
 */
#include "protocol/scene/robot/model.h"

/* Whether and to what each link is fixed. */
void robot_find_welds(struct robot *self)
{
	for (uint32_t i = 0; i < self->links.count; i++) {
		struct robot_link *link = &self->links.items[i];
		const struct robot_link *parent =
			link->parent != ROBOT_NONE ? &self->links.items[link->parent] : NULL;
		ASSERT(link->parent == ROBOT_NONE || link->parent < i);
		link->still =
			!link->jointed && !link->animated && (parent == NULL || parent->still);
		bool welded = !link->jointed && !link->still && !link->animated;
		link->weld = welded ? parent->weld : i;
		link->mover = i;
		link->weld_count = 0;
		link->weld_next = ROBOT_NONE;
	}
}

/* The first link with mass that is fixed to a link without, directly or through such links;
 * heirs[i] is i for a link with mass. From the leaves, so that the first child writes last. */
static void find_heirs(const struct robot *self, uint32_t *heirs)
{
	for (uint32_t i = 0; i < self->links.count; i++)
		heirs[i] = self->links.items[i].mass > 0 ? i : ROBOT_NONE;
	for (uint32_t i = self->links.count; i-- > 0;) {
		const struct robot_link *link = &self->links.items[i];
		if (link->jointed || link->animated || link->parent == ROBOT_NONE)
			continue;
		if (heirs[i] != ROBOT_NONE && !(self->links.items[link->parent].mass > 0))
			heirs[link->parent] = heirs[i];
	}
}

static enum status place_link(struct robot *self, uint32_t index, const uint32_t *heirs)
{
	struct robot_link *link = &self->links.items[index];
	link->into = index;
	if (link->still || link->animated || link->mass > 0)
		return STATUS_OK;
	link->into = link->jointed ? heirs[index] : self->links.items[link->parent].into;
	if (link->into == ROBOT_NONE)
		return node_fail(link->node, STATUS_MISSING, "mass",
				 "'%.32s' moves and has no mass; give it an inertial", link->name);
	node_note(self, link->node, link, "'%.32s' has no mass: it is part of '%.32s'", link->name,
		  self->links.items[link->into].name);
	return STATUS_OK;
}

/* The lists of the links that are fixed to each other, each from its first. */
static void list_welds(struct robot *self)
{
	for (uint32_t i = self->links.count; i-- > 0;) {
		struct robot_link *link = &self->links.items[i];
		struct robot_link *first = &self->links.items[link->weld];
		if (link->still)
			continue;
		first->weld_count += link->into == i;
		if (link->weld == i)
			continue;
		link->weld_next = first->weld_next;
		first->weld_next = i;
	}
}

/* The joints of each link, and the list of its parts in their order. */
static void list_parts(struct robot *self)
{
	for (uint32_t i = self->links.count; i-- > 0;) {
		struct robot_link *link = &self->links.items[i];
		struct robot_link *body = &self->links.items[link->into];
		if (link->into == i)
			continue;
		link->part_next = body->part_next;
		body->part_next = i;
		if (link->jointed)
			body->mover = i;
	}
	for (uint32_t i = 0; i < self->joints.count; i++) {
		struct robot_link *link = &self->links.items[self->joints.items[i].link];
		if (link->joint_count == 0)
			link->joint_first = i;
		link->joint_count++;
		ASSERT(link->joint_first + link->joint_count == i + 1);
	}
}

enum status robot_arrange(struct robot *self)
{
	enum status status = STATUS_OK;
	uint32_t count = self->links.count;
	uint32_t *heirs = heap_alloc(MAX_OF(count, 1u) * sizeof *heirs);
	if (heirs == NULL)
		return source_no_memory(self->tree->root->source);
	for (uint32_t i = 0; i < count; i++) {
		self->links.items[i].part_next = ROBOT_NONE;
		self->links.items[i].joint_count = 0;
	}
	find_heirs(self, heirs);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = place_link(self, i, heirs);
	if (status == STATUS_OK)
		list_parts(self);
	list_welds(self);
	heap_free(heirs);
	return status;
}
