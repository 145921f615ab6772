// SPDX-License-Identifier: BSD-3-Clause
// Stands in for libcurl in the static program (cmake/FiberloomStatic.cmake): every call fails, as
// on a machine without network. Must not be linked anywhere else.

extern "C" {
int curl_global_init(long /*flags*/) { return 2; }  // CURLE_FAILED_INIT
void curl_global_cleanup() {}
void* curl_easy_init() { return nullptr; }
int curl_easy_setopt(void* /*handle*/, int /*option*/, ...) { return 2; }
int curl_easy_perform(void* /*handle*/) { return 2; }
void curl_easy_cleanup(void* /*handle*/) {}
}
