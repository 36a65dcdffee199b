# gpu.mk: what the CUDA backend adds to the Makefile, which includes it. None of it is needed without a GPU but the
# scores of the rows that lie in results/h200.

# ---- references and the backend's own kernels -------------------------------------------------------

CUBIN := build/bin/cubin
GPU_CODE := $(foreach real,f64 f32,$(patsubst kernels/ref/%.cu,build/ref/cuda/$(real)/%.gpu, \
              $(filter-out kernels/ref/table.cu,$(REF_SOURCES)))) build/ref/cuda/service.gpu
GPU_HEADERS := kernels/ref/ref.h kernels/ref/ref.cuh $(wildcard c/backend/cuda/*.h) c/lib/generator.h

# Host code of the references, whose launches go to the GPU; and their device code.
define GPU_REF_RULES
$(REF_SOURCES:kernels/ref/%.cu=build/ref/cuda/$(1)/%.o): build/ref/cuda/$(1)/%.o: build/ref/%.cpp \
  kernels/ref/ref.h kernels/ref/ref.cuh $(wildcard c/backend/cpu/shim/*.h)
	@mkdir -p $$(@D)
	$$(Q)$(CXX) $(CXXFLAGS) -DSIMT_GPU $(REAL_$(1)) -c -o $$@ $$<
build/ref/cuda/$(1).so: $(REF_SOURCES:kernels/ref/%.cu=build/ref/cuda/$(1)/%.o)
	$$(Q)$(CXX) -shared -o $$@ $$^
build/ref/cuda/$(1)/%.gpu: kernels/ref/%.cu $(GPU_HEADERS) $(CUBIN)
	$$(call say,CUBIN,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CUBIN) -o $$@ $(patsubst %,-n%,$(REAL_$(1))) -n-Ikernels/ref -n-default-device $$< && touch $$@
endef
$(foreach real,f64 f32,$(eval $(call GPU_REF_RULES,$(real))))
build/ref/cuda/service.gpu: c/backend/cuda/service.cu $(GPU_HEADERS) $(CUBIN)
	$(call say,CUBIN,$@)
	@mkdir -p $(@D)
	$(Q)$(CUBIN) -o $@ -n-Ic/lib -n-Ic/backend/cuda -n-default-device $< && touch $@
GPU_REFERENCES := build/ref/cuda/f64.so build/ref/cuda/f32.so $(GPU_CODE)

# The corpus, likewise: host code and device code of each kernel, by dtype.
CUDA ?= /usr/local/cuda#  where the CUDA toolkit is
define GPU_CORPUS_RULES
$(CORPUS:%=build/gpuemu/cuda/$(1)/%.so): build/gpuemu/cuda/$(1)/%.so: build/gpuemu/%.cpp \
  kernels/gpuemu/element.cuh $(wildcard c/backend/cpu/shim/*.h)
	@mkdir -p $$(@D)
	$$(Q)$(CXX) $(CXXFLAGS) -DSIMT_GPU -Ikernels/gpuemu -DELEMENT=$(ELEMENT_$(1)) -shared -o $$@ $$<
$(CORPUS:%=build/gpuemu/cuda/$(1)/%.gpu): build/gpuemu/cuda/$(1)/%.gpu: kernels/gpuemu/%.cu \
  kernels/gpuemu/element.cuh c/backend/cuda/prologue.h c/backend/prelude.h $(CUBIN)
	$$(call say,CUBIN,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CUBIN) -o $$@ -n-I$(strip $(CUDA))/include -n-Ikernels/gpuemu -n-default-device \
	  -n-DELEMENT=$(ELEMENT_$(1)) $$< && touch $$@
endef
$(foreach dtype,$(DTYPES),$(eval $(call GPU_CORPUS_RULES,$(dtype))))
GPU_CORPUS := $(foreach dtype,$(DTYPES),$(foreach suffix,so gpu,$(CORPUS:%=build/gpuemu/cuda/$(dtype)/%.$(suffix))))

# All of it compiles, where a toolkit is.
check: device-code
device-code: $(CUBIN)
	$(Q)if [ -r $(CUDA)/include/cuda_fp16.h ]; then $(MAKE) corpus-code; \
	  else echo "device code of the corpus: skipped, there is no $(strip $(CUDA))/include/cuda_fp16.h"; fi
corpus-code: $(filter %.gpu,$(GPU_CORPUS))
	@:
.PHONY: device-code corpus-code

# ---- on a machine with a GPU ------------------------------------------------------------------------

# `make measure PROFILE=h200`; without a profile it is h200.
GPU_PROFILE := $(if $(filter cpu,$(PROFILE)),h200,$(PROFILE))
KERNELBENCH ?=#           a checkout of KernelBench, for `make crosscheck`

measure: $(ALL_PROBLEMS:%=build/problems/%.so) $(call files,manifest)
measure: $(addprefix build/bin/,compile gate witness) $(GPU_REFERENCES) ## the campaign on the GPUs of this machine, into build/measured/PROFILE
	$(Q)tools/measure -P $(GPU_PROFILE) -o build/measured/$(GPU_PROFILE)
fuzz-gpu: build/bin/fuzz build/ref/f64.so $(GPU_CORPUS) ## the corpus on a GPU, into build/measured/PROFILE/fuzz
	$(Q)tools/fuzz-gpu -o build/measured/$(GPU_PROFILE)/fuzz
crosscheck: build/bin/witness ## judge a sample of its mutants with PyTorch, KERNELBENCH=path
	$(Q)[ -n "$(KERNELBENCH)" ] || { echo "make crosscheck needs KERNELBENCH=path/to/KernelBench" >&2; exit 64; }
	$(Q)python3 tools/crosscheck --kernelbench $(KERNELBENCH) --results build/measured/$(GPU_PROFILE) \
	  -o build/measured/$(GPU_PROFILE)/crosscheck.jsonl
racecheck: build/bin/witness ## which of its survivors compute-sanitizer sees racing
	$(Q)tools/racecheck -j $(J) -o build/measured/$(GPU_PROFILE) $(ALL_PROBLEMS)
bench-gpu: build/bin/bench_gpu $(GPU_REFERENCES) $(ALL_PROBLEMS:%=build/problems/%.so) ## how fast the CUDA backend is, and whole evaluations of what `make measure` has compiled
	$(Q)build/bin/bench_gpu
	$(Q)for p in $(ALL_PROBLEMS); do images=build/measured/$(GPU_PROFILE)/$$p/images.jsonl; [ ! -r $$images ] || \
	  build/bin/bench_gpu build/problems/$$p.so $$images inputs/suites/official.json || exit; done
check-gpu: build/test/test_judge build/bin/fuzz build/ref/f64.so $(GPU_REFERENCES) $(GPU_CORPUS) ## the tests that need one
	$(Q)CMOCKA_MESSAGE_OUTPUT=TAP prove $< c/test/gpu/corpus
	$(Q)if command -v compute-sanitizer >/dev/null; then compute-sanitizer --tool racecheck --error-exitcode 1 $<; \
	  else echo "check-gpu: compute-sanitizer is not installed: no look for races in the backend's own kernels"; fi
.PHONY: measure fuzz-gpu crosscheck racecheck bench-gpu check-gpu

# A driver without a GPU, for test_cuda, test_judge and fuzz, which runs the backend's own kernels on the CPU
# executor; and host code of the corpus for the latter.
test: build/test/fake_cuda.so build/test/service.so build/test/fake/service.gpu $(DTYPES:%=build/gpuemu/cuda/%/relu_triton.so)
build/test/fake_cuda.so: c/test/fake_cuda.c $(wildcard c/backend/cuda/*.h) c/backend/cpu/simt.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -o $@ $< -ldl
build/test/service.cu: c/backend/cuda/service.cu c/test/service_launch.cu
	@mkdir -p $(@D)
	$(Q)cat $^ >$@
build/test/service.so: build/test/service.cu $(GPU_HEADERS) $(wildcard c/backend/cpu/shim/*.h) build/bin/lower
	$(Q)build/bin/lower $< >$(@:.so=.cpp) && $(CXX) $(CXXFLAGS) -Ic/lib -Ic/backend/cuda -shared -o $@ $(@:.so=.cpp)
build/test/fake/service.gpu: c/backend/cuda/service.cu
	@mkdir -p $(@D)
	$(Q){ sed -En 's/^__global__ void .*\b([a-z]+)\(.*/\1 \1/p' $<; printf '\nservice\0'; } >$@

# ---- from the rows that were measured ---------------------------------------------------------------

ifneq ($(PROFILE),h200)
H200 := $(patsubst results/h200/%/rows.jsonl.gz,%,$(sort $(wildcard results/h200/*/*/rows.jsonl.gz)))
H200_SCORES := $(H200:%=build/h200/%/score.json)
$(H200_SCORES): build/h200/%/score.json: results/h200/%/rows.jsonl.gz build/protocols/calibrated.json build/bin/score
	$(call say,SCORE,$@)
	@mkdir -p $(@D)
	$(Q)for f in manifest images gate ladder rows; do gunzip -c results/h200/$*/$$f.jsonl.gz >$(@D)/$$f.jsonl; done
	$(Q)cd $(@D) && $(CURDIR)/build/bin/score -o score.json --protocols $(CURDIR)/build/protocols --manifest manifest.jsonl \
	  --images images.jsonl --gate gate.jsonl --ladder ladder.jsonl rows.jsonl && touch score.json
build/h200/setcover.json: $(H200_SCORES) build/bin/setcover
	$(call say,SETCOVER,$@)
	$(Q)build/bin/setcover -o $@ $(H200_SCORES) && touch $@
build/h200/summary.json: $(H200_SCORES) build/h200/setcover.json build/rules.jsonl $(PUBLISHED) build/bin/score
	$(call say,SUMMARY,$@)
	$(Q)build/bin/score --merge -o $@ --profile h200 --setcover build/h200/setcover.json \
	  --real-faults results/published/real-faults.json --rules build/rules.jsonl $(H200_SCORES) && touch $@

# What the rows lack of today's mutants; they are scored with the manifest that they were measured with.
build/h200/lacks.json: paper/lacks.jq $(call files,manifest) $(H200_SCORES)
	$(Q)jq -n -f $< $(call files,manifest) $(H200:%=build/h200/%/manifest.jsonl) >$@
	@jq -r 'select(.new + .changed + .gone > 0) | [.new, .changed, .gone] | @tsv' $@ | while read -r new changed gone; do \
	  echo "  LACKS     results/h200, of today's mutants: $$new new, $$changed changed, $$gone gone: make measure"; done

# What a campaign of the published size would take at the rates that were measured.
OFFICIAL_ROWS := $(sort $(wildcard results/h200/*/*/official-rows.jsonl.gz))
build/h200/projection.json: paper/projection.jq results/h200/times.tsv results/h200/bench.txt $(OFFICIAL_ROWS) \
  $(H200_SCORES)
	$(Q)evaluations() { awk '/"mutant"/ && !/"detail":"not run/ { n++ } END { print n + 0 }'; }; \
	  jq -n --rawfile times results/h200/times.tsv --rawfile bench results/h200/bench.txt \
	    --argjson small "$$(cat $(H200:%=build/h200/%/rows.jsonl) | evaluations)" \
	    --argjson official "$$(gunzip -c $(OFFICIAL_ROWS) </dev/null | evaluations)" -f $< $(H200_SCORES) >$@

# Where the two profiles part, and why. The race oracle, which has seen official survivors only, looks at all of these.
DISAGREEMENTS := $(patsubst %,build/h200/%/disagreements.json,$(filter $(ALL_PROBLEMS),$(H200)))
disagreements = jq -n --slurpfile cpu build/cpu/$*/score.json --slurpfile h200 build/h200/$*/score.json \
  --slurpfile cpu_rows $(1) --slurpfile h200_rows $(2) --slurpfile race $(3) -f paper/disagreements.jq
PARTED = build/h200/$*/parted.txt
$(DISAGREEMENTS): build/h200/%/disagreements.json: paper/disagreements.jq build/cpu/%/score.json \
  build/h200/%/score.json build/bin/compile build/bin/witness
	$(call say,COMPARE,$@)
	$(Q)$(call disagreements,/dev/null,/dev/null,/dev/null) | jq -r '.mutants[].mutant' >$(PARTED)
	$(Q)$(RUN) build/bin/compile --race --only $(PARTED) -o $(@D)/race-images.jsonl \
	  $(KERNELS)/$*.cu $(call FILE_manifest,$*)
	$(Q)$(RUN) build/bin/witness --race --gate build/cpu/$*/gate.jsonl -o $(@D)/race.jsonl \
	  --ref build/ref --images $(@D)/race-images.jsonl build/problems/$*.so inputs/suites/official.json
	$(Q)rows() { grep -Ff $(PARTED) build/$$1/$*/rows.jsonl; }; \
	  $(call disagreements,<(rows cpu),<(rows h200),$(@D)/race.jsonl) >$@
build/h200/disagreements.json: paper/disagreements-summary.jq $(DISAGREEMENTS)
	$(Q)jq -s -f $< $(DISAGREEMENTS) >$@
endif
