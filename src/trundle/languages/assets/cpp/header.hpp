// @NAME@, @SIGNATURE@. README.md tells what every function takes and gives.
#ifndef @GUARD@
#define @GUARD@

#include <array>

#include "@NAME@.h"

namespace @NAME@ {

using Real = @REAL@;
@DECLARATIONS@
}  // namespace @NAME@

#endif
