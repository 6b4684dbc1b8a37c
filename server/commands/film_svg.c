/* See film_svg.h. */
#include "server/commands/film_svg.h"

#include <inttypes.h>
#include <math.h>

#include "server/engine/math/scalar.h"

#define DEGREES 57.29577951308232
/* px: between cells, above a cell for its text, and of a cell at most. */
enum { GAP = 8, HEAD = 20, HEIGHT_MAX = 420 };
#define MARGIN 0.05 /* of the section's larger side */
#define ARROW 0.12  /* of the same */
/* Of the largest force: less is not drawn. */
#define FORCE_MIN 1e-6
/* s: how long an animation stays at its first picture, with forces and without, and at its last. */
#define HOLD_FORCES 2.0
#define HOLD_FIRST 0.5
#define HOLD_LAST 1.0
enum { HOLD_STEPS_MAX = 256 };

/* The section of the plane, and the grid of cells in which it is drawn. */
struct sheet_view {
	const struct film_sheet *sheet;
	FILE *file;
	double low[2], high[2]; /* m */
	double scale;		/* px a metre */
	double width, height;	/* px, of a cell */
	uint32_t columns, rows;
	uint32_t hold, hold_last; /* pictures of an animation that are repeated */
};

/* ---- the section ------------------------------------------------------------------------------- */

static void widen_section(struct sheet_view *view, const struct film *film, uint32_t body,
			  const struct film_pose *place)
{
	const struct film_body *of = &film->bodies.items[body];
	double c = cos(place->angle), s = sin(place->angle);
	for (uint32_t p = of->piece; p < of->piece + of->piece_count; p++) {
		const struct film_piece *piece = &film->pieces.items[p];
		for (uint32_t k = 0; k < piece->count; k++) {
			const struct film_point *q = &film->points.items[piece->first + k];
			const double at[2] = { place->x + c * q->x - s * q->y,
					       place->y + s * q->x + c * q->y };
			for (int i = 0; i < 2; i++) {
				view->low[i] = MIN_OF(view->low[i], at[i] - piece->radius);
				view->high[i] = MAX_OF(view->high[i], at[i] + piece->radius);
			}
		}
	}
}

/* Of bodies that move; of all, if none does. */
static void find_section(struct sheet_view *view, bool all)
{
	for (int i = 0; i < 2; i++) {
		view->low[i] = __builtin_inf();
		view->high[i] = -__builtin_inf();
	}
	for (uint32_t f = 0; f < view->sheet->count; f++) {
		const struct film *film = view->sheet->films[f];
		for (uint32_t i = 0; i < film->pictures.count; i++) {
			const struct film_picture *picture = &film->pictures.items[i];
			for (uint32_t b = 0; b < picture->count; b++) {
				const struct film_pose *place =
					&film->poses.items[picture->first + b];
				if (place->shown && (all || !film->bodies.items[b].fixed))
					widen_section(view, film, b, place);
			}
		}
	}
	if (!(view->low[0] <= view->high[0]) && !all)
		find_section(view, true);
}

static double larger_side(const struct sheet_view *view)
{
	return MAX_OF(view->high[0] - view->low[0], view->high[1] - view->low[1]);
}

static void open_view(struct sheet_view *view, uint32_t columns, uint32_t rows)
{
	find_section(view, false);
	if (!(view->low[0] <= view->high[0]))
		view->low[0] = view->low[1] = view->high[0] = view->high[1] = 0;
	double margin = MAX_OF(MARGIN * larger_side(view), 1e-3);
	for (int i = 0; i < 2; i++) {
		view->low[i] -= margin;
		view->high[i] += margin;
	}
	double wide = view->high[0] - view->low[0], high = view->high[1] - view->low[1];
	view->columns = columns;
	view->rows = rows;
	view->width = (view->sheet->width - GAP * (columns - 1.0)) / columns;
	view->scale = MIN_OF(view->width / wide, HEIGHT_MAX / high);
	view->width = wide * view->scale;
	view->height = high * view->scale;
}

static double place_x(const struct sheet_view *view, double x)
{
	return (x - view->low[0]) * view->scale;
}

static double place_y(const struct sheet_view *view, double y)
{
	return (view->high[1] - y) * view->scale;
}

/* px: of arrows and rings. */
static double line_width(const struct sheet_view *view)
{
	return scalar_clamp(MAX_OF(view->width, view->height) / 400, 0.6, 1.8);
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static void print_piece(const struct sheet_view *view, const struct film *film,
			const struct film_piece *piece)
{
	const struct film_point *point = &film->points.items[piece->first];
	double radius = piece->radius * view->scale;
	fprintf(view->file, "<polygon points='");
	for (uint32_t k = 0; k < piece->count; k++)
		fprintf(view->file, "%s%.2f,%.2f", k > 0 ? " " : "", point[k].x * view->scale,
			-point[k].y * view->scale);
	if (radius > 0)
		fprintf(view->file, "' stroke-width='%.2f'/>", 2 * radius);
	else
		fprintf(view->file, "' class='edge'/>");
}

static void print_shapes(const struct sheet_view *view, uint32_t number)
{
	static const char *const BRICKS[] = { "#c08552", "#b5764a", "#cb9462" };
	const struct film *film = view->sheet->films[number];
	for (uint32_t b = 0; b < film->bodies.count; b++) {
		const struct film_body *body = &film->bodies.items[b];
		char colour[16];
		if (body->colour != 0)
			snprintf(colour, sizeof colour, "#%06" PRIx32, body->colour & 0xFFFFFFu);
		else
			snprintf(colour, sizeof colour, "%s",
				 body->fixed ? "#777777" : BRICKS[b % COUNT_OF(BRICKS)]);
		fprintf(view->file, "<g id='s%u-%u' fill='%s' stroke='%s'>", number, b, colour,
			colour);
		for (uint32_t p = 0; p < body->piece_count; p++)
			print_piece(view, film, &film->pieces.items[body->piece + p]);
		fprintf(view->file, "</g>\n");
	}
}

static void print_head(const struct sheet_view *view)
{
	double width = view->columns * (view->width + GAP) - GAP;
	double height = view->rows * (view->height + HEAD + GAP) - GAP;
	fprintf(view->file,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' "
		"height='%.0f' font-family='sans-serif' font-size='12' stroke-linejoin='round'>\n"
		"<style>.edge{stroke:#0006;stroke-width:%.2fpx} .force,.fall,.break{stroke-width:"
		"%.2fpx} .force{stroke:#0072b2} .fall{stroke:#009e73} .break{stroke:#d00000;"
		"fill:none}</style>\n<defs>\n",
		ceil(width), ceil(height), ceil(width), ceil(height), 0.4 * line_width(view),
		line_width(view));
	static const char *const MARKERS[2][2] = { { "force", "#0072b2" }, { "fall", "#009e73" } };
	for (int i = 0; i < 2; i++)
		fprintf(view->file,
			"<marker id='%s' viewBox='0 0 6 6' refX='5' refY='3' markerWidth='4' "
			"markerHeight='4' orient='auto'><path d='M0,0L6,3L0,6z' fill='%s'/></marker>\n",
			MARKERS[i][0], MARKERS[i][1]);
	for (uint32_t f = 0; f < view->sheet->count; f++)
		print_shapes(view, f);
	fprintf(view->file, "</defs>\n<rect width='100%%' height='100%%' fill='#ffffff'/>\n");
}

/* ---- forces ------------------------------------------------------------------------------------ */

static void print_arrow(const struct sheet_view *view, const char *kind, const double from[2],
			const double to[2])
{
	fprintf(view->file,
		"<line class='%s' x1='%.2f' y1='%.2f' x2='%.2f' y2='%.2f' "
		"marker-end='url(#%s)'/>\n",
		kind, place_x(view, from[0]), place_y(view, from[1]), place_x(view, to[0]),
		place_y(view, to[1]), kind);
}

static void print_contacts(const struct sheet_view *view, const struct stability_view *forces)
{
	double most = 0, arrow = ARROW * larger_side(view);
	for (uint32_t i = 0; i < forces->points; i++) {
		const struct stability_contact *c = &forces->contacts[i];
		vec3 force = vec3_mul_add(c->friction_force, c->normal, c->normal_force);
		most = MAX_OF(most, vec3_length(force));
	}
	for (uint32_t i = 0; i < forces->points; i++) {
		const struct stability_contact *c = &forces->contacts[i];
		vec3 force = vec3_mul_add(c->friction_force, c->normal, c->normal_force);
		vec3 from = vec3_mul_add(c->point, force, -arrow / MAX_OF(most, 1e-300));
		if (vec3_length(force) > FORCE_MIN * most)
			print_arrow(view, "force", (double[]){ from.x, from.y },
				    (double[]){ c->point.x, c->point.y });
		if (c->breaks)
			fprintf(view->file,
				"<circle class='break' cx='%.2f' cy='%.2f' r='%.2f'/>\n",
				place_x(view, c->point.x), place_y(view, c->point.y),
				3 * line_width(view));
	}
}

/* Accelerations of the bodies, from where their origins are in the first picture. */
static void print_accelerations(const struct sheet_view *view, const struct film *film,
				const struct stability_view *forces)
{
	double most = 0, arrow = ARROW * larger_side(view);
	const struct film_picture *first = &film->pictures.items[0];
	for (uint32_t i = 0; i < forces->bodies; i++)
		most = MAX_OF(most, vec3_length(forces->motions[i].acceleration));
	for (uint32_t b = 0, i = 0; b < first->count && i < forces->bodies; b++) {
		const struct stability_motion *motion = &forces->motions[i];
		const struct film_pose *place = &film->poses.items[first->first + b];
		if (motion->body != film->bodies.items[b].id)
			continue;
		i++;
		vec3 way = vec3_scale(motion->acceleration, arrow / MAX_OF(most, 1e-300));
		if (vec3_length(motion->acceleration) > FORCE_MIN * most)
			print_arrow(view, "fall", (double[]){ place->x, place->y },
				    (double[]){ place->x + way.x, place->y + way.y });
	}
}

static void print_forces(const struct sheet_view *view, const struct film *film)
{
	print_contacts(view, view->sheet->forces);
	print_accelerations(view, film, view->sheet->forces);
}

/* ---- cells ------------------------------------------------------------------------------------- */

static void open_cell(const struct sheet_view *view, uint32_t column, uint32_t row,
		      const char *label, const char *text)
{
	double x = column * (view->width + GAP), y = row * (view->height + HEAD + GAP);
	fprintf(view->file, "<text x='%.1f' y='%.1f'>%s%s%s</text>\n", x, y + HEAD - 6,
		label != NULL ? label : "", label != NULL && text[0] != '\0' ? ", " : "", text);
	fprintf(view->file,
		"<svg x='%.1f' y='%.1f' width='%.1f' height='%.1f'>"
		"<rect width='100%%' height='100%%' fill='#eef1f3'/>\n",
		x, y + HEAD, view->width, view->height);
}

static void print_pose(const struct sheet_view *view, const struct film_pose *place)
{
	fprintf(view->file, " transform='translate(%.2f %.2f) rotate(%.2f)'",
		place_x(view, place->x), place_y(view, place->y), -place->angle * DEGREES);
}

static void print_picture(const struct sheet_view *view, uint32_t number, uint32_t index)
{
	const struct film *film = view->sheet->films[number];
	const struct film_picture *picture = &film->pictures.items[index];
	for (uint32_t b = 0; b < picture->count; b++) {
		const struct film_pose *place = &film->poses.items[picture->first + b];
		if (!place->shown)
			continue;
		fprintf(view->file, "<use href='#s%u-%u'", number, b);
		print_pose(view, place);
		fprintf(view->file, "/>\n");
	}
}

void film_svg_strip(const struct film_sheet *sheet, FILE *file)
{
	struct sheet_view view = { .sheet = sheet, .file = file };
	ASSERT(sheet->count > 0 && sheet->pictures > 0);
	open_view(&view, sheet->pictures, sheet->count);
	print_head(&view);
	for (uint32_t f = 0; f < sheet->count; f++)
		for (uint32_t k = 0; k < sheet->pictures; k++) {
			const struct film *film = sheet->films[f];
			uint32_t last = film->pictures.count - 1,
				 of = MAX_OF(sheet->pictures - 1, 1u);
			uint32_t index = (uint32_t)(((uint64_t)last * k + of / 2) / of);
			const struct film_picture *picture = &film->pictures.items[index];
			char text[80];
			snprintf(text, sizeof text, "tick %" PRIu64 ", %.2f s", picture->tick,
				 picture->time);
			open_cell(&view, k, f, k == 0 ? sheet->labels[f] : NULL, text);
			print_picture(&view, f, index);
			if (k == 0 && sheet->forces != NULL)
				print_forces(&view, film);
			fprintf(file, "</svg>\n");
		}
	fprintf(file, "</svg>\n");
}

/* ---- animation --------------------------------------------------------------------------------- */

/* The number of steps of an animation, and the picture of each: the first and the last one stay. */
static uint32_t step_count(const struct sheet_view *view, const struct film *film)
{
	return view->hold + film->pictures.count + view->hold_last;
}

static const struct film_pose *pose_at(const struct sheet_view *view, const struct film *film,
				       uint32_t body, uint32_t step)
{
	uint32_t index = step < view->hold ? 0 : step - view->hold;
	const struct film_picture *picture =
		&film->pictures.items[MIN_OF(index, film->pictures.count - 1)];
	static const struct film_pose NOWHERE;
	return body < picture->count ? &film->poses.items[picture->first + body] : &NOWHERE;
}

static double step_time(const struct film *film)
{
	uint32_t last = film->pictures.count - 1;
	double time = film->pictures.items[last].time - film->pictures.items[0].time;
	return last > 0 && time > 0 ? time / last : 1.0 / 60;
}

static void print_timing(const struct sheet_view *view, const struct film *film)
{
	fprintf(view->file, " dur='%.3fs' repeatCount='indefinite'/>",
		step_time(film) * step_count(view, film));
}

static void print_motion(const struct sheet_view *view, const struct film *film, uint32_t body)
{
	uint32_t steps = step_count(view, film);
	for (int turn = 0; turn < 2; turn++) {
		fprintf(view->file,
			"<animateTransform attributeName='transform' type='%s' "
			"additive='%s' values='",
			turn == 0 ? "translate" : "rotate", turn == 0 ? "replace" : "sum");
		for (uint32_t k = 0; k < steps; k++) {
			const struct film_pose *place = pose_at(view, film, body, k);
			if (turn == 0)
				fprintf(view->file, "%.1f %.1f;", place_x(view, place->x),
					place_y(view, place->y));
			else
				fprintf(view->file, "%.1f;", -place->angle * DEGREES);
		}
		fprintf(view->file, "'");
		print_timing(view, film);
	}
}

static void print_visibility(const struct sheet_view *view, const struct film *film, uint32_t body)
{
	fprintf(view->file, "<animate attributeName='visibility' calcMode='discrete' values='");
	for (uint32_t k = 0; k < step_count(view, film); k++)
		fprintf(view->file, "%s;",
			pose_at(view, film, body, k)->shown ? "visible" : "hidden");
	fprintf(view->file, "'");
	print_timing(view, film);
}

static void animate_body(const struct sheet_view *view, uint32_t number, uint32_t body)
{
	const struct film *film = view->sheet->films[number];
	const struct film_pose *first = pose_at(view, film, body, 0);
	bool moves = false, comes = !first->shown;
	for (uint32_t k = 0; k < step_count(view, film); k++) {
		const struct film_pose *place = pose_at(view, film, body, k);
		comes |= !place->shown;
		moves |= place->x != first->x || place->y != first->y ||
			 place->angle != first->angle;
	}
	fprintf(view->file, "<use href='#s%u-%u'", number, body);
	print_pose(view, first);
	fprintf(view->file, ">");
	if (moves)
		print_motion(view, film, body);
	if (comes)
		print_visibility(view, film, body);
	fprintf(view->file, "</use>\n");
}

/* Forces are seen while the first picture stays. */
static void animate_forces(const struct sheet_view *view, const struct film *film)
{
	fprintf(view->file, "<g><animate attributeName='visibility' calcMode='discrete' values='");
	for (uint32_t k = 0; k < step_count(view, film); k++)
		fprintf(view->file, "%s;", k <= view->hold ? "visible" : "hidden");
	fprintf(view->file, "'");
	print_timing(view, film);
	print_forces(view, film);
	fprintf(view->file, "</g>\n");
}

void film_svg_animation(const struct film_sheet *sheet, FILE *file)
{
	struct sheet_view view = { .sheet = sheet, .file = file };
	uint32_t columns = sheet->count > 1 ? 2 : 1;
	ASSERT(sheet->count > 0);
	open_view(&view, columns, (sheet->count + columns - 1) / columns);
	print_head(&view);
	for (uint32_t f = 0; f < sheet->count; f++) {
		const struct film *film = sheet->films[f];
		const struct film_picture *last = &film->pictures.items[film->pictures.count - 1];
		char text[80];
		double hold = sheet->forces != NULL ? HOLD_FORCES : HOLD_FIRST;
		view.hold = (uint32_t)MIN_OF(hold / step_time(film), HOLD_STEPS_MAX);
		view.hold_last = (uint32_t)MIN_OF(HOLD_LAST / step_time(film), HOLD_STEPS_MAX);
		snprintf(text, sizeof text, "tick %" PRIu64 " to %" PRIu64,
			 film->pictures.items[0].tick, last->tick);
		open_cell(&view, f % columns, f / columns, sheet->labels[f], text);
		for (uint32_t b = 0; b < film->bodies.count; b++)
			animate_body(&view, f, b);
		if (sheet->forces != NULL)
			animate_forces(&view, film);
		fprintf(file, "</svg>\n");
	}
	fprintf(file, "</svg>\n");
}
