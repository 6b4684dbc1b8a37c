/* files.h: reads the files of scenes. */
#ifndef CAIRN_PROTOCOL_SCENE_FILES_H
#define CAIRN_PROTOCOL_SCENE_FILES_H

#include "protocol/scene/yaml.h"

/* The text of the file that `source` names, at most YAML_BYTES_MAX + 1 bytes; returned owned. */
MUST_CHECK enum status scene_file_read(const struct source *source, char **text, size_t *bytes);
/* "/scene.yaml" lies in "/", "scene.yaml" in "."; returned owned, NULL: no memory. */
char *scene_file_folder(const char *path);

#endif
