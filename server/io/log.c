/* See log.h. A line is formatted on the stack and written with one call; only audit lines that
 * standard error does not accept are stored. */
#include "server/io/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/io/instant.h"
#include "server/io/lock.h"

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

/* Each line advances the place's allowance by LINE_COST; a line is admitted while the allowance
 * is at most LOG_BURST lines ahead of the clock. */
static bool admit_line(struct log_site *site)
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
	} while (!atomic_compare_exchange_weak_explicit(
		&site->allowance, &paid, next, memory_order_relaxed, memory_order_relaxed));
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

const char *log_quote(char out[LOG_TEXT_BYTES], const char *text)
{
	static const char HEX[] = "0123456789abcdef";
	size_t used = 0;
	out[used++] = '"';
	/* Room for one more byte as \xNN, the quote and the zero. */
	for (; *text != '\0' && used + 6 <= LOG_TEXT_BYTES; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte < 0x20 || byte > 0x7e) {
			out[used++] = '\\';
			out[used++] = 'x';
			out[used++] = HEX[byte >> 4];
			out[used++] = HEX[byte & 15];
			continue;
		}
		if (byte == '"' || byte == '\\')
			out[used++] = '\\';
		out[used++] = (char)byte;
	}
	out[used++] = '"';
	out[used] = '\0';
	return out;
}

/* ---- standard error ---------------------------------------------------------------------------- */

/* The way to write a line without blocking: write after poll, write, or send to a socket. */
enum log_output { OUTPUT_POLL, OUTPUT_WRITE, OUTPUT_SOCKET };

static struct {
	struct lock lock;
	enum log_output output;
	int fd;
	bool torn;     /* the last write was partial: the next begins with a newline */
	uint64_t lost; /* since the last report */
	size_t kept;   /* bytes of whole audit lines in `lines` */
	char lines[LOG_KEPT_BYTES];
} out = { .lock = LOCK_INITIAL, .output = OUTPUT_POLL, .fd = STDERR_FILENO };
static _Atomic uint64_t lost_total;

void log_start(void)
{
	struct stat found;
	if (fstat(STDERR_FILENO, &found) != 0)
		return;
	lock_take(&out.lock);
	if (S_ISREG(found.st_mode)) {
		out.output = OUTPUT_WRITE;
	} else if (S_ISSOCK(found.st_mode)) {
		out.output = OUTPUT_SOCKET;
	} else {
		/* A new file description, because O_NONBLOCK on ours would affect other
		 * processes that share it. */
		int own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		out.output = own >= 0 ? OUTPUT_WRITE : OUTPUT_POLL;
		out.fd = own >= 0 ? own : STDERR_FILENO;
	}
	lock_give(&out.lock);
}

/* A line is shorter than PIPE_BUF, so a pipe accepts it whole or not at all. */
static ssize_t write_now(const char *bytes, size_t count)
{
	if (out.output == OUTPUT_SOCKET)
		return send(out.fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (out.output == OUTPUT_POLL) {
		struct pollfd asked = { .fd = out.fd, .events = POLLOUT };
		if (poll(&asked, 1, 0) != 1 || (asked.revents & POLLOUT) == 0)
			return -1;
	}
	return write(out.fd, bytes, count);
}

/* True: the line, with its newline, is written. */
static bool write_line(const char *line, size_t count)
{
	if (out.torn && write_now("\n", 1) != 1)
		return false;
	out.torn = false;
	ssize_t written = write_now(line, count);
	out.torn = written > 0 && (size_t)written < count;
	return written == (ssize_t)count;
}

static void write_kept(void)
{
	size_t done = 0;
	while (done < out.kept) {
		const char *end = memchr(out.lines + done, '\n', out.kept - done);
		size_t count = (size_t)(end - (out.lines + done)) + 1;
		if (!write_line(out.lines + done, count))
			break;
		done += count;
	}
	out.kept -= done;
	memmove(out.lines, out.lines + done, out.kept);
}

/* Reports lost lines on a line of its own, when no other line can carry the count. */
static void report_lost(void)
{
	char line[160];
	size_t used = head(line, sizeof line, LOG_WARN, "log");
	used += (size_t)snprintf(line + used, sizeof line - used, "lost=%llu\n",
				 (unsigned long long)out.lost);
	if (write_line(line, used))
		out.lost = 0;
}

void log_flush(void)
{
	lock_take(&out.lock);
	write_kept();
	if (out.kept == 0 && out.lost > 0)
		report_lost();
	lock_give(&out.lock);
}

uint64_t log_lost(void)
{
	return atomic_load_explicit(&lost_total, memory_order_relaxed);
}

/* `room`: capacity of `line`, for the line, the added pairs and the newline. */
static void emit_line(char *line, size_t used, size_t room, bool audit)
{
	if (sink_now != NULL) {
		line[used] = '\0';
		sink_now(line, sink_context);
		return;
	}
	lock_take(&out.lock);
	write_kept();
	size_t plain = used;
	if (out.lost > 0)
		used += (size_t)snprintf(line + used, room - used, " lost=%llu",
					 (unsigned long long)out.lost);
	line[used++] = '\n';
	/* A failure to write is only counted, because there is no other place to report it. */
	if (out.kept == 0 && write_line(line, used)) {
		out.lost = 0;
	} else if (audit && out.kept + plain + 1 <= sizeof out.lines) {
		memcpy(out.lines + out.kept, line, plain);
		out.kept += plain;
		out.lines[out.kept++] = '\n';
	} else {
		out.lost++;
		atomic_fetch_add_explicit(&lost_total, 1, memory_order_relaxed);
	}
	lock_give(&out.lock);
}

void log_line(struct log_site *site, enum log_level level, const char *event, const char *format,
	      ...)
{
	char text[LOG_LINE_BYTES], line[LOG_LINE_BYTES + 96];
	if (site != NULL && !admit_line(site))
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	size_t used = head(line, sizeof line, level, event);
	used += escape(line + used, LOG_LINE_BYTES - used, text);
	uint64_t held = 0;
	if (site != NULL)
		held = atomic_exchange_explicit(&site->suppressed, 0, memory_order_relaxed);
	/* The line has room for the two pairs added at its end, each a word and at most 20
	 * digits. */
	if (held > 0)
		used += (size_t)snprintf(line + used, sizeof line - used, " suppressed=%llu",
					 (unsigned long long)held);
	emit_line(line, used, sizeof line - 1, site == NULL);
}
