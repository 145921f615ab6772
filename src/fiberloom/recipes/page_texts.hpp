// SPDX-License-Identifier: BSD-3-Clause
// The text files that fiberloom's pages are made of, as they were when the program was built
// (cmake/LoomEmbed.cmake): report.css is report_css().
#pragma once

#include <string_view>

namespace fiberloom::texts {

[[nodiscard]] std::string_view catalogue_site_html() noexcept;
[[nodiscard]] std::string_view catalogue_site_css() noexcept;
[[nodiscard]] std::string_view status_html() noexcept;
[[nodiscard]] std::string_view status_css() noexcept;
[[nodiscard]] std::string_view status_js() noexcept;
[[nodiscard]] std::string_view status_charts_js() noexcept;
[[nodiscard]] std::string_view status_quality_js() noexcept;
[[nodiscard]] std::string_view report_html() noexcept;
[[nodiscard]] std::string_view report_css() noexcept;
[[nodiscard]] std::string_view report_arms_js() noexcept;
[[nodiscard]] std::string_view report_axes_js() noexcept;
[[nodiscard]] std::string_view report_ccd_js() noexcept;
[[nodiscard]] std::string_view report_data_js() noexcept;
[[nodiscard]] std::string_view report_export_js() noexcept;
[[nodiscard]] std::string_view report_figures_js() noexcept;
[[nodiscard]] std::string_view report_focal_js() noexcept;
[[nodiscard]] std::string_view report_keys_js() noexcept;
[[nodiscard]] std::string_view report_link_js() noexcept;
[[nodiscard]] std::string_view report_search_js() noexcept;
[[nodiscard]] std::string_view report_spectrum_js() noexcept;
[[nodiscard]] std::string_view report_tables_js() noexcept;
[[nodiscard]] std::string_view report_unpack_js() noexcept;
[[nodiscard]] std::string_view report_verdict_js() noexcept;
[[nodiscard]] std::string_view redshift_html() noexcept;
[[nodiscard]] std::string_view redshift_css() noexcept;
[[nodiscard]] std::string_view redshift_js() noexcept;
[[nodiscard]] std::string_view redshift_charts_js() noexcept;
[[nodiscard]] std::string_view redshift_curve_js() noexcept;
[[nodiscard]] std::string_view redshift_filter_js() noexcept;
[[nodiscard]] std::string_view redshift_inspect_js() noexcept;
[[nodiscard]] std::string_view redshift_lines_js() noexcept;
[[nodiscard]] std::string_view redshift_table_js() noexcept;
[[nodiscard]] std::string_view redshift_unpack_js() noexcept;
[[nodiscard]] std::string_view report_js() noexcept;

}  // namespace fiberloom::texts
