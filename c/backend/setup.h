/* setup - what gate and witness both open: the problem, its references, its inputs, its images. */
#ifndef ASSAY_SETUP_H
#define ASSAY_SETUP_H

#include <argp.h>

#include "../lib/plugin.h"
#include "../lib/recipe.h"
#include "backend.h"
#include "cpu/loader.h"

/* The part of the command line that both share. Paths are borrowed from argv. */
struct setup_options {
    const char *output;    /* -o */
    const struct backend *backend; /* --backend */
    const char *profile;   /* --profile: its name, for the header; NULL: the backend's */
    bool official;         /* --official: the benchmark's sizes, not the small ones */
    const char *export;    /* --export: a folder for inputs and outputs; NULL: nowhere */
    const char *inputs;    /* --inputs: the ids of those that count, with commas; NULL: all */
    const char *reference; /* --ref: the folder of f64.so and f32.so */
    const char *images;    /* --images */
    const char *problem;   /* PROBLEM.so */
    char *const *suite;    /* SUITE.json … */
    int suites;
};

/* An argp child; its input is the struct setup_options. */
extern const struct argp setup_argp;

struct setup {
    const struct backend *backend;
    const char *profile, *folder, *export; /* the options' */
    struct plugin plugin;
    long size[PROBLEM_SIZES]; /* that recipes start from: the small ones or the official ones */
    struct reference float64, float32;
    struct pool pool;
    struct loader loader;
    launch_function *original;
    bool race; /* the images are instrumented: only what the race oracle sees is wanted */
    char hash[HASH_HEX]; /* of the problem, the references and the executor: part of every row's key */
};

/* Opens everything and starts the backend. EXIT_IO, EXIT_DATA, EXIT_UNAVAILABLE. setup_close() in any
 * case. */
int setup_open(struct setup *s, const struct setup_options *o, struct error *e);
void setup_close(struct setup *s);

/* A header of schema `kind`, with the problem, the backend and the provenance. A new reference. */
json_t *setup_header(const struct setup *s, const char *kind);

#endif
