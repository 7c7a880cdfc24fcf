// Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
// ./main [SECONDS [STEP [INPUT...]]]
#include <algorithm>
#include <cmath>
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

void refuse(const char *problem, const char *word) {
    std::cerr << problem << word << "\nusage: ./main [SECONDS [STEP [INPUT...]]], inputs: @NAMES@\n";
    std::exit(2);
}

// The number of a word, which is above a bound, or the program ends with status 2.
double number(const char *problem, const char *word, double bound) {
    char *end = nullptr;
    const double found = std::strtod(word, &end);
    if (end == word || *end != '\0' || !(found > bound && found < HUGE_VAL)) refuse(problem, word);
    return found;
}

}  // namespace

int main(int count, char **words) {
    const double seconds = count > 1 ? number("SECONDS isn't a number above 0: ", words[1], 0) : 10.0;
    const double h = count > 2 ? number("STEP isn't a number above 0: ", words[2], 0) : @STEP@;
    if (seconds / h > 2e9) refuse("SECONDS are more than 2e9 times STEP", "");
    const long steps = static_cast<long>(seconds / h + 0.5), stride = std::max(1L, steps / 100);
    @NAME@::@STATE@ state = @NAME@::start();
    @NAME@::@INPUT@ input{@GIVEN@};
    const int most = 3 + static_cast<int>(input.size());
    if (count > most) refuse("too many numbers, the first of them ", words[most]);
    for (auto &each : input) {
        const auto place = 3 + static_cast<int>(&each - input.data());
        if (place < count) each = static_cast<@NAME@::Real>(number("INPUT isn't a number: ", words[place], -HUGE_VAL));
    }
    std::cout << "@COLUMNS@\n";
    for (long step = 0; step < steps; step++) {
        if (step % stride == 0) print(static_cast<double>(step) * h, state);
        state = @NAME@::step(state, input, @PARAMETER@static_cast<@NAME@::Real>(h));
    }
    print(static_cast<double>(steps) * h, state);
    return 0;
}
