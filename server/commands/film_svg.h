/* film_svg.h: films as SVG: a strip of pictures, or an animation that any browser plays (SMIL).
 *
 * All films of a sheet are drawn to one scale and within one section of the plane: that through
 * which their dynamic bodies move. Forces are drawn on the first picture: an arrow that ends at
 * each contact that presses, a ring around each that breaks, and an arrow from each body along its
 * acceleration. The longest of each kind has a fixed share of the section.
 */
#ifndef CAIRN_COMMANDS_FILM_SVG_H
#define CAIRN_COMMANDS_FILM_SVG_H

#include <stdio.h>

#include "server/commands/film.h"

enum { FILM_SHEET_MAX = 8, FILM_SHEET_PICTURES_MAX = 64 };

/* All borrowed. Each film has at least one picture. */
struct film_sheet {
	const struct film *films[FILM_SHEET_MAX];
	const char *labels[FILM_SHEET_MAX]; /* NULL: none */
	uint32_t count;
	uint32_t
		pictures; /* of a strip: evenly spaced from the first to the last one of each film */
	double width;	  /* px, at most */
	const struct stability_view *forces; /* of the first pictures; NULL: not drawn */
};

/* Rows are films, columns pictures. */
void film_svg_strip(const struct film_sheet *sheet, FILE *file);
/* The films side by side, in the time of the world, again and again. */
void film_svg_animation(const struct film_sheet *sheet, FILE *file);

#endif
