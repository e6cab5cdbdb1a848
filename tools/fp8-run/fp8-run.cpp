//===- fp8-run.cpp - Runs a package or a model ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../common/Tool.h"
#include "Arguments.h"
#include "Benchmark.h"
#include "Comparison.h"
#include "Model.h"
#include "Report.h"

#include "fp8c/Pipelines/CompileFlags.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace fp8c;
using namespace fp8c::run;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static const char *const kOverview =
    "fp8-run: run a package, or a model that it compiles first\n";

static const char *const kExamples = R"(
EXAMPLES:
  fp8-run model.fp8 --list
  fp8-run model.fp8 --inputs=in.safetensors --outputs=out.safetensors
  fp8-run model.fp8 --random=7 --dim x.1=513 --benchmark
  fp8-run model.pt2 --inputs=in.safetensors --expect=out.safetensors
  fp8-run model.fp8 --inputs=in.safetensors --expect-trace=trace.safetensors
  fp8-run model.fp8 --inputs=in.safetensors --calls=3 --expect-state=s.safetensors

EXIT STATUS:
  0 done; 1 an error, or a comparison that missed its bar; 2 wrong usage
)";

static cl::OptionCategory category("fp8-run options");

static cl::opt<std::string> modelOption(cl::Positional, cl::Required,
                                        cl::desc("MODEL.{fp8,pt2,mlir}"),
                                        cl::cat(category));
static cl::opt<std::string>
    inputsOption("inputs", cl::desc("safetensors file; keys are input names"),
                 cl::value_desc("FILE"), cl::cat(category));
static cl::list<std::string> inputOption(
    "input", cl::desc("one input; bf16 and f8 as the bits in u2/u1 or V2/V1"),
    cl::value_desc("NAME=FILE.npy"), cl::cat(category));
static cl::opt<std::string>
    randomOption("random", cl::ValueOptional,
                 cl::desc("random inputs: normal numbers, integers of 0 to 7"),
                 cl::value_desc("SEED"), cl::cat(category));
static cl::list<std::string>
    dimOption("dim", cl::desc("a size of the random inputs (default 16)"),
              cl::value_desc("INPUT.AXIS=N or SYMBOL=N"), cl::cat(category));
static cl::opt<std::string>
    outputsOption("outputs", cl::desc("write the outputs of the last call"),
                  cl::value_desc("FILE"), cl::cat(category));
static cl::opt<int64_t>
    callsOption("calls", cl::init(1),
                cl::desc("number of calls; state carries on"),
                cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string>
    stateInOption("state-in", cl::desc("buffers before the first call"),
                  cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    stateOutOption("state-out", cl::desc("write the buffers after the calls"),
                   cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    expectOption("expect", cl::desc("compare the outputs; a row an output"),
                 cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string> expectStateOption(
    "expect-state",
    cl::desc("compare the buffers; in lock-step every byte must agree"),
    cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string> expectTraceOption(
    "expect-trace",
    cl::desc("lock-step: run the last call with these values (keys are node "
             "names), a row a command"),
    cl::value_desc("FILE"), cl::cat(category));
static cl::opt<double> maxDistanceOption(
    "max-distance", cl::init(0.01),
    cl::desc("bar of --expect and --expect-state: relative Frobenius distance "
             "(default 0.01)"),
    cl::value_desc("X"), cl::cat(category));
static cl::opt<std::string>
    compareOption("compare", cl::desc("run in lock-step with another device"),
                  cl::value_desc("DEVICE"), cl::cat(category));
static cl::opt<std::string>
    deviceOption("device", cl::init("cpu"),
                 cl::desc("cpu (the default), cuda or cuda:N"),
                 cl::value_desc("DEVICE"), cl::cat(category));
static cl::opt<std::string>
    graphOption("graph", cl::init("auto"),
                cl::desc("call by CUDA graph: on, off or auto (the default: "
                         "from the second call on); the cpu has none"),
                cl::value_desc("MODE"), cl::cat(category));
static cl::opt<bool>
    poisonOption("poison",
                 cl::desc("fill intermediate values and outputs with 0xFF "
                          "before each call, which must change nothing"),
                 cl::cat(category));
static cl::opt<unsigned> lanesOption(
    "lanes", cl::init(0),
    cl::desc("commands side by side in a CUDA graph at most (0, the default: "
             "4; 1: one by one)"),
    cl::value_desc("N"), cl::cat(category));
static cl::opt<fp8rt_backends_t> backendsOption(
    "backends", cl::init(FP8RT_BACKENDS_AUTO),
    cl::desc("who computes products and attention on a GPU"),
    cl::values(
        clEnumValN(FP8RT_BACKENDS_AUTO, "auto",
                   "libraries, the fastest algorithms measured (default)"),
        clEnumValN(FP8RT_BACKENDS_FIXED, "fixed",
                   "libraries, the same additions in every process"),
        clEnumValN(FP8RT_BACKENDS_OWN, "own", "the runtime's own kernels")),
    cl::cat(category));
static cl::opt<bool> listOption("list", cl::desc("print the signature"),
                                cl::cat(category));
static cl::opt<std::string>
    reportOption("report", cl::ValueOptional, cl::desc("the package's report"),
                 cl::value_desc("text|json|html[:FILE]"), cl::cat(category));
static cl::opt<std::string>
    benchmarkOption("benchmark", cl::ValueOptional,
                    cl::desc("time calls for a second; =json prints an object"),
                    cl::value_desc("json"), cl::cat(category));
static cl::opt<bool> profileOption("profile",
                                   cl::desc("time each command; a row each"),
                                   cl::cat(category));
static cl::opt<bool> quietOption("quiet", cl::desc("print misses alone"),
                                 cl::cat(category));
static cl::opt<bool> verboseOption("v", cl::desc("print sizes and times"),
                                   cl::cat(category));

/// Prints `message` as wrong usage.
static int usage(const std::string &message) {
  std::fprintf(stderr, "fp8-run: %s (see --help)\n", message.c_str());
  return 2;
}

/// The options; nullopt after printing what is wrong.
static std::optional<Options> getOptions() {
  Options options;
  options.model = modelOption;
  options.device = deviceOption;
  options.graphs = graphOption == "off"  ? FP8RT_GRAPHS_OFF
                   : graphOption == "on" ? FP8RT_GRAPHS_ON
                                         : FP8RT_GRAPHS_AUTO;
  options.poison = poisonOption;
  // What commands take is shown of commands one by one.
  options.lanes = profileOption && lanesOption == 0 ? 1 : int32_t(lanesOption);
  options.backends = backendsOption;
  options.compare = compareOption;
  options.inputs = inputsOption;
  options.inputFiles.assign(inputOption.begin(), inputOption.end());
  options.dims.assign(dimOption.begin(), dimOption.end());
  options.calls = callsOption;
  options.outputs = outputsOption;
  options.stateIn = stateInOption;
  options.stateOut = stateOutOption;
  options.expect = expectOption;
  options.expectState = expectStateOption;
  options.expectTrace = expectTraceOption;
  options.maxDistance = maxDistanceOption;
  options.list = listOption;
  if (reportOption.getNumOccurrences()) {
    auto request = ReportRequest::parse(reportOption);
    if (!request) {
      usage(llvm::toString(request.takeError()));
      return std::nullopt;
    }
    options.report = *request;
    if (!llvm::StringRef(options.model).ends_with(".fp8")) {
      usage("--report is a package's; fp8-compile --report compiles a model");
      return std::nullopt;
    }
  }
  options.benchmark = benchmarkOption.getNumOccurrences() > 0;
  options.json = benchmarkOption == "json";
  options.profile = profileOption;
  options.quiet = quietOption;
  options.verbose = verboseOption;
  if (randomOption.getNumOccurrences()) {
    uint64_t seed = 0;
    if (!randomOption.empty() &&
        llvm::StringRef(randomOption).getAsInteger(10, seed)) {
      usage("--random: expected a number, got \"" + randomOption + "\"");
      return std::nullopt;
    }
    options.random = seed;
  }
  if (!benchmarkOption.empty() && benchmarkOption != "json")
    usage("--benchmark: expected json, got \"" + benchmarkOption + "\"");
  else if (graphOption != "auto" && graphOption != "on" && graphOption != "off")
    usage("--graph: expected auto, on or off, got \"" + graphOption + "\"");
  else if (!rt::isDeviceName(options.device))
    usage("--device: expected cpu, cuda or cuda:N, got \"" + options.device +
          "\"");
  else if (compareOption.getNumOccurrences() &&
           !rt::isDeviceName(options.compare))
    usage("--compare: expected cpu, cuda or cuda:N, got \"" + options.compare +
          "\"");
  else if (!(options.maxDistance >= 0))
    usage("--max-distance: expected a number that is not negative");
  else if (options.calls < 1)
    usage("--calls: expected at least 1, got " + std::to_string(callsOption));
  else if (!dimOption.empty() && !options.random)
    usage("--dim is for --random; sizes of files are their own");
  else if (std::string wrong = findWrongAssignment(options); !wrong.empty())
    usage(wrong);
  else
    return options;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Seconds of one call of `function`.
template <typename Function> static double measureSeconds(Function function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// The outputs by name; a `None` is left out.
static TensorMap nameResults(const Session &session, const Results &results) {
  TensorMap named;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i])
      named[session.outputs[i].name] = *results[i];
  return named;
}

/// Does what the options ask for; false if a comparison missed its bar.
/// `other` computes what lock-step compares with; null for none.
static bool runSession(Session &session, Session *other, double loadSeconds,
                       const Options &options) {
  if (options.list) {
    printSignature(session);
    return true;
  }
  std::vector<HostTensor> arguments = makeArguments(session, options);
  TensorMap initial;
  if (!options.stateIn.empty())
    initial = readTensors(options.stateIn);
  if (!initial.empty())
    session.setState(initial);
  if (options.verbose)
    for (size_t i = 0; i < arguments.size(); ++i)
      std::printf("%s: %s\n", session.inputs[i].name.c_str(),
                  compare::formatDims(arguments[i].dims).c_str());

  Results results;
  for (int64_t i = 0; i < options.calls; ++i) {
    const double seconds =
        measureSeconds([&] { session.call(arguments, results); });
    if (options.verbose)
      std::printf("call %lld: %.3f ms\n", (long long)i + 1, seconds * 1e3);
  }
  const TensorMap named = nameResults(session, results);
  if (!options.outputs.empty())
    writeTensors(options.outputs, named);
  if (!options.stateOut.empty())
    writeTensors(options.stateOut, session.getState());

  bool passed = true;
  if (!options.expect.empty())
    passed &= printDistances(named, readTensors(options.expect),
                             options.maxDistance, options.quiet);
  if (!options.expectState.empty())
    passed &=
        printDistances(session.getState(), readTensors(options.expectState),
                       options.maxDistance, options.quiet);
  if (!options.expectTrace.empty())
    passed &= runLockstep(session, arguments, initial,
                          readReference(session, options), options);
  if (other)
    passed &= runLockstep(session, arguments, initial,
                          recordReference(*other, arguments, initial, options),
                          options);
  if (options.profile)
    profileSession(session, arguments, results);
  if (options.benchmark)
    benchmarkSession(session, arguments, results, loadSeconds, options);
  return passed;
}

int main(int argc, char **argv) {
  tools::initialise();
  CompileFlags flags;
  cl::HideUnrelatedOptions({&category, &flags.getCategory()});
  cl::extrahelp examples(kExamples);
  if (!tools::parseCommandLine(argc, argv, kOverview))
    return tools::kWrongUsage;
  std::optional<Options> options = getOptions();
  if (!options)
    return tools::kWrongUsage;
  try {
    if (options->report) {
      writeReport(options->model, *options->report);
      return 0;
    }
    llvm::Expected<CompileOptions> compileOptions = flags.get();
    if (!compileOptions)
      return usage(llvm::toString(compileOptions.takeError()));
    std::vector<std::string> devices = {options->device};
    if (!options->compare.empty())
      devices.push_back(options->compare);
    if (!flags.hasTargets())
      compileOptions->targets.clear();
    Model model(options->model, *compileOptions, devices);
    std::unique_ptr<Session> session, other;
    const double loadSeconds = measureSeconds(
        [&] { session = model.load(options->device, *options); });
    if (!options->compare.empty())
      other = model.load(options->compare, *options);
    return runSession(*session, other.get(), loadSeconds, *options) ? 0 : 1;
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "fp8-run: %s\n", error.what());
    return 1;
  }
}
