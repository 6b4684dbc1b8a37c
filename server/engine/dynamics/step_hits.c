/* step_hits.c: which bodies met fast in a step (EVENT_HIT).
 *
 * A contact row is a pair of pieces, and a body that lands on two triangles has two. A user asks how hard
 * two bodies met, so the pieces that met fast are sorted by bodies and made one hit of each pair. Its
 * impulse is that of all pieces of the two bodies, also of those that met slowly. Costs one pass over the
 * list, and sorting of what met fast.
 *
 * A point that carries no impulse has not met anything, however fast it approaches: it is still apart.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/world/parameters.h"

double step_hit_speed(const struct step *self)
{
	return self->dynamics->tables->parameter.value[PARAMETER_HIT_SPEED];
}

/* How contact i of the list met, by the speeds of the tables. */
static struct step_met met_at_start(const struct step *self, const struct contact_list *list,
				    uint32_t i)
{
	const struct contact_state *contact = &list->items[i];
	const struct dynamics *dynamics = self->dynamics;
	const double *impulse = dynamics->tables->contact.normal_impulse[contact->row];
	struct body_motion a = dynamics_motion(dynamics, contact->body_a);
	struct body_motion b = dynamics_motion(dynamics, contact->body_b);
	struct step_met met = { .fraction = contact_begins(list, i), .normal = contact->normal };
	for (uint32_t k = 0; k < contact->point_count; k++) {
		if (!(impulse[k] > 0))
			continue;
		met.impulse += impulse[k];
		const struct contact_point *point = &contact->points[k];
		vec3 of_a = vec3_add(a.velocity, vec3_cross(a.angular_velocity, point->arm_a));
		vec3 of_b = vec3_add(b.velocity, vec3_cross(b.angular_velocity, point->arm_b));
		double speed = vec3_dot(contact->normal, vec3_sub(of_a, of_b));
		if (speed > met.speed) {
			met.speed = speed;
			met.point = vec3_add(a.centre, point->arm_a);
		}
	}
	ASSERT(met.speed >= 0 && met.impulse >= 0);
	return met;
}

/* The hit of one pair of pieces, with the body of the lower id first. */
static struct event hit_of(const struct step *self, const struct contact_state *contact,
			   const struct step_met *met)
{
	const struct tables *tables = self->dynamics->tables;
	struct event hit = { .kind = EVENT_HIT,
			     .a = tables->body.id[contact->body_a],
			     .b = tables->body.id[contact->body_b],
			     .child_a = contact->a.child,
			     .child_b = contact->b.child,
			     .fraction = met->fraction,
			     .point = met->point,
			     .normal = met->normal,
			     .value = met->impulse,
			     .speed = met->speed };
	if (hit.a < hit.b)
		return hit;
	ASSERT(hit.a != hit.b);
	struct event turned = hit;
	turned.a = hit.b;
	turned.b = hit.a;
	turned.child_a = hit.child_b;
	turned.child_b = hit.child_a;
	turned.normal = vec3_negate(hit.normal);
	return turned;
}

static int compare_bodies(const struct event *x, const struct event *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

static int compare_hits(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct event *x = a, *y = b;
	int order = compare_bodies(x, y);
	if (order != 0)
		return order;
	if (x->child_a != y->child_a)
		return x->child_a < y->child_a ? -1 : 1;
	return x->child_b < y->child_b ? -1 : x->child_b > y->child_b;
}

/* Of sorted hits of pieces, one of each pair of bodies: the fastest, with the impulses of all. */
static void merge_pieces(struct event_list *hits)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < hits->count; i++) {
		struct event hit = hits->items[i];
		if (count > 0 && compare_bodies(&hits->items[count - 1], &hit) == 0) {
			struct event *of = &hits->items[--count];
			hit.value += of->value;
			if (hit.speed <= of->speed) {
				of->value = hit.value;
				hit = *of;
			}
		}
		hits->items[count++] = hit;
	}
	ASSERT(count > 0 && count <= hits->count);
	hits->count = count;
}

static struct event *find_hit(const struct event_list *hits, const struct event *of)
{
	uint32_t low = 0, high = hits->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_bodies(&hits->items[middle], of) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(low == high);
	bool found = low < hits->count && compare_bodies(&hits->items[low], of) == 0;
	return found ? &hits->items[low] : NULL;
}

void step_note_hits(struct step *self, const struct contact_list *list, const struct step_met *met)
{
	ASSERT(self->committed == list);
	struct event_list *hits = &self->dynamics->hits;
	double least = step_hit_speed(self);
	ASSERT(least > 0 && hits->capacity >= 2 * (uint64_t)list->count);
	hits->count = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		struct step_met own = met != NULL ? met[i] : met_at_start(self, list, i);
		if (own.speed > least && own.impulse > 0)
			hits->items[hits->count++] = hit_of(self, &list->items[i], &own);
	}
	if (hits->count == 0)
		return;
	sort_items(hits->items, &hits->items[list->count], hits->count, sizeof *hits->items,
		   compare_hits, NULL);
	merge_pieces(hits);
	for (uint32_t i = 0; i < list->count; i++) {
		struct step_met own = met != NULL ? met[i] : met_at_start(self, list, i);
		if (own.speed > least || !(own.impulse > 0))
			continue;
		struct event slow = hit_of(self, &list->items[i], &own);
		struct event *hit = find_hit(hits, &slow);
		if (hit != NULL)
			hit->value += slow.value;
	}
	ASSERT(hits->count <= list->count);
	for (uint32_t i = 0; i < hits->count; i++)
		dynamics_event(self->dynamics, hits->items[i]);
}
