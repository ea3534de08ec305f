// Runs nvcc and ptxas.
#pragma once

#include <string>
#include <vector>

namespace halfulp::gpu {

struct Compiled {
  bool ptx_made = false, assembled = false;
  std::string log;  ///< of the command that failed
  std::string ptx;
  std::vector<unsigned char> cubin;
};

class Compiler {
 public:
  /// `nvcc`: its path; ptxas stands beside it. `source`: the project's folder. Files go to a temporary folder of this object.
  Compiler(std::string nvcc, std::string source);
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// gpu_check/compile/UNIT.cu for an architecture such as "90a". The flags of compared kernels, then `more`.
  Compiled compile(const std::string& unit, const std::string& architecture, const std::string& more = "") const;
  /// Assembles one PTX instruction (registers r, f, h, d, b, p) for an architecture. `log` says why not.
  bool accepts(const std::string& instruction, const std::string& architecture, std::string& log) const;

 private:
  std::string nvcc_, ptxas_, source_, folder_;
};

}  // namespace halfulp::gpu
