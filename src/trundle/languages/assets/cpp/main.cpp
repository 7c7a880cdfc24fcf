// Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
// ./main [SECONDS [STEP [INPUT...]]]
#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "@NAME@.hpp"

namespace {

void print(double time, const @NAME@::@STATE@ &state) {
    std::cout << std::setprecision(17) << time;
    for (const auto each : state) std::cout << "," << each;
    std::cout << "\n";
}

}  // namespace

int main(int count, char **words) {
    const double seconds = count > 1 ? std::strtod(words[1], nullptr) : 10.0;
    const double h = count > 2 ? std::strtod(words[2], nullptr) : 1e-3;
    const long steps = static_cast<long>(seconds / h + 0.5), stride = std::max(1L, steps / 100);
    @NAME@::@STATE@ state = @NAME@::start();
    @NAME@::@INPUT@ input{@GIVEN@};
    for (auto &each : input) {
        const auto place = 3 + static_cast<int>(&each - input.data());
        if (place < count) each = static_cast<@NAME@::Real>(std::strtod(words[place], nullptr));
    }
    std::cout << "@COLUMNS@\n";
    for (long step = 0; step < steps; step++) {
        if (step % stride == 0) print(static_cast<double>(step) * h, state);
        state = @NAME@::step(state, input, @PARAMETER@static_cast<@NAME@::Real>(h));
    }
    print(static_cast<double>(steps) * h, state);
    return 0;
}
