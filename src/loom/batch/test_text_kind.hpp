// SPDX-License-Identifier: BSD-3-Clause
// Work without any astronomy, for tests of the engine: a task reads text files, says one line for
// each of its parts, and writes them into another text file.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loom/batch/run_folder.hpp"
#include "loom/batch/work_kind.hpp"

namespace loom::batch::test {

/// What a task of the kind carries.
struct TextWork final : Opaque {
  explicit TextWork(std::string its_word, int its_lines = 1)
      : word(std::move(its_word)), lines(its_lines) {}
  std::string word;  ///< each line begins with it; part of the fingerprint
  int lines = 1;     ///< parts
};

struct Texts final : Opaque {
  std::string all;
};

/// Lines by number.
struct Lines final : Opaque {
  std::vector<std::pair<int, std::string>> lines;
};

class TextKind final : public WorkKind {
 public:
  /// Called before each unit is computed; may throw.
  std::function<void(const Task&, const WorkUnit&)> before;
  std::atomic<int> computed{0};  ///< units

  [[nodiscard]] std::string name() const override { return "text"; }
  [[nodiscard]] std::string fingerprint(const Task& task) const override {
    return "word=" + work_of(task).word;
  }
  [[nodiscard]] std::unique_ptr<Opaque> read(const Task& task, const Observer& /*observer*/,
                                             Tracer* /*tracer*/) override {
    auto texts = std::make_unique<Texts>();
    for (const std::string& input : task.inputs) {
      const auto text = read_text_file(input);
      if (!text) throw Error(Status::kNotFound, input + ": cannot be read");
      if (text->find("bad") != std::string::npos) throw Error(Status::kCorrupt, input + ": bad");
      texts->all += *text;
    }
    for (const std::string& input : task.any_inputs) {
      texts->all += read_text_file(input).value_or("");
    }
    return texts;
  }
  [[nodiscard]] std::unique_ptr<Opaque> compute(const Task& task, const WorkUnit& unit,
                                                Opaque& material, Executor& /*executor*/,
                                                const Observer& /*observer*/, Tracer* /*tracer*/,
                                                Outcome& /*outcome*/) override {
    if (before) before(task, unit);
    ++computed;
    const TextWork& work = work_of(task);
    const std::size_t letters = static_cast<Texts&>(material).all.size();
    auto lines = std::make_unique<Lines>();
    const int last = unit.last_part < 0 ? work.lines : unit.last_part;
    for (int i = unit.first_part; i < last; ++i) {
      lines->lines.emplace_back(
          i, work.word + " " + std::to_string(i) + " of " + std::to_string(letters) + " letters\n");
    }
    return lines;
  }
  void write(const Task& task, Opaque& /*material*/, std::vector<std::unique_ptr<Opaque>> pieces,
             Tracer* /*tracer*/, Outcome& outcome) const override {
    std::vector<std::pair<int, std::string>> all;
    for (const auto& piece : pieces) {
      const auto& lines = static_cast<Lines&>(*piece).lines;
      all.insert(all.end(), lines.begin(), lines.end());
    }
    std::sort(all.begin(), all.end());
    std::string text;
    for (const auto& [number, line] : all) text += line;
    for (std::size_t i = task.outputs.size(); i-- > 0;) write_text_file(task.outputs[i], text);
    outcome.parts = work_of(task).lines;
    outcome.measures = {{"letters", static_cast<double>(text.size())}};
  }
  void make_page(const Task& task) const override { write_text_file(task.page, "<p>" + task.name); }

  void send(WireWriter& writer, const Opaque& content) const override {
    const auto& work = static_cast<const TextWork&>(content);
    writer(work.word, work.lines);
  }
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader& reader) const override {
    auto work = std::make_shared<TextWork>("");
    reader(work->word, work->lines);
    return work;
  }
  [[nodiscard]] int count_parts(const Task& task) const override { return work_of(task).lines; }
  void send_piece(WireWriter& writer, const Opaque& piece) const override {
    const auto& lines = static_cast<const Lines&>(piece).lines;
    writer(lines.size());
    for (const auto& [number, line] : lines) writer(number, line);
  }
  [[nodiscard]] std::unique_ptr<Opaque> receive_piece(WireReader& reader) const override {
    auto lines = std::make_unique<Lines>();
    std::size_t count = 0;
    reader(count);
    while (lines->lines.size() < count) {
      auto& [number, line] = lines->lines.emplace_back();
      reader(number, line);
    }
    return lines;
  }

  static const TextWork& work_of(const Task& task) {
    return static_cast<const TextWork&>(*task.content);
  }
};

[[nodiscard]] inline Task text_task(const std::string& name, std::vector<std::string> inputs,
                                    const std::string& output, int lines = 1,
                                    const std::string& word = "line") {
  Task task;
  task.name = name;
  task.kind = "text";
  task.labels = {{"word", word}, {"number", static_cast<long>(name.size())}};
  task.inputs = std::move(inputs);
  task.outputs = {output};
  task.content = std::make_shared<const TextWork>(word, lines);
  task.parts = lines;
  return task;
}

}  // namespace loom::batch::test
