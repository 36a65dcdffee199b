/* A perceptron: three linear layers, with ReLU between them. */
#include <math.h>

#include "problem.h"

enum { LAYERS = 3 };

/* In the order of the layers: sizes 1 to 4 are the widths from the input to the output. */
enum { batch_size, input_size, layer_sizes_0, layer_sizes_1, output_size };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 128, .small = 3},
    [input_size] = {"input_size", .official = 16384, .small = 1027},
    [layer_sizes_0] = {"layer_sizes.0", .official = 16384, .small = 7},
    [layer_sizes_1] = {"layer_sizes.1", .official = 16384, .small = 11},
    [output_size] = {"output_size", .official = 8192, .small = 5},
};

static void tensors(struct layout *l, const long d[])
{
    for (int k = 0; k < LAYERS; k++) {
        const long inputs = d[input_size + k], outputs = d[input_size + k + 1];
        const double bound = 1 / sqrt((double)inputs);
        char name[TENSOR_NAME];
        snprintf(name, sizeof name, "network.%d.weight", 2 * k);
        parameter(l, name, uniform(-bound, bound), SHAPE(outputs, inputs));
        snprintf(name, sizeof name, "network.%d.bias", 2 * k);
        parameter(l, name, uniform(-bound, bound), SHAPE(outputs));
    }
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[input_size]));
    output(l, "y", SHAPE(d[batch_size], d[output_size]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    const real *x = in[2 * LAYERS];
    for (int k = 0; k < LAYERS; k++) {
        const long inputs = d[input_size + k], outputs = d[input_size + k + 1];
        const long n = d[batch_size] * outputs;
        real *y = k == LAYERS - 1 ? out[0] : r->scratch(n);
        r->linear(y, x, in[2 * k], in[2 * k + 1], d[batch_size], inputs, outputs);
        if (k < LAYERS - 1) {
            real *activated = r->scratch(n);
            r->relu(activated, y, n);
            x = activated;
        }
    }
}

static long reduction(const long d[])
{
    long longest = 0;
    for (int k = 0; k < LAYERS; k++)
        longest = d[input_size + k] > longest ? d[input_size + k] : longest;
    return longest;
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
