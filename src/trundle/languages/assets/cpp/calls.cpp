// Calls every function of @NAME@ once, most numbers at zero, and prints how many it gives.
#include <iostream>

#include "@NAME@.hpp"

int main() {
@CALLS@
    return 0;
}
