/* field_collide.c: a mesh's vertices and edges against a field (app G-08, corrected).
 *
 * The probe's hierarchy is traversed in the field's frame. The book prunes a node by the signs at
 * its corners, which loses a small solid inside a large node; here a node is pruned if its middle
 * is farther from the solid than its corners are from the middle, after the error of interpolation
 * is subtracted from the field's value. A vertex with a negative value collides. An edge whose ends
 * are outside is marched along: the distance decreases by no more than the length of a step, so a
 * step is the value less its error, and at least a quarter of a cell. Where the value is negative,
 * its minimum is searched by golden sections between the neighbours of the least sample.
 *
 * Limits, as in the book: tunnelling between two ticks is not found; a face that is pierced only by
 * vertices of the field's own mesh is found by the opposite test (field_collide_both). Inside, on
 * the medial axis, there is no gradient: the normal then points away from the middle of the solid's
 * box. */
#include "server/base/heap.h"
#include "tests/lib/field_collide.h"

#include "server/base/heap.h"
#include "server/engine/geometry/distance_field_cell.h"

#define GOLDEN 0.61803398874989484820

enum { SECTIONS = 24, OWN_CORNER = 1, OWN_EDGE = 8 };

/* ---- contacts --------------------------------------------------------------------------------- */

struct field_collision {
	const struct distance_field *field;
	const struct distance_field_probe *probe;
	pose at;
	struct field_contact *out;
	uint32_t count, capacity;
};

static double value_at(const struct field_collision *self, vec3 p)
{
	double value;
	distance_field_value(self->field, p, &value);
	return value;
}

static void add_contact(struct field_collision *self, vec3 p, double value, uint32_t triangle,
			uint32_t feature)
{
	VALIDATE(feature < 6);
	struct distance_field_point near;
	if (self->count++ >= self->capacity)
		return;
	struct field_contact *contact = &self->out[self->count - 1];
	*contact = (struct field_contact){
		.point = p, .depth = -value, .triangle = triangle, .feature = (uint8_t)feature
	};
	if (distance_field_closest(self->field, p, &near)) {
		contact->surface = near.point;
		distance_field_gradient(self->field, p, &contact->normal);
		return;
	}
	contact->normal = vec3_normalize(vec3_sub(p, aabb_centre(self->field->solid)));
	if (vec3_length_squared(contact->normal) == 0)
		contact->normal = vec3_axis(1);
	contact->surface = vec3_mul_add(p, contact->normal, contact->depth);
}

/* ---- edges ------------------------------------------------------------------------------------ */

static double least_between(const struct field_collision *self, vec3 a, vec3 b, double low,
			    double high, double *where)
{
	VALIDATE(low <= high);
	double one = high - GOLDEN * (high - low), two = low + GOLDEN * (high - low);
	double at_one = value_at(self, vec3_lerp(a, b, one));
	double at_two = value_at(self, vec3_lerp(a, b, two));
	for (uint32_t i = 0; i < SECTIONS; i++) {
		if (at_one <= at_two) {
			high = two;
			two = one;
			at_two = at_one;
			one = high - GOLDEN * (high - low);
			at_one = value_at(self, vec3_lerp(a, b, one));
		} else {
			low = one;
			one = two;
			at_one = at_two;
			two = low + GOLDEN * (high - low);
			at_two = value_at(self, vec3_lerp(a, b, two));
		}
	}
	*where = at_one <= at_two ? one : two;
	return scalar_min(at_one, at_two);
}

static void collide_edge(struct field_collision *self, vec3 a, vec3 b, uint32_t triangle,
			 uint32_t k)
{
	double length = vec3_distance(a, b), step_min = self->field->cell / 4;
	double least = 0, at = 0, low = 0, high = length, before = 0;
	bool awaits_high = false; /* the sample after the least one is not taken yet */
	if (!(length > 0) || value_at(self, a) < 0 || value_at(self, b) < 0)
		return;
	for (double s = 0; s < length;) {
		vec3 p = vec3_lerp(a, b, s / length);
		double value = value_at(self, p);
		if (value < least) {
			least = value;
			at = s;
			low = before;
			high = length;
			awaits_high = true;
		} else if (awaits_high) {
			high = s;
			awaits_high = false;
		}
		before = s;
		s += scalar_max(distance_field_bound(self->field, p), step_min);
	}
	if (!(least < 0))
		return;
	double where, deepest = least_between(self, a, b, low / length, high / length, &where);
	if (deepest > least) {
		deepest = least;
		where = at / length;
	}
	add_contact(self, vec3_lerp(a, b, where), deepest, triangle, 3 + k);
}

/* ---- traversal -------------------------------------------------------------------------------- */

static void collide_triangle(struct field_collision *self, uint32_t triangle)
{
	VALIDATE(triangle < self->probe->mesh->triangle_count);
	const struct mesh *mesh = self->probe->mesh;
	uint8_t owns = self->probe->owns[triangle];
	vec3 corner[3];
	for (uint32_t k = 0; k < 3; k++)
		corner[k] = pose_point(self->at, mesh_corner(mesh, triangle, k));
	for (uint32_t k = 0; k < 3; k++) {
		double value;
		if ((owns & OWN_CORNER << k) != 0 &&
		    distance_field_value(self->field, corner[k], &value) && value < 0)
			add_contact(self, corner[k], value, triangle, k);
	}
	for (uint32_t k = 0; k < 3; k++)
		if ((owns & OWN_EDGE << k) != 0)
			collide_edge(self, corner[k], corner[(k + 1) % 3], triangle, k);
}

static bool misses_node(const struct field_collision *self, const struct mesh_node *node)
{
	vec3 middle = pose_point(self->at, vec3_scale(vec3_add(node->min, node->max), 0.5));
	double half = vec3_distance(node->min, node->max) / 2;
	return distance_field_bound(self->field, middle) > half;
}

uint32_t field_collide(const struct distance_field *field, const struct distance_field_probe *probe,
		       const pose *probe_in_field, struct field_contact *out, uint32_t capacity)
{
	ASSERT(capacity == 0 || out != NULL);
	struct field_collision self = { field, probe, *probe_in_field, out, 0, capacity };
	const struct mesh *mesh = probe->mesh;
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	stack[0] = 0;
	while (depth > 0) {
		uint32_t at = stack[--depth];
		const struct mesh_node *node = &mesh->nodes[at];
		if (misses_node(&self, node))
			continue;
		for (uint32_t i = node->first; node->count > 0 && i < node->first + node->count;
		     i++)
			collide_triangle(&self, mesh->order[i]);
		if (node->count == 0) {
			ASSERT(depth + 2 <= MESH_DEPTH_MAX);
			stack[depth++] = node->first;
			stack[depth++] = at + 1;
		}
	}
	return self.count;
}

uint32_t field_collide_both(const struct distance_field *a_field,
			    const struct distance_field_probe *a_probe,
			    const struct distance_field *b_field,
			    const struct distance_field_probe *b_probe, const pose *b_in_a,
			    struct field_contact *out, uint32_t capacity)
{
	pose a_in_b = pose_inverse(*b_in_a);
	uint32_t one = field_collide(a_field, b_probe, b_in_a, out, capacity);
	uint32_t room = one < capacity ? capacity - one : 0;
	struct field_contact *rest = room > 0 ? out + one : NULL;
	uint32_t two = field_collide(b_field, a_probe, &a_in_b, rest, room);
	for (uint32_t i = 0; i < MIN_OF(two, room); i++) {
		rest[i].point = pose_point(*b_in_a, rest[i].point);
		rest[i].surface = pose_point(*b_in_a, rest[i].surface);
		rest[i].normal = vec3_negate(pose_vector(*b_in_a, rest[i].normal));
		rest[i].swapped = true;
	}
	return one + two;
}
