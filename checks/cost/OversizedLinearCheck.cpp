//===- OversizedLinearCheck.cpp -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/Bytes.h"
#include "analysis/torch/modules/Layers.h"
#include "checks/base/Amounts.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include <map>

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct OversizedLinearReasons {
  Reason Small{"below-threshold", Effect::Silent,
               "Weight, gradient and the two moments of Adam take less than "
               "`TrainingBytes`."};
  Reason Vocabulary{"vocabulary", Effect::Silent,
                    "A size is called a vocabulary (`vocab_size`): such a head "
                    "has to be that large."};
  Reason Unknown{"size-unknown", Effect::Silent,
                 "A size is known at run time only, or to another file, which "
                 "makes the model."};
} OversizedLinear{};

/// 4096 x 4096 weights of float32 with a gradient and Adam's two moments.
constexpr uint64_t DefaultTrainingBytes = 256ULL << 20;
/// LibTorch's default dtype is float32.
constexpr uint64_t BytesPerWeight = 4;
/// The weight, its gradient and the two moments that Adam keeps of it.
constexpr uint64_t CopiesInTraining = 4;

/// A layer as it is made.
struct Layer {
  uint64_t In = 0, Out = 0;
  uint64_t Weight = 0; ///< In bytes.
  std::string Type = "float32";
  bool IsFrozen = false;
  std::string Model; ///< That has it; empty: the source itself says the rest.

  /// In bytes, with what training keeps of the weight.
  uint64_t inTraining() const {
    return IsFrozen ? Weight : Weight * CopiesInTraining;
  }
};

/// "Net(4096, 10)", or "Net(...)" where that is no text to read in a message.
std::string titleFor(const bytes::ModelRows &Model) {
  constexpr size_t Longest = 60;
  if (Model.Title.size() <= Longest && llvm::all_of(Model.Title, llvm::isPrint))
    return Model.Title;
  return Model.Modules.front().Class + "(...)";
}

Finding worded(const Expr *Make, const Layer &L) {
  return Finding::from(Make)
      .says("large layer: Linear(" + llvm::Twine(L.In) + ", " +
            llvm::Twine(L.Out) + ")" +
            (L.Model.empty() ? "" : " in " + L.Model) + " takes " +
            readableBytes(L.Weight) + " for its weight" +
            (L.IsFrozen
                 ? ""
                 : ", " + readableBytes(L.Weight * 2) +
                       " with the gradient and " +
                       readableBytes(L.inTraining()) + " with Adam's state") +
            " (" + L.Type + ")")
      .bytes(L.Weight);
}

/// docs/checks/libtorch-oversized-linear.md says what it finds and why.
class OversizedLinearCheck : public LibtorchCheck {
public:
  OversizedLinearCheck(StringRef Name, tidy::ClangTidyContext *Context)
      : LibtorchCheck(Name, Context),
        TrainingBytes(Options.get("TrainingBytes", DefaultTrainingBytes)) {}

  void storeOptions(tidy::ClangTidyOptions::OptionMap &Opts) override {
    LibtorchCheck::storeOptions(Opts);
    Options.store(Opts, "TrainingBytes", TrainingBytes);
  }

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(
        cxxConstructExpr(
            hasType(hasUnqualifiedDesugaredType(
                recordType(hasDeclaration(cxxRecordDecl(
                    hasAnyName(torch::LinearClass, torch::LinearImplClass)))))))
            .bind("make"),
        this);
    Finder->addMatcher(
        callExpr(callee(functionDecl(hasName(torch::MakeShared)))).bind("make"),
        this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Make = Result.Nodes.getNodeAs<Expr>("make");
    auto Shape = torch::linearShape(Make, context());
    // Beyond that the product is nonsense, and may overflow.
    constexpr uint64_t Sane = 1ULL << 28;
    if (!Shape && torch::makesLinearOfGivenSizes(Make)) {
      Open.push_back(Make);
    } else if (!Shape) {
      if (asksWhy() && torch::makesLinearOfVocabulary(Make))
        silent(Make->getBeginLoc(), OversizedLinear.Vocabulary);
    } else if (Shape->In != 0 && Shape->Out != 0 && Shape->In <= Sane &&
               Shape->Out <= Sane) {
      Layer L;
      L.In = Shape->In;
      L.Out = Shape->Out;
      L.Weight = L.In * L.Out * BytesPerWeight;
      checkLayer(Make, L);
    }
  }

  /// The models that the unit makes say what is open.
  void checkMatched() override {
    if (Open.empty() || !isWhole())
      return;
    const SourceManager &SM = context().getSourceManager();
    std::map<SourceLocation, Layer> Largest;
    bytes::BudgetRequest Request;
    Request.WithSteps = false;
    const bytes::UnitBudget Budget = bytes::elaborate(
        context(), Request, std::numeric_limits<unsigned>::max(), {});
    for (const bytes::ModelRows &Model : Budget.Models)
      for (const bytes::ModuleRow &Row : Model.Modules) {
        if (Row.Class != torch::LinearName)
          continue;
        for (const bytes::TensorRow &T : Row.Tensors) {
          Layer &L = Largest[SM.getFileLoc(Row.At)];
          if (T.Shape.size() != 2 || !T.IsKnown)
            continue;
          Layer Next = {
              uint64_t(T.Shape[1]), uint64_t(T.Shape[0]), T.Bytes, T.Type,
              !T.GetsGradient,      titleFor(Model)};
          if (Next.inTraining() > L.inTraining())
            L = std::move(Next);
        }
      }
    for (const Expr *Make : Open)
      if (auto It = Largest.find(SM.getFileLoc(Make->getBeginLoc()));
          It != Largest.end() && It->second.Weight)
        checkLayer(Make, It->second);
      else
        silent(Make->getBeginLoc(), OversizedLinear.Unknown);
  }

private:
  void checkLayer(const Expr *Make, const Layer &L) {
    if (L.inTraining() >= TrainingBytes)
      report(worded(Make, L));
    else if (asksWhy())
      silent(Make->getBeginLoc(), OversizedLinear.Small,
             readableBytes(L.inTraining()));
  }

  const uint64_t TrainingBytes; ///< What a layer may take.
  /// Layers whose sizes the arguments of their model decide.
  llvm::SmallVector<const Expr *, 8> Open;
};

} // namespace

LIBTORCH_CHECK(OversizedLinearCheck, OversizedLinear);

} // namespace libtorch_tidy
