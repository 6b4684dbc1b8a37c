/* See compare_command.h. */
#include "server/commands/compare_command.h"

#include <stdio.h>
#include <string.h>

#include "server/base/output_name.h"
#include "server/commands/compare.h"

int compare_command(const struct options *options)
{
	static struct comparison comparison;
	struct reason why = { 0 };
	enum status status = output_name_check(options->compare_plot, "plot", "SVG", ".svg", &why);
	if (status == STATUS_OK)
		status = comparison_make(&comparison, options, &why);
	if (status == STATUS_OK && options->compare_plot != NULL)
		status = compare_plot(&comparison, options->compare_plot, &why);
	int result = COMPARE_FAILED;
	if (status != STATUS_OK) {
		fprintf(stderr, "cairnd compare: %s: %s\n", why.field, why.text);
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
