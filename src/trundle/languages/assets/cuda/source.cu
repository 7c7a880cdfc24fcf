// @NAME@, @SIGNATURE@. README.md tells what every function takes and gives.
// It includes nothing: nvcc compiles it, NVRTC (CuPy's RawModule) too, and C++ where the qualifiers are empty.

@CONSTANTS@
@FUNCTIONS@
/* Number i of robot k is at i * count + k, so that neighbouring threads read neighbouring numbers. */
__device__ static void gather(const double *from, int size, int count, int k, double *own) {
    for (int i = 0; i < size; i++) own[i] = from[i * (long long)count + k];
}

__device__ static void scatter(const double *own, int size, int count, int k, double *to) {
    for (int i = 0; i < size; i++) to[i * (long long)count + k] = own[i];
}

@KERNELS@
