// The PTX of the matrix units in full: every instruction with all its types, how often it stands in a kernel, and the operands that
// decide whether c is added and whether the result is waited for.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_check/mma_kinds.hpp"

namespace halfulp::gpu {

/// The whole opcode of an instruction.
std::string_view matrix_opcode(MmaInstruction instruction);

/// Whole opcodes and how often they stand in a kernel.
using OpcodeTable = std::map<std::string, std::size_t, std::less<>>;
/// Adds what one wgmma needs around it, `times` times.
void add_group_order(OpcodeTable& table, std::size_t times);
/// What one tcgen05_tiles kernel holds beside tcgen05.mma.
OpcodeTable tensor_memory_order(bool scaled);

/// Matrix instructions and those that order them (tcgen05, mbarrier, fence, bar) in `ptx`, by whole opcode, against `right`, which names all of them.
std::vector<std::string> wrong_opcodes(const std::string& name, const std::string& ptx, const OpcodeTable& right);
/// Operands: wgmma adds c, negates and transposes nothing, and waits for the last group; tcgen05.mma has the instruction descriptor of its
/// kind and a true predicate, and mbarrier.try_wait is repeated until it holds.
std::vector<std::string> wrong_group_operands(const std::string& name, const std::string& ptx);
std::vector<std::string> wrong_tensor_operands(const std::string& name, const std::string& ptx, MmaInstruction instruction);

}  // namespace halfulp::gpu
