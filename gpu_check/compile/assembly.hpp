// Reads what the compiler made: instructions in the text of PTX, opcodes in the bytes of a cubin.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halfulp::gpu {

/// The bodies of all entries whose mangled name contains `kernel`, without comments.
std::string ptx_of(const std::string& ptx, std::string_view kernel);
/// The statements of a PTX text in order, one space between words; a label ends with a colon.
std::vector<std::string> statements_of(const std::string& ptx);
/// The whole opcode of a statement, its types included; a predicate before it does not count. Empty: a label or a directive.
std::string opcode_in(const std::string& statement);
/// How many instructions of a PTX text begin with `instruction` (a predicate before it does not count).
std::size_t count_instructions(const std::string& ptx, std::string_view instruction);
/// How many instructions have `modifier` ("approx", "ftz") among their parts.
std::size_t count_modifier(const std::string& ptx, std::string_view modifier);

/// Opcodes of a cubin: the low 12 bits of each 16-byte instruction. The layout is inferred from compiled code and tested on known kernels first.
using Opcodes = std::map<std::uint32_t, std::size_t>;
/// Of all kernels whose mangled name contains `kernel`. Throws std::runtime_error where the file is no 64-bit ELF.
Opcodes opcodes_of(const std::vector<unsigned char>& cubin, std::string_view kernel);

/// An instruction is named by its low 9 bits; bits 9-11 say where the operands lie.
enum Opcode : std::uint32_t {
  kFmul = 0x020,
  kFadd = 0x021,
  kFfma = 0x023,
  kImma = 0x037,
  kHmma = 0x03c,
  kF2fp = 0x03e,
  kQmma = 0x07a,
  kOmma = 0x07f,
  kMufu = 0x108,
  kTensorCopy = 0x1e7,   ///< tcgen05.cp
  kTensorMma = 0x1ea,    ///< tcgen05.mma of every kind
  kTensorStore = 0x1ed,  ///< tcgen05.st
  kTensorLoad = 0x1ee,   ///< tcgen05.ld
  kQgmma = 0x1f3,
};
std::size_t count(const Opcodes& opcodes, Opcode opcode);
/// Bits 9-11 of QMMA with scales, whose selectors are a uniform register.
inline constexpr std::uint32_t kScaledQmma = 0x47a;
/// All 12 bits are those of `form`.
std::size_t count_form(const Opcodes& opcodes, std::uint32_t form);

/// What a MUFU computes: bits 74-77 of the instruction, measured on known kernels. f16 and bf16 share the numbers.
enum MufuCode : std::uint32_t {
  kMufuCos = 0,
  kMufuSin = 1,
  kMufuEx2 = 2,
  kMufuLg2 = 3,
  kMufuRcp = 4,
  kMufuRsq = 5,
  kMufuRcp64 = 6,
  kMufuRsq64 = 7,
  kMufuSqrt = 8,
  kMufuTanh = 9,
  /// Added where the operand stands in the instruction: a division makes its NaN by RSQ of one.
  kMufuOfConstant = 0x100,
};
/// "EX2" and so on; a number where the function is not known.
std::string mufu_name(std::uint32_t function);
/// MUFU instructions by function, of all kernels whose mangled name contains `kernel`.
std::map<std::uint32_t, std::size_t> mufu_functions_of(const std::vector<unsigned char>& cubin, std::string_view kernel);

}  // namespace halfulp::gpu
