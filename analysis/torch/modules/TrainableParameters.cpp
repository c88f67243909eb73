//===- TrainableParameters.cpp - Which modules own parameters -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// An interface: what runs, and what it owns, is up to derived classes.
static bool isInterface(const CXXRecordDecl *R) {
  if (R->isEffectivelyFinal())
    return false;
  return R->isAbstract() ||
         llvm::any_of(R->methods(), [](const CXXMethodDecl *Method) {
           return Method->isVirtual() && !isa<CXXDestructorDecl>(Method) &&
                  Method->size_overridden_methods() == 0;
         });
}

bool isPlainFunction(StringRef Class) {
  static constexpr StringRef Names =
      "Dropout Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Identity "
      "Flatten Unflatten Fold Unfold Upsample PixelShuffle PixelUnshuffle "
      "CrossMapLRN2d LocalResponseNorm CosineSimilarity PairwiseDistance "
      "Functional CELU ELU GELU GLU SELU SiLU Mish ReLU ReLU6 RReLU LeakyReLU "
      "Sigmoid LogSigmoid Tanh Tanhshrink Hardtanh Hardshrink Softshrink "
      "Softmax Softmax2d Softmin LogSoftmax Softplus Softsign Threshold";
  return llvm::is_contained(llvm::split(Names, ' '), Class);
}

/// LibTorch's module classes by the name of their implementation.
static Parameters libraryParameters(StringRef Impl) {
  if (!Impl.consume_back("Impl"))
    return Parameters::Unknown;
  static constexpr StringRef Owners =
      "Linear Bilinear Embedding EmbeddingBag PReLU Conv1d Conv2d Conv3d "
      "ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d "
      "BatchNorm2d BatchNorm3d LayerNorm GroupNorm RNN LSTM GRU RNNCell "
      "LSTMCell GRUCell MultiheadAttention Transformer TransformerEncoder "
      "TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer "
      "AdaptiveLogSoftmaxWithLoss";
  if (llvm::is_contained(llvm::split(Owners, ' '), Impl))
    return Parameters::Some;
  // Families: AvgPool2d, AdaptiveMaxPool1d, MaxUnpool3d, ZeroPad2d, MSELoss.
  return isPlainFunction(Impl) || Impl.ends_with("Loss") ||
                 Impl.contains("Pool") || Impl.contains("Unpool") ||
                 Impl.contains("Pad")
             ? Parameters::None
             : Parameters::Unknown;
}

namespace {

/// What constructors and reset() register.
struct Registrations {
  bool Parameter = false; ///< A parameter that requires gradients.
  bool Unclear = false;
  llvm::SmallVector<QualType, 4> Modules;

  void readIn(const Stmt *S) {
    cpp::forEach<CallExpr>(S, [&](const CallExpr *Call) {
      if (std::optional<Flag> Requires = registersParameter(Call)) {
        Parameter |= *Requires == Flag::True;
        Unclear |= *Requires == Flag::Unknown;
      } else if (std::optional<Registration> Reg = asRegistration(Call);
                 Reg && Reg->What == Registration::Module) {
        if (Reg->Value)
          Modules.push_back(Reg->Value->getType());
      } else if (std::optional<Flag> Set = setsRequiresGrad(Call)) {
        // A constructor that freezes what it just registered.
        Unclear |= *Set != Flag::True;
      }
    });
  }
};

Parameters join(Parameters A, Parameters B) {
  if (A == Parameters::Some || B == Parameters::Some)
    return Parameters::Some;
  return A == Parameters::None ? B : A;
}

using Visited = llvm::SmallPtrSet<const CXXRecordDecl *, 8>;

Parameters parametersOf(QualType T, Visited &Seen);
Parameters parametersOfUserClass(const CXXRecordDecl *R, Visited &Seen);

/// Of classes of which it was asked by themselves.
using KnownParameters = llvm::DenseMap<const CXXRecordDecl *, Parameters>;

Parameters parametersOf(const CXXRecordDecl *R, Visited &Seen) {
  if (!R || !R->hasDefinition() || R->isDependentContext())
    return Parameters::Unknown;
  R = R->getDefinition();
  if (isScriptClass(R))
    return Parameters::Some;
  if (isCompiledClass(R))
    return Parameters::None; // None that autograd knows.
  if (isTorchDecl(R))
    return libraryParameters(cpp::nameOf(R));
  auto &Known = cpp::ofUnit<KnownParameters>(R->getASTContext());
  if (auto It = Known.find(R); It != Known.end())
    return It->second;
  const bool ByItself = Seen.empty();
  // A cycle adds nothing that is not counted already.
  if (!Seen.insert(R).second)
    return Parameters::None;
  const Parameters Result = parametersOfUserClass(R, Seen);
  if (ByItself)
    Known[R] = Result;
  return Result;
}

/// A container of the standard library, of some length; not a tuple, whose
/// parts are in a pack.
bool isListOfModules(QualType T) {
  const auto *List =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(cpp::recordOf(T));
  return List && List->isInStdNamespace() &&
         llvm::any_of(List->getTemplateArgs().asArray(),
                      [](const TemplateArgument &Arg) {
                        return Arg.getKind() == TemplateArgument::Type &&
                               isModule(Arg.getAsType());
                      });
}

/// Those of the bases and fields of \p R.
Parameters parametersOfParts(const CXXRecordDecl *R, Visited &Seen) {
  Parameters Result = Parameters::None;
  for (const CXXBaseSpecifier &Base : R->bases()) {
    const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
    bool Plain = isTorchDecl(B) &&
                 (cpp::nameOf(B) == "Module" || cpp::nameOf(B) == "Cloneable");
    // Bases that are no modules own nothing that parameters() would find.
    if (!Plain && isModuleClass(B))
      Result = join(Result, parametersOf(B, Seen));
  }
  for (const FieldDecl *Field : R->fields()) {
    QualType T = Field->getType();
    if (T->isPointerType() || T->isReferenceType())
      continue; // Not an owner.
    if (isModule(T))
      Result = join(Result, parametersOf(T, Seen));
    else if (!isTensor(T) && (mayHoldTensor(T) || isListOfModules(T)))
      Result = join(Result, Parameters::Unknown);
  }
  return Result;
}

/// What the constructors, reset() and initialisers of \p R register. \p Visible
/// becomes false where they are defined elsewhere.
Registrations registeredBy(const CXXRecordDecl *R, bool &Visible) {
  Registrations Found;
  for (const CXXMethodDecl *Method : R->methods()) {
    const auto *Ctor = dyn_cast<CXXConstructorDecl>(Method);
    bool Resets = cpp::nameOf(Method) == "reset";
    if ((!Ctor && !Resets) || Method->isImplicit() || Method->isDefaulted() ||
        Method->isDeleted() || (Ctor && Ctor->isCopyOrMoveConstructor()))
      continue;
    const FunctionDecl *Definition = Method->getDefinition();
    if (!Definition || !Definition->doesThisDeclarationHaveABody()) {
      Visible = false;
      continue;
    }
    if (Ctor)
      for (const CXXCtorInitializer *Init :
           cast<CXXConstructorDecl>(Definition)->inits())
        Found.readIn(Init->getInit());
    Found.readIn(Definition->getBody());
  }
  for (const FieldDecl *Field : R->fields())
    Found.readIn(Field->getInClassInitializer());
  return Found;
}

Parameters parametersOfUserClass(const CXXRecordDecl *R, Visited &Seen) {
  Parameters Result = parametersOfParts(R, Seen);
  bool Visible = true;
  const Registrations Found = registeredBy(R, Visible);
  for (QualType T : Found.Modules)
    Result = join(Result, parametersOf(T, Seen));
  if (Found.Parameter)
    Result = join(Result, Parameters::Some);
  if (Found.Unclear)
    return Parameters::Unknown;
  const bool HoldsTensors =
      llvm::any_of(R->fields(), [](const FieldDecl *Field) {
        const QualType T = Field->getType();
        return !T->isPointerType() && !T->isReferenceType() && isTensor(T);
      });
  if (Result == Parameters::None && HoldsTensors &&
      (!Visible || !isModuleClass(R)))
    return Parameters::Unknown;
  return Result;
}

Parameters parametersOf(QualType T, Visited &Seen) {
  const CXXRecordDecl *R = heldClass(T);
  Parameters Result = parametersOf(R, Seen);
  if (Result == Parameters::None && !isTorchDecl(R) &&
      isInterface(R->getDefinition()))
    return Parameters::Unknown;
  return Result;
}

} // namespace

Parameters parametersOf(QualType T) {
  if (T.isNull() || T->isDependentType())
    return Parameters::Unknown;
  Visited Seen;
  return parametersOf(T, Seen);
}

} // namespace libtorch_tidy::torch
