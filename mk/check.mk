# check.mk: sanitizers, robustness and speed.

FULL ?= 0#                1: `make bench` also times the whole `make all`
PEER ?=#                  a checkout of gpuemu-corpus, for `make bench` to compare with

# Under gcc's sanitizers: all but the executor, whose fibers and guard pages they cannot follow.
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANE_PROGRAMS := $(filter-out $(CPU_PROGRAMS),$(PROGRAMS))
SANE_CLI = $(filter $(CLI),$(notdir $(SANE_PROGRAMS)))
SANE_TESTS := $(filter-out %/test_simt %/test_shim %/test_formula %/test_reference %/test_cuda %/test_judge,$(TESTS))
sane = $(patsubst build/bin/%,build/sanitize/%,$(patsubst build/test/%,build/sanitize/%,$(1)))

build/sanitize/obj/%.o: %.c Makefile build/include/version.h | build/tools
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<
build/sanitize/obj/%.o: %.S Makefile | build/tools
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<
build/sanitize/lib.a: $(patsubst %,build/sanitize/obj/%.o,$(basename $(LIB_SOURCES) $(CPU_SOURCES)))
	$(Q)rm -f $@; ar rcs $@ $^
$(call sane,$(SANE_PROGRAMS)): build/sanitize/%: build/sanitize/obj/c/%.o build/sanitize/lib.a
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS)
$(call sane,$(SANE_TESTS)): build/sanitize/%: build/sanitize/obj/c/test/%.o build/sanitize/lib.a
	$(Q)$(CC) $(SANITIZE) -o $@ $^ -lcmocka $(LIBS)
-include $(shell find build/sanitize -name '*.d' 2>/dev/null)

sanitize: $(call sane,$(SANE_TESTS) $(SANE_PROGRAMS)) ## units and command lines under the sanitizers
	$(Q)CMOCKA_MESSAGE_OUTPUT=TAP prove $(if $(filter 1,$(V)),-v) $(call sane,$(SANE_TESTS))
	$(Q)for p in $(SANE_CLI); do BIN=build/sanitize c/test/cli/run $$p >build/sanitize/$$p.tap || true; done; \
	  prove $(if $(filter 1,$(V)),-v) --exec cat $(SANE_CLI:%=build/sanitize/%.tap)

# What makes calls fail, for c/test/robust/faults.
build/test/fault: c/test/fault.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $<
build/test/scarce.so: c/test/scarce.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -o $@ $< -lcrypto
robust: selftest build/test/fault build/test/scarce.so ## what the pipeline must survive: kill -9, full disks, failing calls, damaged files
	$(Q)prove $(if $(filter 1,$(V)),-v) c/test/robust/run c/test/robust/faults

BENCH_PROBLEMS := level1/019_relu level1/023_softmax level2/012_gemm_multiply_leakyrelu level3/035_lstm
bench: $(PROGRAMS) $(REFERENCES) $(BENCH_PROBLEMS:%=build/problems/%.so) $(if $(PEER),$(CORPUS_KERNELS)) ## what mutants cost, beside what they could cost at least
	$(Q)build/bin/bench $(if $(filter 1,$(FULL)),--full) $(BENCH_PROBLEMS)
	$(if $(PEER),$(Q)tools/peers $(PEER))
.PHONY: bench robust sanitize
