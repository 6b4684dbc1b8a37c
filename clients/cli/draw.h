/* draw.h: a world as characters, for `cairn watch --draw`: a view along −z, x to the right and y up. */
#ifndef CAIRN_CLIENTS_CLI_DRAW_H
#define CAIRN_CLIENTS_CLI_DRAW_H

#include "protocol/mirror.h"

/* Prints one picture: static bodies "=", sleeping ones "o", moving ones "@", several in one
 * place "#"; where a body is drawn is the place of its origin. The section of the world is
 * fitted to the bodies that are not static when the first picture is drawn, and grows if they
 * leave it. On a terminal a picture replaces the one before. */
void draw_mirror(const struct mirror *mirror);

#endif
