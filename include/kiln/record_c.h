/*===- kiln/record_c.h - recording programs from other languages -------------===
 *
 * What: everything that the C++ front end (kiln/kiln.h) can say, through one function that takes
 *   the name of an operation and its arguments. The same code records, so the checks, the words and
 *   the program are the same. kiln_recorder_operations() lists the operations, their parameters and
 *   what they are for, so that a front end can make its own functions of them.
 *
 * Ownership: a recorder is the caller's to destroy. Strings and arrays passed in are copied; what
 *   the functions return lives until the next call on the same recorder.
 *
 * Threads: a recorder is used by one thread, which has no other program in the making.
 *
 * Errors: kiln_record returns -1 and kiln_recorder_error() says what is wrong, and where. After the
 *   first mistake a program can only be destroyed.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_RECORD_C_H
#define KILN_RECORD_C_H

#include "kiln/abi.h"
#include "kiln/visibility.h"

KILN_EXPORTED_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_recorder kiln_recorder;

/* The user's line. */
typedef struct kiln_where {
  const char *file;
  uint32_t line, column;
} kiln_where;

enum kiln_item_kind {
  KILN_ITEM_NOTHING = 0, /* the default of a parameter */
  KILN_ITEM_INTEGER = 1,
  KILN_ITEM_REAL = 2,
  KILN_ITEM_TEXT = 3,
  KILN_ITEM_VALUE = 4, /* of the program: the number that kiln_record gave */
  KILN_ITEM_LIST = 5
};

/* An argument of an operation. */
typedef struct kiln_item {
  int32_t kind;   /* enum kiln_item_kind */
  uint32_t count; /* of a list */
  union {
    int64_t integer;
    double real;
    const char *text;
    uint64_t value;
    const struct kiln_item *list;
  } is;
} kiln_item;
KILN_STATIC_ASSERT(sizeof(kiln_item) == 16, "kiln_item is passed by other languages");

enum kiln_value_kind {
  KILN_VALUE_CONSTANT = 0, /* an index that is known now: `number` is it, not a value */
  KILN_VALUE_INDEX = 1,
  KILN_VALUE_CONDITION = 2,
  KILN_VALUE_SCALAR = 3,
  KILN_VALUE_TILE = 4,
  KILN_VALUE_TENSOR = 5,
  KILN_VALUE_PIPE = 6,
  KILN_VALUE_TASK = 7
};

/* What an operation made. */
typedef struct kiln_result {
  int64_t number; /* of the value, to pass it on */
  int32_t kind;   /* enum kiln_value_kind */
  int32_t dtype;  /* enum kiln_dtype; of scalars, tiles and tensors */
  int64_t rows, cols;
  int32_t rank; /* of a tensor */
  int32_t reserved;
} kiln_result;
KILN_STATIC_ASSERT(sizeof(kiln_result) == 40, "kiln_result is passed by other languages");

kiln_recorder *kiln_recorder_create(const char *name, kiln_where where);
void kiln_recorder_destroy(kiln_recorder *recorder);

/* Records an operation. Gives the number of results, which may be more than were asked for, or -1.
 */
int32_t kiln_record(kiln_recorder *recorder, const char *operation, const kiln_item *arguments,
                    uint32_t num_arguments, kiln_where where, kiln_result *results,
                    uint32_t max_results);

/* Checks the whole program: 0, or -1. */
int32_t kiln_recorder_verify(kiln_recorder *recorder);
/* The first mistake; "" if there is none. `where` receives its line, with an empty file if it has
 * none. */
const char *kiln_recorder_error(kiln_recorder *recorder, kiln_where *where);
/* The program as text, with or without the lines of its operations. */
const char *kiln_recorder_text(kiln_recorder *recorder, int32_t with_locations);

/* The operations, as JSON: [{"name", "summary", "parameters": [{"name", "kind", "default"?}]}]. */
const char *kiln_recorder_operations(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
KILN_EXPORTED_END

#endif /* KILN_RECORD_C_H */
