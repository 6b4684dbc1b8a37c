/* command_wire.h: a command as a MessagePack array [op, field, …], on the wire and in journals.
 *
 * Derived from the engine's commands.def through its description (world/command.h). Fields are in the
 * order of that list. Missing fields at the end have their defaults; packing leaves out defaults at the
 * end, so each command has exactly one encoding. Kinds of fields:
 *
 *   BODY, SHAPE, JOINT, INTEGER   integer
 *   ENUM, U32              integer ≥ 0
 *   F64                    float or integer
 *   VEC3, QUAT             array of 3 (x, y, z) or 4 (w, x, y, z) floats or integers
 *   TEXT                   str, 1 to 31 bytes
 *   NAME                   bin of 32
 *   SEED                   bin of 8, big-endian; or an integer ≥ 0
 *   ATTACHMENTS            array of [shape, position?, rotation?]
 *   TARGETS                array of [joint, axis, value]
 *   POINTS                 array of [time, value]
 *
 * Types, lengths and finiteness are checked here, ranges by the engine (command_check_values).
 */
#ifndef CAIRN_PROTOCOL_COMMAND_WIRE_H
#define CAIRN_PROTOCOL_COMMAND_WIRE_H

#include "protocol/cursor.h"
#include "protocol/packer.h"
#include "server/base/arena.h"
#include "server/engine/world/command.h"

/* Packs one command; a sticky failure of the packer otherwise. */
void command_pack(struct wire_packer *out, const struct command *command);

/* Takes one command. Lists are pushed on `arena`. Items beyond the known fields are ignored. After a
 * refusal the cursor is somewhere within the command. `index` goes into *why (may be NULL).
 *   STATUS_TYPE             not an array; a field is missing or of another type
 *   STATUS_RANGE            a list is too long, or a number does not fit the C type
 *   STATUS_UNKNOWN_COMMAND, STATUS_UNSUPPORTED (reserved), STATUS_NO_MEMORY */
MUST_CHECK enum status command_take(struct wire_cursor *in, struct arena *arena, int64_t index,
				    struct command *command, struct reason *why);

/* Checks that the whole list can be read. For a list that the validator has refused, the reason names the
 * command and the field. */
MUST_CHECK enum status command_check_list(const struct wire_list *list, struct reason *why);

/* The whole list of a COMMANDS or STEP, as an array pushed on `arena`. If command i is refused, `why` has the
 * index i and the arena is as before the call. */
MUST_CHECK enum status command_take_list(const struct wire_list *list, struct arena *arena,
					 struct command **commands, struct reason *why);

#endif
