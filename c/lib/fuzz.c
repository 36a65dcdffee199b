#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "scan.h"

static const char *const ARRANGEMENT[ARRANGEMENTS] = {"contiguous", "strided", "transposed"};

const char *arrangement_name(enum arrangement arrangement)
{
    return ARRANGEMENT[arrangement];
}

bool arrangement_find(const char *name, enum arrangement *arrangement)
{
    for (int a = 0; a < ARRANGEMENTS; a++) {
        if (strcmp(ARRANGEMENT[a], name) == 0) {
            *arrangement = (enum arrangement)a;
            return true;
        }
    }
    return false;
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* What all of a case is drawn from; not 0, which is the golden stream. */
static generator_word word_of(const struct fuzz_case *c)
{
    return generator_mix(generator_mix(c->seed) ^ (generator_word)c->iteration) | 1;
}

void fuzz_draw(struct fuzz_case *c, const struct corpus *corpus)
{
    c->dtype = strategy_dtype(c->strategy, c->iteration);
    strategy_extents(c->strategy, &corpus->entry[c->entry], word_of(c), c->extent);
}

size_t fuzz_elements(const struct fuzz_case *c, const struct corpus_tensor *tensor)
{
    size_t elements = 1;
    for (int k = 0; k < tensor->rank; k++)
        elements *= (size_t)c->extent[tensor->dim[k]];
    return elements;
}

size_t fuzz_strides(const struct fuzz_case *c, const struct corpus_tensor *tensor, long stride[])
{
    const int last = tensor->rank - 1;
    const long gap = c->arrangement == ARRANGEMENT_STRIDED ? 2 : 1;
    long next = gap;
    for (int k = last; k >= 0; k--) {
        stride[k] = next;
        next *= c->extent[tensor->dim[k]];
    }
    if (c->arrangement == ARRANGEMENT_TRANSPOSED && last > 0) {
        stride[last] = c->extent[tensor->dim[last - 1]];
        stride[last - 1] = 1;
    }
    return (size_t)next;
}

/* Where element i lies. */
static size_t offset_of(const struct fuzz_case *c, const struct corpus_tensor *tensor,
                        const long stride[], long i)
{
    long offset = 0;
    for (int k = tensor->rank - 1; k >= 0; k--) {
        offset += i % c->extent[tensor->dim[k]] * stride[k];
        i /= c->extent[tensor->dim[k]];
    }
    return (size_t)offset;
}

/* Rounds the values to the dtype, and stores them side by side. Inlined once for each dtype. */
static inline __attribute__((always_inline)) void store(enum dtype dtype, double values[],
                                                        size_t count, void *memory)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = dtype_bits(dtype, values[i]);
        dtype_store(dtype, memory, i, bits);
        values[i] = dtype_value(dtype, bits);
    }
}

static void store_dense(enum dtype dtype, double values[], size_t count, void *memory)
{
    switch (dtype) {
    case FLOAT16: store(FLOAT16, values, count, memory); break;
    case BFLOAT16: store(BFLOAT16, values, count, memory); break;
    default: store(FLOAT32, values, count, memory); break;
    }
}

void fuzz_fill(const struct fuzz_case *c, const struct corpus *corpus, int input, void *memory,
               double dense[])
{
    const struct corpus_tensor *tensor = &corpus->entry[c->entry].input[input];
    const size_t count = fuzz_elements(c, tensor);
    long stride[CORPUS_RANK];
    const size_t span = fuzz_strides(c, tensor, stride);
    strategy_values(c->strategy, corpus, c->dtype, word_of(c), input, (long)count, dense);
    store_dense(c->dtype, dense, count, memory); /* in no more memory than it spans */
    if (c->arrangement == ARRANGEMENT_CONTIGUOUS)
        return;
    memset(memory, 0xFF, span * dtype_size(c->dtype)); /* NaN */
    for (size_t i = 0; i < count; i++)
        dtype_store(c->dtype, memory, offset_of(c, tensor, stride, (long)i),
                    dtype_bits(c->dtype, dense[i]));
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool fuzz_passed(const struct fuzz_result *r)
{
    return !r->exception[0] && r->stats.failure == FAILURE_NONE;
}

bool fuzz_passed_matching(const struct fuzz_result *r)
{
    return !r->exception[0] && r->stats.failure_matching == FAILURE_NONE;
}

static void write_number(FILE *f, const char *key, double x)
{
    if (isnan(x))
        fprintf(f, "\"%s\": NaN", key);
    else if (isinf(x))
        fprintf(f, "\"%s\": Infinity", key);
    else
        fprintf(f, "\"%s\": %.17g", key, x);
}

static void write_shape(FILE *f, const struct fuzz_case *c, const struct corpus_tensor *tensor)
{
    for (int k = 0; k < tensor->rank; k++)
        fprintf(f, "%s%ld", k ? ", " : "[", c->extent[tensor->dim[k]]);
    putc(']', f);
}

static void write_case(FILE *f, const struct corpus_entry *entry, const struct fuzz_case *c)
{
    fprintf(f,
            "\"kernel\": \"%s\", \"source\": \"assay:cuda\", \"benchmark_verdict\": \"pass\", "
            "\"strategy\": \"%s\", \"iteration\": %ld, \"seed\": %llu, \"dtype\": \"%s\", "
            "\"layout\": \"%s\", \"shape\": ",
            entry->name, strategy_name(c->strategy), c->iteration, (unsigned long long)c->seed,
            dtype_name(c->dtype), arrangement_name(c->arrangement));
    write_shape(f, c, &entry->output);
    fputs(", \"input_shapes\": {", f);
    for (int k = 0; k < entry->inputs; k++) {
        fprintf(f, "%s\"%s\": ", k ? ", " : "", entry->input[k].name);
        write_shape(f, c, &entry->input[k]);
    }
    fputs("}, \"oracle\": \"assay\", ", f);
}

static void write_stats(FILE *f, const struct error_stats *s)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"max_abs", s->max_abs},   {"mean_abs", s->mean_abs}, {"p50_abs", s->p50_abs},
        {"p90_abs", s->p90_abs},   {"p99_abs", s->p99_abs},   {"max_rel", s->max_rel},
        {"mean_rel", s->mean_rel},
    };
    fprintf(f, "\"error_stats\": {\"count\": %zu, \"num_exceeding\": %zu", s->count,
            s->num_exceeding);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        fputs(", ", f);
        write_number(f, numbers[k].key, numbers[k].value);
    }
    fprintf(f, ", \"max_ulp\": %llu, ", (unsigned long long)s->max_ulp);
    write_number(f, "mean_ulp", s->mean_ulp);
    fputs(", \"t_by_ratio\": [", f);
    for (int k = 0; k < RESULTS_RATIOS; k++) {
        if (isinf(s->t_by_ratio[k]))
            fprintf(f, "%sInfinity", k ? ", " : "");
        else
            fprintf(f, "%s%.17g", k ? ", " : "", s->t_by_ratio[k]);
    }
    fputs("]}", f);
}

/* The kernel did not finish: there is nothing to compare. */
static void write_exception(FILE *f, const char *exception)
{
    fputs("\"passed\": false, \"passed_matching\": false, \"failure_kind\": \"exception\", "
          "\"max_abs_err\": Infinity, \"max_rel_err\": Infinity, \"max_ulp\": null, "
          "\"error_stats\": null, \"error\": \"",
          f);
    for (const char *p = exception; *p; p++)
        putc(*p == '"' || *p == '\\' || (unsigned char)*p < ' ' ? '\'' : *p, f);
    putc('"', f);
}

void fuzz_write_row(FILE *f, const struct corpus *corpus, const char *run_id,
                    const struct fuzz_case *c, const struct fuzz_result *r)
{
    const struct error_stats *s = &r->stats;
    const char *failure = failure_name(s->failure);
    fprintf(f, "{\"run_id\": \"%s\", \"paper\": \"p2\", ", run_id);
    write_case(f, &corpus->entry[c->entry], c);
    if (r->exception[0]) {
        write_exception(f, r->exception);
    } else {
        const char *quote = failure ? "\"" : "";
        fprintf(f, "\"passed\": %s, \"passed_matching\": %s, \"failure_kind\": %s%s%s, ",
                fuzz_passed(r) ? "true" : "false", fuzz_passed_matching(r) ? "true" : "false",
                quote, failure ? failure : "null", quote);
        write_number(f, "max_abs_err", s->max_abs);
        fputs(", ", f);
        write_number(f, "max_rel_err", s->max_rel);
        fprintf(f, ", \"max_ulp\": %llu, ", (unsigned long long)s->max_ulp);
        write_stats(f, s);
    }
    fputs("}\n", f);
}

/* ---- a row read back ------------------------------------------------------------------------ */

struct row_text {
    const char *run_id, *kernel, *strategy, *dtype, *layout;
    double iteration, seed;
    char *shapes; /* from the { of input_shapes on */
};

static bool is_count(double x, double limit)
{
    return x >= 0 && x < limit && x == floor(x);
}

static bool take_texts(char *at, struct row_text *row)
{
    const struct {
        const char *key, **text;
    } texts[] = {
        {"run_id", &row->run_id}, {"kernel", &row->kernel}, {"strategy", &row->strategy},
        {"dtype", &row->dtype},   {"layout", &row->layout},
    };
    const size_t count = sizeof texts / sizeof *texts;
    if (!scan_take(&at, '{'))
        return false;
    do {
        const char *key = scan_text(&at);
        size_t k = 0;
        if (!key || !scan_take(&at, ':'))
            return false;
        while (k < count && strcmp(key, texts[k].key) != 0)
            k++;
        bool taken;
        if (k < count) {
            taken = (*texts[k].text = scan_text(&at));
        } else if (strcmp(key, "iteration") == 0) {
            taken = scan_number(&at, &row->iteration);
        } else if (strcmp(key, "seed") == 0) {
            taken = scan_number(&at, &row->seed);
        } else {
            if (strcmp(key, "input_shapes") == 0)
                row->shapes = at;
            taken = scan_skip(&at);
        }
        if (!taken)
            return false;
    } while (scan_take(&at, ','));
    return scan_take(&at, '}');
}

/* {input: [extent, …], …}: every input with its rank, extents that agree. */
static bool take_shapes(char *at, const struct corpus_entry *entry, long extent[])
{
    bool seen[CORPUS_DIMS] = {false};
    for (int k = 0; k < entry->inputs; k++) {
        const char *name;
        if (!scan_take(&at, k ? ',' : '{') || !(name = scan_text(&at)) ||
            strcmp(name, entry->input[k].name) != 0 || !scan_take(&at, ':'))
            return false;
        for (int j = 0; j < entry->input[k].rank; j++) {
            const int d = entry->input[k].dim[j];
            double x;
            if (!scan_take(&at, j ? ',' : '[') || !scan_number(&at, &x) || !is_count(x, 1e6) ||
                x < 1 || (seen[d] && x != (double)extent[d]))
                return false;
            extent[d] = (long)x;
            seen[d] = true;
        }
        if (!scan_take(&at, ']'))
            return false;
    }
    return scan_take(&at, '}');
}

int fuzz_read_row(const char *where, char *line, const struct corpus *corpus, struct fuzz_case *c,
                  const char **run_id, struct error *e)
{
    struct row_text row = {.iteration = -1, .seed = -1};
    if (!take_texts(line, &row) || !row.run_id || !row.kernel || !row.strategy || !row.dtype ||
        !row.layout || !row.shapes || !is_count(row.iteration, 0x1p53) ||
        !is_count(row.seed, 0x1p53))
        return fail(e, EXIT_DATA, "%s: not a row that this program wrote", where);
    *c = (struct fuzz_case){.entry = corpus_find(corpus, row.kernel),
                            .seed = (uint64_t)row.seed,
                            .iteration = (long)row.iteration};
    if (c->entry < 0)
        return fail(e, EXIT_DATA, "%s: the corpus has no entry '%s'", where, row.kernel);
    if (!strategy_find(row.strategy, &c->strategy) || !dtype_find(row.dtype, &c->dtype) ||
        !arrangement_find(row.layout, &c->arrangement))
        return fail(e, EXIT_DATA, "%s: unknown strategy '%s', dtype '%s' or layout '%s'", where,
                    row.strategy, row.dtype, row.layout);
    if (!take_shapes(row.shapes, &corpus->entry[c->entry], c->extent))
        return fail(e, EXIT_DATA, "%s: the input shapes are not those of '%s'", where, row.kernel);
    *run_id = row.run_id;
    return 0;
}
