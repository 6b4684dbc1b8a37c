/* face_contact.h: the manifold of a face of one polyhedron against another polyhedron. */
#ifndef CAIRN_ENGINE_COLLISION_FACE_CONTACT_H
#define CAIRN_ENGINE_COLLISION_FACE_CONTACT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/collision/sat.h"

struct face_contact {
	const struct hull *reference, *other;
	const struct placing *other_in_reference;
	struct sat_face face; /* of the reference; the other's vertex nearest to it */
	double margin, slop;  /* m */
	bool reference_is_b;  /* for the feature ids only */
};

/* Takes the face of `other` at that vertex whose normal opposes the reference face most, clips it to the
 * reference face and reduces the points. *out is in the reference's frame and its normal is that of the
 * reference face; out->count = 0 if no point lies within the margin. Returns true if no axis can have a
 * separation that is better by more than the slop. */
bool face_contact(const struct face_contact *self, struct manifold *out);

#endif
