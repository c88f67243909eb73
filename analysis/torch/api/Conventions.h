//===- Conventions.h - What names suggest -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Guesses from names, where code that is not seen or a human habit leaves
/// nothing else to go by. Everything else of libtorch-tidy goes by types and
/// declarations. Each guess says why it is made and what it is used for.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONVENTIONS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONVENTIONS_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// loss, MSELoss, compute_loss, cross_entropy. A loss is a number, and keeping
/// it costs nothing: libtorch-long-lived-intermediate does not report it. A
/// function that returns one leaves it to its callers to back-propagate it:
/// libtorch-inference-without-no-grad does not take eval() for all.
bool namesLoss(llvm::StringRef Name);

/// epoch, numEpochs. The rounds of such a loop are long, and what is done once
/// in each costs nothing: libtorch-empty-cache-in-loop does not report it.
bool namesEpoch(llvm::StringRef Name);

/// kv_cache, past_keys. Attention over what came before reads all of what has
/// grown in each step, so that there is nothing to join at the end:
/// libtorch-cat-in-loop does not report it.
bool namesCache(llvm::StringRef Name);

/// paths, file_names, class_labels; not texts. Such strings are short however
/// many they are: libtorch-dataset-worker-copy does not report them.
bool namesSmallText(llvm::StringRef Name);

/// zero_grads, clearGradients, resetGrad. A function that is not seen and is
/// called so does what zero_grad() does: it ends the cycle that
/// libtorch-create-graph-cycle reports.
bool namesGradientReset(llvm::StringRef Name);

/// oom, isOOM, out_of_memory, OutOfMemory; not zoom, room. Shows what a handler
/// or a flag is for: libtorch-oom-catch-type reports only handlers that are
/// meant for running out of memory.
bool namesOutOfMemory(llvm::StringRef Name);
/// The same of a message, which may also say "out of memory".
bool mentionsOutOfMemory(llvm::StringRef Text);

/// vocab_size, kVocab. The last layer of a language model is as wide as its
/// vocabulary, and nothing can be done about it: libtorch-oversized-linear
/// does not report it.
bool namesVocabulary(llvm::StringRef Name);
/// forces, atomic_virial, dforce, forward_lower; not force_cpu. An energy's
/// derivative as an output: the model takes it inside, and a guard around its
/// call makes it throw. No call of TorchScript next to such a name is reported
/// as inference.
bool namesDerivative(llvm::StringRef Name);

/// get_h0, set_sample_rate, update_buffer. A method of a TorchScript module
/// that is called so, and gets or returns no tensor, hands out or sets a value
/// of the model: it runs no layers.
bool namesScriptAccessor(llvm::StringRef Name);

/// get_weights, load_from, parameters, clone. A method of a user's module that
/// hands it out, copies or sets it up does not run it: its result is no
/// forward pass. Used wherever modules are called.
bool namesAccessor(llvm::StringRef Name);

/// A method called sample of a class that is not a module. In
/// torch.distributions, and in what is written after it, that draws with
/// gradient mode off; rsample() is the one that carries history.
bool drawsSample(const clang::FunctionDecl *F);

/// check_contiguous, CHECK_INPUT_CONTIGUOUS. A function that is not seen and is
/// called so asks its tensor whether it is packed: libtorch-strided-access
/// says nothing of it.
bool namesLayoutCheck(llvm::StringRef Name);

/// row_stride, step, pitch, ld. An index or argument that is called so goes by
/// the strides: libtorch-strided-access does not report it.
bool namesStride(llvm::StringRef Name);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONVENTIONS_H
