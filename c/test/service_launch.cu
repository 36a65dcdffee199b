
/* After service.cu, for fake_cuda.c: its kernels on the CPU executor. in: the arguments' addresses, as
 * cuLaunchKernel has them; dim: the kernel, blocks, threads of a block. */
#define ARGUMENT(type, k) (*(type *)in[k])
#define TASK ARGUMENT(struct task, 0), ARGUMENT(struct findings *, 1)
#define TENSOR ARGUMENT(int, 3), ARGUMENT(long, 4), ARGUMENT(long, 5)

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    dim3 blocks(dim[1]), threads(dim[2]);
    switch (dim[0]) {
    case 0:
        fill<<<blocks, threads>>>(ARGUMENT(float *, 0), ARGUMENT(struct fill, 1), ARGUMENT(generator_word, 2),
                                  TENSOR);
        break;
    case 1: widen<<<blocks, threads>>>(ARGUMENT(double *, 0), ARGUMENT(float *, 1), ARGUMENT(long, 2)); break;
    case 2: judge<<<blocks, threads>>>(TASK, ARGUMENT(struct judged *, 2)); break;
    case 3: sample<<<blocks, threads>>>(TASK, ARGUMENT(long, 2)); break;
    case 4: bracket<<<blocks, threads>>>(TASK, ARGUMENT(long, 2)); break;
    case 5: grade<<<blocks, threads>>>(TASK, ARGUMENT(struct judged *, 2)); break;
    }
}
