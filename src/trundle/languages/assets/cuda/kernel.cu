/* @NAME@ of `count` robots; the one set of parameters of all where `sets` is 1, else `count` sets. */
extern "C" __global__ void @NAME@_of_all(int count, int sets, @ARGUMENTS@) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
@LINES@
}
