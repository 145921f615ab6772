// SPDX-License-Identifier: BSD-3-Clause
// Pixels of a frame are 34 million words: half an instruction a word with AVX2, 6 without.
#include "loom/simd/swap_words.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loom {
namespace {

std::uint32_t turned(std::uint32_t word) noexcept { return __builtin_bswap32(word); }
std::uint64_t turned(std::uint64_t word) noexcept { return __builtin_bswap64(word); }

template <class Word>
void swap_words(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, in + i * sizeof word, sizeof word);
    word = turned(word);
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

#if defined(__x86_64__)
// By vectors, for a compiler that cannot rule out that the two places overlap leaves the words
// alone. Not target_clones: its resolvers run before sanitizers are ready, and need glibc.
template <class Word>
__attribute__((target("avx2"))) void swap_avx2(const std::uint8_t* in, std::uint8_t* out,
                                               std::size_t n) noexcept {
  constexpr std::size_t kWords = sizeof(__m256i) / sizeof(Word);
  constexpr char kLast = sizeof(Word) - 1;
  alignas(__m256i) std::array<char, sizeof(__m256i)> place{};  // in its half, of each byte
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<char>((i % 16) ^ kLast);
  const __m256i places = _mm256_load_si256(reinterpret_cast<const __m256i*>(place.data()));
  for (; n >= kWords; n -= kWords, in += sizeof(__m256i), out += sizeof(__m256i)) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_shuffle_epi8(bytes, places));
  }
  swap_words<Word>(in, out, n);
}
template <class Word>
void swap_best(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept {
  return __builtin_cpu_supports("avx2") != 0 ? swap_avx2<Word>(in, out, n)
                                             : swap_words<Word>(in, out, n);
}
#else
template <class Word>
void swap_best(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept {
  swap_words<Word>(in, out, n);
}
#endif

}  // namespace

void swap_words_of_4(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept {
  swap_best<std::uint32_t>(in, out, n);
}

void swap_words_of_8(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept {
  swap_best<std::uint64_t>(in, out, n);
}

}  // namespace loom
