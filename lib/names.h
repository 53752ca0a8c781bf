/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the names in names.def: LIST_KERNEL of a list, KERNEL_ENTRY of a field. */
#ifndef NAMES_H
#define NAMES_H

#include "template.h"

enum list_name {
#define RECORD(record)
#define FIELD(record, field)
#define LIST(list, record) LIST_##list,
#define FACT(list, record) LIST_##list,
#include "names.def"
#undef LIST
#undef FACT
  LIST_COUNT
};

/* The fields of each record are numbered on their own, after those that every record has. */
enum field_name {
#undef RECORD
#undef FIELD
#define RECORD(record) BEFORE_##record = FIELD_COMMA,
#define FIELD(record, field) record##_##field,
#define LIST(list, record)
#define FACT(list, record)
#include "names.def"
#undef RECORD
#undef FIELD
};

#define RECORD(record)
#define FIELD(record, field) \
  _Static_assert((int)record##_##field < MAX_FIELDS, "raise MAX_FIELDS in template.h");
#include "names.def"
#undef RECORD
#undef FIELD
#undef LIST
#undef FACT

_Static_assert((int)LIST_COUNT <= MAX_LISTS, "raise MAX_LISTS in template.h");

#endif
