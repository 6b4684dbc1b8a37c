/* face_contact.h: the manifold of a face of one polyhedron against another polyhedron. */
#ifndef CAIRN_ENGINE_COLLISION_FACE_CONTACT_H
#define CAIRN_ENGINE_COLLISION_FACE_CONTACT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/collision/sat.h"

struct face_contact {
	const struct hull *reference, *other;
	const struct placing *other_in_reference;
	struct sat_face face; /* of the reference; the other's vertex nearest to it */
	double margin, slop;
	bool reference_is_b; /* for the feature ids only */
};

/* Clips the face of `other` at that vertex that opposes the reference face most to the reference
 * face, and reduces it. The answer is in the reference's frame, its normal is the face's;
 * out->count = 0: no point lies within the margin. True: no axis can have a separation that is
 * better by more than the slop. */
bool face_contact(const struct face_contact *self, struct manifold *out);

#endif
