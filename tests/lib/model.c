/* model.c: meshes of real files. */
#include "tests/lib/model.h"

#include "protocol/scene/mesh.h"
#include "tests/lib/shapes.h"

#include <stdlib.h>

enum status model_read(const char *name, struct shape **out, struct reason *why)
{
	struct source source = { .file = name, .why = why };
	struct point_cloud cloud = { 0 };
	struct bytes bytes = { 0 };
	setenv("CAIRN_MESH_PATH", "/usr/share/assimp/models", 0);
	enum status status = mesh_read(&source, 1, NULL, name, NULL, &cloud);
	if (status == STATUS_OK)
		status = cloud_weld(&cloud, 0);
	if (status == STATUS_OK) {
		bytes_of_mesh(&bytes, cloud.points.items, cloud.points.count,
			      (const uint32_t(*)[3])cloud.triangles.items, cloud.triangles.count);
		status = shape_cook(bytes.data, bytes.count, NULL, out, why);
	}
	bytes_release(&bytes);
	cloud_release(&cloud);
	return status;
}
