/* See draw.h. */
#include "clients/cli/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/engine/types.h"

enum { COLUMNS = 76, ROWS = 22 };
#define MARGIN 1.0 /* m, around the bodies */
#define ASPECT 2.0 /* height over width of a character */

/* The section of the world that is shown, m; empty before the first picture. */
static struct {
	bool fitted;
	double low[2], high[2];
} view;

static void fit(const struct mirror *mirror)
{
	for (uint32_t i = 0; i < mirror->count; i++) {
		const struct wire_body *body = &mirror->bodies[i];
		if (body->status == BODY_STATIC || body->status == BODY_INACTIVE)
			continue;
		for (int axis = 0; axis < 2; axis++) {
			double at = body->position[axis];
			if (!view.fitted || at - MARGIN < view.low[axis])
				view.low[axis] = at - MARGIN;
			if (!view.fitted || at + MARGIN > view.high[axis])
				view.high[axis] = at + MARGIN;
		}
		view.fitted = true;
	}
}

static char mark_of(const struct wire_body *body)
{
	if (body->status == BODY_STATIC)
		return '=';
	return body->flags & WIRE_BODY_ASLEEP ? 'o' : '@';
}

void draw_mirror(const struct mirror *mirror)
{
	char grid[ROWS][COLUMNS + 1];
	for (int row = 0; row < ROWS; row++) {
		memset(grid[row], ' ', COLUMNS);
		grid[row][COLUMNS] = '\0';
	}
	fit(mirror);
	double width = view.high[0] - view.low[0], height = view.high[1] - view.low[1];
	double metres = fmax(fmax(width / COLUMNS, height / ROWS / ASPECT), 1e-3); /* of a column */
	for (uint32_t i = 0; i < mirror->count; i++) {
		const struct wire_body *body = &mirror->bodies[i];
		double x = (body->position[0] - view.low[0]) / metres;
		double y = (body->position[1] - view.low[1]) / (metres * ASPECT);
		if (!(x >= 0 && x < COLUMNS && y >= 0 && y < ROWS))
			continue;
		char *at = &grid[ROWS - 1 - (int)y][(int)x];
		*at = *at == ' ' || *at == '=' ? mark_of(body) : '#';
	}
	if (isatty(STDOUT_FILENO) == 1)
		fputs("\033[H\033[J", stdout);
	for (int row = 0; row < ROWS; row++) {
		int end = COLUMNS;
		while (end > 0 && grid[row][end - 1] == ' ')
			end--;
		printf("%.*s\n", end, grid[row]);
	}
	printf("x %.1f … %.1f m, y %.1f … %.1f m\n", view.low[0], view.low[0] + metres * COLUMNS,
	       view.low[1], view.low[1] + metres * ASPECT * ROWS);
}
