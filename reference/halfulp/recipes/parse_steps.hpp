// What the statements of a recipe share: the recipe so far, its variables, and the making of steps from
// expressions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Makes the steps of one recipe, in order. The statement parser sets the context, expressions add the
/// steps.
class StepBuilder {
 public:
  explicit StepBuilder(const std::string& name) { recipe.name = name; }

  QuantRecipe recipe;
  int line_number = 0;
  std::string text;                      ///< the statement
  std::string element;                   ///< what FORMAT `element` stands for
  Precision precision = Precision::f32;  ///< of the statement
  bool in_value = false, in_transform = false;

  [[noreturn]] void fail(const std::string& why) const;

  /// Parses all of `text`; returns the register of its result.
  int expression(std::string_view text);
  /// `FORMAT[:words]` into the step's target and policy.
  void parse_target(std::string_view word, Step& step) const;

  void define(const std::string& name, int reg, Scope scope);
  void forget(const std::string& name) { variables_.erase(name); }
  Scope scope_of(int reg) const { return scopes_.at(reg); }

  /// The list that new steps go to.
  std::vector<Step>& current() {
    return in_transform ? recipe.transform_steps : in_value ? recipe.value_steps : recipe.steps;
  }
  int emit(Step step);
  int emit(Op op, std::vector<int> operands);
  int emit_literal(std::string_view literal);
  /// The register of a variable, given or defined.
  int variable(const std::string& name);

 private:
  std::map<std::string, int> variables_;
  std::map<int, Scope> scopes_;
};

}  // namespace halfulp::recipes
