#include "problem.h"

enum { batch_size, sequence_length, input_size, hidden_size, num_layers, output_size };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 10, .small = 3},
    [sequence_length] = {"sequence_length", .official = 512, .small = 4},
    [input_size] = {"input_size", .official = 128, .small = 7},
    [hidden_size] = {"hidden_size", .official = 256, .small = 11},
    [num_layers] = {"num_layers", .official = 6, .small = 2},
    [output_size] = {"output_size", .official = 10, .small = 5},
};

enum { w_ih, w_hh, b_ih, b_hh, LAYER_PARAMETERS };

static void layer_parameter(struct layout *l, const char *name, long layer, struct fill native,
                            int rank, const long shape[])
{
    char full[TENSOR_NAME];
    snprintf(full, sizeof full, "lstm.%s_l%ld", name, layer);
    parameter(l, full, native, rank, shape);
}

static void tensors(struct layout *l, const long d[])
{
    long n = d[batch_size], hidden = d[hidden_size], layers = d[num_layers];
    struct fill native = initial(hidden);
    for (long k = 0; k < layers; k++) {
        long width = k == 0 ? d[input_size] : hidden;
        layer_parameter(l, "weight_ih", k, native, SHAPE(4 * hidden, width));
        layer_parameter(l, "weight_hh", k, native, SHAPE(4 * hidden, hidden));
        layer_parameter(l, "bias_ih", k, native, SHAPE(4 * hidden));
        layer_parameter(l, "bias_hh", k, native, SHAPE(4 * hidden));
    }
    parameter(l, "fc.weight", native, SHAPE(d[output_size], hidden));
    parameter(l, "fc.bias", native, SHAPE(d[output_size]));
    input(l, "x", uniform(0, 1), SHAPE(n, d[sequence_length], d[input_size]));
    /* The module draws its own initial states inside forward(); here they are inputs. */
    input(l, "h0", normal(0, 1), SHAPE(layers, n, hidden));
    input(l, "c0", normal(0, 1), SHAPE(layers, n, hidden));
    output(l, "y", SHAPE(n, d[output_size]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    long n = d[batch_size], steps = d[sequence_length], hidden = d[hidden_size];
    real *const *after = in + LAYER_PARAMETERS * d[num_layers]; /* fc.weight, fc.bias, x, h0, c0 */
    const real *below = after[2];
    long width = d[input_size];
    for (long k = 0; k < d[num_layers]; k++) {
        real *const *w = in + LAYER_PARAMETERS * k;
        real *above = r->scratch(n * steps * hidden);
        r->lstm(above, below, r->at(after[3], k * n * hidden), r->at(after[4], k * n * hidden),
                w[w_ih], w[w_hh], w[b_ih], w[b_hh], n, steps, width, hidden);
        below = above;
        width = hidden;
    }
    real *last = r->scratch(n * hidden);
    r->take(last, below, n, steps, hidden, steps - 1);
    r->linear(out[0], last, after[0], after[1], n, hidden, d[output_size]);
}

/* A gate adds up its inputs and the hidden state. */
static long reduction(const long d[])
{
    long widest = d[input_size] > d[hidden_size] ? d[input_size] : d[hidden_size];
    return widest + d[hidden_size];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
