#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/io/instant.h"

#define LINE_COST (NS_PER_S / LOG_PER_SECOND)

static const char *const NAMES[LOG_LEVELS] = { "error", "warn", "info", "debug" };
static _Atomic int level_now = LOG_INFO;
static void (*sink_now)(const char *line, void *context);
static void *sink_context;

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&level_now, level, memory_order_relaxed);
}

enum log_level log_level_now(void)
{
	return (enum log_level)atomic_load_explicit(&level_now, memory_order_relaxed);
}

bool log_level_parse(const char *word, enum log_level *out)
{
	for (int level = 0; level < LOG_LEVELS; level++) {
		if (strcmp(word, NAMES[level]) == 0) {
			*out = (enum log_level)level;
			return true;
		}
	}
	return false;
}

const char *log_level_name(enum log_level level)
{
	return NAMES[level];
}

void log_set_sink(void (*sink)(const char *line, void *context), void *context)
{
	sink_now = sink;
	sink_context = context;
}

/* A place pays LINE_COST for each line and may be LOG_BURST lines in advance of the clock. */
static bool admit(struct log_site *site)
{
	uint64_t now = instant_now();
	uint64_t paid = atomic_load_explicit(&site->allowance, memory_order_relaxed);
	uint64_t next;
	do {
		next = MAX_OF(paid, now) + LINE_COST;
		if (next > now + LOG_BURST * LINE_COST) {
			atomic_fetch_add_explicit(&site->suppressed, 1, memory_order_relaxed);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&site->allowance, &paid, next,
							memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

/* Copies printable bytes (and UTF-8) and writes the others as \xNN; cuts at the end of `out`. */
static size_t escape(char *out, size_t room, const char *text)
{
	static const char HEX[] = "0123456789abcdef";
	size_t used = 0;
	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;
		bool plain = byte >= 0x20 && byte != 0x7f;
		if (used + (plain ? 1 : 4) > room)
			break;
		if (plain) {
			out[used++] = (char)byte;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = HEX[byte >> 4];
		out[used++] = HEX[byte & 15];
	}
	return used;
}

static size_t head(char *out, size_t room, enum log_level level, const char *event)
{
	struct timespec time;
	struct tm date;
	clock_gettime(CLOCK_REALTIME, &time);
	gmtime_r(&time.tv_sec, &date);
	size_t used = strftime(out, room, "%Y-%m-%dT%H:%M:%S", &date);
	int more = snprintf(out + used, room - used, ".%06ldZ %s %s ", time.tv_nsec / 1000,
			    NAMES[level], event);
	return MIN_OF(used + (size_t)more, room - 1);
}

static void emit(char *line, size_t used)
{
	if (sink_now != NULL) {
		line[used] = '\0';
		sink_now(line, sink_context);
		return;
	}
	line[used++] = '\n';
	/* Nobody is left to tell when standard error is gone. */
	ssize_t written = write(STDERR_FILENO, line, used);
	UNUSED(written);
}

void log_line(struct log_site *site, enum log_level level, const char *event, const char *format,
	      ...)
{
	char text[LOG_LINE_BYTES], line[LOG_LINE_BYTES + 64];
	if (!admit(site))
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	size_t used = head(line, sizeof line, level, event);
	used += escape(line + used, LOG_LINE_BYTES - used, text);
	uint64_t held = atomic_exchange_explicit(&site->suppressed, 0, memory_order_relaxed);
	if (held > 0) {
		int more = snprintf(line + used, sizeof line - 1 - used, " suppressed=%llu",
				    (unsigned long long)held);
		used = MIN_OF(used + (size_t)more, sizeof line - 2);
	}
	emit(line, used);
}
