# A formula for Homebrew. Untested: libtorch-tidy was never built on macOS.
class LibtorchTidy < Formula
  desc "Static analyzer for memory antipatterns in LibTorch code"
  # The archive of a release's sources, and its checksum.
  homepage "https://example.org/libtorch-tidy"
  url "https://example.org/libtorch-tidy-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0" => { with: "LLVM-exception" }

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "llvm@19"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *std_cmake_args,
           "-DLIBTORCH_TIDY_LLVM=19", "-DLIBTORCH_TIDY_PLUGINS=",
           "-DLIBTORCH_TIDY_BUILD_TESTS=OFF",
           "-DCMAKE_PREFIX_PATH=#{Formula["llvm@19"].opt_prefix}"
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"libtorch-tidy", "--list-checks"
  end
end
