/*===- kiln/record_c.h - recording programs ----------------------------------===
 *
 * What: everything that a program can say, through one function that takes the name of an operation
 *   and its arguments. The front ends of C++ (kiln/kiln.h) and Python record with it, so the
 * checks, the words and the program are the same. kiln_recorder_operations() lists the operations,
 * their parameters and what they are for, so that a front end can make its own functions of them.
 *
 * Ownership: a recorder or a config is the caller's to destroy. Strings and arrays passed in are
 *   copied; what the functions return lives until the next call on the same object.
 *
 * Threads: a recorder or a config is used by one thread at a time.
 *
 * Errors: kiln_record returns -1 where it recorded nothing; kiln_recorder_error() says what is
 *   wrong, and where. After the first mistake a program can only be destroyed, unless the recorder
 *   goes on.
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
  KILN_ITEM_LIST = 5,
  /* A value that was made in the expression that it is used in, in a language that does not say
   * which operand of an expression is made first. */
  KILN_ITEM_TEMPORARY = 6
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

/* What an operation made. What a mistake made is a value of the same kind, with which nothing is
 * recorded. */
typedef struct kiln_result {
  int64_t number; /* of the value, to pass it on; no two programs have one in common, none is 0 */
  int32_t kind;   /* enum kiln_value_kind */
  int32_t dtype;  /* enum kiln_dtype; of scalars, tiles and tensors */
  int64_t rows, cols;
  int32_t rank; /* of a tensor */
  int32_t reserved;
} kiln_result;
KILN_STATIC_ASSERT(sizeof(kiln_result) == 40, "kiln_result is passed by other languages");

enum kiln_recorder_flags {
  /* After a mistake, too: so that all of them are found. */
  KILN_RECORDER_GOES_ON = 1u,
  /* A function may be begun inside another. */
  KILN_RECORDER_NESTS_FUNCTIONS = 2u
};

kiln_recorder *kiln_recorder_create(const char *name, uint32_t flags, kiln_where where);
void kiln_recorder_destroy(kiln_recorder *recorder);

/* Records an operation. Gives the number of results, which may be more than were asked for, or -1.
 * Without a recorder, what is known of indices can be computed, and nothing else. In a recorder
 * that goes on, the value 0 stands for what was not made, of any kind: what takes it is not
 * recorded. */
int32_t kiln_record(kiln_recorder *recorder, const char *operation, const kiln_item *arguments,
                    uint32_t num_arguments, kiln_where where, kiln_result *results,
                    uint32_t max_results);
/* The results of the operation that was recorded last, which are as many as kiln_record gave. */
const kiln_result *kiln_recorder_results(kiln_recorder *recorder);

/* Checks the whole program: 0, or -1. */
int32_t kiln_recorder_verify(kiln_recorder *recorder);
/* A mistake, of which the first has the index 0; "" behind the last. `where` receives its line,
 * with an empty file if it has none. */
const char *kiln_recorder_error(kiln_recorder *recorder, uint32_t index, kiln_where *where);
/* Chooses for the compiler what its passes would choose by themselves: "compiler.lanes",
 * "compiler.slots" or "compiler.walk". 0; or -1, and a mistake. */
int32_t kiln_recorder_choose(kiln_recorder *recorder, const char *name, const char *value);
/* The program as text, with or without the lines of its operations. */
const char *kiln_recorder_text(kiln_recorder *recorder, int32_t with_locations);

/* The operations, as JSON: [{"name", "summary", "parameters": [{"name", "kind", "default"?}]}]. */
const char *kiln_recorder_operations(void);

/*===------------------------------------------------------------------------===
 * The parameters that a program is a function of
 *===------------------------------------------------------------------------===*/

typedef struct kiln_config kiln_config;

/* A copy of `like`; NULL: without values. */
kiln_config *kiln_config_create(const kiln_config *like);
void kiln_config_destroy(kiln_config *config);
/* The value of a parameter, as text. */
void kiln_config_set(kiln_config *config, const char *name, const char *value);

/* Each asks for a parameter: the value that was set, if it fits, else `fallback`. What does not fit
 * is a mistake. */
int64_t kiln_config_param(kiln_config *config, const char *name, const int64_t *choices,
                          uint32_t num_choices, int64_t fallback);
/* An integer from `low` to `high`. */
int64_t kiln_config_range(kiln_config *config, const char *name, int64_t low, int64_t high,
                          int64_t fallback);
/* A word. */
const char *kiln_config_choice(kiln_config *config, const char *name, const char *const *choices,
                               uint32_t num_choices, const char *fallback);

/* What was asked for, in order: its name, or NULL behind the last. `value` receives its value. */
const char *kiln_config_declared(kiln_config *config, uint32_t index, const char **value);
/* A choice of what was asked for, or NULL behind the last. A range is one choice: 0..8. */
const char *kiln_config_declared_choice(kiln_config *config, uint32_t index, uint32_t choice);
/* A value that does not fit, or that nobody asked for; NULL behind the last. */
const char *kiln_config_error(kiln_config *config, uint32_t index);

#ifdef __cplusplus
} /* extern "C" */
#endif
KILN_EXPORTED_END

#endif /* KILN_RECORD_C_H */
