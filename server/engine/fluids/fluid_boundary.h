/* fluid_boundary.h: bodies as a fluid feels them: the part of a kernel that lies in them, and its
 * gradient.
 *
 *   planes   in closed form (fluid_kernel.h)
 *   boxes    from a table of octants: the part of the kernel beyond three planes at right angles, so
 *            edges, corners and thin plates are exact to the table's interpolation, and nothing
 *            depends on the phase of samples
 *   others   samples: a lattice of pitch h/4 in the shape's frame, each node with the volume of the
 *            part of its cell that lies inside; meshes and heightfields have a layer of thickness h
 *            below their surface
 *
 * The volumes come from the shape itself, so a floating body displaces its volume. A particle of a
 * perfect lattice half a spacing from a wall has 4 % too much density, and disordered ones fill a pool
 * to within 2 % of a spacing at each wall. Walls of smeared layers, which are exact for the lattice,
 * were tried: disordered particles then pack 7 % of a spacing too closely. */
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_BOUNDARY_H
#define CAIRN_ENGINE_FLUIDS_FLUID_BOUNDARY_H

#include "server/base/array.h"
#include "server/base/status.h"
#include "server/engine/fluids/fluid_kernel.h"
#include "server/engine/geometry/shape.h"

/* Intervals of the table along an axis, over [−1, 1] radii. */
enum { FLUID_CORNER_STEPS = 48, FLUID_CORNER_NODES = FLUID_CORNER_STEPS + 1 };

/* Of the octant y1 > a, y2 > b, y3 > c, in radii from the particle. */
struct fluid_corners {
	float part[FLUID_CORNER_NODES][FLUID_CORNER_NODES][FLUID_CORNER_NODES];
	float slope[FLUID_CORNER_NODES][FLUID_CORNER_NODES][FLUID_CORNER_NODES]; /* −∂/∂a of it */
};

/* A node of the lattice. */
struct fluid_sample {
	float at[3]; /* shape's frame, m */
	float volume;
};

/* The samples of a shape for one radius; a cache, a pure function of both. */
struct fluid_samples {
	uint64_t serial; /* of the shape */
	double radius;
	vec3 lowest; /* corner of cell 0 */
	uint32_t cells[3],
		fine;	    /* fine: nodes of a cell along an axis; 0: the shape is too large */
	struct aabb region; /* of a surface: where they are complete */
	ARRAY_OF(struct fluid_sample) items; /* by cell, x fastest */
	ARRAY_OF(uint32_t) starts;	     /* of each cell, and the end */
};
enum { FLUID_FINE = 4 };

struct fluid_boundary {
	struct fluid_corners *corners; /* owned */
	ARRAY_OF(struct fluid_samples) samples;
};

/* A particle that feels for shapes. */
struct fluid_probe {
	double radius; /* m: of the kernel */
	vec3 x;
};

/* What a shape does to a particle. */
struct fluid_touch {
	double part;
	vec3 slope;	 /* world axes, 1/m */
	double distance; /* m, < 0 inside; not beyond the radius */
};

/* Makes the table, and the samples of a shape for a fluid within `box` (world). NO_MEMORY. */
MUST_CHECK enum status fluid_boundary_prepare(struct fluid_boundary *self);
MUST_CHECK enum status fluid_boundary_add(struct fluid_boundary *self, const struct shape *shape,
					  const pose *at, double radius, struct aabb box);
/* Nodes of a lattice of samples along the wall kernel's radius: FLUID_FINE, less of a large shape, 0
 * of one that is too large to be a wall. The shape was added. */
uint32_t fluid_boundary_fineness(const struct fluid_boundary *self, const struct shape *shape,
				 double radius);
void fluid_boundary_release(struct fluid_boundary *self);
uint64_t fluid_boundary_memory(const struct fluid_boundary *self);

/* A box, or the half-space of a plane, relative to a particle in radii, in the axes of another one. */
struct fluid_region {
	vec3 low, high;
};
/* False: the shape is neither box nor plane, or its axes are not those of `axes` (world). */
bool fluid_boundary_region(const struct fluid_probe *probe, const struct shape *shape,
			   const pose *at, mat3 axes, struct fluid_region *out);
/* What `region` has without those of `others` (at most FLUID_OVERLAPS), by inclusion and exclusion:
 * so the corner of two walls, which are one behind the other there, counts once. */
enum { FLUID_OVERLAPS = 4 };
void fluid_boundary_without(const struct fluid_boundary *self, const struct fluid_probe *probe,
			    mat3 axes, const struct fluid_region *region,
			    const struct fluid_region *others, uint32_t count,
			    struct fluid_touch *out);

/* False: the shape is farther than the radius. `at` is the pose of the shape. */
bool fluid_boundary_touch(const struct fluid_boundary *self, const struct fluid_probe *probe,
			  const struct shape *shape, const pose *at, struct fluid_touch *out);

#endif
