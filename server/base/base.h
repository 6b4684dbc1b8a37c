/* base.h: what every file may assume: assertions, attributes, sizes.
 *
 * ASSERT states a fact that only a bug can break; it is always on. VALIDATE is for checks that cost
 * more than the work they guard; it is compiled in with --enable-validate. No scene, file or
 * message may reach a failing one: foreseeable failures are `enum status` (status.h).
 */
#ifndef CAIRN_BASE_BASE_H
#define CAIRN_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller must check the result. */
#define MUST_CHECK __attribute__((warn_unused_result))
/* The function's arguments follow printf's rules. */
#define PRINTF_LIKE(text, first) __attribute__((__format__(__printf__, text, first)))
#define UNUSED(x) ((void)(x))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

/* Prints the fact that did not hold and ends the process. Never returns. */
_Noreturn void base_panic(const char *file, int line, const char *fact);

#define ASSERT(fact) ((fact) ? (void)0 : base_panic(__FILE__, __LINE__, #fact))

#ifdef CAIRN_VALIDATE
#define VALIDATE(fact) ASSERT(fact)
#else
#define VALIDATE(fact) ((void)0)
#endif

#endif
