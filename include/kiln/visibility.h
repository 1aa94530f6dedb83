/*===- kiln/visibility.h - what the shared libraries export -----------------===
 *
 * What: a header of the installed interface stands between KILN_EXPORTED_BEGIN and
 * KILN_EXPORTED_END. The libraries are compiled with hidden visibility: what no such header
 * declares stays inside.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_VISIBILITY_H
#define KILN_VISIBILITY_H

#define KILN_EXPORTED_BEGIN _Pragma("GCC visibility push(default)")
#define KILN_EXPORTED_END _Pragma("GCC visibility pop")

#endif /* KILN_VISIBILITY_H */
