# assay: GNU Make says who needs what. `make help` lists the verbs.
#
# A step that leaves its file as it was (the programs compare before they replace) must not set off the
# steps behind it. So each step has a stamp, which carries the time, and its file hangs on the stamp by an
# empty recipe: Make looks at the file again and finds it old.

MAKEFLAGS += -rR --warn-undefined-variables --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# ---- what a user may set ---------------------------------------------------------------------------

J ?= $(shell nproc)#      problems worked on at once
SHARD ?= 1/1#             k/n: of all problems, every n-th from the k-th on
PROFILE ?= cpu#           backend and size class
P ?=#                     one problem, as level1/023_softmax
RUN ?=#                   put before each step of a problem, as 'srun -n1'
V ?= 0#                   1: print the commands
DIR ?= golden#            golden files for `make golden`
CU ?=#                    a kernel of your own, and
PROBLEM ?=#               what it is to compute, for `make kernel`
KERNELS ?= kernels#       where the problems are

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-9s %s\n' $(1) $(2))

ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(J)
endif

ifneq ($(PROFILE),cpu)
ifeq ($(filter measure crosscheck racecheck fuzz-gpu bench-gpu check-gpu,$(MAKECMDGOALS)),)
$(error PROFILE=$(PROFILE): only cpu is made here; the rows of h200 are measured with `make measure` on a GPU machine)
endif
endif

# Two at once would build the same files.
ifeq ($(MAKELEVEL)$(filter help doctor,$(MAKECMDGOALS)),0)
other := $(shell tools/alone $$PPID)
ifneq ($(other),)
$(error another make, process $(other), is at work in this folder: wait for it, or take a checkout of its own)
endif
endif

# ---- programs ---------------------------------------------------------------------------------------

CC := gcc
CFLAGS := -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wwrite-strings -fno-common \
          -ffp-contract=off -Ic -Ic/lib -Ikernels -Ibuild/include
LIBS := -ljansson -lcrypto -lelf -lz -ldl -lpthread -lm

MACHINE := $(shell uname -m)
FIBER := c/backend/cpu/fiber_$(if $(wildcard c/backend/cpu/fiber_$(MACHINE).S),$(MACHINE).S,ucontext.c)

LIB_SOURCES := $(sort $(wildcard c/lib/*.c))
CPU_SOURCES := $(sort $(filter-out c/backend/cpu/fiber_%,$(wildcard c/backend/*.c c/backend/*/*.c)) $(FIBER))
PROGRAMS := $(patsubst c/%.c,build/bin/%,$(sort $(wildcard c/*.c)))
TESTS := $(patsubst c/test/%.c,build/test/%,$(sort $(wildcard c/test/test_*.c)))

object = $(patsubst %,build/obj/%.o,$(basename $(1)))

# Programs that execute kernels export the executor to the images that they load.
CPU_PROGRAMS := $(addprefix build/bin/,gate witness golden fuzz bench bench_gpu)
WHOLE_CPU := -Wl,--whole-archive build/libcpu.a -Wl,--no-whole-archive

build/obj/%.o: %.c Makefile | build/tools
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
build/obj/%.o: %.S Makefile | build/tools
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<

build/libassay.a: $(call object,$(LIB_SOURCES))
	$(Q)rm -f $@; ar rcs $@ $^
build/libcpu.a: $(call object,$(CPU_SOURCES))
	$(Q)rm -f $@; ar rcs $@ $^

$(filter-out $(CPU_PROGRAMS),$(PROGRAMS)): build/bin/%: build/obj/c/%.o build/libcpu.a build/libassay.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ $(LIBS)
$(filter $(CPU_PROGRAMS),$(PROGRAMS)): build/bin/%: build/obj/c/%.o build/libcpu.a build/libassay.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -rdynamic -o $@ $< $(WHOLE_CPU) build/libassay.a $(LIBS)
$(TESTS): build/test/%: build/obj/c/test/%.o build/libcpu.a build/libassay.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -rdynamic -o $@ $< $(WHOLE_CPU) build/libassay.a -lcmocka $(LIBS)

# What a row depends on besides the mutant and the input: the text of executor, comparison, generator.
EXECUTOR_TEXT := $(sort $(filter-out %/fuzzer.c %/fuzzer.h %/formula.c %/formula.h,$(wildcard c/backend/cpu/*.[chS])) \
  c/lib/compare.c c/lib/select.c c/lib/generator.h)
CUDA_TEXT := $(sort $(filter-out %/fuzzer.c %/fuzzer.h,$(wildcard c/backend/cuda/*))) c/lib/generator.h
FUZZER_TEXT := $(sort $(wildcard c/backend/c*/fuzzer.[ch] c/backend/cpu/formula.[ch] \
  $(foreach m,dtype errorstats fuzz strategy,c/lib/$(m).[ch])))
$(call object,$(wildcard c/*.c c/backend/*.c c/backend/*/*.c)): build/include/version.h
build/include/version.h: $(EXECUTOR_TEXT) $(CUDA_TEXT) $(FUZZER_TEXT) VERSION
	@mkdir -p $(@D)
	$(Q){ printf '#define ASSAY_VERSION "%s"\n' "$$(cat VERSION)"; \
	  printf '#define EXECUTOR_HASH "%s"\n' "$$(cat $(EXECUTOR_TEXT) | sha256sum | cut -c1-64)"; \
	  printf '#define CUDA_HASH "%s"\n' "$$(cat $(CUDA_TEXT) | sha256sum | cut -c1-64)"; \
	  printf '#define FUZZER_HASH "%s"\n' "$$(cat $(FUZZER_TEXT) | sha256sum | cut -c1-64)"; } >$@

-include $(shell find build/obj -name '*.d' 2>/dev/null)

# ---- references and problems ------------------------------------------------------------------------

# No debug information: equal sources give equal bytes, which row keys rely on.
CXX := g++
CXXFLAGS := -std=c++17 -O2 -w -fPIC -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-rtti \
            -fno-asynchronous-unwind-tables -Ikernels/ref -Ic/backend -Ic/backend/cpu/shim
REF_SOURCES := $(sort $(wildcard kernels/ref/*.cu))
REAL_f64 := -DREAL=double
REAL_f32 := -DREAL=float -DPAIRWISE

$(REF_SOURCES:kernels/ref/%.cu=build/ref/%.cpp): build/ref/%.cpp: kernels/ref/%.cu build/bin/lower
	@mkdir -p $(@D)
	$(Q)build/bin/lower $< >$@.tmp && mv $@.tmp $@
define REF_RULES
$(REF_SOURCES:kernels/ref/%.cu=build/ref/$(1)/%.o): build/ref/$(1)/%.o: build/ref/%.cpp \
  kernels/ref/ref.h kernels/ref/ref.cuh $(wildcard c/backend/cpu/shim/*.h)
	$$(call say,REF,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CXX) $(CXXFLAGS) $(REAL_$(1)) -c -o $$@ $$<
build/ref/$(1).so: $(REF_SOURCES:kernels/ref/%.cu=build/ref/$(1)/%.o)
	$$(Q)$(CXX) -shared -o $$@ $$^
endef
$(foreach real,f64 f32,$(eval $(call REF_RULES,$(real))))
REFERENCES := build/ref/f64.so build/ref/f32.so

ALL_PROBLEMS := $(sort $(patsubst $(KERNELS)/%.cu,%,$(wildcard $(KERNELS)/*/[0-9]*_*.cu)))
shard_k := $(firstword $(subst /, ,$(SHARD)))
shard_n := $(lastword $(subst /, ,$(SHARD)))
ifneq ($(shell [[ "$(SHARD)" =~ ^[1-9][0-9]*/[1-9][0-9]*$$ ]] && (( $(shard_k) <= $(shard_n) )) && echo ok),ok)
$(error SHARD=$(SHARD): give k/n with 1 <= k <= n, such as 2/3)
endif
PROBLEMS := $(shell n=0; for p in $(ALL_PROBLEMS); do \
  [ $$((n++ % $(shard_n))) = $$(($(shard_k) - 1)) ] && echo $$p; done)

$(ALL_PROBLEMS:%=build/problems/%.so): build/problems/%.so: $(KERNELS)/%.c kernels/problem.h \
  kernels/ref/ref.h c/lib/dtype.h c/lib/generator.h | build/tools
	$(call say,PROBLEM,$*)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O1 -Wall -Wextra -fPIC -shared -ffp-contract=off -Ikernels -o $@ $< -lm

# ---- calibration ------------------------------------------------------------------------------------

# The kernels of the gpuemu corpus, an image by dtype.
CORPUS := $(patsubst kernels/gpuemu/%.cu,%,$(sort $(wildcard kernels/gpuemu/*.cu)))
DTYPES := float32 float16 bfloat16
ELEMENT_float32 := float
ELEMENT_float16 := __half
ELEMENT_bfloat16 := __nv_bfloat16

$(CORPUS:%=build/gpuemu/%.cpp): build/gpuemu/%.cpp: kernels/gpuemu/%.cu build/bin/lower
	@mkdir -p $(@D)
	$(Q)build/bin/lower $< >$@.tmp && mv $@.tmp $@
define CORPUS_RULES
$(CORPUS:%=build/gpuemu/$(1)/%.so): build/gpuemu/$(1)/%.so: build/gpuemu/%.cpp kernels/gpuemu/element.cuh \
  $(wildcard c/backend/cpu/shim/*.h)
	@mkdir -p $$(@D)
	$$(Q)$(CXX) $(CXXFLAGS) -Ikernels/gpuemu -DELEMENT=$(ELEMENT_$(1)) -shared -o $$@ $$<
endef
$(foreach dtype,$(DTYPES),$(eval $(call CORPUS_RULES,$(dtype))))
CORPUS_KERNELS := $(foreach dtype,$(DTYPES),$(CORPUS:%=build/gpuemu/$(dtype)/%.so))

# Rows of our own: several runs, so that one can be left out, and each strategy of the fuzzer.
RUNS := 1 2 3 4 5 6 7 8
STRATEGIES := default boundary regular f32 f16 nan_injected adversarial
RUN_ROWS := $(RUNS:%=build/calibration/run-%.jsonl)
STRATEGY_ROWS := $(STRATEGIES:%=build/calibration/strategy-%.jsonl)
PUBLIC_ROWS := $(sort $(wildcard results/public-h200/*.jsonl.gz))
FUZZ := build/bin/fuzz kernels/gpuemu/corpus.json $(CORPUS_KERNELS) build/ref/f64.so
CALIBRATE := build/bin/calibrate kernels/gpuemu/corpus.json
$(RUN_ROWS): build/calibration/run-%.jsonl: $(FUZZ)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)build/bin/fuzz --seed $* --iterations 12 -o $@ && touch $@
$(STRATEGY_ROWS): build/calibration/strategy-%.jsonl: $(FUZZ)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)build/bin/fuzz --strategy $* --seed 2 --iterations 8 -o $@ && touch $@

# Strategies stay apart: what some of them inject fails correct kernels too.
build/calibration/cpu.json: $(RUN_ROWS) $(PUBLIC_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	$(Q)build/bin/calibrate -o $@ $(PUBLIC_ROWS:%=--against %) $(RUN_ROWS) && touch $@
build/calibration/strategies.json: $(STRATEGY_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	$(Q)build/bin/calibrate -o $@ $(STRATEGY_ROWS) && touch $@
build/calibration/public.json: $(PUBLIC_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	@mkdir -p $(@D)
	$(Q)build/bin/calibrate -o $@ $(PUBLIC_ROWS) && touch $@
build/calibration/public-parity.json: $(PUBLIC_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	@mkdir -p $(@D)
	$(Q)build/bin/calibrate --parity -o $@ $(PUBLIC_ROWS) && touch $@

# Rows of our own from a GPU, once there are any: what `make fuzz-gpu` has measured.
FUZZED ?= results/h200/fuzz# rows of `make fuzz-gpu`, each file packed with gzip
H200_ROWS := $(sort $(wildcard $(strip $(FUZZED))/*.jsonl.gz))
H200_DEFAULT := $(filter %/default.jsonl.gz,$(H200_ROWS))
build/calibration/h200.json: $(H200_DEFAULT) $(PUBLIC_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	$(Q)build/bin/calibrate -o $@ $(PUBLIC_ROWS:%=--against %) $(H200_DEFAULT) && touch $@
build/calibration/h200-strategies.json: $(H200_ROWS) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	$(Q)build/bin/calibrate -o $@ $(H200_ROWS) && touch $@
build/calibration/cpu-h200.json: $(RUN_ROWS) $(H200_DEFAULT) $(CALIBRATE)
	$(call say,CALIBRATE,$@)
	$(Q)build/bin/calibrate -o $@ --against $(H200_DEFAULT) $(RUN_ROWS) && touch $@
build/calibration/pairs.json: paper/pairs.jq $(H200_ROWS) $(RUN_ROWS) $(STRATEGY_ROWS)
	$(Q){ gunzip -c $(H200_ROWS); cat $(RUN_ROWS) $(STRATEGY_ROWS); } | sed -E 's/(-?Infinity|NaN)/"&"/g' | jq -n -f $< >$@

# The protocols to score: those that are data, and one whose limits are what our own rows justify.
PROTOCOLS := $(sort $(wildcard inputs/protocols/*.json))
build/protocols/calibrated.json: inputs/protocols.jq inputs/operators.json build/calibration/cpu.json $(PROTOCOLS)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)cp $(PROTOCOLS) $(@D)
	$(Q)jq -f inputs/protocols.jq --slurpfile O inputs/operators.json --slurpfile C kernels/gpuemu/corpus.json \
	  build/calibration/cpu.json >$@

# ---- the pipeline of a problem ----------------------------------------------------------------------

RULES_DIR ?= mutants/rules
RULES := $(sort $(wildcard $(RULES_DIR)/*.rules))
SHIM := $(wildcard c/backend/cpu/shim/*.h) c/backend/prelude.h
SUITES := $(sort $(wildcard inputs/suites/*.json))
LADDERS := $(sort $(wildcard inputs/ladder/*.json))
lengths = $(wildcard inputs/ladder/$(1).json)

W := build/$(PROFILE)
STEPS := manifest images gate ladder rows race score
FILE_manifest = build/mutants/$(1).jsonl
FILE_images = $(W)/$(1)/images.jsonl
FILE_gate = $(W)/$(1)/gate.jsonl
FILE_ladder = $(W)/$(1)/ladder.jsonl
FILE_rows = $(W)/$(1)/rows.jsonl
FILE_race = $(W)/$(1)/race.jsonl
FILE_score = $(W)/$(1)/score.json
files = $(foreach p,$(ALL_PROBLEMS),$(call FILE_$(1),$(p)))
stamps = $(ALL_PROBLEMS:%=build/stamps/$(1)/%)

define STEP_RULES
$(foreach p,$(ALL_PROBLEMS),$(eval $(call FILE_$(1),$(p)): build/stamps/$(1)/$(p) ;))
$(foreach p,$(ALL_PROBLEMS),$(if $(wildcard $(call FILE_$(1),$(p))),,$(eval build/stamps/$(1)/$(p): FORCE)))
endef
$(foreach step,$(STEPS),$(eval $(call STEP_RULES,$(step))))
FORCE: ;
START := $(shell date +%s)
DONE := $(shell find build/stamps -type f 2>/dev/null | wc -l)
step = $(if $(filter 1,$(V)),,@tools/progress $(1) $* $(words $(foreach s,$(STEPS),$(PROBLEMS))) $(START) $(DONE))
stamp = @mkdir -p $(@D) && touch $@
targeted = $(wildcard inputs/targeted/$(1).json)

.SECONDEXPANSION:

$(call stamps,manifest): build/stamps/manifest/%: $(KERNELS)/%.cu $(RULES) build/bin/mutate
	$(call step,MUTATE)
	$(Q)build/bin/mutate --rules $(RULES_DIR) -o $(call FILE_manifest,$*) $<
	$(stamp)

$(call stamps,images): build/stamps/images/%: $(KERNELS)/%.cu build/mutants/%.jsonl $(SHIM) build/bin/compile
	$(call step,COMPILE)
	$(Q)$(RUN) build/bin/compile -o $(call FILE_images,$*) $(KERNELS)/$*.cu $(call FILE_manifest,$*)
	$(stamp)

# gate and witness need the original's image only to judge inputs, but its index changes with any mutant.
MEASURE = --ref build/ref --images $(call FILE_images,$*) build/problems/$*.so
MEASURED := build/problems/%.so $(REFERENCES)

$(call stamps,gate): build/stamps/gate/%: $(KERNELS)/%.cu $(SHIM) $(MEASURED) $(SUITES) $$(call targeted,$$*) \
  build/bin/gate | build/stamps/images/%
	$(call step,GATE)
	$(Q)$(RUN) build/bin/gate --must-pass official -o $(call FILE_gate,$*) $(MEASURE) $(SUITES) $(call targeted,$*)
	$(stamp)

$(call stamps,ladder): build/stamps/ladder/%: $(KERNELS)/%.cu $(SHIM) $(MEASURED) $(LADDERS) \
  $$(call lengths,$$*) build/bin/gate | build/stamps/images/%
	$(call step,LADDER)
	$(Q)$(RUN) build/bin/gate -o $(call FILE_ladder,$*) $(MEASURE) $(LADDERS) $(call lengths,$*)
	$(stamp)

SURVIVORS = $(W)/$*/survivors.txt
$(call stamps,rows): build/stamps/rows/%: $(W)/%/images.jsonl $(W)/%/gate.jsonl build/bin/witness
	$(call step,WITNESS)
	$(Q)$(RUN) build/bin/witness --gate $(call FILE_gate,$*) --suite official --survivors $(SURVIVORS) \
	  -o $(call FILE_rows,$*) $(MEASURE) $(SUITES) $(call targeted,$*)
	$(stamp)

# The race oracle looks at what the official suite does not kill: a kill needs no second reason.
RACE_IMAGES = $(W)/$*/race-images.jsonl
$(call stamps,race): build/stamps/race/%: $(W)/%/rows.jsonl build/bin/compile
	$(call step,RACE)
	$(Q)$(RUN) build/bin/compile --race --only $(SURVIVORS) -o $(RACE_IMAGES) $(KERNELS)/$*.cu $(call FILE_manifest,$*)
	$(Q)$(RUN) build/bin/witness --race --gate $(call FILE_gate,$*) -o $(call FILE_race,$*) \
	  --ref build/ref --images $(RACE_IMAGES) build/problems/$*.so inputs/suites/official.json
	$(stamp)

$(call stamps,score): build/stamps/score/%: build/mutants/%.jsonl $(W)/%/images.jsonl $(W)/%/gate.jsonl \
  $(W)/%/ladder.jsonl $(W)/%/rows.jsonl $(W)/%/race.jsonl build/protocols/calibrated.json build/bin/score
	$(call step,SCORE)
	$(Q)build/bin/score -o $(call FILE_score,$*) --protocols build/protocols --manifest $(call FILE_manifest,$*) \
	  --images $(call FILE_images,$*) --gate $(call FILE_gate,$*) --ladder $(call FILE_ladder,$*) --race $(call FILE_race,$*) $(call FILE_rows,$*)
	$(stamp)

problems: $(foreach p,$(PROBLEMS),$(call FILE_score,$(p)) $(call FILE_ladder,$(p))) ## the pipeline of every problem

# ---- results of all problems ------------------------------------------------------------------------

SCORES = $(foreach p,$(PROBLEMS),$(call FILE_score,$(p)))
PUBLISHED := results/published/papers.json results/published/real-faults.json

$(W)/setcover.json: $(SCORES) build/bin/setcover
	$(call say,SETCOVER,$@)
	$(Q)build/bin/setcover -o $@ $(SCORES) && touch $@
build/rules.jsonl: $(RULES) build/bin/mutate
	$(Q)build/bin/mutate --list-rules --json --rules $(RULES_DIR) >$@
$(W)/summary.json: $(SCORES) $(W)/setcover.json build/rules.jsonl $(PUBLISHED) build/bin/score
	$(call say,SUMMARY,$@)
	$(Q)build/bin/score --merge -o $@ --profile $(PROFILE) --setcover $(W)/setcover.json \
	  --real-faults results/published/real-faults.json --rules build/rules.jsonl $(SCORES) && touch $@
CALIBRATIONS := build/calibration/public.json build/calibration/public-parity.json build/calibration/cpu.json \
  build/calibration/strategies.json
H200_CALIBRATIONS := $(if $(H200_DEFAULT),$(addprefix build/calibration/,h200.json h200-strategies.json cpu-h200.json pairs.json))
build/calibration/summary.json: paper/calibration.jq $(CALIBRATIONS) $(H200_CALIBRATIONS) inputs/operators.json results/published/calibration.json $(SCORES)
	$(Q)jq -n --slurpfile published results/published/calibration.json --slurpfile public build/calibration/public.json \
	  --slurpfile parity build/calibration/public-parity.json --slurpfile cpu build/calibration/cpu.json \
	  --slurpfile strategies build/calibration/strategies.json --slurpfile operators inputs/operators.json \
	  $(foreach name,h200 h200-strategies cpu-h200 pairs,--slurpfile $(subst -,_,$(name)) \
	    $(or $(filter %/$(name).json,$(H200_CALIBRATIONS)),/dev/null)) -f $< $(SCORES) >$@
build/summary.json: paper/summary.jq $(W)/summary.json build/h200/summary.json build/h200/lacks.json \
  build/h200/disagreements.json build/h200/projection.json build/calibration/summary.json
	$(Q)jq --slurpfile h200 build/h200/summary.json --slurpfile lacks build/h200/lacks.json \
	  --slurpfile disagreements build/h200/disagreements.json --slurpfile projection build/h200/projection.json \
	  --slurpfile calibration build/calibration/summary.json -f $< $(W)/summary.json >$@

# ---- tables, figures, paper -------------------------------------------------------------------------

# $(call query,PROGRAM.jq): the program with the summary as $s and the published numbers as $p.
query = jq -rn --slurpfile S build/summary.json --slurpfile P results/published/papers.json \
  '$$S[0] as $$s | $$P[0] as $$p | '"$$(cat paper/common.jq $(1))"
SUMMARIES := build/summary.json results/published/papers.json paper/common.jq

TABLES := $(patsubst paper/tables/%.jq,build/paper/%.tex,$(sort $(wildcard paper/tables/*.jq)))
build/paper/numbers.tex: paper/numbers.jq $(SUMMARIES)
	@mkdir -p $(@D)
	$(Q)$(call query,$<) >$@
$(TABLES): build/paper/%.tex: paper/tables/%.jq $(SUMMARIES)
	@mkdir -p $(@D)
	$(Q)$(call query,$<) >$@

FIGURES := $(patsubst figures/%.gp,build/paper/%.pdf,$(sort $(filter-out figures/style.gp,$(wildcard figures/*.gp))))
LADDER_FIGURES := blindzone ceiling
DATA := $(patsubst figures/%.jq,build/paper/%.dat,$(sort $(wildcard figures/*.jq)))
LADDER_DATA := $(LADDER_FIGURES:%=build/paper/%.dat)
$(filter-out $(LADDER_DATA),$(DATA)): build/paper/%.dat: figures/%.jq $(SUMMARIES)
	@mkdir -p $(@D)
	$(Q)$(call query,$<) >$@
$(LADDER_DATA): build/paper/%.dat: figures/%.jq $(foreach p,$(PROBLEMS),$(call FILE_ladder,$(p))) $(SUMMARIES)
	@mkdir -p $(@D)
	$(Q)jq -rn --slurpfile P results/published/papers.json -f $< $(foreach p,$(PROBLEMS),$(call FILE_ladder,$(p))) >$@
# The one thing in a figure that differs from run to run is the date that cairo writes.
$(FIGURES): build/paper/%.pdf: figures/%.gp build/paper/%.dat figures/style.gp
	$(call say,FIGURE,$@)
	$(Q)LC_ALL=C.UTF-8 gnuplot -e 'data = "build/paper/$*.dat"; set output "$@"' $< && \
	  sed -i 's|/CreationDate (D:[0-9]*|/CreationDate (D:20000101000000|' $@

build/paper/assay.pdf: paper/assay.tex build/paper/numbers.tex $(TABLES) $(FIGURES)
	$(call say,PAPER,$@)
	$(Q)SOURCE_DATE_EPOCH=946684800 FORCE_SOURCE_DATE=1 TEXINPUTS=build/paper: latexmk -pdf -quiet -interaction=nonstopmode \
	  -halt-on-error -outdir=build/paper $< >build/paper/latexmk.log 2>&1 || { tail -40 build/paper/latexmk.log >&2; exit 1; }
	$(Q)touch $@ # latexmk goes by content, and leaves the file where nothing has changed

# A shard ends with its scores; the machine that has them all goes on from there.
all: $(if $(filter 1/1,$(SHARD)),build/summary.json build/paper/assay.pdf,problems) ## the whole pipeline and the paper

# ---- checks -----------------------------------------------------------------------------------------

CLI := $(sort $(notdir $(patsubst %/,%,$(wildcard c/test/cli/*/))))
check: test golden rules selftest robust sanitize ## prove it right: units, command lines, rules' examples, golden outputs, self-tests

# What the command-line cases open: the programs, and one problem with its images.
test: $(TESTS) $(PROGRAMS) $(REFERENCES) $(CORPUS_KERNELS) $(call FILE_images,level1/019_relu) build/problems/level1/019_relu.so ## units and command lines only
	$(Q)ASSAY_CUDA_DRIVER=build/test/fake_cuda.so CMOCKA_MESSAGE_OUTPUT=TAP prove $(if $(filter 1,$(V)),-v) $(TESTS)
	$(Q)for p in $(CLI); do c/test/cli/run $$p >build/test/$$p.tap || true; done; \
	  prove $(if $(filter 1,$(V)),-v) --exec cat $(CLI:%=build/test/%.tap)
golden: build/bin/golden $(REFERENCES) $(ALL_PROBLEMS:%=build/problems/%.so) $(call files,images) ## check every golden file under DIR=
	$(Q)build/bin/golden $(DIR)
rules: build/bin/mutate build/rules.jsonl ## run the examples of every rule, and look up the real faults that rules name
	$(Q)build/bin/mutate --check --rules $(RULES_DIR)
	$(Q)jq -rn --slurpfile faults results/published/real-faults.json -f mutants/real-faults.jq build/rules.jsonl
selftest: $(PROGRAMS) $(REFERENCES) | test
	$(Q)prove $(if $(filter 1,$(V)),-v) c/test/selftest/run c/test/tutorial/run

include mk/check.mk

# ---- one problem, and a kernel of your own ----------------------------------------------------------

ifneq ($(P),)
problem: $(call FILE_score,$(P)) ## the pipeline of one problem, P=level1/023_softmax
	$(Q)jq -r -f paper/terminal.jq $<
else
problem:
	@echo "make problem needs P=, one of:" >&2; printf '  %s\n' $(ALL_PROBLEMS) >&2; exit 64
endif

# Copied under a name of the form that problems have, and then like any other; messages name the files that the user knows.
NAME = $(basename $(notdir $(CU)))
COPY = build/user/user/000_$(NAME)
kernel: ## the same for your own kernel, CU=path/to/k.cu PROBLEM=path/to/p.c
	$(Q)[ -n "$(CU)" ] && [ -n "$(PROBLEM)" ] || { echo "make kernel needs CU=path/to/kernel.cu PROBLEM=path/to/problem.c" >&2; exit 64; }
	$(Q)for f in "$(CU)" "$(PROBLEM)"; do [ -r "$$f" ] || { echo "make kernel: $$f: cannot be read" >&2; exit 74; }; done
	@mkdir -p $(dir $(COPY))
	$(Q)cmp -s "$(CU)" $(COPY).cu || cp "$(CU)" $(COPY).cu
	$(Q)cmp -s "$(PROBLEM)" $(COPY).c || cp "$(PROBLEM)" $(COPY).c
	$(Q){ $(MAKE) KERNELS=build/user P=user/000_$(NAME) problem 2>&1 >&9 | while IFS= read -r line; do \
	  line=$${line//"$(COPY).cu"/"$(CU)"}; echo "$${line//"$(COPY).c"/"$(PROBLEM)"}" >&2; done; } 9>&1

include mk/gpu.mk

# ---- the rest ---------------------------------------------------------------------------------------

doctor: ## say what is installed, and what is missing
	$(Q)tools/doctor
build/tools: env.lock tools/doctor
	$(Q)tools/doctor --install
	@mkdir -p $(@D) && touch $@
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile mk/*.mk | expand -t 18
	@echo; echo "Variables (make VARIABLE=value …):"
	@sed -n 's/^\([A-Z]*\) ?= *\(.*\)# *\(.*\)/  \1\t\3/p' Makefile mk/*.mk | expand -t 18
clean: ## remove build/
	rm -rf build
.PHONY: all bench check clean doctor golden help kernel problem problems rules selftest test FORCE
