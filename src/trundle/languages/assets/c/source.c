/* @NAME@, @SIGNATURE@: what @NAME@.h declares. */
#include "@NAME@.h"

#include <math.h>

@DEFINITIONS@
