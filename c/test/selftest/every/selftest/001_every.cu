// Every mutant that its rules make must be witnessed: a row sum with nothing redundant in it.
__global__ void weighted_row_sum(const float *x, float *y, int rows, int columns)
{
    __shared__ float partial[64];
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 64)
        sum += x[row * columns + i] * (i + 1);
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int k = 0; k < 64; k++)
            total += partial[k];
        y[row] = total;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    int rows = dim[0];
    int columns = dim[1];
    weighted_row_sum<<<rows, 64>>>(in[0], out[0], rows, columns);
}
