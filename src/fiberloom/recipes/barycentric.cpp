// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/barycentric.hpp"

#include <utility>

#include "fiberloom/astro/barycentric.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

/// A header, and what it is called in an error.
struct Source {
  const HeaderCards* header;
  std::string name;
};

struct Pair {
  const char *ra, *dec;
};
constexpr Pair kPairs[] = {
    {"TARGTRA", "TARGTDEC"}, {"SKYRA", "SKYDEC"}, {"TELRA", "TELDEC"}, {"RA", "DEC"}};

const Pair* find_pair(const HeaderCards& header) {
  for (const Pair& pair : kPairs) {
    if (header.has(pair.ra) && header.has(pair.dec)) return &pair;
  }
  return nullptr;
}

/// A number that must lie in [low, high].
double number_within(const Source& source, const char* key, double low, double high,
                     const char* what) {
  const auto value = source.header->number(key);
  if (value && *value >= low && *value <= high) return *value;
  throw Error(Status::kMissingKeyword, source.name + ": " + key + " is '" +
                                           source.header->text(key).value_or("") + "', expected " +
                                           what + " (--barycentric-correction)");
}

std::vector<Source> sources(const FrameInputs& in) {
  std::vector<Source> all{{&in.preproc.header, in.preproc.path + ": IMAGE"}};
  if (in.fibermap) all.push_back({&in.fibermap->header, in.fibermap_path + ": FIBERMAP"});
  return all;
}

/// Puts the header that names the pointing first. Throws when none does.
const Pair& choose_source(std::vector<Source>& all) {
  const auto desispec_takes = [](const HeaderCards& h) { return h.has("TARGTRA") || h.has("RA"); };
  for (const bool any : {false, true}) {
    for (Source& source : all) {
      const Pair* pair = find_pair(*source.header);
      if (pair == nullptr || !(any || desispec_takes(*source.header))) continue;
      std::swap(all.front(), source);
      return *pair;
    }
  }
  throw Error(Status::kMissingKeyword,
              all.front().name + (all.size() > 1 ? " and FIBERMAP have" : " has") +
                  " no TARGTRA and TARGTDEC, SKYRA and SKYDEC, TELRA and TELDEC, or RA and DEC; "
                  "--barycentric-correction needs the direction of the field");
}

}  // namespace

Pointing find_pointing(const FrameInputs& in) {
  std::vector<Source> all = sources(in);
  const Pair& pair = choose_source(all);
  Pointing pointing;
  pointing.ra_deg = number_within(all.front(), pair.ra, -360, 720, "degrees");
  pointing.dec_deg = number_within(all.front(), pair.dec, -90, 90, "degrees from -90 to 90");
  const auto find = [&](const char* key) -> const Source* {
    for (const Source& source : all) {
      if (source.header->has(key)) return &source;
    }
    return nullptr;
  };
  const char* key = "MJD-OBS";
  const Source* start = find(key);
  if (start == nullptr) start = find(key = "MJD");
  if (start == nullptr) {
    throw Error(
        Status::kMissingKeyword,
        all.front().name + ": no MJD-OBS and no MJD; --barycentric-correction needs the time");
  }
  pointing.mjd = number_within(*start, key, astro::kFirstMjd, astro::kLastMjd,
                               "a modified Julian date of 1960 to 2100");
  const Source* exposure = find("EXPTIME");
  pointing.exptime_known = exposure != nullptr;
  if (exposure != nullptr) {
    pointing.mjd += number_within(*exposure, "EXPTIME", 0, 86400, "seconds") / 2 / 86400;
  }
  return pointing;
}

double frame_barycentric_factor(const FrameInputs& in, const Observer& observer) {
  const Pointing p = find_pointing(in);
  if (!p.exptime_known) {
    observer.warn(in.preproc.path +
                  ": no EXPTIME; the barycentric correction is that of the start of the exposure");
  }
  return astro::barycentric_factor(astro::kKittPeak, {p.ra_deg, p.dec_deg}, p.mjd);
}

}  // namespace fiberloom
