// SPDX-License-Identifier: BSD-3-Clause
// The fields of each struct, said once for both directions. The structured bindings fail to compile
// when a struct gets a member that is not listed here.
#include "loom/batch/wire.hpp"

#include "loom/base/error.hpp"

namespace loom::batch {
namespace {

[[noreturn]] void malformed() {
  throw Error(Status::kInternal, "a message between ranks does not read back");
}

// A list of structs: its length, then each by `fields`.
template <class T, class Fields>
void list_fields(WireWriter& writer, const std::vector<T>& list, const Fields& fields) {
  writer(list.size());
  for (const T& item : list) fields(writer, item);
}
template <class T, class Fields>
void list_fields(WireReader& reader, std::vector<T>& list, const Fields& fields) {
  std::size_t count = 0;
  reader(count);
  list.clear();
  while (list.size() < count) fields(reader, list.emplace_back());
}

// One of two types: which, then the value.
template <class A, class B>
void variant_fields(WireWriter& writer, const std::variant<A, B>& value) {
  writer(value.index());
  std::visit([&](const auto& held) { writer(held); }, value);
}
template <class A, class B>
void variant_fields(WireReader& reader, std::variant<A, B>& value) {
  std::size_t index = 0;
  reader(index);
  if (index > 1) malformed();
  if (index == 0) {
    reader(value.template emplace<0>());
  } else {
    reader(value.template emplace<1>());
  }
}

template <class Archive, class Struct>
void outcome_fields(Archive& archive, Struct& outcome) {
  auto& [task, first_part, state, exit_code, system_error, message, attempts, rank, start_s, end_s,
         read, compute, write, bytes_in, bytes_out, parts, output_checksum, measures, facts, page,
         tried] = outcome;
  archive(task, first_part, state, exit_code, system_error, message, attempts, rank, start_s, end_s,
          read, compute, write, bytes_in, bytes_out, parts, output_checksum, page);
  list_fields(archive, measures, [](auto& a, auto& measure) { a(measure.name, measure.value); });
  list_fields(archive, facts, [](auto& a, auto& fact) { variant_fields(a, fact); });
  list_fields(archive, tried, [](auto& a, auto& attempt) {
    a(attempt.unix_s, attempt.host, attempt.pid, attempt.rank, attempt.exit_code, attempt.message);
  });
}

/// All but the content, which its kind knows.
template <class Archive, class Struct>
void task_fields(Archive& archive, Struct& task) {
  auto& [name, kind, labels, inputs, any_inputs, by_content, outputs, page, after, on_first, parts,
         priority, cost_s, memory_bytes, workspace_bytes, staging_bytes, content] = task;
  static_cast<void>(content);
  archive(name, kind, inputs, any_inputs, by_content, outputs, page, after, on_first, parts,
          priority, cost_s, memory_bytes, workspace_bytes, staging_bytes);
  list_fields(archive, labels, [](auto& a, auto& label) {
    a(label.name);
    variant_fields(a, label.value);
  });
}

void put_task(WireWriter& writer, const Task& task, const WorkKinds& kinds) {
  task_fields(writer, task);
  writer(task.content != nullptr);
  if (task.content) kinds.of(task).send(writer, *task.content);
}

void get_task(WireReader& reader, Task& task, const WorkKinds& kinds) {
  task_fields(reader, task);
  bool has_content = false;
  reader(has_content);
  if (has_content) task.content = kinds.of(task).receive(reader);
}

template <class Archive, class Struct>
void hello_fields(Archive& archive, Struct& hello) {
  auto& [host, cores, isa, processors, device] = hello;
  archive(host, cores, isa, processors, device);
}

template <class Archive, class Struct>
void report_fields(Archive& archive, Struct& report) {
  auto& [rank, host, cores, launch_s, open_s, first_unit_s, wait_s, mpi_s, loop_cpu_s, cpu_s,
         peak_memory_bytes, bytes_sent, tasks, parts, trace] = report;
  archive(rank, host, cores, launch_s, open_s, first_unit_s, wait_s, mpi_s, loop_cpu_s, cpu_s,
          peak_memory_bytes, bytes_sent, tasks, parts, trace);
}

}  // namespace

void WireReader::raw(void* to, std::size_t n) {
  if (n > rest_.size()) malformed();
  if (n > 0) std::memcpy(to, rest_.data(), n);
  rest_ = rest_.subspan(n);
}

std::size_t WireReader::count(std::size_t element_size) {
  std::size_t n = 0;
  get(n);
  check_size(n, 1, element_size);
  return n;
}

void WireReader::check_size(std::size_t a, std::size_t b, std::size_t element_size) const {
  if (a != 0 && b > rest_.size() / element_size / a) malformed();
}

void WireReader::finish() const {
  if (!rest_.empty()) malformed();
}

Bytes to_bytes(const Outcome& outcome) {
  WireWriter writer;
  outcome_fields(writer, outcome);
  return writer.take();
}

Bytes to_bytes(const std::vector<QueuedTask>& tasks, const WorkKinds& kinds) {
  WireWriter writer;
  writer(tasks.size());
  for (const auto& [number, after, task, any] : tasks) {
    writer(number, after, any.tasks, any.enough);
    put_task(writer, task, kinds);
  }
  return writer.take();
}

Bytes to_bytes(const Assignment& assignment, const Task& task, const WorkKinds& kinds) {
  WireWriter writer;
  writer(assignment);
  put_task(writer, task, kinds);
  return writer.take();
}

Bytes to_bytes(const PartialTask& part, const WorkKind& kind) {
  WireWriter writer;
  writer(part.unit, part.round);
  outcome_fields(writer, part.outcome);
  writer(part.piece != nullptr);
  if (part.piece) kind.send_piece(writer, *part.piece);
  return writer.take();
}

Bytes to_bytes(const RankHello& hello) {
  WireWriter writer;
  hello_fields(writer, hello);
  return writer.take();
}

Bytes to_bytes(const RankReport& report) {
  WireWriter writer;
  report_fields(writer, report);
  return writer.take();
}

void from_bytes(std::span<const std::byte> bytes, Outcome& outcome) {
  WireReader reader(bytes);
  outcome_fields(reader, outcome);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, std::vector<QueuedTask>& tasks,
                const WorkKinds& kinds) {
  WireReader reader(bytes);
  std::size_t count = 0;
  reader(count);
  tasks.clear();
  while (tasks.size() < count) {
    auto& [number, after, task, any] = tasks.emplace_back();
    reader(number, after, any.tasks, any.enough);
    get_task(reader, task, kinds);
  }
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, Assignment& assignment, Task& task,
                const WorkKinds& kinds) {
  WireReader reader(bytes);
  reader(assignment);
  get_task(reader, task, kinds);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, PartialTask& part, const TaskList& tasks,
                const WorkKinds& kinds) {
  WireReader reader(bytes);
  reader(part.unit, part.round);
  outcome_fields(reader, part.outcome);
  bool has_piece = false;
  reader(has_piece);
  if (has_piece) part.piece = kinds.of(tasks.at(part.unit.task)).receive_piece(reader);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, RankHello& hello) {
  WireReader reader(bytes);
  hello_fields(reader, hello);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, RankReport& report) {
  WireReader reader(bytes);
  report_fields(reader, report);
  reader.finish();
}

}  // namespace loom::batch
