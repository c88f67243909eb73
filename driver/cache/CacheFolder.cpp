//===- CacheFolder.cpp - What is worth keeping on disk --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/cache/CacheFolder.h"
#include "driver/cache/Archive.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"
#include <link.h>
#include <tuple>
#include <unistd.h>

using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

std::string digest(llvm::ArrayRef<StringRef> Parts) {
  llvm::TruncatedBLAKE3<16> Hash;
  for (StringRef Part : Parts) {
    // The lengths, so that {"ab", "c"} is not {"a", "bc"}.
    Hash.update(std::to_string(Part.size()) + ":");
    Hash.update(Part);
  }
  return llvm::toHex(Hash.final(), /*LowerCase=*/true);
}

#if __has_include(<link.h>)
/// Adds the build ids in the notes of one loaded object.
static int addBuildId(dl_phdr_info *Object, size_t, void *Identity) {
  // The kernel's; it is not our code.
  if (StringRef(Object->dlpi_name).contains("vdso"))
    return 0;
  for (const auto &Segment :
       llvm::ArrayRef(Object->dlpi_phdr, Object->dlpi_phnum)) {
    if (Segment.p_type != PT_NOTE)
      continue;
    const char *At =
        reinterpret_cast<const char *>(Object->dlpi_addr + Segment.p_vaddr);
    const char *End = At + Segment.p_memsz;
    while (At + sizeof(ElfW(Nhdr)) <= End) {
      const auto *Note = reinterpret_cast<const ElfW(Nhdr) *>(At);
      const char *Name = At + sizeof(*Note);
      const char *Value = Name + llvm::alignTo(Note->n_namesz, 4);
      if (Note->n_type == NT_GNU_BUILD_ID)
        static_cast<std::string *>(Identity)->append(Value, Note->n_descsz);
      At = Value + llvm::alignTo(Note->n_descsz, 4);
    }
  }
  return 0;
}
#endif

const std::string &programIdentity() {
  static const std::string Identity = [] {
    std::string Ids = LIBTORCH_TIDY_VERSION " " LLVM_VERSION_STRING " ";
#if __has_include(<link.h>)
    ::dl_iterate_phdr(addBuildId, &Ids);
#endif
    // Without build ids, the program's own file distinguishes builds.
    fs::file_status Status;
    const std::string Self = fs::getMainExecutable(
        nullptr, reinterpret_cast<void *>(&programIdentity));
    if (!fs::status(Self, Status))
      Ids += std::to_string(Status.getSize()) + " " +
             std::to_string(
                 Status.getLastModificationTime().time_since_epoch().count());
    return digest({Ids});
  }();
  return Identity;
}

/// Is folder \p Path one that only this user, or the one who may do all, can
/// write into?
static bool isOwn(const llvm::Twine &Path) {
  fs::file_status Status;
  return !fs::status(Path, Status) && fs::is_directory(Status) &&
         (Status.getUser() == ::geteuid() || Status.getUser() == 0) &&
         !(Status.permissions() & fs::others_write);
}

std::optional<CacheFolder> CacheFolder::open(const CacheOptions &Options) {
  llvm::SmallString<128> Path(Options.Folder);
  if (Path.empty() && path::cache_directory(Path))
    path::append(Path, "libtorch-tidy");
  if (!Options.Use || Path.empty() || fs::make_absolute(Path))
    return std::nullopt;
  // Its content is trusted, so nobody else may write into it.
  if (fs::create_directories(Path, /*IgnoreExisting=*/true, fs::owner_all) ||
      !isOwn(Path) || fs::access(Path, fs::AccessMode::Write))
    return std::nullopt;
  // What existed may be another's, or writable for all: also a part of it.
  std::error_code EC;
  for (fs::directory_iterator It(Path, EC), End; It != End && !EC;
       It.increment(EC))
    if (fs::is_directory(It->path()) && !isOwn(It->path()))
      return std::nullopt;
  return CacheFolder(Path);
}

std::string CacheFolder::pathOf(StringRef Entry) const {
  llvm::SmallString<128> Result(Path);
  path::append(Result, Entry);
  return Result.str().str();
}

std::optional<std::string> CacheFolder::read(StringRef Entry) const {
  auto Buffer = llvm::MemoryBuffer::getFile(pathOf(Entry), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return std::nullopt;
  ArchiveReader Reader((*Buffer)->getBuffer());
  const uint64_t Sum = Reader.number();
  StringRef Content = Reader.text();
  if (!Reader.finished() || Sum != llvm::xxh3_64bits(Content))
    return std::nullopt;
  return Content.str();
}

bool CacheFolder::write(StringRef Entry, StringRef Content) const {
  const std::string Whole = pathOf(Entry);
  if (fs::create_directories(path::parent_path(Whole)))
    return false;
  llvm::Expected<fs::TempFile> Temporary =
      fs::TempFile::create(Whole + ".%%%%%%%%.tmp");
  if (llvm::errorToBool(Temporary.takeError()))
    return false;
  ArchiveWriter Writer;
  Writer.number(llvm::xxh3_64bits(Content));
  Writer.text(Content);
  llvm::raw_fd_ostream OS(Temporary->FD, /*shouldClose=*/false);
  OS << Writer.take();
  OS.flush();
  const bool Good = !OS.has_error();
  OS.clear_error(); // Else it ends the process.
  if (llvm::errorToBool(Good ? Temporary->keep(Whole) : Temporary->discard()))
    return false;
  return Good;
}

void CacheFolder::remove(StringRef Entry) const { fs::remove(pathOf(Entry)); }

void CacheFolder::touch(StringRef Entry) const {
  int FD;
  if (fs::openFileForWrite(pathOf(Entry), FD, fs::CD_OpenExisting,
                           fs::OF_Append))
    return;
  (void)fs::setLastAccessAndModificationTime(FD,
                                             std::chrono::system_clock::now());
  (void)llvm::sys::Process::SafelyCloseFileDescriptor(FD);
}

/// Files that share a stem.
struct CacheFolder::Group {
  llvm::sys::TimePoint<> Used;
  uint64_t Size = 0;
  std::vector<std::string> Files;
};

std::map<std::string, CacheFolder::Group> CacheFolder::groups() const {
  std::map<std::string, Group> Groups;
  std::error_code EC;
  for (fs::recursive_directory_iterator It(Path, EC), End; It != End && !EC;
       It.increment(EC)) {
    fs::file_status Status;
    if (fs::status(It->path(), Status) ||
        Status.type() != fs::file_type::regular_file)
      continue;
    StringRef File = It->path(), Name = path::filename(File);
    const auto Now = std::chrono::system_clock::now();
    const llvm::sys::TimePoint<> Used = Status.getLastModificationTime();
    // Left by a process that was ended.
    if (Name.ends_with(".tmp") && Used + std::chrono::hours(24) < Now) {
      fs::remove(File);
      continue;
    }
    std::string Stem =
        (path::parent_path(File) + "/" + Name.take_until([](char C) {
          return C == '-' || C == '.';
        })).str();
    Group &G = Groups[Stem];
    // When the clock was turned back, it would always seem used last. (That of
    // a disk elsewhere is a little ahead.)
    if (Used < Now + std::chrono::hours(24))
      G.Used = std::max(G.Used, Used);
    G.Size += Status.getSize();
    G.Files.push_back(File.str());
  }
  return Groups;
}

CacheFolder::Contents CacheFolder::contents() const {
  Contents Result;
  for (const auto &[Stem, G] : groups()) {
    Result.Bytes += G.Size;
    Result.Results += path::filename(path::parent_path(Stem)) == "results";
    for (StringRef File : G.Files)
      Result.Pchs += path::extension(File) == ".pch";
  }
  return Result;
}

void CacheFolder::shrink(uint64_t Limit) const {
  std::map<std::string, Group> All = groups();
  using It = std::map<std::string, Group>::iterator;
  // Shrinks one folder, or all.
  auto Keep = [&](std::optional<StringRef> Folder, uint64_t Most) {
    std::vector<It> Some;
    uint64_t Total = 0;
    for (It G = All.begin(); G != All.end(); ++G)
      if (!Folder || path::filename(path::parent_path(G->first)) == *Folder) {
        Some.push_back(G);
        Total += G->second.Size;
      }
    llvm::stable_sort(
        Some, [](It A, It B) { return A->second.Used < B->second.Used; });
    for (It G : Some) {
      if (Total <= Most)
        break;
      Total -= G->second.Size;
      for (const std::string &File : G->second.Files)
        fs::remove(File);
      All.erase(G);
    }
  };
  uint64_t Total = 0;
  for (const auto &[Stem, G] : All)
    Total += G.Size;
  // A precompiled header takes as much as the results of thousands of units.
  if (Total > Limit)
    Keep("pch", Limit / 4 * 3);
  Keep(std::nullopt, Limit);
}

std::string textIdentity(StringRef Path, StringRef Content,
                         llvm::vfs::FileSystem &FS) {
  llvm::SmallString<256> Real;
  (void)FS.getRealPath(Path, Real);
  return digest({Content, Real});
}

std::string namesIn(StringRef Folder, llvm::vfs::FileSystem &FS) {
  std::vector<std::string> Names;
  std::error_code EC;
  for (llvm::vfs::directory_iterator It = FS.dir_begin(Folder, EC), End;
       It != End && !EC; It.increment(EC))
    Names.push_back(It->path().str());
  llvm::sort(Names);
  return digest(std::vector<StringRef>(Names.begin(), Names.end()));
}

std::optional<FileStamp> stampOf(StringRef Path, llvm::vfs::FileSystem &FS) {
  llvm::ErrorOr<llvm::vfs::Status> Status = FS.status(Path);
  if (!Status || Status->isDirectory())
    return std::nullopt;
  FileStamp Result;
  Result.Path = Path.str();
  Result.Size = Status->getSize();
  Result.Changed = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       Status->getLastModificationTime().time_since_epoch())
                       .count();
  return Result;
}

FileSetCopy FileSets::pack(std::vector<FileStamp> Files) {
  llvm::sort(Files, [](const FileStamp &A, const FileStamp &B) {
    return std::tie(A.Path, A.Kind) < std::tie(B.Path, B.Kind);
  });
  Files.erase(
      llvm::unique(Files, [](const FileStamp &A,
                             const FileStamp &B) { return A.Path == B.Path; }),
      Files.end());
  FileSetCopy Result;
  Result.Stamps = toBytes(Files);
  Result.Name = "files/" + digest({Result.Stamps});
  return Result;
}

std::string FileSets::store(const FileSetCopy &Set, const CacheFolder &Folder) {
  if (Folder.read(Set.Name) || Folder.write(Set.Name, Set.Stamps))
    return Set.Name;
  return {};
}

void FileSets::add(FileSetCopy Set) {
  std::shared_ptr<const FileSetCopy> &Same = Sets[Set.Name];
  if (!Same || Same->Texts.empty())
    Same = std::make_shared<const FileSetCopy>(std::move(Set));
}

std::shared_ptr<const FileSetCopy> FileSets::find(StringRef Name) {
  auto It = Sets.find(Name);
  if (It != Sets.end())
    return It->second;
  std::optional<std::string> Content;
  if (Folder)
    Content = Folder->read(Name);
  if (!Content)
    return nullptr;
  Folder->touch(Name);
  add({Name.str(), std::move(*Content), ""});
  return Sets.find(Name)->second;
}

std::string FileSets::textsOf(llvm::ArrayRef<FileStamp> Files) const {
  std::string All;
  for (const FileStamp &File : Files) {
    if (File.Kind != FileStamp::Unchanged)
      continue;
    auto Text = FS->getBufferForFile(File.Path);
    if (!Text)
      return {};
    All += digest({(*Text)->getBuffer()});
  }
  return digest({All});
}

FileSetCopy FileSets::withTexts(const FileSetCopy &Set) {
  FileSetCopy Result = Set;
  const auto Files = fromBytes<std::vector<FileStamp>>(StringRef(Set.Stamps));
  if (Files && unchanged(Set.Name))
    Result.Texts = textsOf(*Files);
  return Result;
}

bool FileSets::unchanged(StringRef Name) {
  auto [It, New] = Known.try_emplace(Name.str());
  if (!New)
    return It->second;
  const std::shared_ptr<const FileSetCopy> Set = find(Name);
  if (!Set)
    return false;
  const auto Files = fromBytes<std::vector<FileStamp>>(StringRef(Set->Stamps));
  if (!Files)
    return false;
  bool SameTimes = true;
  for (const FileStamp &Then : *Files) {
    if (Then.Kind != FileStamp::Unchanged) {
      if (FS->exists(Then.Path) != (Then.Kind == FileStamp::There))
        return false;
      continue;
    }
    const std::optional<FileStamp> Now = stampOf(Then.Path, *FS);
    if (!Now || Now->Size != Then.Size)
      return false;
    SameTimes &= Now->Changed == Then.Changed;
  }
  return It->second = SameTimes ||
                      (!Set->Texts.empty() && textsOf(*Files) == Set->Texts);
}

std::string ResultCache::keyOf(StringRef Question, StringRef File) const {
  auto Text = FS->getBufferForFile(File);
  if (!Text)
    return {};
  return "results/" +
         digest({programIdentity(), Question, (*Text)->getBuffer()});
}

bool InputsNow::unchanged(StringRef Path, StringRef Identity) {
  auto [It, New] = Known.try_emplace(Path.str());
  if (New)
    if (auto Text = FS->getBufferForFile(Path))
      It->second = textIdentity(Path, digest({(*Text)->getBuffer()}), *FS);
  return It->second == Identity;
}

bool InputsNow::are(const ResultInputs &Then) {
  return llvm::all_of(Then.Files,
                      [&](const auto &File) {
                        return unchanged(File.first, File.second);
                      }) &&
         llvm::none_of(Then.Missing,
                       [&](StringRef Path) { return FS->exists(Path); }) &&
         llvm::all_of(Then.Folders,
                      [&](const auto &Folder) {
                        return namesIn(Folder.first, *FS) == Folder.second;
                      }) &&
         llvm::all_of(Then.Libraries,
                      [&](StringRef Set) { return Sets.unchanged(Set); });
}

std::optional<ResultCache::Entry> ResultCache::find(StringRef Key) {
  std::optional<Entry> Result = fromBytes<Entry>(Folder.read(Key));
  if (!Result || Result->Key != Key || !Now.are(Result->In))
    return std::nullopt;
  Folder.touch(Key);
  return Result;
}

void ResultCache::store(const Entry &E) const {
  Folder.write(E.Key, toBytes(E));
}

} // namespace libtorch_tidy::driver
