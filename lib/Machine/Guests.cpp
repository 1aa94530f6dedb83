#include "kiln/Machine/Guests.h"

namespace kiln {

namespace {
// Each lane is a warpgroup, which computes whatever there is.
constexpr Role kHopperGuests[] = {{"aic", MatrixWork | VectorWork, 1},
                                  {"aiv", MatrixWork | VectorWork, 2}};
} // namespace

const Role *findGuest(const Machine &machine, std::string_view role) {
  if (machine.name == "hopper")
    for (const Role &guest : kHopperGuests)
      if (guest.name == role)
        return &guest;
  return nullptr;
}

const Role *findExecutor(const Machine &machine, std::string_view role) {
  const Role *own = machine.findRole(role);
  return own ? own : findGuest(machine, role);
}

} // namespace kiln
