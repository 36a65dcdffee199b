/*
 * A stack of LSTM layers and a linear layer on the last hidden state. Two kernels for each layer
 * and time step: one computes the gates, one the cell. A layer writes the whole sequence of its
 * hidden states, which the next layer reads: two buffers alternate.
 */

constexpr int THREADS = 32;
constexpr int WARPS = 4; /* of a block of the linear layer */
constexpr unsigned ALL_LANES = 0xffffffff;

__device__ float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

/* sum + w · x, after the block has staged x in `vector`. All threads of the block call it; those
 * without a row of w pass active = false. */
__device__ float add_dot(float sum, const float *__restrict__ w, const float *__restrict__ x, int n,
                         float *vector, bool active)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        vector[k] = x[k];
    __syncthreads();
    if (active) {
        for (int k = 0; k < n; k++)
            sum = fmaf(__ldg(&w[k]), vector[k], sum);
    }
    __syncthreads(); /* the caller stages another vector */
    return sum;
}

/* gates[n, u] = w_ih[u] · x[n] + b_ih[u] + w_hh[u] · h[n] + b_hh[u]; rows of x and h are x_stride
 * and h_stride apart, and u runs over the units of all four gates. */
__global__ void lstm_gates(const float *__restrict__ x, long x_stride, const float *__restrict__ h,
                           long h_stride, const float *__restrict__ w_ih,
                           const float *__restrict__ w_hh, const float *__restrict__ b_ih,
                           const float *__restrict__ b_hh, float *__restrict__ gates, int input,
                           int hidden)
{
    extern __shared__ float vector[];

    long n = blockIdx.x;
    int u = blockIdx.y * blockDim.x + threadIdx.x;
    bool active = u < 4 * hidden;

    float sum = active ? b_ih[u] + b_hh[u] : 0.0f;
    sum = add_dot(sum, w_ih + (long)u * input, x + n * x_stride, input, vector, active);
    sum = add_dot(sum, w_hh + (long)u * hidden, h + n * h_stride, hidden, vector, active);
    if (active)
        gates[n * 4 * hidden + u] = sum;
}

/* c = f c_before + i g, h = o tanh(c), from the gates i, f, g, o; rows of h are h_stride apart. */
__global__ void lstm_cell(const float *__restrict__ gates, const float *c_before, float *c,
                          float *__restrict__ h, long h_stride, long batch, int hidden)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * hidden)
        return;
    long n = i / hidden;
    int u = i % hidden;

    const float *gate = gates + n * 4 * hidden + u;
    float input = sigmoid(gate[0]);
    float forget = sigmoid(gate[hidden]);
    float update = tanhf(gate[2 * hidden]);
    float output = sigmoid(gate[3 * hidden]);

    float cell = forget * c_before[i] + input * update;
    c[i] = cell;
    h[n * h_stride + u] = output * tanhf(cell);
}

/* y[n, o] = x[n] · w[o] + b[o]; a warp an output element. */
__global__ void linear(const float *__restrict__ x, long x_stride, const float *__restrict__ w,
                       const float *__restrict__ b, float *__restrict__ y, long batch, int hidden,
                       int outputs)
{
    int lane = threadIdx.x;
    long i = (long)blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= batch * outputs)
        return;
    long n = i / outputs;
    int o = i % outputs;

    float sum = 0.0f;
#pragma unroll 1 /* once in all, after thousands of steps */
    for (int k = lane; k < hidden; k += 32)
        sum += x[n * x_stride + k] * w[(long)o * hidden + k];
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(ALL_LANES, sum, step);
    if (lane == 0)
        y[i] = sum + b[o];
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long batch = dim[0], steps = dim[1];
    int input = dim[2], hidden = dim[3], layers = dim[4], outputs = dim[5];
    const float *fc_weight = in[4 * layers], *fc_bias = in[4 * layers + 1];
    const float *x = in[4 * layers + 2], *h0 = in[4 * layers + 3], *c0 = in[4 * layers + 4];
    long state = batch * hidden, sequence = steps * state;

    float *gates, *c, *buffer;
    cudaMallocAsync(&gates, 4 * state * sizeof(float), 0);
    cudaMallocAsync(&c, state * sizeof(float), 0);
    cudaMallocAsync(&buffer, 2 * sequence * sizeof(float), 0);

    dim3 gate_grid(batch, (4 * hidden + THREADS - 1) / THREADS);
    unsigned cell_blocks = (state + THREADS - 1) / THREADS;
    for (int l = 0; l < layers; l++) {
        float *const *w = in + 4 * l;
        const float *below = l == 0 ? x : buffer + (l - 1) % 2 * sequence;
        float *above = buffer + l % 2 * sequence;
        int width = l == 0 ? input : hidden;
        size_t shared = max(width, hidden) * sizeof(float);

        for (long t = 0; t < steps; t++) {
            const float *h = t == 0 ? h0 + l * state : above + (t - 1) * hidden;
            long h_stride = t == 0 ? hidden : steps * hidden;
            const float *c_before = t == 0 ? c0 + l * state : c;
            lstm_gates<<<gate_grid, THREADS, shared>>>(below + t * width, steps * width, h,
                                                       h_stride, w[0], w[1], w[2], w[3], gates,
                                                       width, hidden);
            lstm_cell<<<cell_blocks, THREADS>>>(gates, c_before, c, above + t * hidden,
                                                steps * hidden, batch, hidden);
        }
    }

    const float *last = buffer + (layers - 1) % 2 * sequence + (steps - 1) * hidden;
    dim3 fc_block(32, WARPS);
    unsigned fc_blocks = (batch * outputs + WARPS - 1) / WARPS;
    linear<<<fc_blocks, fc_block>>>(last, steps * hidden, fc_weight, fc_bias, out[0], batch, hidden,
                                    outputs);

    cudaFreeAsync(gates, 0);
    cudaFreeAsync(c, 0);
    cudaFreeAsync(buffer, 0);
}
