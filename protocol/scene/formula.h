/* formula.h: the value of a formula of a scene file, such as `2 * (n + 1)`.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = sign { ("*" | "/" | "%") sign }
 *   sign    = ("-" | "+") sign | number | ["$"] name | name "(" sum { "," sum } ")"
 *           | ["$"] "(" sum ")" | "${" sum "}"
 *
 * x % y is in [0, y) for a positive y, also if x is negative. Angles are in degrees, as everywhere in
 * a scene. Sine, arctangent and power are the engine's, so a formula has the same bits on every
 * machine.
 */
#ifndef CAIRN_PROTOCOL_SCENE_FORMULA_H
#define CAIRN_PROTOCOL_SCENE_FORMULA_H

#include "protocol/scene/yaml.h"

enum { FORMULA_DEPTH_MAX = 32, FORMULA_NAME_BYTES = 64 };

/* Finds the value of a name, or refuses it by the line that it is given. */
typedef enum status formula_find(void *context, uint32_t line, const char *name, double *value);

/* The formula of `bytes` bytes, which stands in `line`. A refusal names the place in the formula. Errors:
 * MALFORMED, MISSING (a function), TOO_DEEP, NOT_FINITE, and those of `find`. */
MUST_CHECK enum status formula_evaluate(const struct source *source, uint32_t line,
					const char *text, size_t bytes, formula_find *find,
					void *context, double *out);
/* Bytes of the name at the beginning of `text`; 0: there is none. */
size_t formula_name_bytes(const char *text);
/* True for a name that a variable must not have, because formulas read it otherwise. */
bool formula_is_reserved(const char *name);

enum { FORMULA_NUMBER_BYTES = 32 };
/* The shortest decimal number that is read as `value`. Returns `text`. */
const char *formula_number(double value, char text[FORMULA_NUMBER_BYTES]);

#endif
