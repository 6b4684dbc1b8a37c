/* command_bytes.h: commands in the engine's flat form, in which batches are stored until their tick.
 *
 *   u16 op, u8 field count, then the fields in order, little-endian:
 *   BODY SHAPE INTEGER i64 · ENUM u8 · U32 u32 · F64 f64 · VEC3 3 f64 · QUAT 4 f64 (w first)
 *   TEXT, NAME 32 bytes · SEED u64
 *   ATTACHMENTS u32 count, then count × (i64 shape, 3 f64 position, 4 f64 rotation)
 *
 * Fields are only ever appended to a command, so a form with fewer of them is an older one: the
 * missing ones get their defaults.
 */
#ifndef CAIRN_ENGINE_WORLD_COMMAND_BYTES_H
#define CAIRN_ENGINE_WORLD_COMMAND_BYTES_H

#include "server/base/arena.h"
#include "server/base/bytes.h"
#include "server/engine/world/command.h"

/* Appends a command with a known op. A failure is recorded in the writer. */
void command_write(struct writer *writer, const struct command *command);
/* Takes one command; its attachments are pushed to `arena`. MALFORMED (unknown op, cut off, too many
 * fields or attachments) or NO_MEMORY. Values are not checked. */
MUST_CHECK enum status command_read(struct reader *reader, struct arena *arena,
				    struct command *command);

/* A unit quaternion from one that passed the checks. A quaternion that is unit to rounding is
 * returned unchanged, so the function is idempotent. */
quat command_rotation(quat q);

#endif
