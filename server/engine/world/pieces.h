/* pieces.h: the command set_piece: what a piece of a body has of its own (dynamics/piece.h). For
 * the tables of commands_check.c and commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_PIECES_H
#define CAIRN_ENGINE_WORLD_PIECES_H

#include "server/engine/world/plan_find.h"

enum status check_set_piece(struct check *check, struct command *command);
void apply_set_piece(const struct apply_context *context, const struct command *command);

#endif
