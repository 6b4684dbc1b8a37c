/* cook.h: what the cooking of all kinds shares. Private to geometry; the public header is shape.h.
 *
 * `<kind>_cook` reads its part of the canonical bytes, checks it, and fills the union, mass, bounds
 * and memory of `shape`, whose kind is already set. On failure it may leave owned parts in the
 * shape; shape_cook releases them.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_COOK_H
#define CAIRN_ENGINE_GEOMETRY_COOK_H

#include "server/base/bytes.h"
#include "server/engine/geometry/shape.h"

struct cook {
	struct reader reader; /* after kind and version */
	struct reason *why;   /* may be NULL */
	struct shape *shape;  /* being filled */
};

MUST_CHECK enum status sphere_cook(struct cook *cook);
MUST_CHECK enum status capsule_cook(struct cook *cook);
MUST_CHECK enum status box_cook(struct cook *cook);
MUST_CHECK enum status hull_cook(struct cook *cook);
MUST_CHECK enum status plane_cook(struct cook *cook);
MUST_CHECK enum status mesh_cook(struct cook *cook);
MUST_CHECK enum status polygon_cook(struct cook *cook);
MUST_CHECK enum status solid_cook(struct cook *cook);
MUST_CHECK enum status rounded_cook(struct cook *cook);
MUST_CHECK enum status cylinder_cook(struct cook *cook);
MUST_CHECK enum status cone_cook(struct cook *cook);
MUST_CHECK enum status ellipsoid_cook(struct cook *cook);
MUST_CHECK enum status heightfield_cook(struct cook *cook);
/* Fills mass and bounds of a shape that has its hull. */
MUST_CHECK enum status hull_measure(struct shape *shape, const struct mass_properties *mass,
				    struct reason *why);

/* Reads one number. Errors: NOT_FINITE; RANGE outside [min, max]; MALFORMED when the bytes end. */
MUST_CHECK enum status cook_number(struct cook *cook, const char *field, double min, double max,
				   double *out);
/* The same check for a number already read; `index` is its position in its list, or -1. */
MUST_CHECK enum status cook_check(struct cook *cook, const char *field, int64_t index, double value,
				  double min, double max);
/* Reads `count` points of `axes` (2 or 3) numbers each into `out` (z = 0 for 2), each coordinate at
 * most SHAPE_LENGTH_MAX in size; the reason names the point. */
MUST_CHECK enum status cook_points(struct cook *cook, uint32_t count, uint32_t axes, vec3 *out);
/* Reads a count in [min, max]. Errors: DEGENERATE below, TOO_LARGE above, MALFORMED when the bytes
 * end. */
MUST_CHECK enum status cook_count(struct cook *cook, const char *field, uint32_t min, uint32_t max,
				  uint32_t *out);
/* MALFORMED unless exactly `bytes` are left. Checked before allocation, so that a false count
 * cannot reserve memory. */
MUST_CHECK enum status cook_expect(struct cook *cook, uint64_t bytes);
MUST_CHECK enum status cook_no_memory(struct cook *cook);

/* A block counted in shape->memory_bytes. Returned owned; NULL: out of memory. */
MUST_CHECK void *cook_alloc(struct cook *cook, size_t bytes);

#endif
