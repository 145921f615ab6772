// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/checkpoint.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/files/sha256.hpp"

namespace skyloom {
namespace {

/// First line of the file; a line of the system's key, one of the sum of the numbers (SHA-256),
/// then the numbers: unknowns, iterations, rho, residuals, x, r, p, in the machine's byte order.
constexpr std::string_view kMagic = "skyloom checkpoint 1 ";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kHead = 24 + kDigits + 1 + kDigits + 1;  // the magic is filled up to 24
constexpr double kOrder = 1.0 / 3;  // its bytes tell another byte order, or other numbers

std::string head_of(const std::string& key, std::span<const std::uint8_t> numbers) {
  std::string head(kMagic);
  head.resize(23, ' ');
  return head + "\n" + key + "\n" + sha256(numbers) + "\n";
}

std::span<const std::uint8_t> bytes_of(const std::vector<double>& numbers) {
  return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::string name_of(const std::string& path, const RankCompany* company, std::size_t turn) {
  const std::string rank = company != nullptr ? print(".rank%zu", company->rank()) : std::string();
  return path + rank + "." + std::to_string(turn);
}

}  // namespace

std::string system_key(const OffsetSystem& system, const OffsetPrior& prior,
                       Preconditioner preconditioner, int device) {
  std::vector<double> all(system.right_side().begin(), system.right_side().end());
  all.insert(all.end(), system.diagonal().begin(), system.diagonal().end());
  all.push_back(static_cast<double>(system.runs()));
  all.push_back(static_cast<double>(preconditioner));
  if (device != 0) all.push_back(device);
  for (const std::vector<double>& lags : prior) {
    all.push_back(static_cast<double>(lags.size()));
    all.insert(all.end(), lags.begin(), lags.end());
  }
  return sha256(bytes_of(all));
}

std::string system_key(const GlsSystem& system) {
  std::vector<double> all(system.right_side().begin(), system.right_side().end());
  for (const fft::ToeplitzFilter& filter : system.filters()) {
    all.insert(all.end(), filter.lags().begin(), filter.lags().end());
  }
  return sha256(bytes_of(all));
}

Checkpoint::Checkpoint(const std::string& path, std::string key, std::size_t unknowns,
                       double seconds, const Observer& observer, RankCompany* company)
    : key_(std::move(key)),
      unknowns_(unknowns),
      seconds_(seconds),
      observer_(observer),
      company_(company) {
  for (std::size_t turn = 0; turn < 2; ++turn) paths_[turn] = name_of(path, company, turn);
  make_folder_of(paths_[0]);
}

std::optional<SolverState> Checkpoint::read(const std::string& path) const {
  if (!is_there(path)) return {};
  const InputFile file(path);
  std::vector<std::uint8_t> head(kHead);
  const bool whole = file.read(0, head) == kHead;
  const std::string text(head.begin(), head.end());
  if (!whole || text.compare(0, kMagic.size(), kMagic) != 0) {
    throw Error(Status::kCorrupt,
                path + ": no checkpoint of skyloom: expected one, or no such file");
  }
  if (text.substr(24, kDigits) != key_) {
    observer_.warn(path + ": a checkpoint of other data or options: the iterations begin anew");
    return {};
  }
  const std::uint64_t size = file.size() - kHead;
  std::vector<double> numbers(size / sizeof(double));
  const std::span<std::uint8_t> into(reinterpret_cast<std::uint8_t*>(numbers.data()),
                                     numbers.size() * sizeof(double));
  const bool good = size % sizeof(double) == 0 && file.read(kHead, into) == into.size() &&
                    sha256(into) == text.substr(24 + kDigits + 1, kDigits) && numbers.size() >= 4 &&
                    numbers[0] == kOrder && numbers[1] == static_cast<double>(unknowns_) &&
                    numbers.size() == 4 + static_cast<std::size_t>(numbers[2]) + 3 * unknowns_;
  if (!good) {
    observer_.warn(path + ": a damaged checkpoint is left aside");
    return {};
  }
  SolverState state;
  const double* from = numbers.data() + 4;
  const auto take = [&](std::size_t n) {
    const double* const first = std::exchange(from, from + n);
    return std::vector<double>(first, first + n);
  };
  state.rho = numbers[3];
  state.residuals = take(static_cast<std::size_t>(numbers[2]));
  state.x = take(unknowns_);
  state.r = take(unknowns_);
  state.p = take(unknowns_);
  return state;
}

std::optional<std::size_t> Checkpoint::agreed(const std::optional<SolverState> (&states)[2]) {
  double have[2];  // iterations of each, as the first process has them
  for (std::size_t i = 0; i < 2; ++i) {
    const double own = states[i] ? static_cast<double>(states[i]->residuals.size()) : 0;
    have[i] = company_ == nullptr || company_->first() ? own : 0;
  }
  if (company_ != nullptr) company_->sum(have);
  std::optional<std::size_t> out;
  double best = 0;
  for (const double wanted : have) {
    std::size_t at = 2;
    for (std::size_t i = 0; i < 2; ++i) {
      if (states[i] && static_cast<double>(states[i]->residuals.size()) == wanted) at = i;
    }
    double lacking = at == 2 || wanted == 0 ? 1 : 0;
    if (company_ != nullptr) company_->sum({&lacking, 1});
    if (lacking == 0 && wanted > best) {
      best = wanted;
      out = at;
    }
  }
  return out;
}

std::optional<SolverState> Checkpoint::recall() {
  std::optional<SolverState> states[2] = {read(paths_[0]), read(paths_[1])};
  const std::optional<std::size_t> at = agreed(states);
  if (!at) return {};
  turn_ = 1 - *at;
  recalled_ = states[*at]->residuals.size();
  observer_.info(print("goes on after %zu iterations, from a checkpoint", recalled_));
  return std::move(states[*at]);
}

bool Checkpoint::due() {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_;
  // the first process decides for all of them
  const bool own = company_ == nullptr || company_->first();
  return sum_of(company_, own && passed.count() >= seconds_ ? 1 : 0) > 0;
}

void Checkpoint::save(const SolverState& state) {
  std::vector<double> numbers{kOrder, static_cast<double>(state.x.size()),
                              static_cast<double>(state.residuals.size()), state.rho};
  for (const std::vector<double>* part : {&state.residuals, &state.x, &state.r, &state.p}) {
    numbers.insert(numbers.end(), part->begin(), part->end());
  }
  const std::string head = head_of(key_, bytes_of(numbers));
  AtomicFile file(paths_[turn_], Overwrite::kYes);
  file.write_at(0, {reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
  file.write_at(head.size(), bytes_of(numbers));
  file.commit();
  turn_ = 1 - turn_;
  last_ = std::chrono::steady_clock::now();
  (void)sum_of(company_, 0);  // nobody writes over the other file before all have this one
}

void Checkpoint::save_at_stop(const SolverState& state) {
  if (company_ == nullptr && !state.residuals.empty()) save(state);
}

bool Checkpoint::has_name(const std::string& path, const std::string& other) {
  return other.starts_with(path + ".") && (other.ends_with(".0") || other.ends_with(".1"));
}

void Checkpoint::remove(const std::string& path, RankCompany* company) {
  for (std::size_t turn = 0; turn < 2; ++turn) ::unlink(name_of(path, company, turn).c_str());
}

}  // namespace skyloom
