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
 * No thread waits for the reader of the log. A line that standard error does not accept at once is
 * lost. Lost lines are counted in log_lost and reported with the next line (`lost=N`). Audit lines
 * are stored, up to LOG_KEPT_BYTES, and written later.
 *
 * Control bytes are written as \xNN. LOG_TEXT quotes text from a peer or a file, so that it cannot
 * imitate our pairs. A line is one write, so lines do not mix. Any thread.
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
	/* Instant, ns, up to which the lines of this place have used its rate. */
	_Atomic uint64_t allowance;
	_Atomic uint64_t suppressed;
};

/* The process's level; LOG_INFO at the start. Any thread. */
void log_set_level(enum log_level level);
enum log_level log_level_now(void);
/* "error", "warn", "info", "debug". False for another word. */
bool log_level_parse(const char *word, enum log_level *out);
const char *log_level_name(enum log_level level);

/* For tests: every line (zero-terminated, without its newline) is passed to `sink` instead; NULL
 * ends it. Not while other threads log. */
void log_set_sink(void (*sink)(const char *line, void *context), void *context);

/* Makes writes to standard error non-blocking: a pipe or a terminal is opened once more for this
 * process alone; for a socket each send has a flag. Call once, before privileges are dropped.
 * Before this call, and where the system does not allow it, each write polls first. */
void log_start(void);
/* Writes the stored lines and the number of lost ones, as far as standard error accepts them. */
void log_flush(void);
/* The number of lines lost so far. */
uint64_t log_lost(void);

/* `text` in quotes: ", \ and all but printable ASCII are escaped; text that does not fit is cut. */
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
