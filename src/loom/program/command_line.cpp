// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/command_line.hpp"

#include <algorithm>
#include <cstdlib>

#include "loom/base/error.hpp"
#include "loom/program/words.hpp"

namespace loom {
namespace {

using Words = std::vector<std::string>;

/// `path`: "fiberloom extract", the command as the user would type it.
[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(Status::kUsage, what + " (see: " + path + " --help)");
}

/// "; did you mean --wavelength?", or nothing.
std::string guess(const std::string& typed, const Words& names) {
  const Words similar = similar_names(typed, names);
  return similar.empty() ? "" : "; did you mean " + joined(similar, " or ") + "?";
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && (*end == '\0' || *end == ',');
}

bool looks_like_option(const std::string& text) {
  return text.size() > 1 && text[0] == '-' && !is_number(text);
}

/// The options of one command by their names.
class Names {
 public:
  using Entry = std::pair<std::string, const Option*>;

  Names(const Command& command, std::string path) : path_(std::move(path)) {
    for (const Option& option : command.options.rows()) {
      if (option.positional()) continue;
      for (const bool is_long : {true, false}) add(option, is_long);
    }
  }

  /// Null where there is none of exactly this name.
  [[nodiscard]] const Option* exact(const std::string& name) const {
    for (const auto& [known, option] : names_) {
      if (known == name) return option;
    }
    return nullptr;
  }

  /// "--wave" -> "--wavelength" and its option.
  [[nodiscard]] const Entry& find(const std::string& name) const {
    std::vector<const Entry*> found;
    for (const auto& entry : names_) {
      if (entry.first == name) return entry;
      if (name.starts_with("--") && entry.first.starts_with(name)) found.push_back(&entry);
    }
    if (found.empty()) refuse(path_, "no such option: " + name + guess(name, all()));
    for (const auto* other : found) {  // two names of one option are no two meanings
      if (other->second == found.front()->second) continue;
      Words meant;
      for (const auto* entry : found) meant.push_back(entry->first);
      refuse(path_, name + " may be " + joined(meant, " or "));
    }
    return *found.front();
  }

 private:
  [[nodiscard]] Words all() const {
    Words names;
    for (const Entry& entry : names_) names.push_back(entry.first);
    return names;
  }

  void add(const Option& option, bool is_long) {
    for (const std::string& name : option.names) {
      if (name.starts_with("--") != is_long) continue;
      names_.emplace_back(name, &option);
    }
  }

  const std::string path_;
  std::vector<Entry> names_;
};

/// Goes through the arguments of one command.
class Speller {
 public:
  Speller(const Command& command, const std::string& path, std::span<const std::string> rest,
          Words& out)
      : command_(command), path_(path), names_(command, path), rest_(rest), out_(out) {}

  void run() {
    const Words commands = part_names(command_);
    while (!rest_.empty()) {
      const std::string word = take();
      if (word == "--") {
        out_.push_back(word);
        out_.insert(out_.end(), rest_.begin(), rest_.end());
        return;
      }
      if (word.starts_with("--")) {
        spell_long(word);
      } else if (looks_like_option(word)) {
        spell_short(word);
      } else if (!commands.empty()) {
        return enter(word, commands);
      } else {
        out_.push_back(word);
      }
    }
  }

 private:
  std::string take() {
    std::string word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }

  void enter(const std::string& word, const Words& commands) {
    const auto found = std::find(commands.begin(), commands.end(), word);
    if (found == commands.end()) {
      const std::string meant = guess(word, commands);
      refuse(path_, "no such command: " + word +
                        (meant.empty() ? "; expected " + joined(commands, ", ") : meant));
    }
    out_.push_back(word);
    const auto& part = command_.parts[static_cast<std::size_t>(found - commands.begin())];
    Speller(part, path_ + " " + word, rest_, out_).run();
  }

  /// The next argument as the value of `name`.
  void take_value(const std::string& name) {
    if (rest_.empty()) refuse(path_, name + ": expected a value");
    const std::string& next = rest_.front();
    const std::string bare = next.substr(0, next.find('='));
    if (looks_like_option(next) && names_.exact(bare) != nullptr) {
      refuse(path_, name + ": expected a value, got the option " + bare + " (a file may be ./" +
                        bare + ")");
    }
    out_.push_back(take());
  }

  void spell_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const auto& [name, option] = names_.find(word.substr(0, equals));
    if (!option->wants_value()) {  // a flag, or a value that may be left out
      out_.push_back(equals == std::string::npos ? name : name + word.substr(equals));
      return;
    }
    out_.push_back(name);
    if (equals == std::string::npos) return take_value(name);
    out_.push_back(word.substr(equals + 1));
  }

  void spell_short(const std::string& word) {
    for (std::size_t k = 1; k < word.size(); ++k) {
      const auto& [name, option] = names_.find({'-', word[k]});
      out_.push_back(name);
      if (!option->wants_value()) continue;
      std::string value = word.substr(k + 1);
      if (value.empty()) return take_value(name);
      if (value.front() == '=') value.erase(0, 1);
      out_.push_back(value);
      return;
    }
  }

  const Command& command_;
  const std::string path_;
  Names names_;
  std::span<const std::string> rest_;
  Words& out_;
};

/// Changes of one letter, and of two neighbours' places, from one word to the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

Words part_names(const Command& command) {
  Words names;
  for (const Command& part : command.parts) names.push_back(part.name);
  return names;
}

std::vector<std::string> similar_names(const std::string& typed,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::size_t nearest = 1 + typed.size() / 4;  // farther away is another word
  Words similar;
  for (const std::string& name : names) {
    if (name.size() < 3) continue;  // a letter is near to every other
    const std::size_t d = distance(typed, name);
    if (d > nearest) continue;
    if (d < nearest) similar.clear();
    nearest = d;
    similar.push_back(name);
  }
  if (similar.size() > kMost) similar.resize(kMost);
  return similar;
}

std::vector<std::string> spell_out(const Command& program, std::span<const std::string> arguments) {
  Words out;
  Speller(program, program.name, arguments, out).run();
  return out;
}

}  // namespace loom
