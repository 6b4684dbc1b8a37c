/* shape_dump: parts, distance fields and hierarchies of a mesh, as lines of numbers for drawing.
 *
 *   shape_dump parts FILE CONCAVITY MODE     CONCAVITY: of the largest extent; MODE: cut or boxes
 *     part VOLUME / v X Y Z / t A B C        per part; corners count from 0 in each part
 *   shape_dump field FILE RESOLUTION AXIS AT  AT in [0, 1] along the box of the mesh
 *     slice WIDTH HEIGHT CELL, then HEIGHT lines of WIDTH values, m; CELL: edge of a pixel, m
 *     brick X Y SIZE                         in pixels, of blocks with bricks
 *   shape_dump tree FILE KIND LEVEL          KIND: aabb, obb or ball
 *     box and 8 × X Y Z, or ball X Y Z R     nodes at that depth, and leaves above it
 *
 * FILE is a file that mesh_read finds, or one of l, plus, ring, star, bumpy. */
#include "server/engine/collision/hierarchy.h"
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct shape *find(const char *name)
{
	struct shape *shape = NULL;
	struct reason why;
	struct rng rng = rng_seeded(5);
	if (strcmp(name, "l") == 0)
		return make_l();
	if (strcmp(name, "plus") == 0)
		return make_plus();
	if (strcmp(name, "ring") == 0)
		return make_ring();
	if (strcmp(name, "star") == 0)
		return make_star(5, 0.4);
	if (strcmp(name, "bumpy") == 0)
		return make_ball(3, 1, 0.15, &rng);
	if (model_read(name, &shape, &why) != STATUS_OK) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	return shape;
}

static int fail(const struct reason *why)
{
	fprintf(stderr, "%s\n", why->text);
	return 1;
}

static void print_point(vec3 p)
{
	printf(" %.7g %.7g %.7g", p.x, p.y, p.z);
}

static int dump_parts(const struct mesh *mesh, double concavity, const char *mode)
{
	struct decompose_options options = decompose_options_default(mesh);
	struct decomposition *d;
	struct reason why;
	options.concavity *= 50 * concavity;
	if (strcmp(mode, "boxes") == 0)
		options.mode = DECOMPOSE_APPROXIMATE_ONLY;
	if (decompose_mesh(mesh, &options, &d, &why) != STATUS_OK)
		return fail(&why);
	for (uint32_t i = 0; i < d->part_count; i++) {
		const struct decompose_part *part = &d->parts[i];
		printf("part %.7g\n", part->volume);
		for (uint32_t k = 0; k < part->point_count; k++) {
			printf("v");
			print_point(d->points[part->first_point + k]);
			printf("\n");
		}
		for (uint32_t k = 0; k < part->triangle_count; k++) {
			const uint32_t *t = d->triangles[part->first_triangle + k];
			printf("t %u %u %u\n", t[0] - part->first_point, t[1] - part->first_point,
			       t[2] - part->first_point);
		}
	}
	decomposition_release(d);
	return 0;
}

static void dump_bricks(const struct distance_field *field, uint32_t axis, double level,
			double cell)
{
	uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3, at[3] = { 0 };
	double depth = (level - vec3_get(field->origin, axis)) / field->cell / 8;
	if (!scalar_to_u32(depth, &at[axis]) || at[axis] >= field->blocks[axis])
		return;
	for (at[u] = 0; at[u] < field->blocks[u]; at[u]++) {
		for (at[v] = 0; at[v] < field->blocks[v]; at[v]++) {
			size_t block = at[0] + field->blocks[0] *
						       (at[1] + (size_t)field->blocks[1] * at[2]);
			if (field->brick_of[block] != UINT32_MAX)
				printf("brick %.7g %.7g %.7g\n", at[u] * 8 * field->cell / cell,
				       at[v] * 8 * field->cell / cell, 8 * field->cell / cell);
		}
	}
}

static int dump_field(const struct mesh *mesh, uint32_t resolution, uint32_t axis, double where)
{
	enum { WIDTH = 320 };
	struct distance_field *field;
	struct reason why;
	if (axis > 2 || distance_field_create(mesh, resolution, 0, &field, &why) != STATUS_OK)
		return fail(&why);
	uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
	double cell = field->cells[u] * field->cell / WIDTH;
	uint32_t height = (uint32_t)(field->cells[v] * field->cell / cell);
	vec3 p = vec3_lerp(field->solid.min, field->solid.max, where);
	printf("slice %d %u %.7g\n", WIDTH, height, cell);
	for (uint32_t j = 0; j < height; j++) {
		for (uint32_t i = 0; i < WIDTH; i++) {
			double value;
			vec3_set(&p, u, vec3_get(field->origin, u) + (i + 0.5) * cell);
			vec3_set(&p, v, vec3_get(field->origin, v) + (j + 0.5) * cell);
			distance_field_value(field, p, &value);
			printf("%.5g ", value);
		}
		printf("\n");
	}
	dump_bricks(field, axis, vec3_get(p, axis), cell);
	distance_field_destroy(field);
	return 0;
}

static void dump_node(const struct hierarchy *tree, uint32_t n)
{
	if (tree->kind == HIERARCHY_BALL) {
		printf("ball");
		print_point(tree->balls[n].centre);
		printf(" %.7g\n", tree->balls[n].radius);
		return;
	}
	printf("box");
	for (uint32_t i = 0; i < 8; i++) {
		vec3 sign = vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
		if (tree->kind == HIERARCHY_AABB)
			print_point(vec3_add(aabb_centre(tree->boxes[n]),
					     vec3_hadamard(sign, aabb_half(tree->boxes[n]))));
		else
			print_point(
				vec3_add(tree->obbs[n].centre,
					 mat3_mul_vec(tree->obbs[n].axes,
						      vec3_hadamard(sign, tree->obbs[n].half))));
	}
	printf("\n");
}

static int dump_tree(const struct mesh *mesh, const char *kind, uint32_t level)
{
	struct hierarchy tree;
	struct hierarchy_source source = { mesh->vertices, (const uint32_t(*)[3])mesh->triangles,
					   NULL, mesh->triangle_count };
	enum hierarchy_kind which = strcmp(kind, "aabb") == 0  ? HIERARCHY_AABB
				    : strcmp(kind, "obb") == 0 ? HIERARCHY_OBB
							       : HIERARCHY_BALL;
	if (hierarchy_build(&tree, which, &source) != STATUS_OK)
		return 1;
	for (uint32_t n = 0; n < tree.node_count; n++) {
		bool leaf = tree.nodes[n].left == HIERARCHY_LEAF;
		if (tree.nodes[n].depth == level || (leaf && tree.nodes[n].depth < level))
			dump_node(&tree, n);
	}
	hierarchy_release(&tree);
	return 0;
}

int main(int count, char **arguments)
{
	if (count < 5) {
		fprintf(stderr,
			"usage: shape_dump parts|field|tree FILE …, see the head of its source\n");
		return 2;
	}
	const char *what = arguments[1];
	struct shape *shape = find(arguments[2]);
	int result = 2;
	if (strcmp(what, "parts") == 0)
		result = dump_parts(shape->mesh, atof(arguments[3]), arguments[4]);
	else if (strcmp(what, "field") == 0 && count > 5)
		result = dump_field(shape->mesh, (uint32_t)atoi(arguments[3]),
				    (uint32_t)atoi(arguments[4]), atof(arguments[5]));
	else if (strcmp(what, "tree") == 0)
		result = dump_tree(shape->mesh, arguments[3], (uint32_t)atoi(arguments[4]));
	shape_release(shape);
	return result;
}
