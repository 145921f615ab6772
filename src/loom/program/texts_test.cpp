// SPDX-License-Identifier: BSD-3-Clause
// Completion scripts and the manual page of a program that is not ours; tests/fiberloom/cli runs
// the scripts of ours in real shells.
#include <gtest/gtest.h>

#include "loom/base/error.hpp"
#include "loom/program/completion.hpp"
#include "loom/program/manual.hpp"

namespace loom {
namespace {

Command loom() {
  static std::string text;
  static bool flag = false;
  Command weave{.name = "weave", .text = "make a cloth", .footer = "Example:\n  loom weave\n\n"};
  weave.options.add("-k,--knot", &text, "which one", {.words = {"plain", "double"}});
  weave.options.group("Files");
  weave.options.add("-o,--output", &text, "cloth: [a file]", {.required = true});
  weave.options.flag("--dry", &flag, "it's only said");
  weave.options.add("YARN", &text, "to use");
  Command program{.name = "loom", .text = "Cloth."};
  program.parts = {weave, {.name = "mend", .text = "repair"}};
  return program;
}

void expect_has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Completion, OffersWhatTheOptionsSay) {
  expect_has(completion_script(loom(), "bash"),
             {"complete -o default -F _loom loom\n", "offer='weave mend --help --version'",
              "-k|--knot) offer='plain double' ;;", "-o|--output) return ;;",
              "-h --help -k --knot -o --output --dry"});
  expect_has(completion_script(loom(), "zsh"),
             {"#compdef loom\n", "compdef _loom loom; fi\n", "'weave:make a cloth'",
              "'*--knot[which one]:value:(plain double)'",
              "'*--output[cloth\\: \\[a file\\]]:file:_files'", "'*--dry[it'\\''s only said]'",
              "'*:to use:_files'"});
  expect_has(completion_script(loom(), "fish"),
             {"complete -c loom -n __fish_use_subcommand -f -a mend -d 'repair'\n",
              " -s k -l knot -x -a 'plain double' -d 'which one'\n", " -s o -l output -r "});
  EXPECT_THROW((void)completion_script(loom(), "csh"), Error);
}

TEST(Manual, HoldsCommandsOptionsAndWhatIsSaidOfTheProgram) {
  const std::string page = manual_page(loom(), {.version = "1.2",
                                                .subject = "cloth-making",
                                                .description = "Makes cloth.\n.Well.\n",
                                                .exit_codes = "  0  success\n",
                                                .environment = {{"LOOM_X", "a - b"}}});
  expect_has(page, {".TH LOOM 1 \"\" \"loom 1.2\" \"User Commands\"\n", "loom \\- cloth\\-making\n",
                    ".B loom weave\n[\\fIoptions\\fR] \\fIYARN\\fR\n", "Makes cloth.\n\\&.Well.\n",
                    ".SS loom weave\nmake a cloth.\n",
                    "\\fB\\-k\\fR, \\fB\\-\\-knot\\fR \\fIplain|double\\fR\nwhich one\n",
                    "cloth: [a file] (required)\n", "\\fIFiles\\fR\n",
                    ".nf\nExample:\n  loom weave\n.fi\n", ".TP\n.B LOOM_X\na \\- b\n"});
}

}  // namespace
}  // namespace loom
