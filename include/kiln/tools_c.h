/*===- kiln/tools_c.h - the command line tools as functions -----------------===
 *
 * What: each tool that needs the compiler is one function of libkiln.so, so that an installation
 *   has the compiler once. The programs in bin/ call them and do nothing else. A program that
 *   someone wrote has such a command line, too.
 *
 * Threads: a tool has the process to itself.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_TOOLS_C_H
#define KILN_TOOLS_C_H

#include "kiln/record_c.h"
#include "kiln/visibility.h"

KILN_EXPORTED_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Each takes what `main` is given and returns the exit code. */
int kiln_main(int argc, char **argv);
int kiln_opt_main(int argc, char **argv);
int kiln_lsp_server_main(int argc, char **argv);

typedef struct kiln_text_pair {
  const char *name, *value;
} kiln_text_pair;

/* What a program is run with and should result in; see Example in kiln/Driver/Main.h. */
typedef struct kiln_example {
  uint64_t size; /* sizeof(kiln_example), so that later versions can have more; see jit_c.h */
  const char *formula;
  const kiln_text_pair *args; /* behind them, those that each case replaces */
  uint32_t num_args, num_cases;
  const uint32_t *case_sizes;
} kiln_example;

/* Records the program for the values of a config. The recorder then belongs to the caller. NULL: it
 * threw an exception; `problem` receives what that says, and stays NULL if it says nothing. */
typedef kiln_recorder *(*kiln_program_maker)(void *context, kiln_config *config,
                                             const char **problem);

/* By this text in the file of a program `kiln run FILE` knows that FILE has this command line. It
 * is there because the program itself passes it on. */
#define KILN_PROGRAM_MARKER "kiln program, command line version 1"

/* The command line of a program: that of `kiln`, without the file. */
int kiln_program_main(const char *marker, int argc, char **argv, kiln_program_maker maker,
                      void *context, const kiln_example *example);

#ifdef __cplusplus
} /* extern "C" */
#endif
KILN_EXPORTED_END

#endif /* KILN_TOOLS_C_H */
