//===- SizeText.cpp - Sizes as text ---------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Analysis/SymbolicShape.h"

#include "llvm/ADT/StringExtras.h"

using namespace fp8c;

std::string SymbolicShape::str(SizeExpr expr) const {
  auto atomText = [&](unsigned id) -> std::string {
    const Atom &atom = atoms[id];
    switch (atom.kind) {
    case Atom::Kind::Symbol:
      return atom.name;
    case Atom::Kind::Value:
      return "v" + std::to_string(id);
    case Atom::Kind::Dim:
      return "d" + std::to_string(id);
    case Atom::Kind::FloorDiv:
      return "((" + str(atom.lhs) + ")//(" + str(atom.rhs) + "))";
    case Atom::Kind::Min:
      return "min(" + str(atom.lhs) + ", " + str(atom.rhs) + ")";
    case Atom::Kind::Max:
      return "max(" + str(atom.lhs) + ", " + str(atom.rhs) + ")";
    }
    return "?";
  };
  if (expr->terms.empty())
    return "0";
  std::string text;
  for (const SizeTerm &term : expr->terms) {
    int64_t factor = term.factor;
    if (!text.empty()) {
      text += factor < 0 ? " - " : " + ";
      factor = factor < 0 ? -factor : factor;
    }
    std::vector<std::string> factors;
    if (factor == -1 && !term.atoms.empty())
      text += "-";
    else if (factor != 1 || term.atoms.empty())
      factors.push_back(std::to_string(factor));
    for (unsigned atom : term.atoms)
      factors.push_back(atomText(atom));
    text += llvm::join(factors, "*");
  }
  return text;
}

namespace {
/// Recursive descent over the text of a size.
class SizeParser {
public:
  SizeParser(SymbolicShape &shapes, llvm::StringRef text)
      : shapes(shapes), text(text) {}

  SizeExpr parseAll() {
    SizeExpr expr = parseSum();
    return expr && text.trim().empty() ? expr : nullptr;
  }

private:
  bool take(llvm::StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }

  SizeExpr parseSum() {
    if (++depth > 256)
      return nullptr;
    bool negative = take("-");
    SizeExpr left = parseProduct();
    if (left && negative)
      left = shapes.sub(shapes.constant(0), left);
    while (left) {
      bool isSum = take("+");
      if (!isSum && !take("-"))
        break;
      SizeExpr right = parseProduct();
      if (!right)
        return nullptr;
      left = isSum ? shapes.add(left, right) : shapes.sub(left, right);
    }
    --depth;
    return left;
  }

  SizeExpr parseProduct() {
    SizeExpr left = parseFactor();
    while (left) {
      char op = take("*") ? '*' : take("//") ? '/' : take("%") ? '%' : 0;
      if (!op)
        break;
      SizeExpr right = parseFactor();
      if (!right)
        return nullptr;
      left = op == '*'   ? shapes.mul(left, right)
             : op == '/' ? shapes.floorDiv(left, right)
                         : shapes.mod(left, right);
    }
    return left;
  }

  SizeExpr parseFactor() {
    if (take("(")) {
      SizeExpr inner = parseSum();
      return inner && take(")") ? inner : nullptr;
    }
    text = text.ltrim();
    llvm::StringRef word =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(word.size());
    int64_t number;
    if (word.empty())
      return nullptr;
    if (!word.getAsInteger(10, number))
      return shapes.constant(number);
    if (llvm::isDigit(word.front()))
      return nullptr;
    if ((word == "min" || word == "max" || word == "ceildiv") && take("(")) {
      SizeExpr left = parseSum();
      if (!left || !take(","))
        return nullptr;
      SizeExpr right = parseSum();
      if (!right || !take(")"))
        return nullptr;
      return word == "min"   ? shapes.min(left, right)
             : word == "max" ? shapes.max(left, right)
                             : shapes.ceilDiv(left, right);
    }
    return shapes.symbol(word);
  }

  SymbolicShape &shapes;
  llvm::StringRef text;
  unsigned depth = 0;
};
} // namespace

SizeExpr SymbolicShape::parse(llvm::StringRef text) {
  SizeExpr expr = nullptr;
  bool fits = attempt([&] { expr = SizeParser(*this, text).parseAll(); });
  return fits ? expr : nullptr;
}
