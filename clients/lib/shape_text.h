/* shape_text.h: shapes and lists of numbers as text, as the command line and the library's users write
 * them. */
#ifndef CAIRN_CLIENTS_LIB_SHAPE_TEXT_H
#define CAIRN_CLIENTS_LIB_SHAPE_TEXT_H

#include "server/base/bytes.h"
#include "server/base/status.h"

/* KIND:NUMBERS, lengths in m:
 *
 *	sphere:RADIUS
 *	capsule:length=L,radius=R (along y, L between the centres of its ends; or capsule:L/2,R)
 *	box:X,Y,Z (full sizes)
 *	plane:NX,NY,NZ,D
 *	hull:X,Y,Z,X,Y,Z,…
 *	rounded:X,Y,Z,R (a box of these full sizes, rounded outwards by R)
 *	cylinder:length=L,radius=R, cone:length=L,radius=R (along y; or cylinder:L/2,R, cone:L/2,R)
 *	ellipsoid:X,Y,Z (full sizes)
 *
 * Writes canonical bytes (server/engine/geometry/shape.h) into `canonical`, which the caller frees with
 * bytes_release. TYPE: the text is none of these, or a number is not finite. */
MUST_CHECK enum status shape_text_parse(const char *text, struct bytes *canonical,
					struct reason *why);

/* Parses finite numbers separated by commas; returns their count, −1 if they are malformed, not finite or
 * more than `capacity`. */
int numbers_text_parse(const char *text, double *values, uint32_t capacity);

#endif
