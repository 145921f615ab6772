// SPDX-License-Identifier: BSD-3-Clause
// Tables as columns of the page, targets as packed bytes, each unpacked when it is looked at.
#include "fiberloom/recipes/redshift_page/redshift_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <unordered_set>

#include "fiberloom/recipes/page_texts.hpp"
#include "fiberloom/recipes/redshift/find_redshifts.hpp"
#include "fiberloom/recipes/redshift/survey.hpp"
#include "fiberloom/recipes/redshift_page/page_columns.hpp"
#include "fiberloom/recipes/redshift_page/row_filter.hpp"
#include "fiberloom/recipes/redshift_page/target_source.hpp"
#include "fiberloom/recipes/report/encode.hpp"
#include "fiberloom/recipes/report/page_json.hpp"
#include "fiberloom/recipes/version.hpp"
#include "fiberloom/redshift/line_list.hpp"
#include "fiberloom/status.hpp"
#include "fiberloom/templates/built_in.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::redshift_page {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// The first of these names beside `path` that is there; empty where none is.
std::string beside(const std::string& path, const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names) {
    const fs::path found = fs::path(path).parent_path() / name;
    if (fs::is_regular_file(found, ignored)) return found.string();
  }
  return {};
}

/// "4-80613" of "redrock-4-80613.fits.gz"; empty where a name says nothing.
std::string rest_of(const std::string& path) {
  const std::string name = survey::stem_of(path);
  constexpr std::string_view kStart = "redrock-";
  return name.starts_with(kStart) ? name.substr(kStart.size()) : std::string();
}

/// The templates that fits can be seen with; null where there are none.
std::unique_ptr<RedshiftModels> models_of(const PageJob& job,
                                          const std::vector<RedshiftFile>& files) {
  RedshiftJob redshift;
  redshift.templates = job.templates;
  const char* const folder = std::getenv("RR_TEMPLATE_DIR");
  const bool named = !job.templates.empty() || (folder != nullptr && *folder != '\0');
  auto out = std::make_unique<RedshiftModels>();
  if (!job.archetypes.empty()) {
    for (const std::string& path : templates::find_archetypes(job.archetypes)) {
      out->archetypes.push_back(templates::read_archetypes(path));
    }
  }
  if (named) {
    out->templates = templates::load_templates(templates::find_templates(job.templates));
    return out;
  }
  const bool built_in = std::any_of(files.begin(), files.end(), [](const RedshiftFile& f) {
    return f.header.text("TEMVER00") == templates::kBuiltInVersion;
  });
  if (!built_in) return nullptr;
  out->templates = templates::built_in_set();
  return out;
}

/// A row of the table: which file's, which of its rows.
struct Row {
  std::size_t file, row;
};

/// Rows whose spectra are asked for.
std::vector<Row> chosen_rows(const PageJob& job, const std::vector<RedshiftFile>& files,
                             const Observer& observer) {
  const std::unordered_set<std::int64_t> wanted(job.target_ids.begin(), job.target_ids.end());
  std::vector<Row> out;
  std::unordered_set<std::int64_t> found;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const Table* const fibermap = files[f].fibermap ? &*files[f].fibermap : nullptr;
    const std::vector<const Table*> tables{&files[f].redshifts, fibermap};
    const std::vector<std::int64_t> ids = *files[f].redshifts.integers("TARGETID", -1);
    for (const std::int64_t id : ids) {
      if (wanted.contains(id)) found.insert(id);
    }
    for (const std::size_t r : matching_rows(job.only, tables, "--only")) {
      if (wanted.empty() || wanted.contains(ids[r])) out.push_back({f, r});
    }
  }
  if (found.empty() && !wanted.empty()) {
    throw Error(kFiberRange, files.front().path + ": none of the targets of --targetids");
  }
  if (found.size() < wanted.size()) {
    observer.warn(print("%zu of %zu targets of --targetids are in none of the files",
                        wanted.size() - found.size(), wanted.size()));
  }
  return out;
}

/// The `most` rows that want to be looked at most: those with a warning, then by DELTACHI2; fibres
/// without data last. In the order of the table.
void keep_least_sure(std::vector<Row>& rows, std::size_t most,
                     const std::vector<RedshiftFile>& files) {
  if (rows.size() <= most) return;
  const auto key = [&](const Row& row) {
    const ShownFit shown = fit_of_row(files[row.file].redshifts, row.row);
    const bool none = (shown.fit.zwarn & redshift::zwarn::kNoData) != 0;
    return std::tuple(none, shown.fit.zwarn == 0, shown.fit.delta_chi2);
  };
  std::vector<std::pair<decltype(key(rows.front())), std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(key(rows[i]), i);
  std::sort(order.begin(), order.end());
  order.resize(most);
  std::vector<std::size_t> kept;
  for (const auto& [unused, i] : order) kept.push_back(i);
  std::sort(kept.begin(), kept.end());
  std::vector<Row> out;
  for (const std::size_t i : kept) out.push_back(rows[i]);
  rows = std::move(out);
}

Json lines_json() {
  Json out = Json::array();
  for (const redshift::NamedLine& line : redshift::kNamedLines) {
    const char* const kind = line.kind == redshift::LineKind::kEmission     ? "emission"
                             : line.kind == redshift::LineKind::kAbsorption ? "absorption"
                                                                            : "both";
    out.push_back(Json::array({line.name, line.wave_aa, kind}));
  }
  return out;
}

Json names_json() {
  Json out = Json::array();
  for (const char* name : redshift::zwarn::kNames) out.push_back(name);
  return out;
}

Json grids_json(const SharedGrids& grids) {
  Json waves = Json::array(), redshifts = Json::array();
  for (const SharedGrids::Wave& w : grids.waves) {
    waves.push_back({{"name", w.name}, {"n", w.wave.size()}, {"wave", report::wave_json(w.wave)}});
  }
  for (const std::vector<double>& z : grids.redshifts) {
    Json values = Json::array();
    for (const double v : z) values.push_back(digits(v, 8));
    redshifts.push_back(std::move(values));
  }
  return {{"waves", std::move(waves)}, {"redshifts", std::move(redshifts)}};
}

/// What an inspector's file says of how redshifts were made.
Json files_json(const std::vector<RedshiftFile>& files, const PageJob& job) {
  Json out = Json::array();
  for (std::size_t f = 0; f < files.size(); ++f) {
    const HeaderCards& header = files[f].header;
    Json one{{"name", name_of(files[f].path)}, {"rows", files[f].redshifts.rows}};
    for (const char* key : {"RRVER", "RRMETHOD", "TEMVER00", "TILEID", "HPXPIXEL", "SURVEY",
                            "PROGRAM", "SPGRP", "NIGHT", "EXPID"}) {
      if (const auto text = header.text(key)) one[key] = *text;
      if (const auto number = header.integer(key)) one[key] = *number;
    }
    Json spectra = Json::array();
    for (const std::string& path : job.inputs[f].spectra) spectra.push_back(name_of(path));
    one["spectra"] = std::move(spectra);
    one["details"] = name_of(job.inputs[f].details);
    one["model"] = name_of(job.inputs[f].model);
    out.push_back(std::move(one));
  }
  return out;
}

std::string scripts() {
  std::string js(page::common_js());
  for (const std::string_view part :
       {texts::report_unpack_js(), texts::report_arms_js(), texts::report_axes_js(),
        texts::report_spectrum_js(), texts::report_export_js(), texts::report_link_js(),
        texts::report_keys_js(), texts::redshift_unpack_js(), texts::redshift_filter_js(),
        texts::redshift_table_js(), texts::redshift_charts_js(), texts::redshift_curve_js(),
        texts::redshift_lines_js(), texts::redshift_inspect_js(), texts::redshift_js()}) {
    js += part;
  }
  return js;
}

}  // namespace

bool is_redshift_file(const std::string& path) {
  bool redshifts = false, other = false;  // frames and templates may have an HDU REDSHIFTS
  for (const HduSummary& hdu : list_hdus(path)) {
    redshifts |= hdu.name == "REDSHIFTS";
    other |= hdu.name == "FLUX" || hdu.name == "IVAR" || hdu.name == "BASIS_VECTORS";
  }
  return redshifts && !other;
}

PageInput with_neighbours(PageInput input) {
  const std::string rest = rest_of(input.redshifts);
  const std::string& path = input.redshifts;
  const auto find = [&](std::string& file, const std::vector<std::string>& names) {
    if (file.empty() && !rest.empty()) file = beside(path, names);
    if (file == "-") file.clear();
  };
  std::string spectra;
  if (input.spectra.empty()) {
    find(spectra, {"coadd-" + rest + ".fits", "coadd-" + rest + ".fits.gz",
                   "spectra-" + rest + ".fits", "spectra-" + rest + ".fits.gz"});
    if (!spectra.empty()) input.spectra.push_back(spectra);
  }
  std::erase(input.spectra, "-");
  if (hdf5::available() || !input.details.empty()) {
    find(input.details, {"rrdetails-" + rest + ".h5"});
  }
  find(input.model, {"rrmodel-" + rest + ".fits"});
  return input;
}

std::vector<std::string> files_of(const PageJob& job) {
  std::vector<std::string> out;
  for (const PageInput& input : job.inputs) {
    out.push_back(input.redshifts);
    out.insert(out.end(), input.spectra.begin(), input.spectra.end());
    for (const std::string& path : {input.details, input.model}) {
      if (!path.empty()) out.push_back(path);
    }
  }
  out.insert(out.end(), job.templates.begin(), job.templates.end());
  RedshiftJob models;
  models.templates = job.templates;
  models.archetypes = job.archetypes;
  try {
    const std::vector<std::string> files = model_files(models);
    out.insert(out.end(), files.begin(), files.end());
  } catch (const Error&) {  // who reads them says what is wrong
  }
  return out;
}

namespace {

/// The page around its data.
std::string filled_page(const std::string& title, const Json& meta, const std::string& targets) {
  const std::string text = meta.dump(-1, JsonText::kAscii);
  const std::string packed =
      report::pack_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const std::string heading = page::escape_html(title),
                    program = "fiberloom " + std::string(version()),
                    css = std::string(page::common_css()) + std::string(texts::report_css()) +
                          std::string(texts::redshift_css()),
                    data = report::data_html("meta", packed) + targets, js = scripts();
  return page::fill(
      texts::redshift_html(),
      {{"title", heading}, {"program", program}, {"css", css}, {"data", data}, {"js", js}});
}

}  // namespace

std::string redshift_page_html(const PageJob& job, Executor& executor, const Observer& observer) {
  std::vector<RedshiftFile> files;
  for (const PageInput& input : job.inputs)
    files.push_back(read_redshifts(input.redshifts, job.verify));
  std::vector<Row> rows = chosen_rows(job, files, observer);
  const std::size_t asked = rows.size();
  keep_least_sure(rows, job.most, files);
  const auto models = models_of(job, files);
  Notes notes;
  if (rows.size() < asked) {
    notes.push_back(
        print("spectra of %zu of the %zu targets asked for: the least sure "
              "(--most says how many, --only and --targetids which)",
              rows.size(), asked));
  }
  SharedGrids grids;
  std::string targets;
  std::size_t first = 0;
  for (std::size_t f = 0; f < files.size(); ++f) {
    std::vector<std::size_t> of_file;
    for (const Row& row : rows) {
      if (row.file == f) of_file.push_back(row.row);
    }
    const SourceFiles source{job.inputs[f], files[f], models.get(), job.verify};
    if (job.inputs[f].spectra.empty()) {
      notes.push_back(
          name_of(files[f].path) +
          ": no spectra: neither coadd-*.fits nor spectra-*.fits beside it, nor --spectra");
    } else {
      for_each_target(
          source, of_file, grids, notes, executor, observer,
          [&](std::size_t row, const PageTarget& target) {
            const std::string facts = facts_json(files[f], row).dump(-1, JsonText::kAscii);
            targets += report::data_html(print("t%zu", first + row),
                                         report::pack_bytes(target_bytes(target, facts)));
          });
    }
    first += files[f].redshifts.rows;
  }
  for (std::string& note : notes) note = page::to_utf8(note);
  const std::string title = name_of(files.front().path) +
                            (files.size() > 1 ? print(" and %zu more", files.size() - 1) : "");
  Json meta{{"title", page::to_utf8(title)},
            {"files", files_json(files, job)},
            {"rows", first},
            {"columns", columns_json(files)},
            {"lines", lines_json()},
            {"zwarn", names_json()},
            {"notes", notes}};
  const Json shared = grids_json(grids);
  meta["waves"] = shared.at("waves");
  meta["redshifts"] = shared.at("redshifts");
  return filled_page(title, meta, targets);
}

}  // namespace fiberloom::redshift_page
