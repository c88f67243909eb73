//===- HarmlessFlags.cpp - Compiler flags that only read ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/HarmlessFlags.h"
#include "driver/llvm/Compat.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/FileSystem.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/Sanitizers.h"
#include "clang/Driver/Types.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/DependencyOutputOptions.h"
#include "clang/Frontend/FrontendOptions.h"
#include "clang/Frontend/MigratorOptions.h"
#include "clang/Frontend/PreprocessorOutputOptions.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>

using clang::tooling::CommandLineArguments;
using llvm::StringRef;
using llvm::opt::Option;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

namespace options = compat::options;
namespace types = clang::driver::types;

/// The fates that Clang's own table tells. Kept is what sets what the parser
/// reads: the language, the target, folders of headers, the preprocessor,
/// diagnostics. Others only say how code is made, or what is printed and
/// written.
static const llvm::DenseMap<unsigned, FlagFate> &fatesByTable() {
  static const llvm::DenseMap<unsigned, FlagFate> Fates = {
#define KEPT_OPTION(PREFIX, SPELLING, ID, ...)                                 \
  {options::OPT_##ID, FlagFate::Kept},
#define LANG_OPTION_WITH_MARSHALLING KEPT_OPTION
#define TARGET_OPTION_WITH_MARSHALLING KEPT_OPTION
#define HEADER_SEARCH_OPTION_WITH_MARSHALLING KEPT_OPTION
#define PREPROCESSOR_OPTION_WITH_MARSHALLING KEPT_OPTION
#define FILE_SYSTEM_OPTION_WITH_MARSHALLING KEPT_OPTION
#define DIAG_OPTION_WITH_MARSHALLING KEPT_OPTION
#define USELESS_OPTION(PREFIX, SPELLING, ID, ...)                              \
  {options::OPT_##ID, FlagFate::Useless},
#define CODEGEN_OPTION_WITH_MARSHALLING USELESS_OPTION
#define DEPENDENCY_OUTPUT_OPTION_WITH_MARSHALLING USELESS_OPTION
#define PREPROCESSOR_OUTPUT_OPTION_WITH_MARSHALLING USELESS_OPTION
#define FRONTEND_OPTION_WITH_MARSHALLING USELESS_OPTION
#define MIGRATOR_OPTION_WITH_MARSHALLING USELESS_OPTION
#define ANALYZER_OPTION_WITH_MARSHALLING USELESS_OPTION
#include LIBTORCH_TIDY_CLANG_OPTIONS
#undef KEPT_OPTION
#undef LANG_OPTION_WITH_MARSHALLING
#undef TARGET_OPTION_WITH_MARSHALLING
#undef HEADER_SEARCH_OPTION_WITH_MARSHALLING
#undef PREPROCESSOR_OPTION_WITH_MARSHALLING
#undef FILE_SYSTEM_OPTION_WITH_MARSHALLING
#undef DIAG_OPTION_WITH_MARSHALLING
#undef USELESS_OPTION
#undef CODEGEN_OPTION_WITH_MARSHALLING
#undef DEPENDENCY_OUTPUT_OPTION_WITH_MARSHALLING
#undef PREPROCESSOR_OUTPUT_OPTION_WITH_MARSHALLING
#undef FRONTEND_OPTION_WITH_MARSHALLING
#undef MIGRATOR_OPTION_WITH_MARSHALLING
#undef ANALYZER_OPTION_WITH_MARSHALLING
  };
  return Fates;
}

/// The fate of options that not all versions of Clang have, or that are of
/// another kind in some, hence by their names.
static std::optional<FlagFate> fateByName(const Option &Option) {
  return llvm::StringSwitch<std::optional<FlagFate>>(Option.getName())
      // What is read.
      .Cases("index-header-map", "internal-iframework", FlagFate::Kept)
      .Cases("nogpuinc", "no-offload-inc", "offload-inc", FlagFate::Kept)
      .Cases("nogpulib", "no-offloadlib", "offloadlib", FlagFate::Kept)
      .Cases("ffinite-math-only", "fno-finite-math-only", FlagFate::Kept)
      // Programs that Clang's driver runs, and toolchains that it asks them
      // about. Clang 22 has these for all kinds of accelerators.
      .Cases("offload-arch-tool=", "offload-targets=", FlagFate::Refused)
      // Its file says where a toolchain's headers lie.
      .Case("multi-lib-config=", FlagFate::Refused)
      // A file that the code for an accelerator is made with.
      .Case("fopenmp-host-ir-file-path", FlagFate::Refused)
      // A profile that another compiler wrote is an error to Clang.
      .Case("fprofile-sample-use", FlagFate::Useless)
      .Case("sycl-link", FlagFate::Useless)
      .Default(std::nullopt);
}

/// The fate of single options, where their kind does not say it.
namespace fates {
using namespace options;
static constexpr unsigned Refused[] = {
    // Modules that Clang would build, and write into a cache. Without,
    // #include reads the header.
    OPT_fmodules, OPT_fimplicit_modules, OPT_fcxx_modules,
    OPT_fmodules_cache_path, OPT_fmodules_user_build_path,
    OPT_fprebuilt_implicit_modules, OPT_fmodule_header, OPT_fmodule_header_EQ,
    // Programs: Clang's driver runs the first two, and looks for more of
    // them in the folders of -B.
    OPT_amdgpu_arch_tool_EQ, OPT_nvptx_arch_tool_EQ, OPT_fopenmp_targets_EQ,
    OPT_offload_EQ, OPT_fplugin_EQ, OPT_load, OPT_plugin, OPT_add_plugin,
    OPT_Xarch__, OPT_Xarch_device, OPT_Xarch_host, OPT_Xopenmp_target,
    OPT_Xopenmp_target_EQ};
static constexpr unsigned Useless[] = {
    // What they set is written or printed.
    OPT_diagnostic_log_file, OPT_diagnostic_serialized_file,
    OPT__serialize_diags, OPT_fbuild_session_file, OPT_fprofile_list_EQ,
    OPT_fxray_always_instrument, OPT_fxray_attr_list,
    OPT_fxray_never_instrument, OPT_dump_deserialized_pch_decls,
    // A profile that another compiler wrote is an error to Clang.
    OPT_fprofile_instr_use, OPT_v};
static constexpr unsigned Kept[] = {
    // The driver's words for what the parser reads. Not all values of
    // OPT_offload_arch_EQ: see isHarmlessValue.
    OPT_ansi, OPT_arch, OPT_aux_target_cpu, OPT_aux_target_feature,
    OPT_aux_triple, OPT_c_isystem, OPT_cl_std_EQ, OPT_cuda_feature_EQ,
    OPT_cuda_path_EQ, OPT_cxx_isystem, OPT_D, OPT_darwin_target_variant,
    OPT_darwin_target_variant_sdk_version_EQ, OPT_driver_mode, OPT_embed_dir_EQ,
    OPT_F, OPT_faligned_new_EQ, OPT_fapinotes_swift_version,
    OPT_fbracket_depth_EQ, OPT_fcxx_abi_EQ, OPT_fcf_protection_EQ,
    OPT_fclang_abi_compat_EQ, OPT_fcomplex_arithmetic_EQ,
    OPT_fconstant_string_class_EQ, OPT_fdenormal_fp_math_EQ,
    OPT_fdenormal_fp_math_f32_EQ, OPT_fdiagnostics_color_EQ,
    OPT_fdiagnostics_format_EQ, OPT_fdiagnostics_show_category_EQ,
    OPT_fencoding_EQ, OPT_ferror_limit_EQ, OPT_fexcess_precision_EQ,
    OPT_fexec_charset_EQ, OPT_ffile_prefix_map_EQ, OPT_ffp_contract,
    OPT_ffp_model_EQ, OPT_fgnuc_version_EQ, OPT_finput_charset_EQ,
    OPT_finclude_default_header, OPT_fmacro_prefix_map_EQ, OPT_fmodule_file,
    OPT_fms_compatibility_version, OPT_fms_runtime_lib_EQ, OPT_fmsc_version,
    OPT_fno_builtin_, OPT_fno_sanitize_EQ, OPT_fno_unsigned_char,
    OPT_fobjc_runtime_EQ, OPT_fopenmp_EQ, OPT_fopenmp_version_EQ,
    OPT_fprebuilt_module_path, OPT_frandomize_layout_seed_EQ, OPT_fsanitize_EQ,
    OPT_ftabstop_EQ, OPT_gcc_install_dir_EQ, OPT_gcc_toolchain,
    OPT_gcc_triple_EQ, OPT_hip_path_EQ, OPT_hip_version_EQ,
    OPT_hipstdpar_path_EQ, OPT_hipstdpar_prim_path_EQ,
    OPT_hipstdpar_thrust_path_EQ, OPT_I, OPT_I_, OPT_ibuiltininc, OPT_idirafter,
    OPT_iframework, OPT_iframeworkwithsysroot, OPT_include,
    OPT_internal_externc_isystem, OPT_internal_isystem, OPT_iprefix, OPT_iquote,
    OPT_isystem, OPT_isystem_after, OPT_ivfsoverlay, OPT_iwithprefix,
    OPT_iwithprefixbefore, OPT_iwithsysroot, OPT_no_offload_arch_EQ,
    OPT_nohipwrapperinc, OPT_nostdinc, OPT_nostdlibinc, OPT_objc_isystem,
    OPT_objcxx_isystem, OPT_offload_arch_EQ, OPT_offload_device_only,
    OPT_offload_host_device, OPT_offload_host_only, OPT_ObjC, OPT_ObjCXX,
    OPT_openacc_macro_override, OPT_pthread, OPT_rocm_path_EQ,
    OPT_source_date_epoch, OPT_std_EQ, OPT_std_default_EQ, OPT_stdlib_EQ,
    OPT_stdlibxx_isystem, OPT__sysroot_EQ, OPT_system_header_prefix,
    OPT_no_system_header_prefix, OPT_target, OPT_target_sdk_version_EQ,
    OPT_traditional_cpp, OPT_trigraphs, OPT_fno_trigraphs, OPT_U,
    OPT_vfsoverlay, OPT_x, OPT_fsyntax_only, OPT__DASH_DASH,
    OPT_no_cuda_version_check, OPT_cuda_path_ignore_env,
    OPT_start_no_unused_arguments, OPT_end_no_unused_arguments,
    // clang-cl's.
    OPT__SLASH_AI, OPT__SLASH_EH, OPT__SLASH_arch, OPT__SLASH_diasdkdir,
    OPT__SLASH_external, OPT__SLASH_external_env, OPT__SLASH_imsvc,
    OPT__SLASH_std, OPT__SLASH_Tc, OPT__SLASH_Tp, OPT__SLASH_vctoolsdir,
    OPT__SLASH_vctoolsversion, OPT__SLASH_winsdkdir, OPT__SLASH_winsdkversion,
    OPT__SLASH_winsysroot, OPT__SLASH_Zc,
    // They hold others.
    OPT_Xclang, OPT_Xpreprocessor, OPT_Wp_COMMA, OPT__SLASH_clang};
} // namespace fates

FlagFate fateOf(const Option &Option) {
  switch (Option.getKind()) {
  case llvm::opt::Option::InputClass:
    return FlagFate::Kept;
  case llvm::opt::Option::UnknownClass:
    return FlagFate::Useless;
  default:
    break;
  }
  if (std::optional<FlagFate> Fate = fateByName(Option))
    return *Fate;
  if (llvm::is_contained(fates::Refused, Option.getID()))
    return FlagFate::Refused;
  if (llvm::is_contained(fates::Useless, Option.getID()))
    return FlagFate::Useless;
  if (llvm::is_contained(fates::Kept, Option.getID()))
    return FlagFate::Kept;
  const bool IsFlag = Option.getKind() == llvm::opt::Option::FlagClass;
  StringRef Name = Option.getName();
  if (Name.contains("module"))
    return FlagFate::Useless;
  if (auto It = fatesByTable().find(Option.getID()); It != fatesByTable().end())
    return It->second;
  auto In = [&](unsigned Group) { return Option.matches(Group); };
  // The optimizer's level is seen in __OPTIMIZE__; the others are features of
  // the target and warnings, with short words as values.
  if (In(options::OPT_O_Group) || In(options::OPT_m_Group) ||
      In(options::OPT_W_Group) || In(options::OPT_W_value_Group) ||
      In(options::OPT_pedantic_Group))
    return FlagFate::Kept;
  // A switch names nothing. What those of the driver write, they write where
  // the output goes, and there is none.
  if (IsFlag && (In(options::OPT_f_Group) || In(options::OPT_f_clang_Group) ||
                 In(options::OPT_opencl_Group) || In(options::OPT_cl_Group)))
    return FlagFate::Kept;
  // -ccc-*, -remap-file, -chain-include ... and what a new Clang brings.
  if (In(options::OPT_internal_Group) ||
      (!In(options::OPT_CompileOnly_Group) &&
       Option.hasVisibilityFlag(options::CC1Option) &&
       !Option.hasVisibilityFlag(llvm::opt::DefaultVis)))
    return FlagFate::Refused;
  return FlagFate::Useless;
}

/// The values that change what an option does.
static bool isHarmlessValue(const llvm::opt::Arg &A) {
  switch (A.getOption().getID()) {
  case options::OPT_offload_arch_EQ:
  case options::OPT_no_offload_arch_EQ:
    // `native`, and an empty name between commas, run a program that asks the
    // machine.
    return llvm::all_of(A.getValues(), [](StringRef Value) {
      llvm::SmallVector<StringRef, 4> Names;
      Value.split(Names, ',');
      return llvm::all_of(Names, [](StringRef Name) {
        return Name.starts_with("sm_") || Name.starts_with("compute_") ||
               Name.starts_with("gfx") || Name == "all";
      });
    });
  case options::OPT_x: {
    auto Type = types::lookupTypeForTypeSpecifier(A.getValue());
    return Type == types::TY_INVALID || types::isAcceptedByClang(Type);
  }
  default:
    return true;
  }
}

namespace {

/// One pass over a command line, in one of the languages of Clang's table.
class Sieve {
public:
  using Loss = llvm::function_ref<void(StringRef, FlagFate)>;
  Sieve(unsigned Visible, Loss Drop) : Visible(Visible), Drop(Drop) {}

  void pass(llvm::ArrayRef<std::string> Words) {
    llvm::SmallVector<const char *, 64> Flags;
    for (const std::string &Word : Words)
      Flags.push_back(Word.c_str());
    unsigned MissingIndex, MissingCount;
    llvm::opt::InputArgList Parsed = compat::optionTable().ParseArgs(
        Flags, MissingIndex, MissingCount, llvm::opt::Visibility(Visible));
    std::vector<const llvm::opt::Arg *> Args(Parsed.begin(), Parsed.end());
    for (size_t I = 0; I < Args.size(); ++I) {
      const llvm::opt::Arg &A = *Args[I];
      const size_t Begin = A.getIndex();
      const size_t End = I + 1 < Args.size() ? Args[I + 1]->getIndex()
                         : MissingCount      ? MissingIndex
                                             : Words.size();
      const unsigned Id = A.getOption().getID();
      if (Id == options::OPT_Xclang || Id == options::OPT_Xpreprocessor ||
          Id == options::OPT_Wp_COMMA || Id == options::OPT__SLASH_clang) {
        if (Id != Holder)
          flushInner();
        Holder = Id;
        llvm::append_range(Inner, A.getValues());
        continue;
      }
      flushInner();
      if (Id == options::OPT_INPUT && !HasInputs)
        continue;
      if (Id == options::OPT_fsanitize_EQ ||
          Id == options::OPT_fno_sanitize_EQ) {
        keepSanitizers(A);
        continue;
      }
      FlagFate Fate = fateOf(A.getOption());
      if (Fate == FlagFate::Kept && !isHarmlessValue(A))
        Fate = FlagFate::Refused;
      if (Fate == FlagFate::Kept)
        Kept.insert(Kept.end(), Words.begin() + Begin, Words.begin() + End);
      else
        Drop(llvm::join(Words.begin() + Begin, Words.begin() + End, " "), Fate);
    }
    flushInner();
  }

  CommandLineArguments Kept;

private:
  /// Those that GCC alone has are errors to Clang.
  void keepSanitizers(const llvm::opt::Arg &A) {
    llvm::SmallVector<StringRef, 4> Known;
    llvm::copy_if(A.getValues(), std::back_inserter(Known), [](StringRef Name) {
      return bool(clang::parseSanitizerValue(Name, /*AllowGroups=*/true));
    });
    if (!Known.empty())
      Kept.push_back(A.getSpelling().str() + llvm::join(Known, ","));
  }

  void flushInner() {
    if (Inner.empty())
      return;
    const bool ForFront = Holder == options::OPT_Xclang;
    Sieve Held(ForFront ? options::CC1Option : options::ClangOption, Drop);
    Held.HasInputs = Holder == options::OPT__SLASH_clang;
    Held.pass(std::exchange(Inner, {}));
    for (std::string &Argument : Held.Kept) {
      if (ForFront)
        Kept.push_back("-Xclang");
      Kept.push_back(Held.HasInputs ? "/clang:" + Argument
                                    : std::move(Argument));
    }
  }

  unsigned Visible;
  Loss Drop;
  /// The preprocessor has no files of its own: what looks like one in -Wp, is
  /// the value of an option that is left out.
  bool HasInputs = true;
  /// What successive flags hold is one command line, judged as if it stood
  /// there itself.
  std::vector<std::string> Inner;
  unsigned Holder = 0; ///< The option that holds it: -Xclang, -Wp, ...
};

} // namespace

/// The values of an option, in the order of \p Args, which loses it.
static std::vector<std::string> take(std::vector<std::string> &Args,
                                     StringRef Spelling) {
  std::vector<std::string> Result;
  for (size_t I = 1; I < Args.size();) {
    StringRef Value = Args[I];
    if (Value == "--")
      break;
    if (Value.consume_front(Spelling) && Value.consume_front("=")) {
      Result.push_back(Value.str());
    } else if (Spelling == "--config" && Args[I] == Spelling &&
               I + 1 < Args.size()) {
      Result.push_back(Args[I + 1]);
      Args.erase(Args.begin() + I);
    } else {
      ++I;
      continue;
    }
    Args.erase(Args.begin() + I);
  }
  return Result;
}

/// Reads what Clang's driver would read by itself, and stops it from doing so:
/// files of the flags for a compiler that is set up for a machine.
static void
readConfigurationFiles(CommandLineArguments &Args, StringRef Folder,
                       llvm::vfs::FileSystem &FS,
                       llvm::function_ref<void(StringRef, FlagFate)> Drop) {
  StringRef Mode = "clang", Target;
  bool NoDefault = false;
  for (StringRef Arg : llvm::drop_begin(Args)) {
    if (Arg == "--")
      break;
    NoDefault |= Arg == "--no-default-config";
    if (Arg.consume_front("--driver-mode="))
      Mode = Arg == "g++"   ? "clang++"
             : Arg == "cl"  ? "clang-cl"
             : Arg == "cpp" ? "clang-cpp"
                            : "clang";
    else if (Arg.consume_front("--target="))
      Target = Arg;
  }
  const std::string Triple = llvm::Triple::normalize(
      Target.empty() ? llvm::sys::getDefaultTargetTriple() : Target.str());

  std::vector<std::string> Named = take(Args, "--config");
  std::vector<std::string> Dirs;
  auto AddDir = [&](StringRef Dir) {
    if (!Dir.empty())
      Dirs.push_back(compat::absolutePath(Folder, Dir).str().str());
  };
  for (StringRef Option : {"--config-user-dir", "--config-system-dir"})
    if (std::vector<std::string> Given = take(Args, Option); !Given.empty())
      AddDir(Given.back());
  AddDir(path::parent_path(Args.front()));
  llvm::SmallVector<StringRef, 4> Searched(Dirs.begin(), Dirs.end());

  llvm::BumpPtrAllocator Allocator;
  llvm::cl::ExpansionContext Context(Allocator, llvm::cl::tokenizeConfigFile);
  // They can include each other.
  FewFiles Files(&FS);
  Context.setVFS(&Files).setCurrentDir(Folder).setSearchDirs(Searched);
  std::vector<std::string> Read;
  auto Add = [&](const llvm::Twine &Name) {
    llvm::SmallString<128> Path;
    const std::string File = Name.str();
    if (StringRef(File).contains('/'))
      Path = compat::absolutePath(Folder, File);
    else if (!Context.findConfigFile(File, Path))
      return false;
    llvm::SmallVector<const char *, 16> Words;
    if (llvm::errorToBool(Context.readConfigFile(Path, Words)))
      return false;
    Read.insert(Read.end(), Words.begin(), Words.end());
    return true;
  };
  if (!NoDefault && !Add(Triple + "-" + Mode + ".cfg")) {
    Add(Triple + ".cfg");
    Add(Mode + ".cfg");
  }
  for (const std::string &Name : Named)
    if (!Add(Name))
      Drop("--config=" + Name, FlagFate::Refused);
  Args.insert(Args.begin() + 1, Read.begin(), Read.end());
}

CommandLineArguments
keepHarmlessFlags(const CommandLineArguments &Given, StringRef Folder,
                  llvm::vfs::FileSystem &FS,
                  llvm::function_ref<void(StringRef, FlagFate)> Drop) {
  CommandLineArguments Args = Given;
  if (Args.empty())
    return Args;
  if (Args.size() > 1 && Args[1] == "-cc1") {
    Sieve Front(options::CC1Option, Drop);
    Front.pass(llvm::ArrayRef(Args).drop_front(2));
    Front.Kept.insert(Front.Kept.begin(), {Args[0], "-cc1"});
    return std::move(Front.Kept);
  }
  readConfigurationFiles(Args, Folder, FS, Drop);
  const bool IsCl = llvm::is_contained(Args, "--driver-mode=cl");
  Sieve Driver(IsCl ? options::CLOption : options::ClangOption, Drop);
  Driver.pass(llvm::ArrayRef(Args).drop_front());
  // Not at the end, where a file can follow `--`.
  Driver.Kept.insert(Driver.Kept.begin(),
                     {Args[0], "--no-default-config", "-fsyntax-only"});
  return std::move(Driver.Kept);
}

clang::FrontendOptions plainFrontendOptions() {
  clang::CompilerInvocation Plain;
  const compat::Diagnostics Diags(new clang::IgnoringDiagConsumer);
  (void)clang::CompilerInvocation::CreateFromArgs(Plain, {}, *Diags);
  return Plain.getFrontendOpts();
}

void keepParsingOnly(clang::CompilerInvocation &Invocation) {
  // Clang's driver was told that it is C++.
  if (isCuda(Invocation.getPreprocessorOpts()))
    Invocation.getLangOpts().CUDA = true;
  // Modules would be built, and written.
  Invocation.getLangOpts().ImplicitModules = false;
  Invocation.getHeaderSearchOpts().ModuleCachePath.clear();
  Invocation.getHeaderSearchOpts().ModuleUserBuildPath.clear();
  Invocation.getDiagnosticOpts().DiagnosticLogFile.clear();
  Invocation.getDiagnosticOpts().DiagnosticSerializationFile.clear();

  compat::dropCodeGeneration(Invocation);
  Invocation.getDependencyOutputOpts() = clang::DependencyOutputOptions();
  Invocation.getMigratorOpts() = clang::MigratorOptions();
  Invocation.getPreprocessorOutputOpts() = clang::PreprocessorOutputOptions();

  clang::FrontendOptions Front = plainFrontendOptions();
  clang::FrontendOptions &Given = Invocation.getFrontendOpts();
  Front.Inputs = Given.Inputs;
  Front.DashX = Given.DashX;
  Front.ModuleFiles = Given.ModuleFiles;
  Front.AuxTriple = Given.AuxTriple;
  Front.AuxTargetCPU = Given.AuxTargetCPU;
  Front.AuxTargetFeatures = Given.AuxTargetFeatures;
  Front.UseGlobalModuleIndex = false;
  Front.GenerateGlobalModuleIndex = false;
  Given = std::move(Front);
}

} // namespace libtorch_tidy::driver
