/*===- kiln/tools_c.h - the command line tools as functions -----------------===
 *
 * What: each tool that needs the compiler is one function of libkiln.so, so that an installation
 *   has the compiler once. The programs in bin/ call them and do nothing else.
 *
 * Threads: a tool has the process to itself.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_TOOLS_C_H
#define KILN_TOOLS_C_H

#include "kiln/visibility.h"

KILN_EXPORTED_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Each takes what `main` is given and returns the exit code. */
int kiln_main(int argc, char **argv);
int kiln_opt_main(int argc, char **argv);
int kiln_lsp_server_main(int argc, char **argv);

#ifdef __cplusplus
} /* extern "C" */
#endif
KILN_EXPORTED_END

#endif /* KILN_TOOLS_C_H */
