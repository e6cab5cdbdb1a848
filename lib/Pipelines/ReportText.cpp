//===- ReportText.cpp - The report for people -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Report.h"
#include "fp8c/Pipelines/SourceFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace fp8c;
namespace json = llvm::json;
using llvm::StringRef;

namespace {
/// A heading, then rows of cells; `columns` names them, or is empty.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
} // namespace

static StringRef getText(const json::Object &row, StringRef key) {
  return row.getString(key).value_or("");
}

/// A size or a number of bytes: `128*s0 (4096)`.
static std::string formatSize(const json::Object *size) {
  if (!size)
    return "";
  std::string text = getText(*size, "expr").str();
  std::optional<int64_t> value = size->getInteger("value");
  if (value && text != std::to_string(*value))
    text += " (" + std::to_string(*value) + ")";
  return text;
}

static std::string join(const json::Array *list) {
  std::string text;
  for (const json::Value &value : *list)
    text += (text.empty() ? "" : " ") + value.getAsString().value_or("").str();
  return text;
}

/// Calls `add` for the rows of an array of objects.
static void forEach(const json::Object &report, StringRef key,
                    llvm::function_ref<void(const json::Object &)> add) {
  if (const json::Array *rows = report.getArray(key))
    for (const json::Value &row : *rows)
      if (const json::Object *object = row.getAsObject())
        add(*object);
}

static std::vector<Table> makeTables(const json::Object &report) {
  std::vector<Table> tables;
  std::string at;
  forEach(report, "symbols", [&](const json::Object &row) {
    StringRef name = getText(row, "name");
    at += llvm::formatv("{0}{1}={2}", at.empty() ? "" : ", ", name,
                        report.getObject("sizes")->getInteger(name).value_or(0))
              .str();
  });

  Table moved{"bytes moved by a call" + (at.empty() ? "" : " (at " + at + ")"),
              {"", "launches", "read", "written", "total"},
              {}};
  for (StringRef when : {"before", "after"})
    if (const json::Object *row = report.getObject("traffic")->getObject(when))
      if (row->get("launches"))
        moved.rows.push_back({when.str(),
                              std::to_string(*row->getInteger("launches")),
                              formatSize(row->getObject("read")),
                              formatSize(row->getObject("written")),
                              formatSize(row->getObject("total"))});
  tables.push_back(std::move(moved));

  const json::Object *counts = report.getObject("counts");
  auto count = [&](StringRef key) {
    return counts->getInteger(key).value_or(0);
  };
  Table casts{
      llvm::formatv("casts to f8: {0} fused, {1} left; amax: {2} fused, {3} "
                    "left",
                    count("casts_fused"), count("casts_left"),
                    count("amaxs_fused"), count("amaxs_left"))
          .str(),
      {"node", "", "", "input", "reason"},
      {}};
  forEach(report, "casts", [&](const json::Object &row) {
    if (getText(row, "function") == "forward")
      casts.rows.push_back(
          {getText(row, "node").str(), getText(row, "what").str(),
           row.getBoolean("fused").value_or(false) ? "fused" : "left",
           getText(row, "input").str(), getText(row, "reason").str()});
  });
  tables.push_back(std::move(casts));

  Table kernels{"kernels", {"entry", "kernel", "nodes", "read", "written"}, {}};
  forEach(report, "kernels", [&](const json::Object &row) {
    kernels.rows.push_back(
        {getText(row, "entry").str(), getText(row, "kernel").str(),
         join(row.getArray("nodes")), formatSize(row.getObject("read")),
         formatSize(row.getObject("written"))});
  });
  tables.push_back(std::move(kernels));

  Table products{"products", {"node", "m x n x k", "types", "back end"}, {}};
  forEach(report, "products", [&](const json::Object &row) {
    products.rows.push_back(
        {getText(row, "node").str(),
         formatSize(row.getObject("m")) + " x " +
             formatSize(row.getObject("n")) + " x " +
             formatSize(row.getObject("k")),
         (getText(row, "a") + " x " + getText(row, "b") + " to " +
          getText(row, "d"))
             .str(),
         (getText(row, "back_end") + ": " + getText(row, "reason")).str()});
  });
  forEach(report, "attention", [&](const json::Object &row) {
    products.rows.push_back(
        {getText(row, "node").str(), "", "attention",
         (getText(row, "back_end") + ": " + getText(row, "reason")).str()});
  });
  tables.push_back(std::move(products));

  Table state{"state", {"buffer", "type"}, {}};
  forEach(report, "state", [&](const json::Object &row) {
    state.rows.push_back(
        {getText(row, "name").str(), getText(row, "type").str()});
  });
  tables.push_back(std::move(state));

  Table memory{"memory in bytes", {}, {}};
  if (const json::Object *row = report.getObject("memory")) {
    for (StringRef key : {"weights", "state", "inputs", "outputs", "buffers"})
      memory.rows.push_back({key.str(), formatSize(row->getObject(key))});
    if (std::optional<int64_t> live = row->getInteger("live_at_once"))
      memory.rows.push_back({"buffers live at once", std::to_string(*live)});
  }
  tables.push_back(std::move(memory));

  Table decisions{"decisions", {"pass", "", "", "node", "what", "why"}, {}};
  forEach(report, "decisions", [&](const json::Object &row) {
    if (getText(row, "pass") == "fp8-fuse-casts" ||
        getText(row, "name") == "back-end")
      return;
    decisions.rows.push_back(
        {getText(row, "pass").str(), getText(row, "function").str(),
         getText(row, "kind").str(),
         getText(*row.getObject("facts"), "Node").str(),
         getText(row, "message").str(), getText(row, "reason").str()});
  });
  tables.push_back(std::move(decisions));
  return tables;
}

static std::string renderText(const std::vector<Table> &tables) {
  std::string text;
  for (const Table &table : tables) {
    if (table.rows.empty())
      continue;
    text += table.title + "\n";
    std::vector<size_t> widths(table.rows.front().size());
    auto fit = [&](const std::vector<std::string> &row) {
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    };
    fit(table.columns);
    llvm::for_each(table.rows, fit);
    auto add = [&](const std::vector<std::string> &row) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i)
        line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
      text += StringRef(line).rtrim().str() + "\n";
    };
    if (!table.columns.empty())
      add(table.columns);
    llvm::for_each(table.rows, add);
    text += "\n";
  }
  return text;
}

static std::string escape(StringRef text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    default:
      result += c;
    }
  return result;
}

static std::string renderHtml(const std::vector<Table> &tables) {
  std::string html =
      "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>fp8c report</title>\n"
      "<style>body{font:14px sans-serif;margin:2em}table{border-collapse:"
      "collapse}td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}"
      "</style>\n";
  for (const Table &table : tables) {
    if (table.rows.empty())
      continue;
    html += "<h2>" + escape(table.title) + "</h2>\n<table>\n";
    auto add = [&](const std::vector<std::string> &row, StringRef cell) {
      html += "<tr>";
      for (const std::string &text : row)
        html += ("<" + cell + ">" + escape(text) + "</" + cell + ">").str();
      html += "</tr>\n";
    };
    if (!table.columns.empty())
      add(table.columns, "th");
    for (const auto &row : table.rows)
      add(row, "td");
    html += "</table>\n";
  }
  return html;
}

std::string fp8c::renderReport(const json::Object &report,
                               ReportFormat format) {
  if (format == ReportFormat::Json)
    return llvm::formatv("{0:2}\n", json::Value(json::Object(report))).str();
  std::vector<Table> tables = makeTables(report);
  return format == ReportFormat::Html ? renderHtml(tables) : renderText(tables);
}

llvm::Expected<ReportRequest> ReportRequest::parse(StringRef text) {
  auto [name, file] = text.split(':');
  auto format = llvm::StringSwitch<std::optional<ReportFormat>>(name)
                    .Cases({"", "text"}, ReportFormat::Text)
                    .Case("json", ReportFormat::Json)
                    .Case("html", ReportFormat::Html)
                    .Default(std::nullopt);
  if (!format)
    return llvm::createStringError(
        "--report=" + text +
        ": expected text, json or html, and :FILE if not for stdout");
  return ReportRequest{*format, file.empty() ? "-" : file.str()};
}

llvm::Error ReportRequest::write(const json::Object &report) const {
  return writeText(file, renderReport(report, format));
}
