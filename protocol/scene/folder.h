/* folder.h: the scene and robot files below a folder, as a client may list and name them. Names are paths
 * of at most WIRE_NAME_MAX bytes, valid names (validate_name) between single '/', at most
 * SCENE_FOLDER_DEPTH of them; so none begins with a dot, and no path leaves the folder. */
#ifndef CAIRN_PROTOCOL_SCENE_FOLDER_H
#define CAIRN_PROTOCOL_SCENE_FOLDER_H

#include "protocol/limits.h"
#include "server/base/status.h"

enum { SCENE_FOLDER_DEPTH = 4, SCENE_TITLE_BYTES = 200 };

struct scene_file {
	char name[WIRE_NAME_MAX + 1];
	char title[SCENE_TITLE_BYTES +
		   1]; /* first sentence of the comment that it begins with; UTF-8 */
	uint64_t bytes;
};

/* Whether a client may name a file so. */
bool scene_folder_may_have(const char *path);
/* The first files after the name `after` in order of names, `room` at most; *count of them. Files with other
 * endings than those of scenes and robots are left out. MISSING: the folder cannot be read. */
MUST_CHECK enum status scene_folder_list(const char *folder, const char *after,
					 struct scene_file *files, uint32_t room, uint32_t *count);

#endif
