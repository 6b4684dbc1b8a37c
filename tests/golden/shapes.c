/* shapes.c: convex parts and distance fields of a few solids, as two hashes a family: of the
 * results, and of how they were found (counts, refusals, iterations). Any change of an order or of
 * a rounding changes a hash. */
#include "tests/golden/shapes.h"

#include "server/base/hash.h"
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/field_collide.h"

enum { SOLIDS = 8 };

static void make_solids(struct shape *out[SOLIDS])
{
	struct rng rng = rng_seeded(11);
	struct shape *star = make_star(5, 0.4);
	quat turn = random_turn(&rng);
	pose at = pose_make(vec3_make(1, -2, 3), turn);
	out[0] = make_l();
	out[1] = make_plus();
	out[2] = make_ring();
	out[3] = make_moved(star->mesh, &at);
	out[4] = make_hollow();
	out[5] = make_random_cubes(&rng, 15);
	out[6] = make_ball(2, 1, 0.2, &rng);
	out[7] = make_ball(3, 2, 0.1, &rng);
	shape_release(star);
}

static void hash_vec3(struct hasher *hasher, vec3 v)
{
	hasher_f64(hasher, v.x);
	hasher_f64(hasher, v.y);
	hasher_f64(hasher, v.z);
}

static void hash_parts(struct hasher *values, struct hasher *ways, const struct decomposition *d)
{
	const struct decompose_report *r = &d->report;
	for (uint32_t i = 0; i < d->point_count; i++)
		hash_vec3(values, d->points[i]);
	for (uint32_t i = 0; i < d->part_count; i++) {
		hasher_f64(values, d->parts[i].volume);
		hasher_f64(values, d->parts[i].hull_volume);
		hasher_f64(values, d->parts[i].concavity);
		hasher_u32(ways, d->parts[i].point_count);
		hasher_u32(ways, d->parts[i].triangle_count);
	}
	for (uint32_t i = 0; i < d->triangle_count; i++)
		for (uint32_t k = 0; k < 3; k++)
			hasher_u32(ways, d->triangles[i][k]);
	hasher_f64(values, r->deviation);
	hasher_u32(ways, r->cuts);
	hasher_u32(ways, r->halvings);
	hasher_u32(ways, (uint32_t)r->planes);
	for (uint32_t i = 0; i < DECOMPOSE_REFUSALS; i++)
		hasher_u32(ways, (uint32_t)r->refused[i]);
}

static void parts(golden_line *line, const char *name, enum decompose_mode mode, double concavity)
{
	struct shape *solids[SOLIDS];
	struct hasher values, ways;
	hasher_init(&values, 1);
	hasher_init(&ways, 2);
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		struct decompose_options options = decompose_options_default(solids[i]->mesh);
		struct decomposition *d;
		options.mode = mode;
		options.concavity = concavity;
		enum status status = decompose_mesh(solids[i]->mesh, &options, &d, NULL);
		ASSERT(status == STATUS_OK);
		hash_parts(&values, &ways, d);
		decomposition_release(d);
		shape_release(solids[i]);
	}
	line(name, SOLIDS, hasher_digest(&values), hasher_digest(&ways));
}

static void hash_field(struct hasher *values, struct hasher *ways,
		       const struct distance_field *field)
{
	struct distance_field_mesh surface;
	struct distance_field_point point;
	for (uint32_t b = 0; b < field->brick_count; b++)
		for (uint32_t i = 0; i < DISTANCE_FIELD_NODES; i++)
			hasher_u32(values, (uint32_t)field->bricks[b][i]);
	for (uint32_t i = 0; i < 200; i++) {
		vec3 t = vec3_make((i % 5 + 0.5) / 5, (i / 5 % 5 + 0.5) / 5, (i / 25 + 0.5) / 8);
		vec3 size = vec3_sub(field->solid.max, field->solid.min);
		vec3 p = vec3_add(field->solid.min, vec3_hadamard(size, t));
		double value;
		distance_field_value(field, p, &value);
		hasher_f64(values, value);
		if (distance_field_closest(field, p, &point))
			hash_vec3(values, point.point);
		hasher_u32(ways, point.iterations);
	}
	enum status status = distance_field_surface(field, &surface);
	ASSERT(status == STATUS_OK);
	for (uint32_t i = 0; i < surface.vertex_count; i++)
		hash_vec3(values, surface.vertices[i]);
	for (uint32_t i = 0; i < surface.triangle_count; i++)
		for (uint32_t k = 0; k < 3; k++)
			hasher_u32(ways, surface.triangles[i][k]);
	distance_field_mesh_release(&surface);
}

static void collide(struct hasher *values, struct hasher *ways, const struct distance_field *field,
		    const struct mesh *mesh, struct rng *rng)
{
	struct distance_field_probe probe;
	struct field_contact contacts[256];
	enum status status = distance_field_probe_init(&probe, mesh);
	ASSERT(status == STATUS_OK);
	for (uint32_t i = 0; i < 4; i++) {
		vec3 place = random_in_box(rng, field->solid);
		pose at = pose_make(place, random_turn(rng));
		uint32_t count = field_collide(field, &probe, &at, contacts, 256);
		for (uint32_t c = 0; c < MIN_OF(count, 256); c++) {
			hash_vec3(values, contacts[c].point);
			hash_vec3(values, contacts[c].normal);
			hasher_f64(values, contacts[c].depth);
			hasher_u32(ways, contacts[c].triangle);
			hasher_u32(ways, contacts[c].feature);
		}
		hasher_u32(ways, count);
	}
	distance_field_probe_release(&probe);
}

static void fields(golden_line *line)
{
	struct shape *solids[SOLIDS];
	struct hasher values, ways;
	struct rng rng = rng_seeded(12);
	hasher_init(&values, 1);
	hasher_init(&ways, 2);
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		struct distance_field *field;
		enum status status =
			distance_field_create(solids[i]->mesh, 12 + 3 * i, 0, &field, NULL);
		ASSERT(status == STATUS_OK);
		hash_field(&values, &ways, field);
		collide(&values, &ways, field, solids[(i + 3) % SOLIDS]->mesh, &rng);
		distance_field_destroy(field);
	}
	for (uint32_t i = 0; i < SOLIDS; i++)
		shape_release(solids[i]);
	line("shape-fields", SOLIDS, hasher_digest(&values), hasher_digest(&ways));
}

void golden_shapes(golden_line *line)
{
	parts(line, "shape-parts", DECOMPOSE_CUT_THEN_APPROXIMATE, 0);
	parts(line, "shape-parts-near", DECOMPOSE_CUT_THEN_APPROXIMATE, 0.05);
	parts(line, "shape-boxes", DECOMPOSE_APPROXIMATE_ONLY, 0.3);
	fields(line);
}
