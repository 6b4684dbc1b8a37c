/* mesh_command.c: `cairnd mesh`: reads a mesh file, encodes it as a solid in each requested form, cooks each
 * solid as the daemon does, and prints the result: lines `key: value`, or one JSON object. Files are written
 * last, after all other steps have succeeded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/mesh.h"
#include "server/base/heap.h"
#include "server/base/json_text.h"
#include "server/base/output_file.h"
#include "server/commands/command_words.h"
#include "server/commands/mesh_command.h"
#include "server/engine/engine.h"
#include "server/engine/solids.h"
#include "server/io/instant.h"

enum { FILE_HULL, FILE_PARTS, FILE_SURFACE, FILES };

struct job {
	const struct options *options;
	struct output_file files[FILES];
	bool json;
	uint32_t members; /* printed so far */
	struct point_cloud mesh;
	double weld, tolerance;
	struct shape *hull, *parts, *field;
	double milliseconds; /* of the last cooking */
};

/* ---- printing --------------------------------------------------------------------------------- */

static void print_key(struct job *job, const char *name)
{
	if (job->json)
		printf("%s\"%s\": ", job->members > 0 ? ", " : "{", name);
	else
		printf("%s: ", name);
	job->members++;
}

static void end_line(const struct job *job)
{
	if (!job->json)
		putchar('\n');
}

static void put_count(struct job *job, const char *name, uint64_t value)
{
	print_key(job, name);
	printf("%llu", (unsigned long long)value);
	end_line(job);
}

static void put_real(struct job *job, const char *name, double value)
{
	print_key(job, name);
	printf("%.12g", value);
	end_line(job);
}

static void put_truth(struct job *job, const char *name, bool value)
{
	print_key(job, name);
	printf("%s", job->json ? value ? "true" : "false" : value ? "yes" : "no");
	end_line(job);
}

static void put_reals(struct job *job, const char *name, const double *values, uint32_t count)
{
	print_key(job, name);
	for (uint32_t i = 0; i < count; i++)
		printf("%s%.12g", i > 0 ? job->json ? ", " : " " : job->json ? "[" : "", values[i]);
	printf("%s", job->json ? "]" : "");
	end_line(job);
}

static void put_vector(struct job *job, const char *name, vec3 v)
{
	const double values[3] = { v.x, v.y, v.z };
	put_reals(job, name, values, 3);
}

static void put_text(struct job *job, const char *name, const char *text)
{
	print_key(job, name);
	if (job->json)
		json_text_print(stdout, text, strlen(text));
	else
		fputs(text, stdout);
	end_line(job);
}

static void put_edges(struct job *job, const char *name, const struct mesh_edge_name *edges,
		      uint32_t count)
{
	uint32_t named = MIN_OF(count, (uint32_t)MESH_REPORT_NAMED);
	if (count == 0)
		return;
	print_key(job, name);
	printf("%s", job->json ? "[" : "");
	for (uint32_t i = 0; i < named; i++)
		printf(job->json ? "%s[%u, %u]" : "%s%u-%u", i > 0 ? ", " : "", edges[i].from,
		       edges[i].to);
	printf("%s", job->json ? "]" : count > named ? ", …" : "");
	end_line(job);
}

static void put_report(struct job *job, const struct mesh_report *report)
{
	const struct {
		const char *name;
		uint32_t count;
	} repairs[] = {
		{ "vertices joined", report->vertices_welded },
		{ "vertices unused", report->vertices_unused },
		{ "vertices split", report->vertices_split },
		{ "triangles collapsed", report->triangles_collapsed },
		{ "triangles repeated", report->triangles_repeated },
		{ "triangles cancelled", report->triangles_cancelled },
		{ "triangles turned", report->triangles_turned },
		{ "shells turned", report->shells_turned },
		{ "triangles without area", report->flat_triangles },
		{ "shells without volume", report->flat_shells },
		{ "edges of one triangle", report->border_edges },
		{ "edges of three or more", report->crowded_edges },
		{ "edges that cannot agree", report->twisted_edges },
	};
	put_count(job, "vertices", report->vertices);
	put_count(job, "triangles", report->triangles);
	put_truth(job, "closed", report->closed);
	put_count(job, "shells", report->shells);
	put_count(job, "voids", report->voids);
	for (uint32_t i = 0; i < COUNT_OF(repairs); i++)
		if (repairs[i].count > 0)
			put_count(job, repairs[i].name, repairs[i].count);
	put_edges(job, "border", report->border, report->border_edges);
	put_edges(job, "crowded", report->crowded, report->crowded_edges);
	put_edges(job, "twisted", report->twisted, report->twisted_edges);
	if (report->closed)
		put_count(job, "crossing pairs", report->crossings);
	if (report->closed && !report->crossings_all)
		put_text(job, "crossings", "the search stopped before all pairs were tested");
}

static void put_solid(struct job *job, const struct shape *shape)
{
	const struct mass_properties *mass = &shape->mass;
	const struct solid *solid = shape->solid;
	const double inertia[6] = { mass->inertia.x.x, mass->inertia.y.y, mass->inertia.z.z,
				    mass->inertia.y.x, mass->inertia.z.x, mass->inertia.z.y };
	const double box[6] = { shape->aabb_min.x, shape->aabb_min.y, shape->aabb_min.z,
				shape->aabb_max.x, shape->aabb_max.y, shape->aabb_max.z };
	const quat r = solid->frame.at.rotation;
	const double axes[4] = { r.w, r.x, r.y, r.z };
	put_count(job, "solid vertices", solid->vertices);
	put_count(job, "solid edges", (uint64_t)solid->faces * 3 / 2);
	put_count(job, "solid faces", solid->faces);
	put_reals(job, "box", box, 6);
	put_real(job, "volume", mass->volume);
	put_vector(job, "centre", mass->centre);
	put_reals(job, "inertia", inertia, 6);
	put_vector(job, "moments", solid->frame.moments);
	put_reals(job, "axes", axes, 4);
	put_real(job, "rotation radius", solid->frame.radius);
}

static void put_hull(struct job *job, const struct shape *shape)
{
	const struct hull *hull = shape->solid->parts[0]->hull;
	put_count(job, "hull vertices", hull->vertex_count);
	put_count(job, "hull faces", hull->face_count);
	put_real(job, "hull volume", shape->solid->volume_parts);
	put_real(job, "hull deviation", shape->solid->deviation);
}

static void put_parts(struct job *job, const struct shape *shape)
{
	const struct solid *solid = shape->solid;
	put_count(job, "parts", solid->part_count);
	put_real(job, "parts volume", solid->volume_parts);
	put_real(job, "parts deviation", solid->deviation);
	put_count(job, "parts approximated", solid->approximated);
	put_count(job, "parts too thin", solid->parts_thin);
	put_real(job, "parts ms", job->milliseconds);
}

static void put_field(struct job *job, const struct distance_field *field)
{
	const double cells[3] = { field->cells[0], field->cells[1], field->cells[2] };
	put_reals(job, "field cells", cells, 3);
	put_real(job, "field cell", field->cell);
	put_count(job, "field bricks", field->brick_count);
	put_count(job, "field bytes", field->bytes);
	put_real(job, "field deepest", field->deepest);
	put_real(job, "field ms", job->milliseconds);
}

/* ---- cooking ---------------------------------------------------------------------------------- */

static void write_solid(struct writer *writer, const struct job *job, uint32_t form,
			uint32_t detail)
{
	const struct point_cloud *mesh = &job->mesh;
	write_u8(writer, SHAPE_SOLID);
	write_u8(writer, 1);
	write_u8(writer, (uint8_t)form);
	write_u8(writer, 0);
	write_u16(writer, (uint16_t)detail);
	write_f64(writer, job->weld);
	write_f64(writer, form == SOLID_PARTS ? job->tolerance : 0);
	write_u32(writer, mesh->points.count);
	write_u32(writer, mesh->triangles.count);
	for (uint32_t i = 0; i < mesh->points.count; i++) {
		write_f64(writer, mesh->points.items[i].x);
		write_f64(writer, mesh->points.items[i].y);
		write_f64(writer, mesh->points.items[i].z);
	}
	for (uint32_t t = 0; t < mesh->triangles.count; t++)
		for (uint32_t k = 0; k < 3; k++)
			write_u32(writer, mesh->triangles.items[t].corner[k]);
}

static enum status cook_mesh(struct job *job, uint32_t form, uint32_t detail, struct shape **out,
			     struct reason *why)
{
	struct bytes bytes = { 0 };
	struct writer writer = writer_into(&bytes);
	write_solid(&writer, job, form, detail);
	enum status status = writer_status(&writer);
	uint64_t start = instant_now();
	if (status == STATUS_OK)
		status = shape_cook(bytes.data, bytes.count, NULL, out, why);
	else
		reason_set(why, status, -1, "mesh", "out of memory");
	job->milliseconds = (double)(instant_now() - start) * 1e-6;
	bytes_release(&bytes);
	return status;
}

/* Repairs the mesh only to print the report, because a refused mesh has no shape to take it from. */
static enum status repair_alone(struct job *job, struct reason *why)
{
	struct mesh_soup soup = { job->mesh.points.items, job->mesh.points.count,
				  (const uint32_t(*)[3])job->mesh.triangles.items,
				  job->mesh.triangles.count };
	struct mesh_repair_options options = { .weld = job->weld, .crossings = true };
	struct mesh_report report;
	struct polyhedron *solid = NULL;
	enum status status = mesh_repair(&soup, &options, &solid, &report, why);
	polyhedron_destroy(solid);
	put_text(job, "file", job->options->operands.items[0]);
	put_report(job, &report);
	return status;
}

static enum status print_mesh_facts(struct job *job, struct reason *why)
{
	const struct options *options = job->options;
	struct reason hull_why = { 0 };
	enum status status = repair_alone(job, why);
	if (status != STATUS_OK)
		return status;
	status = cook_mesh(job, SOLID_PARTS, (uint32_t)options->mesh_parts_max, &job->parts, why);
	if (status != STATUS_OK)
		return status;
	put_solid(job, job->parts);
	put_parts(job, job->parts);
	/* The hull of the whole mesh may exceed the vertex limit although the hulls of its parts do not. */
	if (cook_mesh(job, SOLID_HULL, 0, &job->hull, &hull_why) == STATUS_OK)
		put_hull(job, job->hull);
	else
		put_text(job, "hull", hull_why.text);
	if (job->hull == NULL && options->mesh_hull != NULL) {
		*why = hull_why;
		return why->status;
	}
	if (options->mesh_field == 0)
		return STATUS_OK;
	status = cook_mesh(job, SOLID_FIELD, (uint32_t)options->mesh_field, &job->field, why);
	if (status == STATUS_OK)
		put_field(job, job->field->solid->field);
	return status;
}

/* ---- OBJ -------------------------------------------------------------------------------------- */

static enum status write_parts(const struct shape *shape, const struct output_file *out,
			       const char *noun, struct reason *why)
{
	FILE *file;
	uint32_t base = 1;
	enum status status = output_file_open(out, &file, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < shape->solid->part_count; i++) {
		const struct hull *hull = shape->solid->parts[i]->hull;
		fprintf(file, "o %s%u\n", noun, i);
		for (uint32_t v = 0; v < hull->vertex_count; v++)
			fprintf(file, "v %.17g %.17g %.17g\n", hull->vertices[v].x,
				hull->vertices[v].y, hull->vertices[v].z);
		for (uint32_t f = 0; f < hull->face_count; f++) {
			uint32_t h = hull->faces[f].edge;
			fputc('f', file);
			for (uint32_t k = 0; k < hull->faces[f].edge_count; k++) {
				fprintf(file, " %u", base + hull->edges[h].origin);
				h = hull->edges[h].next;
			}
			fputc('\n', file);
		}
		base += hull->vertex_count;
	}
	return output_file_close(out, file, why);
}

static enum status write_surface(const struct distance_field *field, const struct output_file *out,
				 struct reason *why)
{
	struct distance_field_mesh surface;
	FILE *file;
	enum status status = distance_field_surface(field, &surface);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "field", "%s", status_text(status));
	status = output_file_open(out, &file, why);
	if (status == STATUS_OK) {
		for (uint32_t v = 0; v < surface.vertex_count; v++)
			fprintf(file, "v %.17g %.17g %.17g\n", surface.vertices[v].x,
				surface.vertices[v].y, surface.vertices[v].z);
		for (uint32_t t = 0; t < surface.triangle_count; t++)
			fprintf(file, "f %u %u %u\n", surface.triangles[t][0] + 1,
				surface.triangles[t][1] + 1, surface.triangles[t][2] + 1);
		status = output_file_close(out, file, why);
	}
	distance_field_mesh_release(&surface);
	return status;
}

static enum status write_files(const struct job *job, struct reason *why)
{
	const struct output_file *files = job->files;
	enum status status = STATUS_OK;
	if (files[FILE_HULL].path != NULL)
		status = write_parts(job->hull, &files[FILE_HULL], "hull", why);
	if (status == STATUS_OK && files[FILE_PARTS].path != NULL)
		status = write_parts(job->parts, &files[FILE_PARTS], "part", why);
	if (status == STATUS_OK && files[FILE_SURFACE].path != NULL)
		status = write_surface(job->field->solid->field, &files[FILE_SURFACE], why);
	return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum status read_mesh(struct job *job, struct reason *why)
{
	const char *path = job->options->operands.items[0], *slash = strrchr(path, '/');
	struct source source = { .file = path, .why = why };
	char base[4096] = ".";
	enum status status = real_read(job->options->mesh_weld, "weld", 0, 1, "m", &job->weld, why);
	if (status == STATUS_OK)
		status = real_read(job->options->mesh_tolerance, "tolerance", 0, SHAPE_LENGTH_MAX,
				   "m", &job->tolerance, why);
	if (status != STATUS_OK)
		return status;
	if (slash != NULL && (size_t)(slash - path) < sizeof base)
		snprintf(base, sizeof base, "%.*s/", (int)(slash - path), path);
	return mesh_read(&source, 0, base, slash != NULL ? slash + 1 : path, NULL, &job->mesh);
}

int mesh_command(const struct options *options)
{
	struct job job = {
		.options = options,
		.json = strcmp(options->mesh_report, "json") == 0,
		.files = {
			[FILE_HULL] = { options->mesh_hull, "hull", "OBJ", ".obj", false },
			[FILE_PARTS] = { options->mesh_parts, "parts", "OBJ", ".obj", false },
			[FILE_SURFACE] = { options->mesh_surface, "surface", "OBJ", ".obj", false },
		},
	};
	struct reason why = { .index = -1 };
	enum status status = output_files_check(job.files, FILES, options->operands.items[0], &why);
	if (status == STATUS_OK)
		status = read_mesh(&job, &why);
	if (status == STATUS_OK)
		status = print_mesh_facts(&job, &why);
	if (status == STATUS_OK)
		status = write_files(&job, &why);
	if (status != STATUS_OK && job.members > 0)
		put_text(&job, "refused", why.text);
	if (job.json && job.members > 0)
		puts("}");
	if (status != STATUS_OK)
		command_refused("", "", why.field, &why);
	shape_release(job.hull);
	shape_release(job.parts);
	shape_release(job.field);
	cloud_release(&job.mesh);
	return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
