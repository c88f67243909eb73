//===- InstalledTorch.cpp - LibTorch and Python on this machine -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/InstalledTorch.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using llvm::StringRef;
using llvm::Twine;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

static std::string variable(StringRef Name) {
  return llvm::sys::Process::GetEnv(Name).value_or("");
}

std::string environmentAbove(StringRef Folder, llvm::vfs::FileSystem &FS) {
  for (StringRef Dir = Folder; !Dir.empty(); Dir = path::parent_path(Dir))
    for (StringRef Name : {".venv", "venv"}) {
      llvm::SmallString<128> Found(Dir);
      path::append(Found, Name);
      if (FS.exists(Found + "/pyvenv.cfg"))
        return Found.str().str();
    }
  return {};
}

/// The folders below \p Folder whose names begin with "python3.", ordered by
/// version.
static std::vector<std::string> pythonFolders(llvm::vfs::FileSystem &FS,
                                              const Twine &Folder) {
  std::error_code EC;
  std::vector<std::string> Result;
  for (llvm::vfs::directory_iterator It = FS.dir_begin(Folder, EC), End;
       !EC && It != End; It.increment(EC))
    if (path::filename(It->path()).starts_with("python3."))
      Result.push_back(It->path().str());
  llvm::sort(Result,
             [](StringRef A, StringRef B) { return A.compare_numeric(B) < 0; });
  return Result;
}

namespace {

/// Where LibTorch can be.
struct TorchPlace {
  std::string Prefix;
  /// The environment or installation of Python that it is a package of; empty
  /// when it is none. Its version as in the names of folders: "python3.11".
  std::string Python, Version;
};

/// What pyvenv.cfg says of the Python that an environment was made with.
struct BasePython {
  std::string Prefix, Version;
};

} // namespace

static std::optional<BasePython> basePython(llvm::vfs::FileSystem &FS,
                                            StringRef Environment) {
  auto Text = FS.getBufferForFile(Environment + "/pyvenv.cfg");
  constexpr size_t Most = 1 << 16;
  if (!Text || (*Text)->getBufferSize() > Most)
    return std::nullopt;
  BasePython Result;
  for (StringRef Line : llvm::split((*Text)->getBuffer(), '\n')) {
    const auto [Key, Value] = Line.split('=');
    if (Key.trim() == "home")
      Result.Prefix = path::parent_path(Value.trim()).str();
    // `version` is venv's, `version_info` virtualenv's and uv's.
    else if (Key.trim() == "version" || Key.trim() == "version_info") {
      const auto [Major, Rest] = Value.trim().split('.');
      Result.Version = ("python" + Major + "." + Rest.split('.').first).str();
    }
  }
  if (!path::is_absolute(Result.Prefix))
    return std::nullopt;
  return Result;
}

/// Is \p Prefix, as links lead, where a Python is installed: the system's, or
/// one of the user's own?
static bool isUsualForPython(llvm::vfs::FileSystem &FS, StringRef Prefix) {
  const std::string Real = canonicalPath(Prefix, "", FS);
  const std::string Home = variable("HOME");
  auto IsIn = [&](StringRef Folder) {
    return Real == Folder || isBelow(Real, Folder);
  };
  return IsIn("/usr") || IsIn("/opt") ||
         (path::is_absolute(Home) && Home != "/" &&
          IsIn(canonicalPath(Home, "", FS)));
}

/// The flags for LibTorch in \p Prefix, when it is there.
static std::optional<std::vector<std::string>>
flagsFor(llvm::vfs::FileSystem &FS, StringRef Prefix) {
  llvm::SmallString<128> Include(Prefix);
  path::append(Include, "include");
  llvm::SmallString<128> Api(Include);
  path::append(Api, "torch/csrc/api/include");
  auto Header = FS.getBufferForFile(Api + "/torch/all.h");
  if (!Header)
    return std::nullopt;
  // all.h refuses to compile in a standard older than the one it names.
  std::vector<std::string> Flags = {
      (*Header)->getBuffer().contains("202002L") ? "-std=c++20" : "-std=c++17"};
  // /usr/include is searched anyway, and must stay after the compiler's own.
  if (Include != "/usr/include")
    Flags.insert(Flags.end(), {"-isystem", Include.str().str()});
  Flags.insert(Flags.end(), {"-isystem", Api.str().str()});
  return Flags;
}

/// LibTorch as a Python package of an environment or an installation, by pip,
/// Debian's pip and Debian: lib/python3.x/site-packages/torch.
static void addPackages(llvm::vfs::FileSystem &FS, StringRef Python,
                        std::vector<TorchPlace> &Places) {
  for (StringRef Lib : {"lib", "lib64"})
    for (const std::string &Folder : pythonFolders(FS, Python + "/" + Lib))
      for (StringRef Packages : {"site-packages", "dist-packages"})
        Places.push_back({(Folder + "/" + Packages + "/torch").str(),
                          Python.str(), path::filename(Folder).str()});
}

/// The prefix of the first python3 in PATH.
static std::string pythonInPath(llvm::vfs::FileSystem &FS) {
  const std::string Path = variable("PATH");
  for (StringRef Folder : llvm::split(Path, ':'))
    if (path::is_absolute(Folder) && FS.exists(Folder + "/python3"))
      return path::parent_path(Folder.rtrim('/')).str();
  return {};
}

/// The environments and installations of Python, the nearest first.
static std::vector<std::string> pythons(llvm::vfs::FileSystem &FS,
                                        StringRef Environment) {
  std::vector<std::string> Result = {variable("VIRTUAL_ENV"),
                                     variable("CONDA_PREFIX"),
                                     Environment.str(),
                                     pythonInPath(FS),
                                     "/usr/local",
                                     "/usr"};
  if (const std::string Home = variable("HOME"); path::is_absolute(Home))
    Result.push_back(Home + "/.local");
  llvm::erase_if(Result, [](StringRef Prefix) { return Prefix.empty(); });
  return Result;
}

/// Python's headers below \p Prefix: of \p Version where there are such, else
/// of the newest version. Empty when there are none.
static std::string headersBelow(llvm::vfs::FileSystem &FS, StringRef Prefix,
                                StringRef Version) {
  std::string Newest;
  for (const std::string &Folder : pythonFolders(FS, Prefix + "/include"))
    if (FS.exists(Folder + "/Python.h")) {
      Newest = Folder;
      if (path::filename(Folder) == Version)
        break;
    }
  return Newest;
}

/// Python's headers for the LibTorch in \p Found; empty when there are none.
static std::string pythonHeaders(llvm::vfs::FileSystem &FS,
                                 const TorchPlace &Found, StringRef Environment,
                                 std::string &Trouble) {
  std::vector<std::string> Pythons = pythons(FS, Environment);
  if (!Found.Python.empty())
    Pythons.insert(Pythons.begin(), Found.Python);
  std::string Other;
  for (const std::string &Python : Pythons) {
    std::vector<BasePython> Bases = {{Python, ""}};
    if (std::optional<BasePython> Base = basePython(FS, Python)) {
      if (Python != Environment || Python == variable("VIRTUAL_ENV") ||
          Python == variable("CONDA_PREFIX") ||
          isUsualForPython(FS, Base->Prefix))
        Bases.push_back(std::move(*Base));
      else
        Trouble = "'" + Python + "/pyvenv.cfg' says that Python is in '" +
                  Base->Prefix +
                  "', where this machine does not have one: its headers are "
                  "not used; set VIRTUAL_ENV if they should be";
    }
    for (const BasePython &Base : Bases) {
      StringRef Version =
          Found.Version.empty() ? StringRef(Base.Version) : Found.Version;
      const std::string Headers = headersBelow(FS, Base.Prefix, Version);
      if (!Headers.empty() &&
          (Version.empty() || path::filename(Headers) == Version))
        return Headers;
      if (Other.empty())
        Other = Headers;
    }
  }
  return Other;
}

std::optional<std::vector<std::string>>
flagsOfInstalledTorch(llvm::vfs::FileSystem &FS, StringRef Environment,
                      std::string &Trouble) {
  std::vector<TorchPlace> Places;
  // Torch_DIR is <prefix>/share/cmake/Torch, or under lib/<triplet>.
  if (std::string Dir = variable("Torch_DIR"); !Dir.empty()) {
    StringRef Up = Dir;
    for (unsigned I = 0; I < 5 && !Up.empty(); ++I, Up = path::parent_path(Up))
      Places.push_back({Up.str(), "", ""});
  }
  for (StringRef Name : {"TORCH_ROOT", "Torch_ROOT"})
    if (std::string Root = variable(Name); !Root.empty())
      Places.push_back({Root, "", ""});
  const std::string PrefixPath = variable("CMAKE_PREFIX_PATH");
  llvm::SmallVector<StringRef, 4> Parts;
  llvm::SplitString(PrefixPath, Parts, ":;");
  for (StringRef Part : Parts)
    Places.push_back({Part.str(), "", ""});
  for (const std::string &Python : pythons(FS, Environment)) {
    Places.push_back({Python, "", ""});
    addPackages(FS, Python, Places);
  }

  for (const TorchPlace &P : Places)
    if (auto Flags = flagsFor(FS, P.Prefix)) {
      const std::string Headers = pythonHeaders(FS, P, Environment, Trouble);
      if (!Headers.empty())
        Flags->insert(Flags->end(), {"-isystem", Headers});
      return Flags;
    }
  return std::nullopt;
}

} // namespace libtorch_tidy::driver
