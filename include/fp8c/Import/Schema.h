//===- Schema.h - An exported program as data -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What models/model.json says, in small structs. Source of truth: PyTorch's
// torch/_export/serde/schema.py, major version 8.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_SCHEMA_H
#define FP8C_IMPORT_SCHEMA_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8c::import {

/// A size or integer: a number, the name of a value, or a sympy expression as
/// its `srepr`.
struct SymInt {
  enum class Kind { Number, Name, Expression } kind = Kind::Number;
  int64_t number = 0;
  std::string text;
  /// The size that the model was exported with, of an expression.
  std::optional<int64_t> hint;
};

/// Shape and type of a tensor; `dtype` is the schema's own number.
struct TensorMeta {
  int64_t dtype = 0;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;
  SymInt offset;
};

struct Graph;

/// One argument or result of a node: the tagged union of the schema.
struct Argument {
  enum class Kind {
    None,
    Tensor,
    Tensors,
    OptionalTensors,
    Int,
    Ints,
    SymInt,
    SymInts,
    Float,
    Floats,
    SymFloat,
    Bool,
    Bools,
    SymBool,
    String,
    Strings,
    ScalarType,
    Device,
    Layout,
    MemoryFormat,
    Unknown
  };
  Kind kind = Kind::None;
  /// Names of tensors (empty: None), of a float or condition on sizes, or the
  /// strings, or the kind of an unknown argument.
  std::vector<std::string> names;
  /// Integers, sizes, dtype and other numbers.
  std::vector<SymInt> ints;
  std::vector<double> floats;
  std::vector<bool> bools;
  /// Of an unknown argument that is a graph.
  std::shared_ptr<Graph> graph;
};

/// An argument with its name in the operator's schema.
struct NamedArgument {
  std::string name;
  bool keyword = false;
  Argument value;
};

/// One operation of the graph.
struct Node {
  std::string name;
  /// The operator without "torch.ops.", e.g. "aten.add.Tensor".
  std::string target;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  /// The model's own source line and the module path, empty where unknown.
  std::string file;
  unsigned line = 0;
  std::string modulePath;
};

/// Nodes and what is known of their values.
struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, SymInt> symInts;
  /// Floats and conditions on sizes, as expressions.
  std::map<std::string, SymInt> symFloats, symBools;
};

/// What an input of the graph is.
struct InputSpec {
  enum class Kind {
    UserInput,
    Parameter,
    Buffer,
    Constant,
    ConstantInput,
    Unsupported
  };
  Kind kind = Kind::UserInput;
  /// The argument of the graph.
  Argument argument;
  /// The parameter's, buffer's or constant's name in the model, the name of
  /// an input that was a constant at export (`argument` is its value), or the
  /// kind of an unsupported input.
  std::string name;
};

/// What an output of the graph is.
struct OutputSpec {
  enum class Kind { UserOutput, BufferMutation, InputMutation, Unsupported };
  Kind kind = Kind::UserOutput;
  Argument argument;
  /// The buffer or user input that is written, or the unsupported kind.
  std::string name;
};

/// The range of a symbol, both ends inclusive.
struct SymbolRange {
  int64_t min = 0;
  std::optional<int64_t> max;
};

/// models/model.json.
struct ExportedProgram : Graph {
  std::vector<InputSpec> inputSpecs;
  std::vector<OutputSpec> outputSpecs;
  std::map<std::string, SymbolRange> ranges;
  std::vector<std::string> guards;
  std::string torchVersion, dialect;
  /// The nesting of inputs and outputs: pytree specs, JSON.
  std::string inSpec, outSpec;
};

/// Where a weight or constant lies in the archive.
struct StorageEntry {
  std::string path;
  bool pickled = false;
  TensorMeta meta;
};

/// Parses models/model.json. The error names what is wrong.
llvm::Expected<ExportedProgram> parseProgram(llvm::StringRef json);

/// Parses a weights or constants config; keys are names in the model.
llvm::Expected<std::map<std::string, StorageEntry>>
parseStorageConfig(llvm::StringRef json);

} // namespace fp8c::import

#endif // FP8C_IMPORT_SCHEMA_H
