//===- Version.h - Which LibTorch it is -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace libtorch_tidy::torch {

/// The headers that may define LibTorch's version, as an #include names them.
/// From 2.9 on it is the first one; the last is for flags without the folder of
/// the C++ frontend.
inline constexpr llvm::StringLiteral VersionHeaders[] = {
    "torch/headeronly/version.h", "torch/version.h",
    "torch/csrc/api/include/torch/version.h"};

/// The version that \p Text, of one of those headers, defines: "1.13.0". Empty
/// when it defines none.
inline std::string versionIn(llvm::StringRef Text) {
  std::string Result;
  for (llvm::StringRef Part : {"MAJOR", "MINOR", "PATCH"}) {
    const std::string Begin = ("#define TORCH_VERSION_" + Part + " ").str();
    const llvm::StringRef Number =
        Text.substr(Text.find(Begin))
            .drop_front(Text.contains(Begin) ? Begin.size() : 0)
            .take_while(llvm::isDigit);
    if (Number.empty())
      return {};
    Result += (Result.empty() ? "" : ".") + Number.str();
  }
  return Result;
}

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H
