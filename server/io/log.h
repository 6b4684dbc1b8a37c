/* log.h: one line per event on standard error, key=value, levelled, rate-limited.
 *
 *	2026-01-31T12:00:00.123456Z info session_open session=7 peer=unix:uid=1000,pid=42
 *
 * Each place in the source may write LOG_BURST lines at once and LOG_PER_SECOND after that;
 * suppressed lines are counted and reported with the next line of that place (`suppressed=N`). Lines
 * about an authenticated peer (LOG_FROM) are limited per peer instead, so that a noisy peer does not
 * suppress lines about others. Audit lines, of changes made by a peer, are written at any level and
 * in any number.
 *
 * No thread waits for the reader of the log. A line that standard error does not take at once is
 * counted and reported with the next one that it takes (`lost=N`) and in log_lost; audit lines are
 * stored, up to LOG_KEPT_BYTES of them, and written when there is room again.
 *
 * Control bytes are written as \xNN. Text from a peer or a file goes through LOG_TEXT, which quotes it, so
 * that it cannot imitate our pairs. A line is one write, so it is never torn. Any thread.
 */
#ifndef CAIRN_IO_LOG_H
#define CAIRN_IO_LOG_H

#include <stdatomic.h>

#include "server/base/base.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

enum {
	LOG_BURST = 20,
	LOG_PER_SECOND = 5,
	LOG_LINE_BYTES = 1024,
	LOG_TEXT_BYTES = 400,
	LOG_KEPT_BYTES = 256 << 10,
};

/* One per place in the source, or per peer. Initially all zero. */
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

/* Makes sure that writing to standard error never waits, whatever it is: a pipe or a terminal is opened
 * once more for this process alone, a socket is asked not to. Once, before privileges are given up;
 * where the system does not allow it, and before, each write asks first whether there is room. */
void log_start(void);
/* Writes what is kept, and how many lines were lost, as far as there is room. */
void log_flush(void);
/* The number of lines lost so far. */
uint64_t log_lost(void);

/* `text` in quotes: ", \ and what is not printable ASCII are escaped, more than fits is cut. */
const char *log_quote(char out[LOG_TEXT_BYTES], const char *text);
#define LOG_TEXT(text) log_quote((char[LOG_TEXT_BYTES]){ 0 }, (text))

/* `site` NULL: never suppressed. */
void log_line(struct log_site *site, enum log_level level, const char *event, const char *format,
	      ...) PRINTF_LIKE(4, 5);

/* A line about the owner of `who`; NULL: the limit of the place applies. */
#define LOG_FROM(who, level, event, ...)                                                           \
	do {                                                                                       \
		static struct log_site log_site_here;                                              \
		struct log_site *log_site_who = (who);                                             \
		if ((level) <= log_level_now())                                                    \
			log_line(log_site_who != NULL ? log_site_who : &log_site_here, (level),    \
				 (event), __VA_ARGS__);                                            \
	} while (0)
#define LOG_AT(level, event, ...) LOG_FROM(NULL, level, event, __VA_ARGS__)
#define log_audit(event, ...) log_line(NULL, LOG_INFO, (event), __VA_ARGS__)

#define log_error(event, ...) LOG_AT(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, __VA_ARGS__)

#endif
