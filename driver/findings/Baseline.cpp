//===- Baseline.cpp - Findings that are known already ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/Selection.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <tuple>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

/// What the file is, and the version of its form.
static constexpr const char *VersionKey = "libtorch-tidy-baseline";
static constexpr unsigned Version = 2;
/// Its findings do not say what else they stand for.
static constexpr unsigned VersionWithoutMembers = 1;

static std::string relativeTo(StringRef Folder, StringRef Path) {
  auto A = path::begin(Folder), AEnd = path::end(Folder);
  auto B = path::begin(Path), BEnd = path::end(Path);
  while (A != AEnd && B != BEnd && *A == *B) {
    ++A;
    ++B;
  }
  llvm::SmallString<256> Result;
  for (; A != AEnd; ++A)
    path::append(Result, "..");
  for (; B != BEnd; ++B)
    path::append(Result, *B);
  return Result.str().str();
}

std::string Baseline::absolute(StringRef Path) const {
  llvm::SmallString<256> Result(Folder);
  path::append(Result, Path);
  path::remove_dots(Result, /*remove_dot_dot=*/true);
  return Result.str().str();
}

Expected<Baseline> Baseline::parse(StringRef Text, StringRef Folder) {
  const Json File = parseJson(Text);
  if (File.is_discarded())
    return makeError("it is not JSON");
  if (!File.is_object() || !File.contains(VersionKey))
    return makeError("it was not written by 'libtorch-tidy baseline'");
  const bool HasMembers = File[VersionKey] == Version;
  if (!HasMembers && File[VersionKey] != VersionWithoutMembers)
    return makeError("this program does not know its version");
  if (!at(File, {"findings"}).is_array())
    return makeError("it has no list 'findings'");
  Baseline Result(Folder);
  for (const Json &Entry : File["findings"]) {
    BaselineEntry E;
    if (!at(Entry, {"level"}).is_number_unsigned())
      return makeError("a finding has no 'level'");
    E.Strength = Entry["level"].get<unsigned>();
    for (auto [Key, Value] : {std::pair("check", &E.Check),
                              {"file", &E.File},
                              {"function", &E.Function},
                              {"unit", &E.Unit},
                              {"fingerprint", &E.Fingerprint},
                              {"message", &E.Message}}) {
      if (!at(Entry, {Key}).is_string())
        return makeError("a finding has no '" + llvm::Twine(Key) + "'");
      *Value = textOf(Entry[Key]);
    }
    if (HasMembers)
      E.Members.emplace();
    if (HasMembers && Entry.contains("members")) {
      if (!Entry["members"].is_array())
        return makeError("the 'members' of a finding are not a list");
      for (const Json &Member : Entry["members"]) {
        if (!Member.is_string())
          return makeError("a member of a finding is not a fingerprint");
        E.Members->push_back(textOf(Member));
      }
    }
    Result.Entries.push_back(std::move(E));
  }
  return Result;
}

void Baseline::add(llvm::ArrayRef<Finding> Findings, SourceTexts &Texts) {
  for (const Finding &F : Findings) {
    if (F.Kind != FindingKind::Defect || F.Where.Path.empty())
      continue;
    std::vector<std::string> Members = memberFingerprints(F, Texts);
    llvm::sort(Members);
    Entries.push_back({F.Check, relativeTo(Folder, F.Where.Path), F.Function,
                       fingerprint(F, Texts), F.Message,
                       relativeTo(Folder, F.Unit),
                       static_cast<unsigned>(F.Strength), std::move(Members)});
  }
}

void Baseline::add(BaselineEntry Entry, const Baseline &Other) {
  Entry.File = relativeTo(Folder, Other.absolute(Entry.File));
  Entry.Unit = relativeTo(Folder, Other.absolute(Entry.Unit));
  Entries.push_back(std::move(Entry));
}

std::string Baseline::text() const {
  std::vector<BaselineEntry> Ordered = Entries;
  llvm::sort(Ordered, [](const BaselineEntry &A, const BaselineEntry &B) {
    auto Key = [](const BaselineEntry &E) {
      return std::tie(E.File, E.Check, E.Function, E.Fingerprint, E.Message,
                      E.Unit, E.Strength, E.Members);
    };
    return Key(A) < Key(B);
  });
  Json List = Json::array();
  for (const BaselineEntry &E : Ordered) {
    List.push_back({{"file", E.File},
                    {"check", E.Check},
                    {"function", E.Function},
                    {"message", E.Message},
                    {"level", E.Strength},
                    {"unit", E.Unit},
                    {"fingerprint", E.Fingerprint}});
    if (E.Members && !E.Members->empty())
      List.back()["members"] = *E.Members;
  }
  Json File = {{VersionKey, Version}, {"findings", std::move(List)}};
  return written(File, 1) + "\n";
}

/// Which members of a finding, by number, \p E does not know; \p Members are
/// their fingerprints. How many of \p E are not among them is noted.
static std::vector<size_t> newMembers(llvm::ArrayRef<std::string> Members,
                                      BaselineEntry &E) {
  std::vector<size_t> Result;
  E.GoneMembers = 0;
  if (!E.Members)
    return Result;
  std::vector<std::string> Left = *E.Members; // One for each, as entries are.
  for (size_t I = 0; I < Members.size(); ++I)
    if (auto It = llvm::find(Left, Members[I]); It != Left.end())
      Left.erase(It);
    else
      Result.push_back(I);
  E.GoneMembers = Left.size();
  return Result;
}

/// Says in the story of \p F that its member \p M is new. A long story may
/// leave it out.
static void tellNew(Finding &F, const FindingStep &M) {
  auto It = llvm::find_if(F.Steps, [&](const FindingStep &S) {
    return S.Where.Path == M.Where.Path && S.Where.Begin == M.Where.Begin &&
           S.Text == M.Text;
  });
  FindingStep &Told = It != F.Steps.end() ? *It : F.Steps.emplace_back(M);
  Told.Text += ", which the baseline does not have";
}

std::vector<BaselineEntry>
Baseline::match(llvm::MutableArrayRef<Finding> Findings, SourceTexts &Texts,
                llvm::vfs::FileSystem &FS) const {
  struct Open {
    Finding *F;
    std::string File, Function, Fingerprint;
    std::vector<std::string> Members;
  };
  std::vector<Open> New;
  for (Finding &F : Findings)
    if (F.Kind == FindingKind::Defect && !F.Where.Path.empty())
      New.push_back({&F, relativeTo(Folder, F.Where.Path), F.Function,
                     fingerprint(F, Texts), memberFingerprints(F, Texts)});
  std::vector<BaselineEntry> Left = Entries, Reduced;
  // The best matches first, so that they are not taken by worse ones.
  auto PassOf = [&](auto Same, bool WithNewMembers) {
    llvm::erase_if(Left, [&](BaselineEntry &E) {
      std::vector<size_t> NewOnes;
      auto It = llvm::find_if(New, [&](const Open &O) {
        if (O.F->Check != E.Check || O.Fingerprint != E.Fingerprint ||
            !Same(O, E))
          return false;
        NewOnes = newMembers(O.Members, E);
        return NewOnes.empty() || WithNewMembers;
      });
      if (It == New.end())
        return false;
      if (E.GoneMembers)
        Reduced.push_back(E);
      Finding &F = *It->F;
      F.Known = NewOnes.empty();
      for (size_t I : NewOnes)
        tellNew(F, F.Members[I]);
      New.erase(It);
      return true;
    });
  };
  auto Pass = [&](auto Same) {
    PassOf(Same, /*WithNewMembers=*/false);
    PassOf(Same, /*WithNewMembers=*/true);
  };
  Pass([](const Open &O, const BaselineEntry &E) {
    return O.File == E.File && O.Function == E.Function;
  });
  Pass([](const Open &O, const BaselineEntry &E) { return O.File == E.File; });
  llvm::StringMap<bool> There;
  Pass([&](const Open &, const BaselineEntry &E) {
    auto [It, First] = There.try_emplace(E.File);
    if (First)
      It->second = FS.exists(absolute(E.File));
    return !It->second;
  });
  llvm::append_range(Left, Reduced);
  return Left;
}

} // namespace libtorch_tidy::driver
