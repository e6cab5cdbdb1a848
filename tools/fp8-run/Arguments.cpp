//===- Arguments.cpp - Inputs of a call -----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "fp8c/Support/FP8Rounding.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <random>

using namespace fp8c;
using namespace fp8c::run;

/// Random integers are below this, so that they are legal indices of small
/// tables.
static constexpr int kRandomIntegers = 8;
/// The size that a symbol has in random inputs unless --dim says more.
static constexpr int64_t kDefaultSize = 16;

/// The names of the slots, for messages.
static std::string listNames(const std::vector<Slot> &slots) {
  std::string text;
  for (const Slot &slot : slots)
    text += (text.empty() ? "" : ", ") + slot.name;
  return text.empty() ? "none" : text;
}

//===----------------------------------------------------------------------===//
// Sizes of random inputs
//===----------------------------------------------------------------------===//

/// Splits "LEFT=N"; nothing where it is not of that form.
static std::optional<std::pair<std::string, int64_t>>
splitDim(const std::string &text) {
  const size_t equal = text.rfind('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    return std::nullopt;
  char *end;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str() + equal + 1, &end, 10);
  if (*end || errno || value < 0)
    return std::nullopt;
  return std::make_pair(text.substr(0, equal), value);
}

std::string run::findWrongAssignment(const Options &options) {
  for (const std::string &text : options.dims)
    if (!splitDim(text))
      return "--dim: expected INPUT.AXIS=N or SYMBOL=N with a size that is not "
             "negative, got \"" +
             text + "\"";
  for (const std::string &text : options.inputFiles) {
    const size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
      return "--input: expected NAME=FILE.npy, got \"" + text + "\"";
  }
  return {};
}

/// Whether `text` contains `name` as a whole word.
static bool mentions(const std::string &text, const std::string &name) {
  auto isWord = [](char c) {
    return std::isalnum((unsigned char)c) || c == '_';
  };
  for (size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) &&
        (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

/// The values of all symbols that `options` ask for.
class SymbolValues {
public:
  SymbolValues(const Session &session, const Options &options)
      : session(session), values(session.symbols.size(), -1) {
    for (const std::string &text : options.dims)
      set(text);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] < 0)
        values[i] = getDefault(session.symbols[i]);
  }

  const std::vector<int64_t> &get() const { return values; }

private:
  static int64_t roundUp(int64_t value, int64_t multiple) {
    return multiple > 1 ? (value + multiple - 1) / multiple * multiple : value;
  }

  static int64_t getDefault(const Symbol &symbol) {
    return roundUp(std::max(symbol.min, std::min(kDefaultSize, symbol.max)),
                   symbol.multiple);
  }

  void set(const std::string &text) {
    auto [left, size] = *splitDim(text);
    for (size_t i = 0; i < values.size(); ++i)
      if (session.symbols[i].name == left) {
        values[i] = size;
        return;
      }
    const size_t dot = left.rfind('.');
    const std::string input = left.substr(0, dot);
    for (size_t i = 0; i < session.inputs.size(); ++i)
      if (dot != std::string::npos && session.inputs[i].name == input)
        return solve(i, left.substr(dot + 1), size, text);
    fail("--dim ", text, ": no symbol or input has that name; inputs: ",
         listNames(session.inputs));
  }

  /// Finds the value of the one symbol in a dim that gives `size`.
  void solve(size_t input, const std::string &axisText, int64_t size,
             const std::string &text) {
    const Slot &slot = session.inputs[input];
    char *end;
    const int64_t axis = std::strtoll(axisText.c_str(), &end, 10);
    if (axisText.empty() || *end || axis < 0 ||
        axis >= int64_t(slot.dims.size()))
      fail("--dim ", text, ": ", slot.name, " has ", slot.dims.size(), " dims");
    if (slot.dims[axis] >= 0) {
      if (slot.dims[axis] != size)
        fail("--dim ", text, ": dim ", axis, " of ", slot.name, " is always ",
             slot.dims[axis]);
      return;
    }
    std::vector<size_t> unknown;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] < 0 &&
          mentions(slot.dimTexts[axis], session.symbols[i].name))
        unknown.push_back(i);
    std::vector<int64_t> trial = values;
    for (size_t i = 0; i < trial.size(); ++i)
      if (trial[i] < 0)
        trial[i] = getDefault(session.symbols[i]);
    if (unknown.empty() && session.getInputDims(input, trial)[axis] == size)
      return;
    if (unknown.size() != 1)
      fail("--dim ", text, ": dim ", axis, " of ", slot.name, " is ",
           slot.dimTexts[axis], "; give its symbols");
    const Symbol &symbol = session.symbols[unknown[0]];
    for (int64_t value = std::max<int64_t>(symbol.min, 0);
         value <= std::min(symbol.max, std::max<int64_t>(size, 64)); ++value) {
      if (symbol.multiple > 1 && value % symbol.multiple)
        continue;
      trial[unknown[0]] = value;
      if (session.getInputDims(input, trial)[axis] == size) {
        values[unknown[0]] = value;
        return;
      }
    }
    fail("--dim ", text, ": dim ", axis, " of ", slot.name, " is ",
         slot.dimTexts[axis], ", and no ", symbol.name, " (",
         symbol.describeRange(), ") makes it ", size);
  }

  const Session &session;
  std::vector<int64_t> values;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The bits of `value` in a float type.
static uint64_t encode(DType dtype, float value) {
  uint64_t bits = 0;
  switch (dtype) {
  case DType::F16:
    return encodeF16(value);
  case DType::BF16:
    return encodeBF16(value);
  case DType::E4M3FN:
    return encodeF8(value, F8Format::E4M3FN, F8Overflow::Saturate);
  case DType::E5M2:
    return encodeF8(value, F8Format::E5M2, F8Overflow::Saturate);
  case DType::E8M0FNU:
    return encodeF8(value, F8Format::E8M0FNU, F8Overflow::Saturate);
  case DType::F64: {
    const double wide = value;
    std::memcpy(&bits, &wide, 8);
    return bits;
  }
  default:
    std::memcpy(&bits, &value, 4);
    return bits;
  }
}

/// Normal numbers for floats, small integers, fair booleans.
static void fillRandom(HostTensor &tensor, std::mt19937_64 &generator) {
  const unsigned bytes = compare::elementBytes(tensor.dtype);
  std::normal_distribution<float> normal;
  for (size_t at = 0; at + bytes <= tensor.data.size(); at += bytes) {
    uint64_t bits;
    if (tensor.dtype == DType::Bool)
      bits = generator() & 1;
    else if (compare::isFloat(tensor.dtype))
      bits = encode(tensor.dtype, normal(generator));
    else
      bits = generator() % kRandomIntegers;
    std::memcpy(tensor.data.data() + at, &bits, bytes);
  }
}

std::vector<HostTensor> run::makeArguments(const Session &session,
                                           const Options &options) {
  TensorMap given;
  if (!options.inputs.empty())
    given = readTensors(options.inputs);
  for (const std::string &text : options.inputFiles) {
    const size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    auto slot = std::find_if(session.inputs.begin(), session.inputs.end(),
                             [&](const Slot &s) { return s.name == name; });
    if (equal == std::string::npos || slot == session.inputs.end())
      fail("--input: expected NAME=FILE with one of the names ",
           listNames(session.inputs), "; got \"", text, "\"");
    given[name] = readNpy(text.substr(equal + 1), slot->dtype, "input " + name);
  }

  std::vector<HostTensor> arguments;
  std::vector<int64_t> sizes;
  if (options.random)
    sizes = SymbolValues(session, options).get();
  std::mt19937_64 generator(options.random.value_or(0));
  for (size_t i = 0; i < session.inputs.size(); ++i) {
    const Slot &slot = session.inputs[i];
    auto found = given.find(slot.name);
    if (found != given.end()) {
      arguments.push_back(std::move(found->second));
      given.erase(found);
    } else if (options.random) {
      arguments.push_back(
          HostTensor::make(slot.dtype, session.getInputDims(i, sizes)));
      fillRandom(arguments.back(), generator);
    } else {
      fail("input \"", slot.name,
           "\" is missing; inputs: ", listNames(session.inputs));
    }
  }
  if (!given.empty())
    fail("the model has no input \"", given.begin()->first,
         "\"; inputs: ", listNames(session.inputs));
  return arguments;
}
