/* verb_token.c: the verb token: makes lines for `cairnd --tokens FILE`, makes and decodes tokens;
 * needs no server. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "clients/cli/verbs.h"
#include "protocol/token.h"

enum { SECRET_BYTES = 32, LINE_BYTES = 2048, TTL_S = 60 };

static int fail_with(struct cli *cli, const char *field, const char *text)
{
	reason_set(&cli->why, STATUS_RANGE, -1, field, "%s", text);
	return cli_fail(cli);
}

static bool draw_random(uint8_t *bytes, size_t count)
{
	return getrandom(bytes, count, 0) == (ssize_t)count;
}

static void put_hex(const uint8_t *bytes, size_t count, char *out)
{
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Appends a line to the file; a new file is readable by its owner only. */
static int append_line(struct cli *cli, const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	size_t bytes = strlen(line);
	bool done = fd >= 0 && write(fd, line, bytes) == (ssize_t)bytes;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (done)
		return EXIT_SUCCESS;
	reason_set(&cli->why, STATUS_IO, -1, "file", "%.90s: %s", path, strerror(error));
	return cli_fail(cli);
}

/* The role of --role, or `fallback`. False if there is no such role. */
static bool take_role(struct cli *cli, enum wire_role fallback, enum wire_role *role)
{
	const char *name = cli_option(cli, "role", 0);
	*role = fallback;
	if (name == NULL ||
	    (wire_role_parse(wire_text(name), role) == STATUS_OK && *role != WIRE_ROLE_NOBODY))
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, "role",
		   "--role %.40s: it must be observer, player, controller or admin", name);
	return false;
}

/* Whether a line of the file can have the name as one word. */
static bool check_name(struct cli *cli, const char *what, const char *name)
{
	size_t bytes = strlen(name), good = 0;
	while (good < bytes && name[good] > ' ' && name[good] <= '~' &&
	       strchr("\"\\#", name[good]) == NULL)
		good++;
	if (bytes > 0 && good == bytes && bytes <= WIRE_NAME_MAX)
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, what,
		   "%s is '%.64s': it must be 1 to %d printable ASCII characters without blanks, "
		   "'\"', '\\' and '#'",
		   what, name, WIRE_NAME_MAX);
	return false;
}

static int refuse_worlds(struct cli *cli, const char *world)
{
	reason_set(&cli->why, STATUS_LIMIT, -1, "world",
		   "--world %.64s is one world too many: a token names at most %d", world,
		   TOKEN_WORLDS_MAX);
	return cli_fail(cli);
}

static int make_bearer(struct cli *cli, const char *path)
{
	uint8_t secret[SECRET_BYTES], hash[SHA256_BYTES];
	char token[64] = TOKEN_BEARER_PREFIX, digits[2 * SHA256_BYTES + 1], line[LINE_BYTES];
	const char *name = cli->operands[1], *world;
	enum wire_role role;
	if (!take_role(cli, WIRE_ROLE_OBSERVER, &role) || !check_name(cli, "NAME", name))
		return cli_fail(cli);
	if (!draw_random(secret, sizeof secret))
		return fail_with(cli, "token", "the system gives no random bytes");
	token_encode(secret, sizeof secret, token + strlen(TOKEN_BEARER_PREFIX));
	hash_sha256(token, strlen(token), hash);
	put_hex(hash, sizeof hash, digits);
	int used = snprintf(line, sizeof line, "bearer %.64s %s %s", name, wire_role_name(role),
			    digits);
	for (uint32_t i = 0; (world = cli_option(cli, "world", i)) != NULL; i++) {
		if (i == TOKEN_WORLDS_MAX)
			return refuse_worlds(cli, world);
		if (!check_name(cli, "--world", world))
			return cli_fail(cli);
		used += snprintf(line + used, sizeof line - (size_t)used, " %.64s", world);
	}
	snprintf(line + used, sizeof line - (size_t)used, "\n");
	if (!cli_options_known(cli))
		return cli_fail(cli);
	int code = append_line(cli, path, line);
	if (code == EXIT_SUCCESS)
		puts(token);
	return code;
}

static int make_key(struct cli *cli, const char *path)
{
	uint8_t secret[SECRET_BYTES];
	char digits[2 * SECRET_BYTES + 1], line[LINE_BYTES];
	uint32_t id;
	enum wire_role role;
	if (!cli_u32(cli, cli->operands[1], "ID", &id))
		return cli_fail(cli);
	if (!take_role(cli, WIRE_ROLE_PLAYER, &role))
		return cli_fail(cli);
	if (!draw_random(secret, sizeof secret))
		return fail_with(cli, "token", "the system gives no random bytes");
	if (!cli_options_known(cli))
		return cli_fail(cli);
	put_hex(secret, sizeof secret, digits);
	snprintf(line, sizeof line, "key %u %s %s\n", (unsigned)id, digits, wire_role_name(role));
	return append_line(cli, path, line);
}

/* Finds the key line with this ID: its secret, and the highest role that it may sign. Returns the
 * bytes of the secret; 0: the file has no such line. */
static size_t find_key(const char *path, uint32_t id, uint8_t secret[TOKEN_KEY_MAX],
		       enum wire_role *most)
{
	char line[LINE_BYTES], digits[2 * TOKEN_KEY_MAX + 1], role[16];
	FILE *file = fopen(path, "r");
	size_t bytes = 0;
	while (file != NULL && bytes == 0 && fgets(line, sizeof line, file) != NULL) {
		unsigned found;
		int words = sscanf(line, " key %u %128[0-9a-fA-F] %15[a-z]", &found, digits, role);
		if (words < 2 || found != id)
			continue;
		*most = WIRE_ROLE_PLAYER;
		if (words == 3 && wire_role_parse(wire_text(role), most) != STATUS_OK)
			*most = WIRE_ROLE_NOBODY;
		for (; digits[2 * bytes] != '\0' && digits[2 * bytes + 1] != '\0'; bytes++) {
			unsigned value;
			sscanf(digits + 2 * bytes, "%2x", &value);
			secret[bytes] = (uint8_t)value;
		}
	}
	if (file != NULL)
		fclose(file);
	return bytes;
}

static int refuse_key(struct cli *cli, const char *path, uint32_t id)
{
	reason_set(&cli->why, STATUS_RANGE, -1, "ID",
		   "ID is %u: %s has no key with it; `cairn token key %u --file FILE` makes one",
		   (unsigned)id, path, (unsigned)id);
	return cli_fail(cli);
}

static int make_connect(struct cli *cli, const char *path)
{
	struct connect_token token = { .worlds = { "" } };
	uint8_t secret[TOKEN_KEY_MAX];
	char text[TOKEN_TEXT_MAX + 1];
	const char *ttl = cli_option(cli, "ttl", 0), *world;
	uint32_t id, seconds = TTL_S;
	if (!cli_u32(cli, cli->operands[1], "ID", &id) ||
	    (ttl != NULL && !cli_u32(cli, ttl, "ttl", &seconds)))
		return cli_fail(cli);
	if (!take_role(cli, WIRE_ROLE_PLAYER, &token.role))
		return cli_fail(cli);
	while ((world = cli_option(cli, "world", token.world_count)) != NULL) {
		if (token.world_count == TOKEN_WORLDS_MAX)
			return refuse_worlds(cli, world);
		if (!check_name(cli, "--world", world))
			return cli_fail(cli);
		snprintf(token.worlds[token.world_count++], WIRE_NAME_MAX + 1, "%s", world);
	}
	if (!cli_options_known(cli))
		return cli_fail(cli);
	enum wire_role most = WIRE_ROLE_NOBODY;
	size_t bytes = find_key(path, id, secret, &most);
	if (bytes < TOKEN_KEY_MIN)
		return refuse_key(cli, path, id);
	if (token.role > most)
		return fail_with(
			cli, "role",
			"the key does not sign for this role; the highest is in its line of the file");
	token.key = id;
	token.expires_s = (uint64_t)time(NULL) + seconds;
	if (!draw_random(token.nonce, sizeof token.nonce))
		return fail_with(cli, "token", "the system gives no random bytes");
	if (token_write(&token, secret, bytes, text) != STATUS_OK)
		return fail_with(cli, "world", "--world is not a valid name of a world");
	puts(text);
	return EXIT_SUCCESS;
}

static int show_token(struct cli *cli)
{
	struct connect_token token;
	char nonce[2 * TOKEN_NONCE_BYTES + 1];
	if (!cli_options_known(cli))
		return cli_fail(cli);
	if (token_read(wire_text(cli->operands[1]), &token) != STATUS_OK)
		return fail_with(
			cli, "token",
			"TOKEN is not a connect token, which begins with c1.: make one with "
			"`cairn token connect`");
	put_hex(token.nonce, sizeof token.nonce, nonce);
	uint64_t now = (uint64_t)time(NULL);
	out_begin(cli);
	out_text(cli, "role", wire_role_name(token.role));
	out_u64(cli, "key", token.key);
	out_u64(cli, "expires", token.expires_s);
	out_u64(cli, "seconds_left", token.expires_s > now ? token.expires_s - now : 0);
	out_text(cli, "nonce", nonce);
	out_u64(cli, "worlds", token.world_count);
	for (uint32_t i = 0; i < token.world_count; i++)
		out_text(cli, "world", token.worlds[i]);
	out_end(cli);
	return EXIT_SUCCESS;
}

int verb_token(struct cli *cli)
{
	const char *what = cli->operand_count > 0 ? cli->operands[0] : "";
	const char *path = cli_option(cli, "file", 0);
	bool makes = strcmp(what, "bearer") == 0 || strcmp(what, "key") == 0 ||
		     strcmp(what, "connect") == 0;
	if (cli->operand_count != 2 || (!makes && strcmp(what, "show") != 0))
		return cli_wrong_words(cli);
	if (makes && path == NULL)
		return fail_with(
			cli, "file",
			"--file FILE is missing: the file that cairnd reads with --tokens");
	if (strcmp(what, "bearer") == 0)
		return make_bearer(cli, path);
	if (strcmp(what, "key") == 0)
		return make_key(cli, path);
	return makes ? make_connect(cli, path) : show_token(cli);
}
