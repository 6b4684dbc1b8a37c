/* face_contact.c: clips the incident face, reduces the points and proves that the face axis is good enough.
 *
 * The incident face is searched among the faces at the vertex nearest to the reference, because the face of
 * the whole piece that opposes the reference most need not touch there. It is clipped by one plane through
 * each edge of the reference face, across it, with a part of the slop as tolerance, so that corners at
 * the border stay unchanged.
 *
 * The proof (terms as in pairs_box.c): let c be the mean of the points, or the deepest of them, and m its
 * height over the face. If m ≤ 0 and c is at least |m| below every face plane of the reference, a ball of
 * radius |m| about c fits into the reference; c belongs to the other piece, so no axis has a separation of
 * more than m. If m > 0 and the foot of c lies in the reference, the pieces are at most m apart. In both
 * cases no axis has a separation that exceeds the face's by more than m − separation.
 */
#include "server/engine/collision/face_contact.h"

#include "server/engine/collision/clip.h"
#include "server/engine/collision/pairs.h"

/* The incident face's corners in the reference's frame. */
static uint32_t face_corners(const struct face_contact *self, uint32_t face,
			     struct clip_corner *corners)
{
	const struct hull *hull = self->other;
	const struct placing *in = self->other_in_reference;
	uint32_t edge = hull->faces[face].edge, count = hull->faces[face].edge_count;
	uint32_t before = edge;
	ASSERT(count >= 3 && count <= CLIP_CORNERS_MAX);
	for (uint32_t k = 1; k < count; k++)
		before = hull->edges[before].next;
	for (uint32_t k = 0; k < count; k++) {
		vec3 p = mat3_mul_vec(in->rotation, hull->vertices[hull->edges[edge].origin]);
		corners[k] = (struct clip_corner){ vec3_add(in->translation, p),
						   feature_side(before, !self->reference_is_b),
						   feature_side(edge, !self->reference_is_b) };
		before = edge;
		edge = hull->edges[edge].next;
	}
	return count;
}

/* Clips alternately between two buffers; returns the one with the result. */
static struct clip_corner *clip_to_face(const struct face_contact *self,
					struct clip_corner *corners, struct clip_corner *other,
					uint32_t *count)
{
	const struct hull *hull = self->reference;
	const struct hull_face *face = &hull->faces[self->face.face];
	uint32_t edge = face->edge;
	for (uint32_t k = 0; k<face->edge_count && * count> 0; k++) {
		uint32_t next = hull->edges[edge].next;
		vec3 from = hull->vertices[hull->edges[edge].origin];
		vec3 to = hull->vertices[hull->edges[next].origin];
		vec3 side = vec3_normalize(vec3_cross(vec3_sub(to, from), face->normal));
		double offset = vec3_dot(side, from), slop = PAIR_CLIP_SLOP * self->slop;
		bool all_in = true;
		for (uint32_t c = 0; c < *count && all_in; c++)
			all_in = vec3_dot(side, corners[c].point) <= offset + slop;
		if (!all_in) {
			*count = clip_polygon(corners, *count, side, offset, slop,
					      feature_side(edge, self->reference_is_b), other);
			struct clip_corner *swap = corners;
			corners = other;
			other = swap;
		}
		edge = next;
	}
	return corners;
}

/* True if a point of the other piece at this height, m, proves that no axis has a larger separation.
 * `midway`: halfway between the point and its foot, as manifold points are. */
static bool point_proves(const struct face_contact *self, vec3 midway, double height)
{
	const struct hull *hull = self->reference;
	if (height - self->face.separation > self->slop)
		return false;
	/* Half the height back to the point, or on to the foot. */
	double step = height > 0 ? -0.5 * height : 0.5 * height, depth = scalar_min(height, 0);
	vec3 c = vec3_mul_add(midway, hull->faces[self->face.face].normal, step);
	for (uint32_t f = 0; f < hull->face_count; f++)
		if (f != self->face.face &&
		    vec3_dot(hull->faces[f].normal, c) - hull->faces[f].offset > depth)
			return false;
	return true;
}

/* Tries the mean of the points (a face on a face), then the deepest (a corner on a face). */
static bool face_is_proved(const struct face_contact *self, const struct manifold_point *points,
			   uint32_t count)
{
	ASSERT(count > 0);
	vec3 sum = vec3_zero();
	double height = 0;
	uint32_t deepest = 0;
	for (uint32_t k = 0; k < count; k++) {
		sum = vec3_add(sum, points[k].point);
		height += points[k].separation;
		deepest = points[k].separation < points[deepest].separation ? k : deepest;
	}
	return point_proves(self, vec3_scale(sum, 1.0 / count), height / count) ||
	       point_proves(self, points[deepest].point, points[deepest].separation);
}

bool face_contact(const struct face_contact *self, struct manifold *out)
{
	struct clip_corner buffers[2][CLIP_CORNERS_MAX];
	struct manifold_point points[CLIP_CORNERS_MAX];
	ASSERT(self->face.face < self->reference->face_count);
	ASSERT(self->face.vertex < self->other->vertex_count);
	const struct hull_face *face = &self->reference->faces[self->face.face];
	vec3 normal = face->normal;
	vec3 seen = mat3_transposed_mul_vec(self->other_in_reference->rotation, normal);
	uint32_t count =
		face_corners(self, sat_face_at(self->other, self->face.vertex, seen), buffers[0]);
	const struct clip_corner *corners = clip_to_face(self, buffers[0], buffers[1], &count);
	uint32_t kept = 0;
	for (uint32_t k = 0; k < count; k++) {
		double separation = vec3_dot(normal, corners[k].point) - face->offset;
		if (separation > self->margin)
			continue;
		points[kept++] = (struct manifold_point){
			vec3_mul_sub(corners[k].point, normal, 0.5 * separation), separation,
			feature_corner(corners[k].before, corners[k].after, self->reference_is_b)
		};
	}
	out->count = 0;
	if (kept == 0)
		return false;
	manifold_reduce(points, kept, normal, self->slop, out);
	return face_is_proved(self, points, kept);
}
