__host__ __device__ inline double @NAME@(int place) {
    const double numbers[] = {
    @NUMBERS@
    };
    return numbers[place];
}
