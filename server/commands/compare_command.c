/* See compare_command.h. */
#include "server/commands/compare_command.h"

#include <stdio.h>
#include <string.h>

#include "server/base/output_file.h"
#include "server/commands/command_words.h"
#include "server/commands/compare.h"

static enum status write_plot(const struct comparison *self, const struct output_file *plot,
			      struct reason *why)
{
	FILE *file;
	enum status status = output_file_open(plot, &file, why);
	if (status != STATUS_OK)
		return status;
	compare_plot(self, file);
	return output_file_close(plot, file, why);
}

int compare_command(const struct options *options)
{
	static struct comparison comparison;
	struct reason why = { 0 };
	const struct output_file plot = { options->compare_plot, "plot", "SVG", ".svg", false };
	enum status status = output_files_check(&plot, 1, options->operands.items[0], &why);
	if (status == STATUS_OK)
		status = comparison_make(&comparison, options, &why);
	if (status == STATUS_OK && plot.path != NULL)
		status = write_plot(&comparison, &plot, &why);
	int result = COMPARE_FAILED;
	if (status != STATUS_OK) {
		command_refused("compare", "", why.field, &why);
	} else {
		if (strcmp(options->compare_report, "json") == 0)
			compare_print_json(&comparison);
		else
			compare_print_text(&comparison);
		result = comparison_holds(&comparison) ? COMPARE_HOLDS : COMPARE_BROKEN;
	}
	comparison_release(&comparison);
	return result;
}
