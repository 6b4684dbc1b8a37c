/* See pack_command.h; pack_scene.c has scenes. Reads the drawing, jumps until the layout is at rest,
 * prints each jump and the proof of the end, and writes the drawing with the new places. The strip is
 * the root's viewBox; it becomes shorter at its right side. */
#include "server/commands/pack_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "protocol/scene/files.h"
#include "server/base/heap.h"
#include "server/base/json_text.h"
#include "server/base/output_file.h"
#include "server/commands/command_words.h"
#include "server/commands/pack_scene.h"
#include "server/commands/pack_svg.h"

/* Defaults of --pull and --rest. */
#define PULL 0.1
#define REST 1e-6

struct pack_job {
	const struct options *options;
	bool json;
	struct source source;
	struct pack_svg svg;
	struct packing_polygon *polygons; /* owned, as is `places` */
	vec2 *places;
	struct packing_problem problem;
	struct packing *packing;
	double length_before;
};

/* ---- reading ----------------------------------------------------------------------------------- */

/* `value` stays as it is if the option is not given. */
static enum status read_option(const char *name, const char *text, double most, double *value,
			       struct reason *why)
{
	return text == NULL ? STATUS_OK : real_read(text, name, 0, most, "", value, why);
}

/* The library has no right side, because the strip's length is what it looks for. In a file the viewBox has
 * one, and a shape beyond it is hidden in pictures, so it is hardly meant to be packed. */
static enum status check_right_side(const struct pack_job *job)
{
	const struct pack_svg *svg = &job->svg;
	double end = svg->box[0] + svg->box[2];
	double slack = PACKING_OVERLAP * (job->problem.y_max - job->problem.y_min);
	for (uint32_t i = 0; svg->has_box && i < svg->shapes.count; i++) {
		const struct pack_shape *shape = &svg->shapes.items[i];
		double place = shape->parent.x + shape->own.x, right = end;
		for (uint32_t k = 0; k < shape->count; k++)
			right = MAX_OF(right, place + svg->corners.items[shape->first + k].x);
		if (right > end + slack)
			return source_fail(&job->source, shape->tag.line, STATUS_RANGE, "x",
					   "it reaches to x %.9g, beyond the viewBox, which ends "
					   "at %.9g; move it into the viewBox, or make that wider",
					   right, end);
	}
	return STATUS_OK;
}

static enum status read_problem(struct pack_job *job, struct reason *why)
{
	const struct options *options = job->options;
	struct packing_problem *problem = &job->problem;
	double height = 0;
	problem->pull = PULL;
	problem->rest = REST;
	enum status status = read_option("pull", options->pack_pull, 1, &problem->pull, why);
	if (status == STATUS_OK)
		status = read_option("rest", options->pack_rest, 1, &problem->rest, why);
	if (status == STATUS_OK)
		status = read_option("height", options->pack_height, PACKING_COORDINATE_MAX,
				     &height, why);
	if (status != STATUS_OK)
		return status;
	if (options->pack_height == NULL && !job->svg.has_box)
		return source_fail(
			&job->source, job->svg.root.line, STATUS_MISSING, "viewBox",
			"the root has no viewBox, so the strip's height is unknown; add one, "
			"or give --height N");
	problem->left = job->svg.box[0];
	problem->y_min = job->svg.box[1];
	problem->y_max = problem->y_min + (options->pack_height != NULL ? height : job->svg.box[3]);
	problem->count = job->svg.shapes.count;
	job->polygons = heap_alloc_zero(problem->count * sizeof *job->polygons);
	job->places = heap_alloc_zero(problem->count * sizeof *job->places);
	if (job->polygons == NULL || job->places == NULL)
		return source_no_memory(&job->source);
	problem->polygons = job->polygons;
	for (uint32_t i = 0; i < problem->count; i++) {
		const struct pack_shape *shape = &job->svg.shapes.items[i];
		job->polygons[i] = (struct packing_polygon){
			shape->count > 0 ? job->svg.corners.items + shape->first : NULL,
			shape->count, vec2_add(shape->parent, shape->own)
		};
	}
	return check_right_side(job);
}

/* A refusal names the lines of the polygons that it concerns. */
static enum status start_packing(struct pack_job *job)
{
	struct packing_fault fault;
	struct reason found = { 0 };
	enum status status = packing_create(&job->problem, &job->packing, &fault, &found);
	if (status == STATUS_OK)
		return STATUS_OK;
	if (status == STATUS_NO_MEMORY)
		return source_no_memory(&job->source);
	uint32_t line = job->svg.root.line;
	if (fault.polygon != UINT32_MAX)
		line = job->svg.shapes.items[fault.polygon].tag.line;
	if (fault.other == UINT32_MAX)
		return source_fail(&job->source, line, status, found.field, "%s", found.text);
	return source_fail(&job->source, line, status, found.field,
			   "with the one of line %u: %s; `transform` may hold the way",
			   job->svg.shapes.items[fault.other].tag.line, found.text);
}

/* ---- printing ---------------------------------------------------------------------------------- */

static void print_start(const struct pack_job *job)
{
	double height = job->problem.y_max - job->problem.y_min;
	uint32_t parts = packing_part_count(job->packing);
	if (job->json) {
		printf("{\"file\": ");
		json_text_print(stdout, job->source.file, strlen(job->source.file));
		printf(", \"polygons\": %u, \"corners\": %u, \"parts\": %u, \"height\": %.12g, "
		       "\"length before\": %.12g, \"jumps\": [",
		       job->problem.count, job->svg.corners.count, parts, height,
		       job->length_before);
	} else {
		printf("polygons: %u with %u corners, %u convex parts\nstrip: %.12g high, %.12g long\n",
		       job->problem.count, job->svg.corners.count, parts, height,
		       job->length_before);
	}
}

static void print_jump(const struct pack_job *job, uint32_t number, const struct packing_jump *jump)
{
	if (job->json)
		printf("%s{\"length\": %.12g, \"gain\": %.6g, \"overlap\": %.3g, \"residual\": %.3g, "
		       "\"bound\": %.3g, \"rows\": %u, \"pairs\": %u, \"rounds\": %u, \"pivots\": %u, "
		       "\"shortened\": %s}",
		       number > 1 ? ", " : "", jump->length, jump->gain, jump->overlap,
		       jump->residual, jump->bound, jump->rows, jump->row_pairs, jump->rounds,
		       jump->pivots, jump->shortened ? "true" : "false");
	else
		printf("jump %u: length %.12g, gain %.6g, overlap %.3g, residual %.3g, %u rows of %u "
		       "pairs, %u pivots in %u rounds%s\n",
		       number, jump->length, jump->gain, jump->overlap, jump->residual, jump->rows,
		       jump->row_pairs, jump->pivots, jump->rounds,
		       jump->shortened ? ", shortened" : "");
}

/* The certificate: where it ended and why, and how much a further jump could gain. */
static void print_end(const struct pack_job *job, uint32_t jumps, const struct packing_jump *last)
{
	double length = packing_length(job->packing);
	double share =
		packing_area(job->packing) / (length * (job->problem.y_max - job->problem.y_min));
	const char *stopped = last->rest ? "rest" : last->moved ? "jumps" : "solver";
	if (job->json)
		printf("], \"length\": %.12g, \"stopped\": \"%s\", \"gain left\": %.6g, \"residual\": "
		       "%.3g, \"overlap\": %.3g, \"filled\": %.6g}\n",
		       length, stopped, last->gain, last->residual, last->overlap, share);
	else
		printf("stopped: %s after %u jumps; the last program allows a gain of %.6g, residual "
		       "%.3g\nlength: %.12g of %.12g\noverlap: %.3g\nfilled: %.6g\n",
		       last->rest    ? "at rest"
		       : last->moved ? "by --jumps"
				     : "because a program was not solved",
		       jumps, last->gain, last->residual, length, job->length_before, last->overlap,
		       share);
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status jump_to_rest(struct pack_job *job)
{
	struct packing_jump jump = { .moved = true };
	uint32_t jumps = 0;
	enum status status = STATUS_OK;
	print_start(job);
	while (jump.moved && status == STATUS_OK && jumps < job->options->pack_jumps) {
		status = packing_jump(job->packing, &jump);
		if (status == STATUS_OK && jump.moved)
			print_jump(job, ++jumps, &jump);
	}
	if (status != STATUS_OK)
		return source_no_memory(&job->source);
	print_end(job, jumps, &jump);
	return STATUS_OK;
}

static enum status write_drawing(struct pack_job *job, const struct output_file *out,
				 struct reason *why)
{
	FILE *file;
	enum status status = output_file_open(out, &file, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < job->problem.count; i++)
		job->places[i] = packing_place(job->packing, i);
	pack_svg_print(&job->svg, job->places, packing_length(job->packing), file);
	return output_file_close(out, file, why);
}

static enum status pack_drawing(const struct options *options, const struct output_file *out,
				struct reason *why)
{
	struct pack_job job = { .options = options,
				.json = strcmp(options->pack_report, "json") == 0 };
	job.source = (struct source){ .file = options->operands.items[0], .why = why };
	enum status status = pack_svg_read(&job.svg, &job.source);
	if (status == STATUS_OK)
		status = read_problem(&job, why);
	if (status == STATUS_OK)
		status = start_packing(&job);
	if (status == STATUS_OK) {
		job.length_before = packing_length(job.packing);
		status = jump_to_rest(&job);
	}
	if (status == STATUS_OK)
		status = write_drawing(&job, out, why);
	packing_destroy(job.packing);
	pack_svg_release(&job.svg);
	heap_free(job.polygons);
	heap_free(job.places);
	return status;
}

/* Whether the file is called .svg, or is XML and no robot: its first character is "<", after a byte order
 * mark and blanks. */
static bool is_drawing(const char *path)
{
	enum { BEGINNING = 4096 };
	char text[BEGINNING + 1];
	if (path_ends(path, ".svg"))
		return true;
	FILE *file = scene_file_is_readable(path) ? fopen(path, "rb") : NULL;
	if (file == NULL)
		return false;
	text[fread(text, 1, BEGINNING, file)] = '\0';
	(void)fclose(file);
	const char *first = text + strspn(text, " \t\r\n\xEF\xBB\xBF");
	return *first == '<' && strstr(first, "<robot") == NULL && strstr(first, "<mujoco") == NULL;
}

/* The file is read more than once, which a pipe does not allow. */
static enum status check_input(const char *path, struct reason *why)
{
	struct stat found;
	if (stat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))
		return STATUS_OK; /* reading it tells the rest */
	return reason_set(why, STATUS_TYPE, -1, "IN",
			  "%s is no regular file: it is read more than once; give a file", path);
}

/* An option of the other kind of file. */
static const char *foreign_option(const struct options *options, bool drawing)
{
	if (drawing)
		return options->pack_set.count > 0   ? "set"
		       : options->pack_let.count > 0 ? "let"
		       : options->pack_workers > 1   ? "workers"
						     : NULL;
	return options->pack_height != NULL ? "height"
	       : options->pack_pull != NULL ? "pull"
	       : options->pack_rest != NULL ? "rest"
					    : NULL;
}

int pack_command(const struct options *options)
{
	struct reason why = { .index = -1 };
	enum status status = check_input(options->operands.items[0], &why);
	bool drawing = status == STATUS_OK && is_drawing(options->operands.items[0]);
	const char *foreign = foreign_option(options, drawing);
	const struct output_file out = { options->operands.items[1], "OUT",
					 drawing ? "a drawing (SVG)" : "a scene (YAML)",
					 drawing ? ".svg" : ".yaml .yml", false };
	if (status == STATUS_OK && foreign != NULL)
		status = reason_set(&why, STATUS_UNSUPPORTED, -1, foreign,
				    "--%s is of %s, and %s is %s: leave it out", foreign,
				    drawing ? "scenes" : "drawings", options->operands.items[0],
				    drawing ? "a drawing" : "a scene");
	if (status == STATUS_OK)
		status = output_files_check(&out, 1, NULL, &why);
	if (status == STATUS_OK)
		status = drawing ? pack_drawing(options, &out, &why)
				 : pack_scene(options, &out, &why);
	if (status != STATUS_OK)
		command_refused("pack", "", why.field, &why);
	return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
