/* See check_files.h. */
#include "server/commands/check_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/scene/scene.h"
#include "server/base/bytes.h"
#include "server/io/secret_file.h"
#include "server/io/tls_stream.h"
#include "server/session/keyring.h"

static enum status check_tokens(const char *path, struct reason *why)
{
	struct bytes text = { 0 };
	struct keyring keyring;
	if (path == NULL)
		return STATUS_OK;
	keyring_init(&keyring);
	enum status status = secret_file_read(path, KEYRING_FILE_MAX, "tokens", &text, why);
	if (status == STATUS_OK)
		status = keyring_load(&keyring, (const char *)text.data, text.count, why);
	if (text.count > 0)
		memset(text.data, 0, text.count);
	bytes_release(&text);
	keyring_release(&keyring);
	return status;
}

static enum status check_certificate(const struct options *options, struct reason *why)
{
	struct tls_context *context = NULL;
	if (options->tls_cert == NULL || options->tls_key == NULL)
		return STATUS_OK;
	enum status status = tls_context_create(options->tls_cert, options->tls_key, &context, why);
	if (status == STATUS_OK)
		tls_context_destroy(context);
	return status;
}

/* A directory that exists must have these rights; `made`: one that does not exist is made at the start. */
static enum status check_folder(const char *path, const char *option, int rights, bool made,
				struct reason *why)
{
	struct stat facts;
	if (path == NULL)
		return STATUS_OK;
	if (stat(path, &facts) != 0)
		return made && errno == ENOENT ? STATUS_OK
					       : reason_set(why, STATUS_IO, -1, option, "%.90s: %s",
							    path, strerror(errno));
	if (!S_ISDIR(facts.st_mode))
		return reason_set(why, STATUS_TYPE, -1, option, "%.90s is not a directory", path);
	if (access(path, rights) != 0)
		return reason_set(why, STATUS_IO, -1, option, "%.90s: %s", path, strerror(errno));
	return STATUS_OK;
}

static enum status check_scenes(const struct options *options, struct reason *why)
{
	for (uint32_t i = 0; i < options->scenes.count; i++) {
		const char *item = options->scenes.items[i], *equals = strchr(item, '=');
		struct scene *scene;
		const struct scene_options given = { .lets = options->scene_let.items,
						     .let_count = options->scene_let.count };
		enum status status =
			scene_load_with(equals != NULL ? equals + 1 : item, &given, &scene, why);
		if (status != STATUS_OK) {
			struct reason inner = *why;
			return reason_set(why, status, -1, "scene", "%s", inner.text);
		}
		scene_destroy(scene);
	}
	return STATUS_OK;
}

enum status check_files(const struct options *options, struct reason *why)
{
	enum status status = check_tokens(options->tokens, why);
	if (status == STATUS_OK)
		status = check_certificate(options, why);
	if (status == STATUS_OK)
		status = check_folder(options->data, "data", R_OK | W_OK | X_OK, true, why);
	if (status == STATUS_OK)
		status = check_folder(options->web_files, "web-files", R_OK | X_OK, false, why);
	if (status == STATUS_OK)
		status = check_folder(options->scene_folder, "scene-folder", R_OK | X_OK, false,
				      why);
	return status == STATUS_OK ? check_scenes(options, why) : status;
}
