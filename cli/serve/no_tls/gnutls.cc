// cli/serve/no_tls/gnutls.cc: stubs for the functions of GnuTLS that libmicrohttpd refers to, so that GnuTLS need not
// be linked.
//
// Debian's libmicrohttpd.a is built with TLS, and so needs GnuTLS, which needs six more libraries, not all of which
// come as archives. With GnuTLS, the tool could not be linked statically, and each start would load all these
// libraries. The server does not use TLS: only the first two of these functions are ever called, when libmicrohttpd is
// initialised and when it ends. A call of any other function aborts the process.
#include <cstddef>
#include <cstdlib>

extern "C" {

int gnutls_global_init() { return 0; }
void gnutls_global_deinit() {}

void* (*gnutls_malloc)(size_t) = std::malloc;

#define HEAPPROF_NO_TLS(name) \
  [[noreturn]] void name() { std::abort(); }
HEAPPROF_NO_TLS(gnutls_alpn_set_protocols)
HEAPPROF_NO_TLS(gnutls_bye)
HEAPPROF_NO_TLS(gnutls_certificate_allocate_credentials)
HEAPPROF_NO_TLS(gnutls_certificate_free_credentials)
HEAPPROF_NO_TLS(gnutls_certificate_server_set_request)
HEAPPROF_NO_TLS(gnutls_certificate_set_dh_params)
HEAPPROF_NO_TLS(gnutls_certificate_set_retrieve_function2)
HEAPPROF_NO_TLS(gnutls_certificate_set_retrieve_function3)
HEAPPROF_NO_TLS(gnutls_certificate_set_x509_key_mem)
HEAPPROF_NO_TLS(gnutls_certificate_set_x509_key_mem2)
HEAPPROF_NO_TLS(gnutls_certificate_set_x509_trust_mem)
HEAPPROF_NO_TLS(gnutls_cipher_get)
HEAPPROF_NO_TLS(gnutls_credentials_set)
HEAPPROF_NO_TLS(gnutls_deinit)
HEAPPROF_NO_TLS(gnutls_dh_params_deinit)
HEAPPROF_NO_TLS(gnutls_dh_params_import_pkcs3)
HEAPPROF_NO_TLS(gnutls_dh_params_init)
HEAPPROF_NO_TLS(gnutls_handshake)
HEAPPROF_NO_TLS(gnutls_init)
HEAPPROF_NO_TLS(gnutls_priority_deinit)
HEAPPROF_NO_TLS(gnutls_priority_init)
HEAPPROF_NO_TLS(gnutls_priority_set)
HEAPPROF_NO_TLS(gnutls_protocol_get_version)
HEAPPROF_NO_TLS(gnutls_psk_allocate_server_credentials)
HEAPPROF_NO_TLS(gnutls_psk_free_server_credentials)
HEAPPROF_NO_TLS(gnutls_psk_set_server_credentials_function)
HEAPPROF_NO_TLS(gnutls_record_check_pending)
HEAPPROF_NO_TLS(gnutls_record_get_direction)
HEAPPROF_NO_TLS(gnutls_record_recv)
HEAPPROF_NO_TLS(gnutls_record_send)
HEAPPROF_NO_TLS(gnutls_session_get_ptr)
HEAPPROF_NO_TLS(gnutls_session_set_ptr)
HEAPPROF_NO_TLS(gnutls_strerror)
HEAPPROF_NO_TLS(gnutls_transport_set_int2)
#undef HEAPPROF_NO_TLS

}  // extern "C"
