//===- Configuration.cpp - .clang-tidy files and what overrides them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/Configuration.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/GlobList.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace clang::tidy;
using llvm::Error;
using llvm::Expected;
using llvm::IntrusiveRefCntPtr;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

/// Only our checks exist in this program: a project's `Checks: '*'` shall not
/// bring in the compiler's warnings and the static analyzer, which clang-tidy's
/// engine knows by itself. What the engine has to say about the configuration
/// is always heard.
static constexpr llvm::StringLiteral OnlyOurs =
    "-clang-diagnostic-*,-clang-analyzer-*,clang-tidy-config";

/// Prints what is wrong with a configuration: once, though a run asks for that
/// of a file more than once.
static void tellOnce(const llvm::Twine &Problem) {
  static std::set<std::string> Told;
  if (auto [It, New] = Told.insert(Problem.str()); New)
    llvm::errs() << *It << '\n';
}

/// Parses a configuration; problems are printed as `file:line:col: error: ...`.
static llvm::ErrorOr<ClangTidyOptions> parse(llvm::MemoryBufferRef Text) {
  if (isNestedTooDeep(Text.getBuffer())) {
    tellOnce("libtorch-tidy: " + printable(Text.getBufferIdentifier()) +
             ": error: it is nested too deeply");
    return std::make_error_code(std::errc::invalid_argument);
  }
  return parseConfigurationWithDiags(Text, [](const llvm::SMDiagnostic &Diag) {
    std::string Printed;
    llvm::raw_string_ostream OS(Printed);
    Diag.print("libtorch-tidy", OS, /*ShowColors=*/false);
    // The line of the file stands in a column of its own: whatever it begins
    // with, it is not a line of ours.
    StringRef First, Rest;
    std::tie(First, Rest) = StringRef(Printed).rtrim().split('\n');
    std::string Told = printable(First);
    for (StringRef Line : llvm::split(Rest, '\n'))
      Told += "\n  | " + printable(Line);
    tellOnce(Told);
  });
}

/// The .clang-tidy file in \p Sources of which the checks are all another
/// program's; empty when one is ours, or when there is none but `-*`, by which
/// a project says that it wants none.
static StringRef fileAboutOthers(
    llvm::ArrayRef<ClangTidyOptionsProvider::OptionsSource> Sources) {
  std::string Checks;
  StringRef File;
  for (const auto &[Options, Name] : Sources)
    if (Options.Checks &&
        Name != ClangTidyOptionsProvider::OptionsSourceTypeDefaultBinary) {
      Checks += *Options.Checks + ",";
      File = Name;
    }
  bool NamesAny = false;
  for (StringRef Glob : llvm::split(Checks, ',')) {
    if (Glob.contains("libtorch"))
      return {};
    NamesAny |= !Glob.trim().empty() && !Glob.trim().starts_with("-");
  }
  const GlobList Enabled(Checks);
  if (!NamesAny || llvm::any_of(catalog(), [&](const CatalogEntry &Check) {
        return Enabled.contains(Check.Name);
      }))
    return {};
  return File;
}

/// CMake's FetchContent and ExternalProject, Conan, Bazel, npm, git submodules
/// by custom; what vcpkg and pip install.
static constexpr llvm::StringLiteral ForeignFolders =
    "(third[-_]?party|3rd[-_]?party|external|externals|extern|vendor|vendored|"
    "deps|_deps|submodules|node_modules|libtorch|vcpkg_installed|site-packages|"
    "dist-packages)";

/// Does \p Path, a CMakeLists.txt or meson.build, begin a project, rather than
/// a part of one?
static bool callsProject(const llvm::Twine &Path, llvm::vfs::FileSystem &FS) {
  constexpr uint64_t Enough = 1 << 20;
  auto Status = FS.status(Path);
  if (!Status || !Status->isRegularFile() || Status->getSize() > Enough)
    return false;
  auto Text = FS.getBufferForFile(Path);
  static const llvm::Regex Call("^[ \t]*project[ \t]*\\(",
                                llvm::Regex::Newline | llvm::Regex::IgnoreCase);
  return Text && Call.match((*Text)->getBuffer());
}

/// Is \p Folder what a build system calls a project?
static bool isProjectOfBuild(StringRef Folder, llvm::vfs::FileSystem &FS) {
  auto Has = [&](StringRef Name) { return FS.exists(Folder + "/" + Name); };
  return callsProject(Folder + "/CMakeLists.txt", FS) ||
         callsProject(Folder + "/meson.build", FS) || Has("MODULE.bazel") ||
         Has("WORKSPACE.bazel") || Has("WORKSPACE") || Has("setup.py") ||
         Has("pyproject.toml");
}

/// Where no git says what the project is: the outermost folder around \p File
/// that a build system calls one, else the nearest with a compile database.
/// Empty when there is neither.
static StringRef projectOfBuild(StringRef File, llvm::vfs::FileSystem &FS) {
  StringRef Outermost, Nearest;
  llvm::SmallString<128> Home;
  if (path::home_directory(Home))
    path::remove_dots(Home, /*remove_dot_dot=*/true);
  for (StringRef Folder = path::parent_path(File);
       !Folder.empty() && Folder != path::root_path(File) && Folder != Home;
       Folder = path::parent_path(Folder)) {
    if (isProjectOfBuild(Folder, FS))
      Outermost = Folder;
    if (Nearest.empty() && FS.exists(Folder + "/compile_commands.json"))
      Nearest = Folder;
  }
  return Outermost.empty() ? Nearest : Outermost;
}

static std::string rootOf(StringRef File, StringRef WorkingFolder,
                          llvm::vfs::FileSystem &FS) {
  if (StringRef Top = gitWorkTree(File, FS); !Top.empty())
    return Top.str();
  const StringRef Project = projectOfBuild(File, FS);
  const std::string Inside = (WorkingFolder + "/").str();
  if (!WorkingFolder.empty() && File.starts_with(Inside) &&
      (Project.empty() || Project.starts_with(Inside)))
    return WorkingFolder.str();
  return (Project.empty() ? path::parent_path(File) : Project).str();
}

/// The header filter, and the one of those to leave out, for the unit of \p
/// File where the user sets none: a defect in a header of the project is
/// reported, one in a library's header is not. They are regular expressions as
/// clang-tidy's engine matches them with the names of headers, which are
/// relative where a flag of the compile command is. The project is the git work
/// tree around it. Without one it is the outermost folder around \p File that
/// begins a project of a build system (CMake, Meson, Bazel, setuptools), else
/// the nearest one with a compile_commands.json, and \p WorkingFolder where
/// that holds more; when there is nothing of this, the folder of \p File. So it
/// does not depend on where the program runs, unless that is above the project.
/// Left out are folders by whose names people keep the sources of others:
/// third_party, vendor, _deps and similar.
static std::pair<std::string, std::string>
projectHeaders(StringRef File, StringRef WorkingFolder,
               llvm::vfs::FileSystem &FS) {
  // The engine asks by the name that the compile command has.
  llvm::SmallString<256> Absolute(File);
  (void)FS.makeAbsolute(Absolute);
  const std::string Root = rootOf(Absolute, WorkingFolder, FS);
  std::string Below = llvm::Regex::escape(Root) + "/";
  // The engine may know the folder by its real path, too.
  llvm::SmallString<256> Real;
  if (!FS.getRealPath(Root, Real) && Real != Root)
    Below += "|" + llvm::Regex::escape(Real) + "/";
  return {"^(" + Below + "|[^/])",
          "^(" + Below + ")?([^/]+/)*" + ForeignFolders.str() + "/"};
}

namespace {

/// Either of clang-tidy's providers, with our parser of configuration files. It
/// notes what they only print: that a file did not parse.
template <typename Base> class Checked : public Base {
public:
  template <typename... Args>
  explicit Checked(bool &Failed, Args &&...As)
      : Base(std::forward<Args>(As)...) {
    this->ConfigHandlers.clear();
    this->ConfigHandlers.emplace_back(".clang-tidy",
                                      [&Failed](llvm::MemoryBufferRef Text) {
                                        auto Result = parse(Text);
                                        Failed |= !Result;
                                        return Result;
                                      });
  }
};

} // namespace

/// What every unit's options go through: --level, OnlyOurs, and the headers of
/// the project where no filter is set.
class Configuration::Provider : public ClangTidyOptionsProvider {
public:
  Provider(std::optional<Level> WeakestLevel, StringRef MoreHeaders,
           IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : WeakestLevel(WeakestLevel), MoreHeaders(MoreHeaders),
        FS(std::move(FS)) {
    if (auto Here = this->FS->getCurrentWorkingDirectory())
      WorkingFolder = *Here;
  }

  const ClangTidyGlobalOptions &getGlobalOptions() override {
    return Inner->getGlobalOptions();
  }

  std::vector<OptionsSource> getRawOptions(StringRef File) override {
    std::vector<OptionsSource> Sources = Inner->getRawOptions(File);
    LeftOut.clear();
    if (FromFiles)
      for (auto &[Options, Place] : Sources)
        if (Place != OptionsSourceTypeCheckCommandLineOption) {
          leaveOut("HeaderFilterRegex", Options.HeaderFilterRegex, Place);
          leaveOut("ExcludeHeaderFilterRegex", Options.ExcludeHeaderFilterRegex,
                   Place);
        }
    // --level stands for the global option `Level` in every configuration. It
    // takes the weakest place, so that an option of one check still wins.
    if (WeakestLevel) {
      for (OptionsSource &Source : Sources)
        Source.first.CheckOptions.erase("Level");
      ClangTidyOptions Option;
      Option.CheckOptions["Level"] = ClangTidyOptions::ClangTidyValue(
          std::to_string(static_cast<unsigned>(*WeakestLevel)));
      Sources.insert(Sources.begin(), {std::move(Option), "--level"});
    }
    ClangTidyOptions Filter;
    Filter.Checks = OnlyOurs.str();
    if (CompilerWarnings)
      *Filter.Checks += ",clang-diagnostic-*";
    setHeaderFilter(Sources, File, Filter);
    if (OnlyFiles)
      FileAboutOthers = fileAboutOthers(Sources).str();
    if (!FileAboutOthers.empty()) {
      *Filter.Checks = "libtorch-*," + *Filter.Checks;
      Filter.WarningsAsErrors = "-libtorch-*";
    }
    Sources.emplace_back(std::move(Filter), OptionsSourceTypeDefaultBinary);
    return Sources;
  }

  std::unique_ptr<ClangTidyOptionsProvider> Inner;
  bool ParseFailed = false;
  bool CompilerWarnings = false;
  /// Only .clang-tidy files say which checks run.
  bool OnlyFiles = false;
  /// They are asked at all, and neither --config nor --config-file is given.
  bool FromFiles = false;
  /// Of the last query: what they say that cannot be taken, each with its file.
  std::vector<std::pair<std::string, std::string>> LeftOut;
  /// For the file of the last query; see
  /// Configuration::filesAboutOtherPrograms().
  std::string FileAboutOthers;
  /// Without a filter of the user, the headers of the project count.
  bool ProjectToo = true;

private:
  /// Takes \p Regex, of option \p Name in file \p Place, away where it is
  /// none: clang-tidy goes on, and other tools that read the file take more.
  void leaveOut(StringRef Name, std::optional<std::string> &Regex,
                StringRef Place) {
    std::string Message;
    if (!Regex || Regex->empty() || llvm::Regex(*Regex).isValid(Message))
      return;
    LeftOut.emplace_back(printable((Name + " '" + *Regex +
                                    "' is left out, as it is no POSIX extended "
                                    "regular expression: " +
                                    Message)
                                       .str()),
                         Place.str());
    Regex.reset();
  }

  void setHeaderFilter(llvm::ArrayRef<OptionsSource> Sources, StringRef File,
                       ClangTidyOptions &Result) const {
    // The last one wins.
    auto Last = [&](auto Member) -> std::optional<std::string> {
      for (const OptionsSource &Source : llvm::reverse(Sources))
        if (const auto &Regex = Source.first.*Member)
          return Regex;
      return std::nullopt;
    };
    auto Given = Last(&ClangTidyOptions::HeaderFilterRegex);
    if (!MoreHeaders.empty()) {
      Result.HeaderFilterRegex = MoreHeaders;
      if (Given && !Given->empty())
        *Result.HeaderFilterRegex += "|(" + *Given + ")";
    } else if (!Given && !ProjectToo) {
      Result.HeaderFilterRegex = "";
    } else if (!Given) {
      std::tie(Result.HeaderFilterRegex, Result.ExcludeHeaderFilterRegex) =
          projectHeaders(File, WorkingFolder, *FS);
      auto Theirs = Last(&ClangTidyOptions::ExcludeHeaderFilterRegex);
      if (Theirs && !Theirs->empty())
        *Result.ExcludeHeaderFilterRegex += "|(" + *Theirs + ")";
    }
  }

  std::optional<Level> WeakestLevel;
  std::string MoreHeaders;
  IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  /// Where the program runs. The file system is in the folder of the compile
  /// command when Clang 22 asks for filters.
  std::string WorkingFolder;
};

Expected<Configuration>
Configuration::create(const ConfigurationOptions &Options,
                      IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  Configuration Result;
  Result.FS = std::move(FS);
  Result.WeakestLevel = Options.WeakestLevel;

  Result.LineFilter = Options.LineFilter.value_or("");
  if (Options.LineFilter && isNestedTooDeep(*Options.LineFilter))
    return makeError("invalid --line-filter: it is nested too deeply");
  if (Options.LineFilter)
    if (std::error_code EC =
            parseLineFilter(*Options.LineFilter, Result.Global))
      return makeError("invalid --line-filter: " + EC.message());

  Result.Defaults = ClangTidyOptions::getDefaults();
  Result.Defaults.Checks = "libtorch-*";
  Result.Defaults.WarningsAsErrors = "";
  // Whether the user sets one makes a difference; see Provider.
  Result.Defaults.HeaderFilterRegex = std::nullopt;
  Result.Defaults.ExcludeHeaderFilterRegex = "";
  Result.Defaults.SystemHeaders = false;
  Result.Defaults.FormatStyle = "none";
  Result.Defaults.User = llvm::sys::Process::GetEnv("USER");

  Result.Overrides.Checks = Options.Checks;
  Result.Overrides.WarningsAsErrors = Options.WarningsAsErrors;
  Result.Overrides.HeaderFilterRegex = Options.HeaderFilter;
  Result.Overrides.ExcludeHeaderFilterRegex = Options.ExcludeHeaderFilter;
  Result.Overrides.UseColor = Options.UseColor;

  if (Options.Config) {
    auto Given = parse({*Options.Config, "--config"});
    if (!Given)
      return makeError("invalid --config");
    Result.Given = *Given;
  } else if (Options.ConfigFile) {
    auto Text = Result.FS->getBufferForFile(*Options.ConfigFile);
    if (!Text)
      return makeError("cannot read the configuration '" + *Options.ConfigFile +
                       "': " + Text.getError().message());
    auto Given = parse({(*Text)->getBuffer(), *Options.ConfigFile});
    if (!Given)
      return makeError("invalid configuration '" + *Options.ConfigFile + "'");
    Result.Given = *Given;
  }
  return Result;
}

std::unique_ptr<Configuration::Provider>
Configuration::provider(StringRef Headers,
                        IntrusiveRefCntPtr<llvm::vfs::FileSystem> From) const {
  auto Result = std::make_unique<Provider>(WeakestLevel, Headers, From);
  Result->FromFiles = !Given;
  Result->OnlyFiles = !Given && !Overrides.Checks;
  if (Given)
    Result->Inner = std::make_unique<Checked<ConfigOptionsProvider>>(
        Result->ParseFailed, Global, Defaults, *Given, Overrides, From);
  else
    Result->Inner = std::make_unique<Checked<FileOptionsProvider>>(
        Result->ParseFailed, Global, Defaults, Overrides, From);
  return Result;
}

std::unique_ptr<ClangTidyOptionsProvider>
Configuration::createProvider(IntrusiveRefCntPtr<llvm::vfs::FileSystem> UnitFS,
                              bool CompilerWarnings) const {
  auto P = provider(MoreHeaders, std::move(UnitFS));
  P->CompilerWarnings = CompilerWarnings;
  return P;
}

static Error checkRegex(StringRef Option,
                        const std::optional<std::string> &Regex,
                        StringRef File) {
  std::string Message;
  if (Regex && !Regex->empty() && !llvm::Regex(*Regex).isValid(Message))
    return makeError("invalid regular expression in " + Option + " for '" +
                     File + "': " + Message);
  return Error::success();
}

/// That levels are levels. The checks would each say it of the same option.
static Error checkLevels(const ClangTidyOptions &Options, StringRef File) {
  std::vector<StringRef> Keys(Options.CheckOptions.keys().begin(),
                              Options.CheckOptions.keys().end());
  llvm::sort(Keys);
  for (StringRef Key : Keys) {
    StringRef Value = Options.CheckOptions.find(Key)->second.Value;
    unsigned Number;
    if ((Key == "Level" ||
         (Key.starts_with("libtorch-") && Key.ends_with(".Level"))) &&
        (Value.getAsInteger(10, Number) || Number > 2))
      return makeError("invalid value '" + Value + "' of option '" + Key +
                       "' for '" + File + "': expected 0, 1 or 2");
  }
  return Error::success();
}

Expected<ClangTidyOptions> Configuration::optionsFor(StringRef File) const {
  auto P = provider(MoreHeaders, FS);
  ClangTidyOptions Result = P->getOptions(File);
  if (P->ParseFailed)
    return makeError("malformed .clang-tidy file for '" + File + "'");
  if (Error E = checkRegex("the header filter", Result.HeaderFilterRegex, File))
    return E;
  if (Error E = checkRegex("ExcludeHeaderFilterRegex",
                           Result.ExcludeHeaderFilterRegex, File))
    return E;
  if (Error E = checkLevels(Result, File))
    return E;
  return Result;
}

void Configuration::reportHeaders(llvm::ArrayRef<std::string> Paths) {
  std::set<std::string> Names;
  for (const std::string &Path : Paths)
    Names.insert(llvm::Regex::escape(path::filename(Path)));
  MoreHeaders = "(^|/)(" + llvm::join(Names, "|") + ")$";
}

bool Configuration::filterTakes(StringRef File, StringRef Path) const {
  auto P = provider("", FS);
  // Who names headers asks for findings in those.
  P->ProjectToo = MoreHeaders.empty();
  return filterTakes(P->getOptions(File), Path);
}

bool Configuration::filterTakes(const ClangTidyOptions &Options,
                                StringRef Path) {
  auto Matches = [&](const std::optional<std::string> &Regex) {
    return Regex && !Regex->empty() && llvm::Regex(*Regex).match(Path);
  };
  return Matches(Options.HeaderFilterRegex) &&
         !Matches(Options.ExcludeHeaderFilterRegex);
}

bool Configuration::lineFilterTakes(StringRef Path, unsigned Line) const {
  for (const FileFilter &Filter : Global.LineFilter)
    if (Path.ends_with(Filter.Name))
      return Filter.LineRanges.empty() ||
             llvm::any_of(Filter.LineRanges, [&](const auto &Range) {
               return Range.first <= Line && Line <= Range.second;
             });
  return Global.LineFilter.empty();
}

Level Configuration::weakestLevel(const ClangTidyOptions &Options,
                                  StringRef Check) {
  unsigned Weakest = static_cast<unsigned>(DefaultLevel);
  for (const std::string &Key :
       {std::string("Level"), (Check + ".Level").str()})
    if (auto It = Options.CheckOptions.find(Key);
        It != Options.CheckOptions.end())
      (void)StringRef(It->second.Value).getAsInteger(10, Weakest);
  return Weakest > 2 ? DefaultLevel : static_cast<Level>(Weakest);
}

std::vector<std::string>
Configuration::enabledChecks(const ClangTidyOptions &Options) {
  return compat::checkNames(Options);
}

std::string Configuration::dump(StringRef File) const {
  auto P = provider("", FS);
  ClangTidyOptions Options = P->getOptions(File);
  std::vector<std::string> Enabled = enabledChecks(Options);
  Options.CheckOptions = compat::checkOptions(Options);
  // Only options of checks that run.
  std::vector<std::string> Unused;
  for (StringRef Key : Options.CheckOptions.keys())
    if (!llvm::is_contained(Enabled, Key.split('.').first))
      Unused.push_back(Key.str());
  for (const std::string &Key : Unused)
    Options.CheckOptions.erase(Key);
  // Ours alone is what this program means; it is not the user's setting.
  StringRef Checks = *Options.Checks;
  Checks.consume_back(OnlyOurs);
  Options.Checks = Checks.rtrim(',').str();
  return configurationAsText(Options);
}

/// Calls \p Found for what was left out of the configuration \p Source, and
/// for each check and option of ours there that does not exist.
void Configuration::findProblems(
    const Provider &P, const ClangTidyOptionsProvider::OptionsSource &Source,
    llvm::function_ref<void(StringRef Problem)> Found) {
  const ClangTidyOptions &Options = Source.first;
  for (const auto &[Problem, Place] : P.LeftOut)
    if (Place == Source.second)
      Found(Problem);
  // Takes a while: made when needed.
  std::optional<compat::ChecksAndOptions> Known;
  auto Names = [&]() -> const compat::ChecksAndOptions & {
    if (!Known)
      Known = compat::allChecksAndOptions();
    return *Known;
  };
  auto Tell = [&](StringRef What, StringRef Name,
                  const llvm::StringSet<> &Candidates) {
    std::vector<StringRef> Sorted(Candidates.keys().begin(),
                                  Candidates.keys().end());
    llvm::sort(Sorted);
    Found(printable(("unknown " + What + " '" + Name + "'").str() +
                    didYouMean(Name, Sorted)));
  };
  // Checks of other modules are clang-tidy's to verify.
  const std::string Checks = Options.Checks.value_or("");
  const GlobList Globs(Checks); // Refers to the text.
  for (const auto &Glob : Globs.getItems())
    if (Glob.Text.starts_with("libtorch") && Glob.Text != "libtorch-*" &&
        llvm::none_of(Names().Checks.keys(),
                      [&](StringRef S) { return Glob.Regex.match(S); }))
      Tell("check", Glob.Text, Names().Checks);
  std::vector<StringRef> Keys(Options.CheckOptions.keys().begin(),
                              Options.CheckOptions.keys().end());
  llvm::sort(Keys);
  for (StringRef Key : Keys)
    if (Key.starts_with("libtorch") && !Names().Options.contains(Key))
      Tell("check option", Key, Names().Options);
}

bool Configuration::verify(StringRef File) const {
  auto P = provider("", FS);
  bool Fine = true;
  for (const auto &Source : P->getRawOptions(File))
    findProblems(*P, Source, [&](StringRef Problem) {
      llvm::WithColor::error(llvm::errs(), Source.second) << Problem << '\n';
      Fine = false;
    });
  return Fine && !P->ParseFailed;
}

std::vector<std::string> Configuration::placesFor(StringRef File) const {
  std::vector<std::string> Result;
  auto P = provider("", FS);
  for (const auto &[Options, Source] : P->getRawOptions(File))
    if (FS->exists(Source) || StringRef(Source).contains("-config"))
      Result.push_back(Source);
  return Result;
}

void Configuration::warnOfUnknown(StringRef File) {
  auto P = provider("", FS);
  for (const auto &Source : P->getRawOptions(File))
    if (Warned.insert(Source.second).second)
      findProblems(*P, Source, [&](StringRef Problem) {
        tellWarning() << Problem << " [" << printable(Source.second) << "]\n";
      });
  if (!P->FileAboutOthers.empty())
    AboutOthers.insert(P->FileAboutOthers);
}

} // namespace libtorch_tidy::driver
