"""The gate component, as text: what lets us look at a request that is the library's own.

It says the scheme and the authority of a request, and sends one. It is instantiated beside the guest, in its store,
where requests are the same resource; code of this program cannot read one by itself. Its functions are passed through
core modules, as wasmtime cannot export what was imported.
"""

CODES = """
  (type $dns (record (field "rcode" (option string)) (field "info-code" (option u16))))
  (export "DNS-error-payload" (type $dns-error (eq $dns)))
  (type $tls (record (field "alert-id" (option u8)) (field "alert-message" (option string))))
  (export "TLS-alert-received-payload" (type $tls-alert (eq $tls)))
  (type $field (record (field "field-name" (option string)) (field "field-size" (option u32))))
  (export "field-size-payload" (type $size (eq $field)))
  (type $codes (variant
    (case "DNS-timeout") (case "DNS-error" $dns-error) (case "destination-not-found") (case "destination-unavailable")
    (case "destination-IP-prohibited") (case "destination-IP-unroutable") (case "connection-refused")
    (case "connection-terminated") (case "connection-timeout") (case "connection-read-timeout")
    (case "connection-write-timeout") (case "connection-limit-reached") (case "TLS-protocol-error")
    (case "TLS-certificate-error") (case "TLS-alert-received" $tls-alert) (case "HTTP-request-denied")
    (case "HTTP-request-length-required") (case "HTTP-request-body-size" (option u64))
    (case "HTTP-request-method-invalid") (case "HTTP-request-URI-invalid") (case "HTTP-request-URI-too-long")
    (case "HTTP-request-header-section-size" (option u32)) (case "HTTP-request-header-size" (option $size))
    (case "HTTP-request-trailer-section-size" (option u32)) (case "HTTP-request-trailer-size" $size)
    (case "HTTP-response-incomplete") (case "HTTP-response-header-section-size" (option u32))
    (case "HTTP-response-header-size" $size) (case "HTTP-response-body-size" (option u64))
    (case "HTTP-response-trailer-section-size" (option u32)) (case "HTTP-response-trailer-size" $size)
    (case "HTTP-response-transfer-coding" (option string)) (case "HTTP-response-content-coding" (option string))
    (case "HTTP-response-timeout") (case "HTTP-upgrade-failed") (case "HTTP-protocol-error") (case "loop-detected")
    (case "configuration-error") (case "internal-error" (option string))))
  (export "error-code" (type $error-code (eq $codes)))
  (type $schemes (variant (case "HTTP") (case "HTTPS") (case "other" string)))
  (export "scheme" (type $scheme (eq $schemes)))
"""

HANDLER = """
  (alias outer 1 $request (type $request-of))
  (alias outer 1 $options (type $options-of))
  (alias outer 1 $response (type $response-of))
  (alias outer 1 $error-code (type $code-of))
  (export "outgoing-request" (type $r (eq $request-of)))
  (export "request-options" (type $o (eq $options-of)))
  (export "future-incoming-response" (type $f (eq $response-of)))
  (export "error-code" (type $e (eq $code-of)))
  (export "handle" (func (param "request" (own $r)) (param "options" (option (own $o)))
    (result (result (own $f) (error $e)))))
"""

# What is returned stands at the start of the memory, what it points to from 256 on, until it has been read.
MEMORY = """
(memory (export "memory") 1)
(global $top (mut i32) (i32.const 256))
(func (export "reset") (param i32) (global.set $top (i32.const 256)))
(func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
                          (i32.sub (i32.const 0) (local.get $align))))
  (global.set $top (i32.add (local.get $at) (local.get $size)))
  (block $fits (loop $grow
    (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
    (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
    (unreachable)))
  (local.get $at))
"""

PASSING = """
(import "" "scheme" (func $scheme (param i32 i32)))
(import "" "authority" (func $authority (param i32 i32)))
(import "" "handle" (func $handle (param i32 i32 i32 i32)))
(import "" "drop" (func $drop (param i32)))
(func (export "scheme") (param i32) (result i32)
  (call $scheme (local.get 0) (i32.const 0)) (call $drop (local.get 0)) (i32.const 0))
(func (export "authority") (param i32) (result i32)
  (call $authority (local.get 0) (i32.const 0)) (call $drop (local.get 0)) (i32.const 0))
(func (export "handle") (param i32 i32 i32) (result i32)
  (call $handle (local.get 0) (local.get 1) (local.get 2) (i32.const 0)) (i32.const 0))
"""

GATE = f"""
(component
  (import "wasi:http/types@0.2.0" (instance $types
    (export "outgoing-request" (type $request (sub resource)))
    (export "request-options" (type (sub resource)))
    (export "future-incoming-response" (type (sub resource)))
    {CODES}
    (export "[method]outgoing-request.scheme" (func (param "self" (borrow $request)) (result (option $scheme))))
    (export "[method]outgoing-request.authority" (func (param "self" (borrow $request)) (result (option string))))))
  (alias export $types "outgoing-request" (type $request))
  (alias export $types "request-options" (type $options))
  (alias export $types "future-incoming-response" (type $response))
  (alias export $types "error-code" (type $error-code))
  (alias export $types "scheme" (type $scheme))
  (import "wasi:http/outgoing-handler@0.2.0" (instance $handler {HANDLER}))
  (core module $own {MEMORY})
  (core instance $own (instantiate $own))
  (alias core export $own "memory" (core memory $memory))
  (alias core export $own "realloc" (core func $realloc))
  (alias core export $own "reset" (core func $reset))
  (core func $scheme-of (canon lower (func $types "[method]outgoing-request.scheme")
    (memory (core memory $memory)) (realloc (core func $realloc))))
  (core func $authority-of (canon lower (func $types "[method]outgoing-request.authority")
    (memory (core memory $memory)) (realloc (core func $realloc))))
  (core func $send (canon lower (func $handler "handle")
    (memory (core memory $memory)) (realloc (core func $realloc))))
  (core func $drop (canon resource.drop $request))
  (core module $passing {PASSING})
  (core instance $passing (instantiate $passing (with "" (instance
    (export "scheme" (func $scheme-of)) (export "authority" (func $authority-of))
    (export "handle" (func $send)) (export "drop" (func $drop))))))
  (func (export "scheme") (param "request" (borrow $request)) (result (option $scheme))
    (canon lift (core func $passing "scheme") (memory (core memory $memory)) (post-return (core func $reset))))
  (func (export "authority") (param "request" (borrow $request)) (result (option string))
    (canon lift (core func $passing "authority") (memory (core memory $memory)) (post-return (core func $reset))))
  (func (export "handle") (param "request" (own $request)) (param "options" (option (own $options)))
    (result (result (own $response) (error $error-code)))
    (canon lift (core func $passing "handle") (memory (core memory $memory)) (post-return (core func $reset)))))
"""
GATE_INSTANCES = 8  # at most so many of the store's are the gate's
