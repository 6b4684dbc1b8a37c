/* log.h: one line per event on standard error, key=value, levelled, rate-limited.
 *
 *	2026-01-31T12:00:00.123456Z info session_open session=7 peer=unix:uid=1000,pid=42
 *
 * Each place in the source may say LOG_BURST lines at once and LOG_PER_SECOND after that; what is
 * held back is counted and told with the next line of that place (`suppressed=N`). Control bytes,
 * as a hostile name may have them, come out as \xNN. A line never tears: it is one write. Any
 * thread.
 */
#ifndef CAIRN_LOG_H
#define CAIRN_LOG_H

#include <stdatomic.h>

#include "server/base/base.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

enum { LOG_BURST = 20, LOG_PER_SECOND = 5, LOG_LINE_BYTES = 1024 };

/* One per place in the source; zero is its start. */
struct log_site {
	/* The instant, in ns, at which the place has paid for its lines. */
	_Atomic uint64_t allowance;
	_Atomic uint64_t suppressed;
};

/* The process's level; LOG_INFO at the start. Any thread. */
void log_set_level(enum log_level level);
enum log_level log_level_now(void);
/* "error", "warn", "info", "debug". False for another word. */
bool log_level_parse(const char *word, enum log_level *out);
const char *log_level_name(enum log_level level);

/* Tests: every line (closed with a zero, without its newline) goes to `sink` instead; NULL ends it.
 * Not while other threads log. */
void log_set_sink(void (*sink)(const char *line, void *context), void *context);

void log_line(struct log_site *site, enum log_level level, const char *event, const char *format,
	      ...) PRINTF_LIKE(4, 5);

#define LOG_AT(level, event, ...)                                                                  \
	do {                                                                                       \
		static struct log_site log_site_here;                                              \
		if ((level) <= log_level_now())                                                    \
			log_line(&log_site_here, (level), (event), __VA_ARGS__);                   \
	} while (0)

#define log_error(event, ...) LOG_AT(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, __VA_ARGS__)

#endif
