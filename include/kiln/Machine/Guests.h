//===- Guests.h - roles of other machines that a machine runs as they are ------------------===//
//
// A group that was written for the roles of another machine becomes one kernel where its order is
// known (docs/merge-groups.md). Where only a run can say, a machine with guests runs its roles side
// by side, as their author wrote them. Constants: no owner, any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_MACHINE_GUESTS_H
#define KILN_MACHINE_GUESTS_H

#include "kiln/Machine/Machine.h"

namespace kiln {

/// What a machine executes functions of a guest with; null if the role is no guest there.
const Role *findGuest(const Machine &machine, std::string_view role);

/// What runs functions of a role there: its own role, or a guest; null if neither.
const Role *findExecutor(const Machine &machine, std::string_view role);

} // namespace kiln

#endif // KILN_MACHINE_GUESTS_H
