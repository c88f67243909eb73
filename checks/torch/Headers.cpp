//===- Headers.cpp - Whose headers and whose code -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Headers.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isUserCode(SourceLocation Loc, const SourceManager &SM) {
  Loc = SM.getExpansionLoc(Loc);
  if (Loc.isInvalid() || SM.isInSystemHeader(Loc))
    return false;
  if (SM.isInMainFile(Loc))
    return true;
  const StringRef Path = SM.getFilename(Loc);
  return !isTorchHeader(Path) && !isInstalledHeader(Path);
}

bool isTorchHeader(StringRef Path) {
  // LibTorch's install layout: include/{ATen,c10,caffe2,torch/csrc,torch/*.h}.
  return Path.contains("/torch/csrc/") || Path.contains("/include/ATen/") ||
         Path.contains("/include/c10/") || Path.contains("/include/caffe2/") ||
         Path.contains("/include/torch/");
}

bool isInstalledHeader(StringRef Path) {
  return Path.starts_with("/usr/include/") ||
         Path.starts_with("/usr/local/include/");
}

bool namesTorchHeader(StringRef Name) {
  return Name.starts_with("torch/") || Name.starts_with("ATen/") ||
         Name.starts_with("c10/") || Name.starts_with("caffe2/");
}

bool isWholeFrontend(StringRef Name) {
  return Name == "torch/torch.h" || Name == "torch/all.h" ||
         Name == "torch/extension.h";
}

bool isLargeBesideFrontend(llvm::StringRef Name) {
  return Name == "torch/script.h";
}

} // namespace libtorch_tidy::torch
