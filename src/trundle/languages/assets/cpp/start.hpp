// the state at the start
inline @STATE@ start() {
    @STATE@ found{};
    for (std::size_t k = 0; k < @COUNT@; k++) found[k] = @NAME@_start[k];
    return found;
}
