#include "gpu_check/compile/assembly.hpp"

#include <cstring>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace halfulp::gpu {
namespace {

std::string without_comments(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = text.find('\n', i);
      if (i == std::string::npos) break;
    } else if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i);
      if (i == std::string::npos) break;
      ++i;
      continue;
    }
    out += text[i];
  }
  return out;
}

std::string single_spaced(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::uint64_t number(const std::vector<unsigned char>& bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) throw std::runtime_error("the cubin is cut off");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

/// Calls visit(low, high) with the two halves of every instruction.
template <class Visit>
void for_each_instruction(const std::vector<unsigned char>& cubin, std::string_view kernel, Visit visit) {
  if (cubin.size() < 64 || std::memcmp(cubin.data(), "\x7f" "ELF\2", 5) != 0) throw std::runtime_error("the cubin is no 64-bit ELF file");
  const std::uint64_t table = number(cubin, 40, 8), entry = number(cubin, 58, 2), sections = number(cubin, 60, 2), names = number(cubin, 62, 2);
  const std::uint64_t strings = number(cubin, table + names * entry + 24, 8);
  for (std::uint64_t i = 0; i < sections; ++i) {
    const std::uint64_t header = table + i * entry, name = strings + number(cubin, header, 4);
    const std::string text(reinterpret_cast<const char*>(cubin.data()) + name);
    if (text.compare(0, 6, ".text.") != 0 || text.find(kernel) == std::string::npos) continue;
    const std::uint64_t begin = number(cubin, header + 24, 8), size = number(cubin, header + 32, 8);
    for (std::uint64_t at = begin; at + 16 <= begin + size; at += 16) visit(number(cubin, at, 8), number(cubin, at + 8, 8));
  }
}

}  // namespace

std::string ptx_of(const std::string& ptx, std::string_view kernel) {
  const std::string text = without_comments(ptx);
  std::string bodies;
  for (std::size_t at = text.find(".entry"); at != std::string::npos; at = text.find(".entry", at + 1)) {
    const std::size_t name_end = text.find('(', at);
    if (text.substr(at + 6, name_end - at - 6).find(kernel) == std::string::npos) continue;
    std::size_t begin = text.find('{', name_end), end = begin + 1;
    for (int depth = 1; depth > 0 && end < text.size(); ++end) depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
    bodies += text.substr(begin, end - begin);
  }
  return bodies;
}

std::vector<std::string> statements_of(const std::string& ptx) {
  std::vector<std::string> all;
  std::string statement;
  int operands = 0;  // braces around registers stand inside a statement
  const auto end = [&](const char* with) {
    const std::string line = single_spaced(statement);
    if (!line.empty()) all.push_back(line + with);
    statement.clear();
  };
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    const char c = ptx[i];
    if (ptx.compare(i, 2, "::") == 0) {
      statement += "::";
      ++i;
    } else if (c == '{' && !single_spaced(statement).empty()) {
      statement += c;
      ++operands;
    } else if (c == '}' && operands > 0) {
      statement += c;
      --operands;
    } else if (c == ':') {
      end(":");
    } else if (c == ';' || c == '{' || c == '}') {
      end("");
    } else {
      statement += c;
    }
  }
  return all;
}

std::string opcode_in(const std::string& statement) {
  std::istringstream words(statement);
  std::string word;
  if (words >> word && word[0] == '@') words >> word;
  return word.empty() || word[0] == '.' || word.back() == ':' ? "" : word;
}

std::size_t count_instructions(const std::string& ptx, std::string_view instruction) {
  std::size_t count = 0;
  for (const std::string& statement : statements_of(ptx)) {
    const std::string word = opcode_in(statement);
    const bool begins = word.compare(0, instruction.size(), instruction) == 0;
    count += begins && (word.size() == instruction.size() || word[instruction.size()] == '.') ? 1 : 0;
  }
  return count;
}

std::size_t count_modifier(const std::string& ptx, std::string_view modifier) {
  std::size_t count = 0;
  for (const std::string& statement : statements_of(ptx)) {
    count += ("." + opcode_in(statement) + ".").find("." + std::string(modifier) + ".") != std::string::npos ? 1 : 0;
  }
  return count;
}

Opcodes opcodes_of(const std::vector<unsigned char>& cubin, std::string_view kernel) {
  Opcodes opcodes;
  for_each_instruction(cubin, kernel, [&](std::uint64_t low, std::uint64_t) { ++opcodes[static_cast<std::uint32_t>(low & 0xfff)]; });
  return opcodes;
}

std::size_t count(const Opcodes& opcodes, Opcode opcode) {
  std::size_t sum = 0;
  for (std::uint32_t form = opcode; form < 0x1000; form += 0x200) sum += count_form(opcodes, form);
  return sum;
}

std::size_t count_form(const Opcodes& opcodes, std::uint32_t form) {
  const auto found = opcodes.find(form);
  return found == opcodes.end() ? 0 : found->second;
}

std::string mufu_name(std::uint32_t function) {
  constexpr const char* kNames[] = {"COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH"};
  const std::uint32_t number = function & 0xff;
  const std::string name = number < std::size(kNames) ? kNames[number] : "function " + std::to_string(number);
  return name + ((function & kMufuOfConstant) != 0 ? " of a constant" : "");
}

std::map<std::uint32_t, std::size_t> mufu_functions_of(const std::vector<unsigned char>& cubin, std::string_view kernel) {
  std::map<std::uint32_t, std::size_t> functions;
  for_each_instruction(cubin, kernel, [&](std::uint64_t low, std::uint64_t high) {
    if ((low & 0x1ff) != kMufu) return;
    const bool of_constant = (low >> 9 & 7) == 4;
    ++functions[static_cast<std::uint32_t>(high >> 10 & 0xf) | (of_constant ? kMufuOfConstant : 0u)];
  });
  return functions;
}

}  // namespace halfulp::gpu
