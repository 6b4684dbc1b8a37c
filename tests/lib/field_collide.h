/* field_collide.h: contacts of a mesh with a distance field as the book finds them (app G-08,
 * corrected): an oracle of collision/field_features.c, which finds them for manifolds.
 */
#ifndef CAIRN_TESTS_FIELD_COLLIDE_H
#define CAIRN_TESTS_FIELD_COLLIDE_H

#include "server/engine/geometry/distance_field.h"

struct field_contact {
	vec3 point;	   /* of the probe, in the field's frame */
	vec3 surface;	   /* nearest point of the field's surface */
	vec3 normal;	   /* unit, out of the field's solid */
	double depth;	   /* m, > 0 */
	uint32_t triangle; /* of the probe's mesh */
	uint8_t feature;   /* 0–2: that corner, 3–5: edge feature − 3 */
	bool swapped;	   /* field_collide_both: the probe was the field's own mesh */
};

/* Contacts of the probe's vertices inside the field's solid, and of its edges that pass through the
 * solid with both ends outside (at their deepest point), in the order of the mesh's leaves. Writes
 * the first `capacity` and returns the total. Allocates nothing. */
uint32_t field_collide(const struct distance_field *field, const struct distance_field_probe *probe,
		       const pose *probe_in_field, struct field_contact *out, uint32_t capacity);

/* Both directions: b's vertices and edges against a, then a's against b (`swapped`), all in a's
 * frame with normals out of a. For a swapped contact `point` belongs to a's mesh and the normal is
 * reversed. */
uint32_t field_collide_both(const struct distance_field *a_field,
			    const struct distance_field_probe *a_probe,
			    const struct distance_field *b_field,
			    const struct distance_field_probe *b_probe, const pose *b_in_a,
			    struct field_contact *out, uint32_t capacity);

#endif
