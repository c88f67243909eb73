//===- Version.h - Which LibTorch it is -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>

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

/// The numbers of a version that programs may rely on: 2, 6.
using Release = std::pair<unsigned, unsigned>;

/// The release in \p Text: "2.6", "2.6.0".
std::optional<Release> releaseIn(llvm::StringRef Text);
std::string shown(Release Of);

/// The release whose headers a unit includes; nullopt where nothing says.
std::optional<Release> releaseOf(clang::ASTContext &Context);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_VERSION_H
