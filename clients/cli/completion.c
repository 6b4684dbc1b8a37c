/* See completion.h. */
#include "clients/cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "clients/cli/usage.h"

#define WORLDS "cairn --json worlds 2>/dev/null | sed -n 's/.*\"name\": *\"\\([^\"]*\\)\".*/\\1/p'"

static bool takes_world(const struct completion_program *program,
			const struct completion_verb *verb)
{
	return program->worlds && strncmp(verb->usage, "WORLD", 5) == 0;
}

/* A name of a function in a shell: cairn-bot has a dash. */
static void print_function(const char *program)
{
	putchar('_');
	for (const char *at = program; *at != '\0'; at++)
		putchar(*at == '-' ? '_' : *at);
}

/* The options of a usage, separated by `between`; only those without a value, or all. */
static void print_options(const char *usage, const char *between, bool flags_only)
{
	struct usage_option option;
	const char *separator = "";
	while (usage_next_option(&usage, &option)) {
		if (flags_only && option.has_value)
			continue;
		printf("%s--%s", separator, option.name);
		separator = between;
	}
}

/* ---- bash ---------------------------------------------------------------------------------------- */

/* Sets i to the place of the verb and verb to its name. The words before it may be options; each
 * but the flags has a value, which bash splits at colons. */
static void print_bash_search(const struct completion_program *program)
{
	puts("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in");
	printf("\t\t--help");
	struct usage_option option;
	for (const char *at = program->options; usage_next_option(&at, &option);)
		if (!option.has_value)
			printf(" | --%s", option.name);
	for (uint32_t i = 0; i < program->verb_count; i++)
		for (const char *at = program->verbs[i].usage; usage_next_option(&at, &option);)
			if (!option.has_value)
				printf(" | --%s", option.name);
	puts(") ;;\n"
	     "\t\t--*)\n"
	     "\t\t\t((i++))\n"
	     "\t\t\twhile [[ ${COMP_WORDS[i + 1]} == :* ]]; do ((i += 2)); done ;;\n"
	     "\t\t*) verb=${COMP_WORDS[i]}; break ;;\n"
	     "\t\tesac\n\tdone");
}

static void print_bash(const struct completion_program *program)
{
	print_function(program->name);
	puts("()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} verb= options= i");
	print_bash_search(program);
	puts("\tcase $verb in");
	printf("\t'')\n\t\toptions='");
	print_options(program->options, " ", false);
	printf(" --help --version'\n\t\t[[ $word == -* ]] || COMPREPLY=($(compgen -W \"");
	for (uint32_t i = 0; i < program->verb_count; i++)
		printf("%s%s", i > 0 ? " " : "", program->verbs[i].name);
	puts("\" -- \"$word\")) ;;");
	for (uint32_t i = 0; i < program->verb_count; i++) {
		const struct completion_verb *verb = &program->verbs[i];
		printf("\t%s)\n\t\toptions='", verb->name);
		print_options(verb->usage, " ", false);
		printf("'");
		if (takes_world(program, verb))
			printf("\n\t\t((COMP_CWORD == i + 1)) && COMPREPLY=($(compgen -W \"$(" WORLDS
			       ")\" -- \"$word\"))");
		puts(" ;;");
	}
	puts("\tesac\n"
	     "\t[[ $word == -* ]] && COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	     "\t[ ${#COMPREPLY[@]} -gt 0 ] || [ -z \"$verb\" ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
	     "}");
	printf("complete -F ");
	print_function(program->name);
	printf(" %s\n", program->name);
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

/* A help line within single quotes. zsh's _describe ends the word at the first colon. */
static void print_quoted(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
}

static void print_zsh(const struct completion_program *program)
{
	printf("#compdef %s\n\n", program->name);
	print_function(program->name);
	puts("()\n{\n\tlocal verb= at=0 i\n\tlocal -a verbs worlds\n\tverbs=(");
	for (uint32_t i = 0; i < program->verb_count; i++) {
		printf("\t\t'%s:", program->verbs[i].name);
		print_quoted(program->verbs[i].help);
		puts("'");
	}
	puts("\t)\n\tfor ((i = 2; i < CURRENT; i++)); do\n"
	     "\t\tif (( ${verbs[(I)${words[i]}:*]} )); then verb=${words[i]}; at=$i; break; fi\n\tdone\n"
	     "\tcase $verb in");
	printf("\t'')\n\t\tif [[ $PREFIX == -* ]]; then compadd -- ");
	print_options(program->options, " ", false);
	puts(" --help --version\n\t\telse _describe verb verbs; fi ;;");
	for (uint32_t i = 0; i < program->verb_count; i++) {
		const struct completion_verb *verb = &program->verbs[i];
		printf("\t%s)\n\t\tif [[ $PREFIX == -* ]]; then compadd -- ", verb->name);
		print_options(verb->usage, " ", false);
		puts(" --help");
		if (takes_world(program, verb))
			puts("\t\telif (( CURRENT == at + 1 )); then worlds=(${(f)\"$(" WORLDS
			     ")\"}); compadd -a worlds");
		puts("\t\telse _files; fi ;;");
	}
	puts("\tesac\n}\n");
	print_function(program->name);
	puts(" \"$@\"");
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void print_fish_options(const char *program, const char *condition, const char *usage)
{
	struct usage_option option;
	while (usage_next_option(&usage, &option))
		printf("complete -c %s %s -l %s%s\n", program, condition, option.name,
		       option.has_value ? " -r" : "");
}

static void print_fish(const struct completion_program *program)
{
	char condition[128];
	print_fish_options(program->name, "", program->options);
	printf("complete -c %s -l help\ncomplete -c %s -l version\n", program->name, program->name);
	for (uint32_t i = 0; i < program->verb_count; i++) {
		const struct completion_verb *verb = &program->verbs[i];
		printf("complete -c %s -n __fish_use_subcommand -f -a %s -d '", program->name,
		       verb->name);
		for (const char *at = verb->help; *at != '\0'; at++)
			printf(*at == '\'' ? "\\'" : "%c", *at);
		puts("'");
		snprintf(condition, sizeof condition, "-n '__fish_seen_subcommand_from %s'",
			 verb->name);
		print_fish_options(program->name, condition, verb->usage);
		if (takes_world(program, verb))
			printf("complete -c %s %s -f -a '(cairn --json worlds 2>/dev/null | "
			       "string replace -rf "
			       "\".*\\\"name\\\": *\\\"([^\\\"]*)\\\".*\" \"\\$1\")'\n",
			       program->name, condition);
	}
}

bool completion_print(const struct completion_program *program, const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		print_bash(program);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(program);
	else if (strcmp(shell, "fish") == 0)
		print_fish(program);
	else
		return false;
	return true;
}
