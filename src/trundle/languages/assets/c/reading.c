static void refuse(const char *problem, const char *word) {
    fprintf(stderr, "%s%s\nusage: ./main [SECONDS [STEP [INPUT...]]], inputs: @NAMES@\n", problem, word);
    exit(2);
}

/* The number of a word, which is above a bound, or the program ends with status 2. */
static double number(const char *problem, const char *word, double bound) {
    char *end;
    const double found = strtod(word, &end);
    if (end == word || *end != '\0' || !(found > bound && found < HUGE_VAL)) refuse(problem, word);
    return found;
}
