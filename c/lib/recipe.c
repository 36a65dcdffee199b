#include "recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { DRAWS = 1000, DEFAULT_WEIGHTS_SEED = 42 };

static const long SEED_LIMIT = 1L << 53; /* beyond it a JSON number is not exact everywhere */

static const struct {
    const char *word;
    int kind, numbers;
} FILL[] = {
    {"uniform", GENERATOR_UNIFORM, 2},     {"normal", GENERATOR_NORMAL, 2},
    {"constant", GENERATOR_CONSTANT, 1},   {"ramp", GENERATOR_RAMP, 2},
    {"row_ramp", GENERATOR_ROW_RAMP, 2},   {"one_hot", GENERATOR_ONE_HOT, 2},
    {"levels", GENERATOR_LEVELS, 3},       {"alternate", GENERATOR_ALTERNATE, 2},
    {"last_row", GENERATOR_LAST_ROW, 3},   {"tail", GENERATOR_TAIL, 3},
    {"spike", GENERATOR_SPIKE, 3},         {"octaves", GENERATOR_OCTAVES, 2},
    {"nonfinite", GENERATOR_NONFINITE, 3},
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        abort();
    return memory;
}

/* ---- fills ----------------------------------------------------------------------------------- */

static int bad_fill(const struct json_at *at, const char *key, const char *what, struct error *e)
{
    return fail(e, EXIT_DATA, "%s:%d: the fill of '%s' %s", at->path, at->line, key, what);
}

/* `count` numbers: an array, or one plain number. */
static bool read_numbers(const json_t *value, int count, double *const number[])
{
    if (count == 1) {
        *number[0] = json_number_value(value);
        return json_is_number(value);
    }
    if (!json_is_array(value) || json_array_size(value) != (size_t)count)
        return false;
    for (int k = 0; k < count; k++) {
        if (!json_is_number(json_array_get(value, k)))
            return false;
        *number[k] = json_number_value(json_array_get(value, k));
    }
    return true;
}

/* What the kinds need beyond finite numbers: counts that are counts, a share that is one. */
static bool numbers_fit(const struct fill *f)
{
    switch (f->kind) {
    case GENERATOR_LEVELS: return f->c >= 2 && f->c <= 1 << 24 && f->c == floor(f->c);
    case GENERATOR_TAIL: return f->c >= 1 && f->c < 1L << 40 && f->c == floor(f->c);
    case GENERATOR_OCTAVES: return f->b >= 1 && f->b <= 256 && f->b == floor(f->b);
    case GENERATOR_NONFINITE: return f->c >= 0 && f->c <= 1;
    default: return true;
    }
}

static int read_word(const struct json_at *at, const char *key, const char *word,
                     const json_t *value, struct fill *f, struct error *e)
{
    if (strcmp(word, "native") == 0) /* *f is the native fill already */
        return json_is_true(value) ? 0 : bad_fill(at, key, "says native, expected true", e);
    for (int k = 0; k < LENGTH(FILL); k++) {
        if (strcmp(word, FILL[k].word) != 0)
            continue;
        *f = (struct fill){.kind = FILL[k].kind, .scale = 1};
        double *const number[] = {&f->a, &f->b, &f->c};
        if (read_numbers(value, FILL[k].numbers, number) && numbers_fit(f))
            return 0;
        return bad_fill(at, key, "has numbers that its word does not take (see recipe.h)", e);
    }
    char what[128];
    snprintf(what, sizeof what, "has the unknown word '%.40s'", word);
    return bad_fill(at, key, what, e);
}

/* *f holds the tensor's native fill and gets what the recipe says under `key`. */
static int read_fill(const struct json_at *fills, const char *key, struct fill *f, struct error *e)
{
    json_t *object = json_object_get(fills->value, key);
    if (!json_is_object(object))
        return bad_fill(fills, key, "is not an object", e);
    const char *word;
    json_t *value;
    double scale = 1;
    int words = 0;
    json_object_foreach(object, word, value) {
        if (strcmp(word, "scale") == 0) {
            if (!json_is_number(value))
                return bad_fill(fills, key, "has a scale that is not a number", e);
            scale = json_number_value(value);
            continue;
        }
        words++;
        int code = read_word(fills, key, word, value, f, e);
        if (code)
            return code;
    }
    f->scale *= scale;
    return words == 1 ? 0 : bad_fill(fills, key, "needs one word beside the scale", e);
}

static bool names_input(const struct recipe *r, const char *name)
{
    for (int t = 0; t < r->tensors; t++)
        if (r->tensor[t].role != OUTPUT && strcmp(r->tensor[t].name, name) == 0)
            return true;
    return false;
}

/* Native, unless the recipe fills the tensor by its name, or else by its role. */
static int read_fills(const struct json_at *input, struct recipe *r, struct error *e)
{
    struct json_at fills = *input;
    fills.value = NULL;
    int code = json_has(input, "fills") ? json_get_object(input, "fills", &fills, e) : 0;
    for (int t = 0; t < r->tensors && !code; t++) {
        const struct tensor *x = &r->tensor[t];
        r->fill[t] = x->native;
        if (x->role == OUTPUT)
            continue;
        const char *role = x->role == INPUT ? "inputs" : "parameters";
        const char *key = json_has(&fills, x->name) ? x->name : role;
        if (json_has(&fills, key))
            code = read_fill(&fills, key, &r->fill[t], e);
    }
    const char *key;
    json_t *value;
    json_object_foreach(fills.value, key, value) {
        if (code)
            break;
        if (strcmp(key, "inputs") != 0 && strcmp(key, "parameters") != 0 && !names_input(r, key))
            code = fail(e, EXIT_DATA, "%s:%d: fills '%s', which is no input or parameter",
                        input->path, input->line, key);
    }
    return code;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int read_sizes(const struct json_at *input, const struct plugin *p, long size[],
                      struct error *e)
{
    struct json_at sizes;
    int code = json_get_object(input, "sizes", &sizes, e);
    if (code)
        return code;
    const char *name;
    json_t *value;
    json_object_foreach(sizes.value, name, value) {
        int k = plugin_size(p, name);
        if (k < 0)
            return fail(e, EXIT_DATA, "%s:%d: %s has no size '%s'", input->path, input->line, p->id,
                        name);
        code = json_get_integer(&sizes, name, &size[k], e);
        if (code)
            return code;
    }
    return 0;
}

static int check_candidates(const struct json_at *from, struct error *e)
{
    const char *name;
    json_t *list, *candidate;
    json_object_foreach(from->value, name, list) {
        bool good = json_is_array(list);
        size_t k;
        json_array_foreach(list, k, candidate)
            good = good && json_is_integer(candidate) && json_integer_value(candidate) >= 0;
        if (!good)
            return fail(e, EXIT_DATA, "%s:%d: the candidates of '%s' are not a list of sizes",
                        from->path, from->line, name);
    }
    return 0;
}

static long elements(const struct layout *l)
{
    long sum = 0;
    for (int t = 0; t < l->tensors; t++)
        sum += tensor_count(&l->tensor[t]);
    return sum;
}

/* The sizes of one attempt. The stream is one that no tensor uses. */
static void draw(const json_t *from, const struct plugin *p, const long profile[], int attempt,
                 struct recipe *r)
{
    for (int k = 0; k < p->problem->sizes; k++) {
        const json_t *candidates = json_object_get(from, p->problem->size[k].name);
        generator_word h = generator_hash(r->seed, PROBLEM_TENSORS + attempt, k);
        size_t count = json_array_size(candidates);
        const json_t *chosen = count ? json_array_get(candidates, h % count) : NULL;
        r->size[k] = chosen ? (long)json_integer_value(chosen) : profile[k];
    }
}

/* Draws sizes until they are valid and cost no more memory than the profile's. */
static int draw_sizes(const struct json_at *input, const struct plugin *p, const long profile[],
                      struct recipe *r, struct layout *l, struct error *e)
{
    struct json_at from;
    int code = json_get_object(input, "sizes_from", &from, e);
    if (!code)
        code = check_candidates(&from, e);
    if (!code)
        code = plugin_layout(p, profile, l, e);
    if (code)
        return code;
    long most = elements(l);
    for (int attempt = 0; attempt < DRAWS; attempt++) {
        draw(from.value, p, profile, attempt, r);
        if (plugin_layout(p, r->size, l, e) == 0 && elements(l) <= most)
            return 0;
    }
    return fail(e, EXIT_DATA, "%s:%d: none of %d draws from 'sizes_from' suits %s", input->path,
                input->line, DRAWS, p->id);
}

/* ---- one input ------------------------------------------------------------------------------- */

static void hash_fill(struct hash *h, const struct recipe *r, int t)
{
    const struct fill *f = &r->fill[t];
    char text[256];
    snprintf(text, sizeof text, "%d %a %a %a %a %llu", f->kind, f->a, f->b, f->c, f->scale,
             r->tensor[t].role == INPUT ? r->seed : r->weights_seed);
    hash_add_text(h, r->tensor[t].name);
    hash_add_text(h, text);
}

static void hash_recipe(const struct plugin *p, struct recipe *r)
{
    struct hash *h = hash_new();
    for (int k = 0; k < p->problem->sizes; k++) {
        char text[32];
        snprintf(text, sizeof text, "%ld", r->size[k]);
        hash_add_text(h, p->problem->size[k].name);
        hash_add_text(h, text);
    }
    for (int t = 0; t < r->tensors; t++)
        if (r->tensor[t].role != OUTPUT)
            hash_fill(h, r, t);
    hash_finish(h, r->hash);
}

static int read_seed(const struct json_at *input, const char *key, generator_word *seed,
                     struct error *e)
{
    long number;
    int code = json_get_integer(input, key, &number, e);
    if (!code && (number < 1 || number > SEED_LIMIT))
        code = fail(e, EXIT_DATA, "%s:%d: '%s' is %ld, expected 1 to 2^53", input->path,
                    input->line, key, number);
    *seed = (generator_word)number;
    return code;
}

static int read_layout(const struct json_at *input, const struct plugin *p, const long profile[],
                       struct recipe *r, struct layout *l, struct error *e)
{
    memcpy(r->size, profile, (size_t)p->problem->sizes * sizeof *profile);
    if (json_has(input, "sizes") && json_has(input, "sizes_from"))
        return fail(e, EXIT_DATA, "%s:%d: both 'sizes' and 'sizes_from', expected at most one",
                    input->path, input->line);
    if (json_has(input, "sizes_from"))
        return draw_sizes(input, p, profile, r, l, e);
    int code = json_has(input, "sizes") ? read_sizes(input, p, r->size, e) : 0;
    return code ? code : plugin_layout(p, r->size, l, e);
}

/* Fills *r, whose id and suite are set; l is scratch. */
static int read_recipe(const struct json_at *input, const struct plugin *p, const long profile[],
                       struct recipe *r, struct layout *l, struct error *e)
{
    static const char *const KEYS[] = {"fills", "id", "means", "seed", "sizes", "sizes_from",
                                       "weights_seed", NULL};
    int code = json_only(input, KEYS, e);
    const char *means;
    if (!code)
        code = json_get_text(input, "means", &means, e);
    if (!code)
        code = read_seed(input, "seed", &r->seed, e);
    r->weights_seed = DEFAULT_WEIGHTS_SEED;
    if (!code && json_has(input, "weights_seed"))
        code = read_seed(input, "weights_seed", &r->weights_seed, e);
    if (!code)
        code = read_layout(input, p, profile, r, l, e);
    if (code)
        return code;
    r->tensors = l->tensors;
    r->tensor = allocate((size_t)l->tensors, sizeof *r->tensor);
    r->fill = allocate((size_t)l->tensors, sizeof *r->fill);
    memcpy(r->tensor, l->tensor, (size_t)l->tensors * sizeof *r->tensor);
    code = read_fills(input, r, e);
    if (!code)
        hash_recipe(p, r);
    return code;
}

/* ---- suites ---------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
    char *copy = allocate(strlen(text) + 1, 1);
    return strcpy(copy, text);
}

/* The next recipe of the pool, empty but for its names; refuses an id that the pool has. */
static int pool_add(struct pool *pool, const struct json_at *input, const char *suite,
                    struct recipe **added, struct error *e)
{
    const char *id;
    if (!json_is_object(input->value))
        return fail(e, EXIT_DATA, "%s:%d: an input is not an object", input->path, input->line);
    int code = json_get_text(input, "id", &id, e);
    if (code)
        return code;
    for (int k = 0; k < pool->recipes; k++)
        if (strcmp(pool->recipe[k].id, id) == 0)
            return fail(e, EXIT_DATA, "%s:%d: there is an input '%s' already, in suite %s",
                        input->path, input->line, id, pool->recipe[k].suite);
    if (pool->recipes == pool->room) {
        pool->room = pool->room ? 2 * pool->room : 32;
        pool->recipe = realloc(pool->recipe, (size_t)pool->room * sizeof *pool->recipe);
        if (!pool->recipe)
            abort();
    }
    *added = &pool->recipe[pool->recipes++];
    **added = (struct recipe){.id = copy_text(id), .suite = copy_text(suite)};
    return 0;
}

/* Adds one input; a complaint about its contents gets its id. */
static int read_input(struct pool *pool, const struct plugin *p, const long profile[],
                      const struct json_at *input, const char *suite, struct layout *l,
                      struct error *e)
{
    struct recipe *r = NULL;
    int code = pool_add(pool, input, suite, &r, e);
    if (code || !read_recipe(input, p, profile, r, l, e))
        return code;
    char why[sizeof e->text];
    strcpy(why, e->text);
    return fail(e, e->code, "%s (input '%s')", why, r->id);
}

static int read_inputs(struct pool *pool, const struct plugin *p, const long profile[],
                       const struct json_at *suite, struct layout *l, struct error *e)
{
    static const char *const KEYS[] = {"defaults", "inputs",         "means", "schema",
                                       "schema_version", "source", "suite", NULL};
    const char *name, *text;
    struct json_at inputs, defaults = {0};
    int code = json_only(suite, KEYS, e);
    if (!code)
        code = json_get_text(suite, "suite", &name, e);
    if (!code)
        code = json_get_text(suite, "means", &text, e);
    if (!code)
        code = json_get_text(suite, "source", &text, e);
    if (!code)
        code = json_get_array(suite, "inputs", &inputs, e);
    if (!code && json_has(suite, "defaults"))
        code = json_get_object(suite, "defaults", &defaults, e);
    for (size_t k = 0; !code && k < json_array_size(inputs.value); k++) {
        struct json_at input = {suite->path, suite->line, json_array_get(inputs.value, k)};
        json_object_update_missing(input.value, defaults.value);
        code = read_input(pool, p, profile, &input, name, l, e);
    }
    return code;
}

int pool_read(struct pool *pool, const struct plugin *p, const long profile[], const char *path,
              struct error *e)
{
    struct json_at suite;
    int code = json_document(&suite, path, "suite", e);
    if (code)
        return code;
    struct layout *l = allocate(1, sizeof *l);
    code = read_inputs(pool, p, profile, &suite, l, e);
    free(l);
    json_decref(suite.value);
    return code;
}

static void recipe_free(struct recipe *r)
{
    free(r->id);
    free(r->suite);
    free(r->tensor);
    free(r->fill);
}

static bool is_listed(const char *list, const char *id)
{
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (strlen(id) == length && strncmp(list, id, length) == 0)
            return true;
    }
    return false;
}

void pool_keep(struct pool *pool, const char *list)
{
    int kept = 0;
    for (int k = 0; k < pool->recipes; k++) {
        if (is_listed(list, pool->recipe[k].id))
            pool->recipe[kept++] = pool->recipe[k];
        else
            recipe_free(&pool->recipe[k]);
    }
    pool->recipes = kept;
}

void pool_free(struct pool *pool)
{
    for (int k = 0; k < pool->recipes; k++)
        recipe_free(&pool->recipe[k]);
    free(pool->recipe);
    *pool = (struct pool){0};
}

void recipe_fill(const struct recipe *r, int t, float values[])
{
    const struct tensor *x = &r->tensor[t];
    generator_word seed = x->role == INPUT ? r->seed : r->weights_seed;
    long count = tensor_count(x), row = tensor_row(x);
    for (long i = 0; i < count; i++)
        values[i] = generator_value(&r->fill[t], seed, t, i, count, row);
}
