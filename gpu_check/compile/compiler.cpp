#include "gpu_check/compile/compiler.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace halfulp::gpu {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string quoted(const std::string& path) { return "'" + path + "'"; }

/// A name that no other call gets.
std::string fresh_name() {
  static std::atomic<unsigned> count{0};
  return "/" + std::to_string(count++);
}

}  // namespace

Compiler::Compiler(std::string nvcc, std::string source)
    : nvcc_(std::move(nvcc)),
      ptxas_((std::filesystem::canonical(nvcc_).parent_path() / "ptxas").string()),
      source_(std::move(source)),
      folder_((std::filesystem::temp_directory_path() / ("halfulp_compile_" + std::to_string(getpid()))).string()) {
  std::filesystem::create_directories(folder_);
}

Compiler::~Compiler() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Compiled Compiler::compile(const std::string& unit, const std::string& architecture, const std::string& more) const {
  const std::string base = folder_ + fresh_name();
  const std::string make_ptx = quoted(nvcc_) + " -std=c++20 -fmad=false -Werror all-warnings -I " + quoted(source_) + " -I " + quoted(source_ + "/formats") +
                               " -arch=sm_" + architecture + " " + more + " -ptx -o " + base + ".ptx " +
                               quoted(source_ + "/gpu_check/compile/" + unit + ".cu") + " >" + base + ".log 2>&1";
  const std::string assemble = quoted(ptxas_) + " -arch=sm_" + architecture + " " + base + ".ptx -o " + base + ".cubin >" + base + ".log 2>&1";
  Compiled made;
  made.ptx_made = std::system(make_ptx.c_str()) == 0;
  made.assembled = made.ptx_made && std::system(assemble.c_str()) == 0;
  made.log = contents(base + ".log");
  made.ptx = contents(base + ".ptx");
  const std::string cubin = contents(base + ".cubin");
  made.cubin.assign(cubin.begin(), cubin.end());
  return made;
}

bool Compiler::accepts(const std::string& instruction, const std::string& architecture, std::string& log) const {
  const std::string base = folder_ + fresh_name();
  std::ofstream(base + ".ptx") << ".version 9.0\n.target sm_" << architecture
                               << "\n.address_size 64\n.visible .entry probe() {\n.reg .b32 r<16>;\n.reg .f32 f<16>;\n.reg .b16 h<4>;\n.reg .b64 d<4>;\n.reg .b8 "
                                  "b<2>;\n.reg .pred p<2>;\n"
                               << instruction << "\nret;\n}\n";
  const std::string assemble = quoted(ptxas_) + " -arch=sm_" + architecture + " " + base + ".ptx -o " + base + ".cubin >" + base + ".log 2>&1";
  const bool accepted = std::system(assemble.c_str()) == 0;
  log = contents(base + ".log");
  return accepted;
}

}  // namespace halfulp::gpu
