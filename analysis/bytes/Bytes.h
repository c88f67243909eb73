//===- Bytes.h - How many bytes models and tensors take ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What analysis/bytes tells the checks and the driver. The models of a unit
/// are plain data: the tree of modules, and the bytes of each tensor in it.
/// Sizes are those of the elements; allocators round up.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_BYTES_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_BYTES_H

#include "analysis/torch/api/Version.h"
#include "clang/AST/ASTContext.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::bytes {

/// A line of the user's code.
struct Spot {
  std::string File;  ///< As the compiler spells it.
  unsigned Line = 0; ///< 0: the file itself, of a model that is read from one.
};

/// A tensor of a module.
struct TensorRow {
  std::string Name;
  bool IsParameter = false; ///< Else a buffer.
  bool GetsGradient = false;
  std::vector<int64_t> Shape;       ///< -1: not known.
  bool HasShape = true;             ///< Else not even its dimensions are known.
  std::string Type;                 ///< "float32"; empty: not known.
  uint64_t Elements = 0, Bytes = 0; ///< 0 when they are not known.
  bool IsKnown = true;
};

/// A module of the tree. A row follows the row of its parent.
struct ModuleRow {
  std::string Path; ///< "encoder.layer1.0"; of the model itself empty.
  std::string Name; ///< Its last part; of the model itself its class.
  std::string Class;
  Spot Defined; ///< Of a user's class.
  Spot Made;
  clang::SourceLocation At; ///< The same; it stays where the unit is.
  unsigned Depth = 0;
  std::vector<TensorRow> Tensors; ///< Its own, not those of its children.
  /// There may be more in it than the rows say.
  bool IsIncomplete = false;
  /// Kept alive by the model, but in no parameters(): no optimizer knows it.
  bool IsUnlisted = false;
  /// A TorchScript module, which torch::jit::load() makes of this file; empty:
  /// of one that is not known. Who asks reads it.
  std::optional<std::string> Archive;
  /// The path of the row that counts this module; it is the same object.
  bool IsRepeated = false;
  std::string SameAs;
  // When a step was asked for:
  std::string Result; ///< The sizes of what its forward() gave last.
  uint64_t Kept = 0;  ///< Until backward(), of what it made itself.
};

/// What the totals may miss.
struct MissingRow {
  Spot Where;
  std::string Text;
};

/// What figures say.
enum class Bound : unsigned char {
  Exact,
  AtLeast,
  AtMost,
  Estimate, ///< Nothing is left out, and a few percent may be off.
  Unknown,  ///< Something is left out, and something may be too much.
};
/// What a figure says that would say \p Own and lacks something.
inline Bound lacking(Bound Own) {
  return Own == Bound::Exact || Own == Bound::AtLeast ? Bound::AtLeast
                                                      : Bound::Unknown;
}

/// The most that was in use at once.
struct PeakRow {
  uint64_t Bytes = 0;
  Spot Where;         ///< Empty: before all operators, or in the optimizer.
  std::string Module; ///< The path of the module whose forward() runs there.
  bool IsBackward = false;  ///< It is the backward pass of what runs there.
  bool IsOptimizer = false; ///< In its step().
};

/// What was in use while one operator ran, or several that follow each other.
struct TimeRow {
  unsigned Place = 0; ///< Of StepRows::Places.
  bool IsBackward = false;
  uint64_t Most = 0;  ///< Bytes at once, while it ran.
  uint64_t After = 0; ///< Bytes in use when the next one began.
};

/// A line of a forward(), and the path of the module that it belongs to.
struct PlaceRow {
  Spot Where; ///< Empty: before all operators.
  std::string Module;
};

/// The most that fits into the memory that was asked about.
struct BatchRow {
  /// Another choice, and what fits with it.
  struct Remedy {
    /// "--dtype=bfloat16", "a checkpoint of 'body'"; empty: gradients
    /// accumulate.
    std::string Option;
    int64_t Largest = 0;
    bool IsCheckpoint = false;
  };
  /// 0 for not even one, AnyBatch for all; -1 where it is not known.
  int64_t Largest = -1;
  std::vector<Remedy> Remedies; ///< Each counted as Largest is.
  /// The same of inference below a guard, and without one.
  int64_t Guarded = -1, Unguarded = -1;
};

/// What passes over the model take, parameters and input included.
struct StepRows {
  /// What forward() is given: "16x3x224x224".
  std::vector<std::string> InputTexts;
  /// The release of LibTorch that it counts for: "2.6"; empty: not known, and
  /// it is 1.13.
  std::string LibTorch;
  /// The type that autocast uses in forward(); empty: it is off.
  std::string Autocast;
  Spot InputFrom;     ///< Where the program passes it; empty: it was asked for.
  std::string Result; ///< Sizes of what forward() gives; empty: not known.
  uint64_t Inputs = 0; ///< Bytes of the input.
  /// What forward() leaves alive in training: its results, and what backward()
  /// needs.
  uint64_t Kept = 0;
  /// forward() after eval(), below a guard and without one.
  PeakRow Inference, Unguarded;
  /// forward() and backward() of the loss; later steps have gradients and the
  /// state of the optimizer from the start.
  PeakRow FirstStep, LaterSteps;
  Spot LossAt; ///< backward() of the program; empty: of the sum of the results.
  /// What FirstStep and LaterSteps alone lack. Without LossAt, it is the loss
  /// of the program, and the first says why.
  std::vector<MissingRow> LeftOut;
  /// What the allocator of a GPU asks the device for, in the passes of
  /// Inference and in training that goes on; 0 on the CPU.
  uint64_t ReservedByInference = 0, ReservedByTraining = 0;
  /// In the order of time: of Inference, and of LaterSteps without the
  /// optimizer's step().
  std::vector<TimeRow> InferenceLine, LaterLine;
  std::vector<PlaceRow> Places;
  BatchRow Batch;
  static constexpr int64_t AnyBatch = 1LL << 32;
  std::vector<MissingRow> Missing; ///< Empty: all operators were followed.
  /// Where more is counted than may be needed: sizes that depend on values.
  std::vector<MissingRow> AtMost;
  /// What is known to take somewhat more or less than is counted.
  std::vector<MissingRow> Estimated;
  /// Parameters that want a gradient and get none: no sum counts one of them.
  std::vector<MissingRow> Unreached;
  Bound bound() const {
    const Bound Followed = !Estimated.empty() ? Bound::Estimate
                           : AtMost.empty()   ? Bound::Exact
                                              : Bound::AtMost;
    return Missing.empty() ? Followed : lacking(Followed);
  }
  /// Of FirstStep and LaterSteps.
  Bound boundOfTraining() const {
    return LeftOut.empty() ? bound() : lacking(bound());
  }
  /// Convolutions of float32, which oneDNN runs by default.
  bool HasConvolutions = false;
  /// It cannot be made: the last of Missing says why. There are no figures.
  bool Fails = false;
};

/// Why a model has no step, and what would give it one.
struct NoStepRow {
  Spot Forward;                   ///< Of the user's class; empty: it has none.
  std::vector<std::string> Takes; ///< What it needs: "x".
  /// Where the program calls it with what is not known, or with what does not
  /// fit this model; empty: no such call was found.
  Spot PassedAt;
  bool Misfits = false;
  /// What is not known, or empty, and where that comes from. Without a call it
  /// is the whole reason.
  std::string Why;
  Spot UnknownAt;
};

struct ModelRows {
  std::string Title; ///< "UNet(3, 2)"
  Spot Made;         ///< Where its class is defined.
  std::vector<ModuleRow> Modules;
  std::vector<MissingRow> Missing; ///< Empty: the bytes are exact.
  bool HasStep = false;
  StepRows Step;
  NoStepRow NoStep; ///< Where it has none.
  /// The TorchScript archive that it was read from; empty: code makes it.
  Spot Archive;
};

/// A model of which nothing can be said.
struct RefusedModel {
  std::string Title;
  Spot Where;
  std::string Reason;
  /// The definition of a class that another unit may make, by itself or as a
  /// part of a model; empty: it is made here.
  Spot Elsewhere = {};
};

/// The title of the model in the TorchScript archive \p Path, which asks for it
/// as BudgetRequest::Model.
std::string titleOfArchive(llvm::StringRef Path);

/// A TorchScript archive that the program loads.
struct LoadedFile {
  std::string Path; ///< As the program has it.
  Spot Where;       ///< torch::jit::load(); empty: the command line.
};

/// Where tensors live.
enum class DeviceKind : unsigned char {
  Cpu,       ///< Without oneDNN, as measured.
  CpuOneDnn, ///< With it, on a CPU with AVX-512. An estimate.
  Cuda, ///< Rounded up as the caching allocator does; what kernels need for
        ///< themselves is not known, and left out. An estimate.
};

/// What was asked of a unit.
struct BudgetRequest {
  /// A text that checkModelText() takes; empty: all models of the unit.
  std::string Model;
  /// The inputs of forward(), as checkInputText() takes them; empty: those that
  /// the program passes.
  std::vector<std::string> Inputs;
  /// Values for what is not known, by its names, as checkValueText() takes
  /// them: "config.width" and "64".
  std::vector<std::pair<std::string, std::string>> Given;
  std::string Optimizer; ///< One of ModuleParameters.h; or empty.
  /// Which batch fits into as many bytes; 0: not asked.
  uint64_t Memory = 0;
  bool WithInference = true; ///< Also of inference, not of training alone.
  DeviceKind Device = DeviceKind::Cpu;
  /// What to() converts the models to, as elementType() takes it; empty:
  /// nothing.
  std::string Type;
  /// What autocast uses while forward() runs; empty: it is off.
  std::string Autocast;
  /// The path of a container that backward() runs again, as a checkpoint does.
  std::string Checkpoint;
  /// Each step begins with the gradients of the one before, whatever the
  /// release of LibTorch: zero_grad() comes after several.
  bool Accumulates = false;
  /// The release of LibTorch to count for; nullopt: that of the unit.
  std::optional<torch::Release> LibTorch;
  /// No models: only what the unit defines for others.
  bool OnlyDefines = false;
  bool WithSteps = true; ///< Where inputs are known.
};

/// A function that one unit defines, and others may call.
struct SharedFunction {
  std::string Name; ///< As cpp::programName() has it.
  Spot Declared;    ///< Its first declaration: two programs may have the name.
};

struct UnitBudget {
  std::vector<ModelRows> Models;
  std::vector<RefusedModel> Refused;
  /// Models that are not in the code of the unit. Who asks reads the files.
  std::vector<LoadedFile> Loaded;
  /// The module classes of the unit with the constructors that they have, as a
  /// user would ask for them: "UNet(int64_t, bool = true)".
  std::vector<std::string> Known;
  /// Of a request by name: the unit has such a class.
  bool HasModel = false;
  std::vector<SharedFunction> Defines;
  /// What it calls on the way to its models, and does not define.
  std::vector<SharedFunction> Wants;
  /// Names that BudgetRequest::Given has values for, or could have.
  std::vector<std::string> Names;
};

/// The models of a unit that has been parsed. \p Define makes the definition of
/// a function or class of a template, where there is none; it may be empty.
/// Only the first \p OwnText bytes of the main file, and what they include, are
/// looked through for models; the rest is there to be followed.
UnitBudget elaborate(clang::ASTContext &Context, const BudgetRequest &Request,
                     unsigned OwnText,
                     std::function<void(clang::NamedDecl &)> Define);

/// Adds to the steps of \p Budget, which \p Make has made of \p Request, what
/// would make a larger batch fit; each choice is one more call of \p Make.
void addRemedies(UnitBudget &Budget, const BudgetRequest &Request,
                 llvm::function_ref<UnitBudget(const BudgetRequest &)> Make);

/// Can \p Text name a model: `UNet(3, 2)`? The error says what was expected,
/// where, and has an example.
llvm::Error checkModelText(llvm::StringRef Text);
/// The same of an input of forward(): `16x3x224x224`.
llvm::Error checkInputText(llvm::StringRef Text);
/// The same of a value: `{16, "relu"}`.
llvm::Error checkValueText(llvm::StringRef Text);

/// What the interpreter of constructors says of expressions elsewhere. It
/// costs nothing until it is asked; all answers together are bounded.
class KnownSizes {
public:
  /// \p Functions are those that the unit defines, alive as long as this.
  KnownSizes(clang::ASTContext &Context,
             llvm::ArrayRef<const clang::FunctionDecl *> Functions)
      : Context(Context), Functions(Functions) {}

  /// The bytes of the elements of the tensor that \p E gives: of factories with
  /// sizes that the unit alone decides, and of what operators make of them.
  /// nullopt where they are not certain, and for null. A tensor whose type
  /// nothing says is float32.
  std::optional<uint64_t> bytesOf(const clang::Expr *E);

  /// The bytes that the graph of \p Forward, a call of forward(), keeps for a
  /// backward() that does not come, with the model and the inputs that the unit
  /// makes. With \p InputsGo, the inputs are made anew for each call. nullopt
  /// for null, where that is not followed whole, where the unit makes several
  /// models that differ, and after a few calls of a unit.
  std::optional<uint64_t> keptBy(const clang::Expr *Forward, bool Training,
                                 bool InputsGo);

private:
  clang::ASTContext &Context;
  llvm::ArrayRef<const clang::FunctionDecl *> Functions;
  unsigned Passes = 0;
  std::optional<std::vector<const clang::Stmt *>> Bodies;
  unsigned Steps = 0;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_BYTES_H
