//===- Version.cpp - Which LibTorch it is ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Version.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

std::optional<Release> releaseIn(StringRef Text) {
  Release Result;
  if (Text.consumeInteger(10, Result.first) || !Text.consume_front(".") ||
      Text.consumeInteger(10, Result.second))
    return std::nullopt;
  unsigned Patch;
  if (Text.consume_front(".") && Text.consumeInteger(10, Patch))
    return std::nullopt;
  return Text.empty() ? std::optional(Result) : std::nullopt;
}

std::string shown(Release Of) {
  return std::to_string(Of.first) + "." + std::to_string(Of.second);
}

std::optional<Release> releaseOf(ASTContext &Context) {
  // Not all headers include the one that says it, but it is next to them.
  SourceManager &SM = Context.getSourceManager();
  const auto *Module =
      dyn_cast_or_null<CXXRecordDecl>(declared(Context, "torch::nn::Module"));
  if (!Module || !(Module = Module->getDefinition()))
    return std::nullopt;
  StringRef Folder = SM.getFilename(SM.getFileLoc(Module->getLocation()));
  if (!Folder.consume_back("torch/nn/module.h"))
    return std::nullopt;
  // The folder of the frontend is below that of the others:
  // torch/csrc/api/include.
  for (StringRef Base : {"", "../../../../"})
    for (StringRef Name : VersionHeaders)
      if (const auto Text = SM.getFileManager().getBufferForFile(
              (Folder + Base + Name).str()))
        if (const auto Found = releaseIn(versionIn((*Text)->getBuffer())))
          return Found;
  return std::nullopt;
}

} // namespace libtorch_tidy::torch
