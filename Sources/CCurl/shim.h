#pragma once

#include <curl/curl.h>

/* curl_easy_setopt() and curl_easy_getinfo() are variadic macros, which Swift can't import: one function for each type of value. Taking no
 * option as a parameter of the wrong type is up to the caller; the names say which type it is. */
static inline CURLcode shim_set_long(CURL *handle, CURLoption option, long value) { return (curl_easy_setopt)(handle, option, value); }
static inline CURLcode shim_set_text(CURL *handle, CURLoption option, const char *value) { return (curl_easy_setopt)(handle, option, value); }
static inline CURLcode shim_set_pointer(CURL *handle, CURLoption option, void *value) { return (curl_easy_setopt)(handle, option, value); }
static inline CURLcode shim_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return (curl_easy_setopt)(handle, option, value);
}

/* Of both the body and the header: data, 1, number of bytes, context. */
typedef size_t (*shim_data_function)(char *, size_t, size_t, void *);
static inline CURLcode shim_set_data_function(CURL *handle, CURLoption option, shim_data_function value) {
  return (curl_easy_setopt)(handle, option, value);
}

/* Asked about once a second, and at each piece that comes: anything but 0 ends the transfer. */
typedef int (*shim_progress_function)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
static inline CURLcode shim_set_progress_function(CURL *handle, shim_progress_function value) {
  return (curl_easy_setopt)(handle, CURLOPT_XFERINFOFUNCTION, value);
}
