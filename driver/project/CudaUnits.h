//===- CudaUnits.h - The host side of CUDA files ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A CUDA file is C++ with kernels in it, which nobody here runs. It is read as
/// the compiler of the host reads it: CUDA's headers declare what the host may
/// call, whichever release they are of, and the bodies of code for the device
/// are passed over. Clang's own mode for CUDA would want the headers of a
/// release that it knows, and tells overloads for the host from those for the
/// device.

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_CUDAUNITS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_CUDAUNITS_H

#include "clang/Tooling/ArgumentsAdjusters.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class Decl;
class PreprocessorOptions;
} // namespace clang

namespace libtorch_tidy::driver {

/// Makes \p Args, in words of Clang, those of C++ if they compile a CUDA file,
/// and returns what is to be added to them. Empty if they do not.
clang::tooling::CommandLineArguments
takeHostSide(clang::tooling::CommandLineArguments &Args, llvm::StringRef Folder,
             llvm::vfs::FileSystem &FS);

/// Takes Clang's flags for code of a device out of \p Args: nobody here makes
/// such code, and in C++ with `-fopenmp` they would want its libraries.
void dropDeviceFlags(clang::tooling::CommandLineArguments &Args);

/// Is it a CUDA file that takeHostSide() has been asked about?
bool isCuda(const clang::PreprocessorOptions &Options);
/// The same of its arguments, when there is no CUDA toolkit for it.
bool lacksCudaToolkit(const clang::tooling::CommandLineArguments &Args);

/// Makes visible what takeHostSide() has such files begin with.
void mountCudaHeaders(llvm::vfs::OverlayFileSystem &FS);

/// Is \p D a function for the device only?
bool isForDevice(const clang::Decl &D);

/// Puts a command line of nvcc, or of a program that passes its flags on, in
/// words of Clang: what it reads itself, and what it hands to the compiler of
/// the host. Its options for code of the device and for other programs go, with
/// their values: to Clang, a value that stands alone is a file. Option files
/// (-optf), below \p Folder, are read. Other command lines stay as they are.
void translateNvcc(clang::tooling::CommandLineArguments &Args,
                   llvm::StringRef Folder, llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_CUDAUNITS_H
