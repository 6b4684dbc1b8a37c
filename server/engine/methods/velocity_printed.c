/* velocity_printed.c: contacts of polygons as the source prints them (papers C-02).
 *
 * Every vertex of one polygon is tested against every edge of the other, both ways. They touch if and
 * only if the distance of vertex and edge is strictly less than the sum of the rounding radii. The
 * normal is that of the shortest line, a → b; the point is midway between the two surfaces. A vertex on
 * the other polygon's core has the edge's normal.
 *
 * The source tests all pairs of bodies. The pairs of the step are enough, because they include all
 * bodies that touch.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/methods/velocity.h"

bool velocity_is_printed(const struct velocity_step *self, const struct contact_state *contact)
{
	const struct dynamics *dynamics = self->step->dynamics;
	return self->settings.printed &&
	       placement_shape(dynamics, contact->a.placement)->kind == SHAPE_POLYGON &&
	       placement_shape(dynamics, contact->b.placement)->kind == SHAPE_POLYGON;
}

uint32_t velocity_printed_max(const struct velocity_step *self, const struct contact_state *contact)
{
	const struct dynamics *dynamics = self->step->dynamics;
	VALIDATE(velocity_is_printed(self, contact));
	return 2 * placement_shape(dynamics, contact->a.placement)->polygon->count *
	       placement_shape(dynamics, contact->b.placement)->polygon->count;
}

/* A polygon at its pose in the world. */
struct placed_polygon {
	const struct polygon *polygon;
	pose at;
	vec3 centre; /* the body's mass centre */
};

static struct placed_polygon place_polygon(const struct velocity_step *self, uint32_t placement,
					   uint32_t body, const struct body_motion *motion)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	vec3 origin =
		vec3_sub(motion->centre, quat_rotate(motion->rotation, tables->body.centre[body]));
	pose at = pose_mul(pose_make(origin, motion->rotation), placement_pose(tables, placement));
	return (struct placed_polygon){ placement_shape(dynamics, placement)->polygon, at,
					motion->centre };
}

/* Whether a vertex touches an edge; if so the unit normal from the vertex's polygon to the edge's, the
 * point in world coordinates and the separation, m, below 0. */
static bool touch_vertex_edge(const struct placed_polygon *of_vertex, uint32_t vertex,
			      const struct placed_polygon *of_edge, uint32_t edge, vec3 *normal,
			      vec3 *point, double *separation)
{
	const struct polygon *e = of_edge->polygon;
	ASSERT(vertex < of_vertex->polygon->count && edge < e->count);
	double radii = of_vertex->polygon->radius + e->radius;
	vec3 p = pose_point(of_vertex->at, of_vertex->polygon->vertices[vertex]);
	vec3 from = pose_point(of_edge->at, e->vertices[edge]);
	vec3 to = pose_point(of_edge->at, e->vertices[(edge + 1) % e->count]);
	double along;
	vec3 q = closest_point_segment(p, from, to, &along);
	double distance = vec3_distance(p, q);
	if (!(distance < radii))
		return false;
	*normal = distance > 0 ? vec3_scale(vec3_sub(q, p), 1 / distance)
			       : vec3_negate(pose_vector(of_edge->at, e->normals[edge]));
	vec3 on_vertex = vec3_mul_add(p, *normal, of_vertex->polygon->radius);
	vec3 on_edge = vec3_mul_sub(q, *normal, e->radius);
	*point = vec3_scale(vec3_add(on_vertex, on_edge), 0.5);
	*separation = distance - radii;
	ASSERT(*separation < 0);
	return true;
}

/* Each touching pair is a contact of its own, because a contact has one normal. */
uint32_t velocity_find_printed(const struct velocity_step *self,
			       const struct contact_state *contact,
			       const struct contact_found *like, struct contact_found *out,
			       struct contact_found_point *points)
{
	struct placed_polygon a =
		place_polygon(self, contact->a.placement, contact->body_a, &like->a);
	struct placed_polygon b =
		place_polygon(self, contact->b.placement, contact->body_b, &like->b);
	uint32_t count = 0;
	for (uint32_t swapped = 0; swapped < 2; swapped++) {
		const struct placed_polygon *v = swapped == 0 ? &a : &b,
					    *e = swapped == 0 ? &b : &a;
		for (uint32_t i = 0; i < v->polygon->count; i++)
			for (uint32_t k = 0; k < e->polygon->count; k++) {
				vec3 normal, point;
				double separation;
				if (!touch_vertex_edge(v, i, e, k, &normal, &point, &separation))
					continue;
				out[count] = *like;
				out[count].normal = swapped == 0 ? normal : vec3_negate(normal);
				out[count].points = &points[count];
				out[count].point_count = 1;
				points[count] = (struct contact_found_point){
					vec3_sub(point, a.centre), vec3_sub(point, b.centre),
					separation, swapped << 16 | i << 8 | k
				};
				count++;
			}
	}
	VALIDATE(count <= velocity_printed_max(self, contact));
	return count;
}
