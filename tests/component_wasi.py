"""What components of `tests.component_rig` import of WASI, and bodies that use it."""

from tests.component_rig import Import

from hookline.adapters._component.gate_text import CODES, HANDLER


def quoted(names: str) -> str:
    return " ".join(f'"{name}"' for name in names.split())


POLL = """
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
"""
BLOCK = ("block", 'canon lower (func $poll "[method]pollable.block")', "(param i32)")

CLOCK = Import(
    POLL
    + """
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable-of)) (export "pollable" (type $p (eq $pollable-of)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
""",
    (BLOCK, ("after", 'canon lower (func $clock "subscribe-duration")', "(param i64) (result i32)")),
)
SLEEPS = "(call $block (call $after (local.get $number))) (call $none)"  # nanoseconds

ENVIRONMENT = Import(
    """
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))))
""",
    (("environment", 'canon lower (func $environment "get-environment")', "(param i32)"),),
)
# A list of pairs of texts lies in memory as a list of twice as many.
TELLS_ENVIRONMENT = """
  (call $environment (i32.const 64))
  (call $list (i32.load (i32.const 64)) (i32.shl (i32.load (i32.const 68)) (i32.const 1)))
"""

STDOUT = Import(
    """
  (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type $error (sub resource)))))
  (alias export $errors "error" (type $error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $error (type $error-of)) (export "error" (type $e (eq $error-of)))
    (export "output-stream" (type $o (sub resource)))
    (type $errs (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $errs)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $o)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output (type $output-of)) (export "output-stream" (type $o (eq $output-of)))
    (export "get-stdout" (func (result (own $o))))))
""",
    (
        ("stdout", 'canon lower (func $stdout "get-stdout")', "(result i32)"),
        (
            "print",
            'canon lower (func $streams "[method]output-stream.blocking-write-and-flush")',
            "(param i32 i32 i32 i32)",
        ),
    ),
)
PRINTS = """
  (call $print (call $stdout) (local.get $text) (local.get $text-len) (i32.const 64)) (call $none)
"""

ERRNO = quoted("""
  access would-block already bad-descriptor busy deadlock quota exist file-too-large illegal-byte-sequence in-progress
  interrupted invalid io is-directory loop too-many-links message-size name-too-long no-device no-entry no-lock
  insufficient-memory insufficient-space not-directory not-empty not-recoverable unsupported no-tty no-such-device
  overflow not-permitted pipe read-only invalid-seek text-file-busy cross-device
""")
FILES = Import(
    f"""
  (import "wasi:filesystem/types@0.2.0" (instance $files
    (export "descriptor" (type $d (sub resource)))
    (type $errno (enum {ERRNO})) (export "error-code" (type $code (eq $errno)))
    (type $pf (flags "symlink-follow")) (export "path-flags" (type $path-flags (eq $pf)))
    (type $of (flags "create" "directory" "exclusive" "truncate")) (export "open-flags" (type $open-flags (eq $of)))
    (type $df (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync"
      "mutate-directory")) (export "descriptor-flags" (type $descriptor-flags (eq $df)))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $path-flags)
      (param "path" string) (param "open-flags" $open-flags) (param "flags" $descriptor-flags)
      (result (result (own $d) (error $code)))))
    (export "[method]descriptor.read" (func (param "self" (borrow $d)) (param "length" u64) (param "offset" u64)
      (result (result (tuple (list u8) bool) (error $code)))))
    (export "[method]descriptor.write" (func (param "self" (borrow $d)) (param "buffer" (list u8))
      (param "offset" u64) (result (result u64 (error $code)))))
    (export "[method]descriptor.symlink-at" (func (param "self" (borrow $d)) (param "old-path" string)
      (param "new-path" string) (result (result (error $code)))))))
  (alias export $files "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $descriptor-of)) (export "descriptor" (type $d (eq $descriptor-of)))
    (export "get-directories" (func (result (list (tuple (own $d) string)))))))
""",
    (
        ("folders", 'canon lower (func $preopens "get-directories")', "(param i32)"),
        (
            "open",
            'canon lower (func $files "[method]descriptor.open-at")',
            "(param i32 i32 i32 i32 i32 i32 i32)",
        ),
        ("read", 'canon lower (func $files "[method]descriptor.read")', "(param i32 i64 i64 i32)"),
        ("write", 'canon lower (func $files "[method]descriptor.write")', "(param i32 i32 i32 i64 i32)"),
        ("link", 'canon lower (func $files "[method]descriptor.symlink-at")', "(param i32 i32 i32 i32 i32 i32)"),
    ),
)
# The first folder's handle stands at 64; where there is none, the answer is "nowhere". An error is told as its digit.
FOLDER = """
  (func $folder (result i32)
    (call $folders (i32.const 64))
    (if (result i32) (i32.load (i32.const 68))
      (then (i32.load (i32.load (i32.const 64)))) (else (i32.const -1))))
  (func $failed (param $code i32) (result i32)
    (i32.store8 (i32.const 2048) (i32.add (i32.const 48) (local.get $code)))
    (call $refuse (i32.const 2048) (i32.const 1)))
  (data (i32.const 512) "nowhere")
"""
NOWHERE = """
  (local $d i32)
  (local.set $d (call $folder))
  (if (i32.eq (local.get $d) (i32.const -1)) (then (return (call $refuse (i32.const 512) (i32.const 7)))))
"""
READS = (
    NOWHERE
    + """
  (call $open (local.get $d) (i32.const 1) (local.get $text) (local.get $text-len) (i32.const 0) (i32.const 1)
    (i32.const 64))
  (if (i32.load8_u (i32.const 64)) (then (return (call $failed (i32.load8_u (i32.const 68))))))
  (call $read (i32.load (i32.const 68)) (i64.const 4096) (i64.const 0) (i32.const 80))
  (if (i32.load8_u (i32.const 80)) (then (return (call $failed (i32.load8_u (i32.const 84))))))
  (call $say (i32.load (i32.const 84)) (i32.load (i32.const 88)))
"""
)
WRITES = (
    NOWHERE
    + """
  (call $open (local.get $d) (i32.const 1) (local.get $text) (local.get $text-len) (i32.const 1) (i32.const 2)
    (i32.const 64))
  (if (i32.load8_u (i32.const 64)) (then (return (call $failed (i32.load8_u (i32.const 68))))))
  (call $write (i32.load (i32.const 68)) (local.get $note) (local.get $note-len) (i64.const 0) (i32.const 80))
  (if (i32.load8_u (i32.const 80)) (then (return (call $failed (i32.load8_u (i32.const 88))))))
  (call $none)
"""
)
LINKS = (  # a link named $text to $note
    NOWHERE
    + """
  (call $link (local.get $d) (local.get $note) (local.get $note-len) (local.get $text) (local.get $text-len)
    (i32.const 64))
  (if (i32.load8_u (i32.const 64)) (then (return (call $failed (i32.load8_u (i32.const 65))))))
  (call $none)
"""
)

NETWORK_ERRORS = quoted("""
  unknown access-denied not-supported invalid-argument out-of-memory timeout concurrency-conflict not-in-progress
  would-block invalid-state new-socket-limit address-not-bindable address-in-use remote-unreachable connection-refused
  connection-reset connection-aborted datagram-too-large name-unresolvable temporary-resolver-failure
  permanent-resolver-failure
""")
SOCKETS = Import(
    f"""
  (import "wasi:sockets/network@0.2.0" (instance $network
    (export "network" (type $n (sub resource)))
    (type $codes (enum {NETWORK_ERRORS})) (export "error-code" (type $code (eq $codes)))
    (type $families (enum "ipv4" "ipv6")) (export "ip-address-family" (type $family (eq $families)))
    (type $v4 (tuple u8 u8 u8 u8)) (export "ipv4-address" (type $ipv4 (eq $v4)))
    (type $v6 (tuple u16 u16 u16 u16 u16 u16 u16 u16)) (export "ipv6-address" (type $ipv6 (eq $v6)))
    (type $at4 (record (field "port" u16) (field "address" $ipv4)))
    (export "ipv4-socket-address" (type $address4 (eq $at4)))
    (type $at6 (record (field "port" u16) (field "flow-info" u32) (field "address" $ipv6) (field "scope-id" u32)))
    (export "ipv6-socket-address" (type $address6 (eq $at6)))
    (type $at (variant (case "ipv4" $address4) (case "ipv6" $address6)))
    (export "ip-socket-address" (type (eq $at)))))
  (alias export $network "network" (type $net))
  (alias export $network "error-code" (type $net-code))
  (alias export $network "ip-address-family" (type $net-family))
  (alias export $network "ip-socket-address" (type $net-address))
  (import "wasi:sockets/instance-network@0.2.0" (instance $instance-network
    (alias outer 1 $net (type $net-of)) (export "network" (type $n (eq $net-of)))
    (export "instance-network" (func (result (own $n))))))
  (import "wasi:sockets/tcp@0.2.0" (instance $tcp
    (alias outer 1 $net (type $net-of)) (export "network" (type $n (eq $net-of)))
    (alias outer 1 $net-code (type $code-of)) (export "error-code" (type $code (eq $code-of)))
    (alias outer 1 $net-address (type $address-of)) (export "ip-socket-address" (type $address (eq $address-of)))
    (export "tcp-socket" (type $socket (sub resource)))
    (export "[method]tcp-socket.start-connect" (func (param "self" (borrow $socket)) (param "network" (borrow $n))
      (param "remote-address" $address) (result (result (error $code)))))))
  (alias export $tcp "tcp-socket" (type $tcp-socket))
  (import "wasi:sockets/tcp-create-socket@0.2.0" (instance $create
    (alias outer 1 $net-code (type $code-of)) (export "error-code" (type $code (eq $code-of)))
    (alias outer 1 $net-family (type $family-of)) (export "ip-address-family" (type $family (eq $family-of)))
    (alias outer 1 $tcp-socket (type $socket-of)) (export "tcp-socket" (type $socket (eq $socket-of)))
    (export "create-tcp-socket" (func (param "address-family" $family)
      (result (result (own $socket) (error $code)))))))
""",
    (
        ("network", 'canon lower (func $instance-network "instance-network")', "(result i32)"),
        ("socket", 'canon lower (func $create "create-tcp-socket")', "(param i32 i32)"),
        (
            "connect",
            'canon lower (func $tcp "[method]tcp-socket.start-connect")',
            f"(param {'i32 ' * 15})",
        ),
    ),
)
# To 127.0.0.1, port $number. The answer is 0 where that began, else 1 and what the error is.
CONNECTS = f"""
  (call $socket (i32.const 0) (i32.const 64))
  (if (i32.load8_u (i32.const 64)) (then (return (call $digit (i32.load8_u (i32.const 68))))))
  (call $connect (i32.load (i32.const 68)) (call $network) (i32.const 0)
    (i32.wrap_i64 (local.get $number)) (i32.const 127) (i32.const 0) (i32.const 0) (i32.const 1)
    {"(i32.const 0) " * 6} (i32.const 80))
  (if (i32.load8_u (i32.const 80)) (then (return (call $digit (i32.load8_u (i32.const 81))))))
  (call $none)
"""

HTTP = Import(
    POLL
    + f"""
  (import "wasi:http/types@0.2.0" (instance $http
    (export "fields" (type $fields (sub resource)))
    (export "outgoing-request" (type $request (sub resource)))
    (export "request-options" (type (sub resource)))
    (export "incoming-response" (type $incoming (sub resource)))
    (export "future-incoming-response" (type $future (sub resource)))
    (alias outer 1 $pollable (type $pollable-of)) (export "pollable" (type $p (eq $pollable-of)))
    {CODES}
    (export "[constructor]fields" (func (result (own $fields))))
    (export "[constructor]outgoing-request" (func (param "headers" (own $fields)) (result (own $request))))
    (export "[method]outgoing-request.set-scheme"
      (func (param "self" (borrow $request)) (param "scheme" (option $scheme)) (result (result))))
    (export "[method]outgoing-request.set-authority"
      (func (param "self" (borrow $request)) (param "authority" (option string)) (result (result))))
    (export "[method]outgoing-request.set-path-with-query"
      (func (param "self" (borrow $request)) (param "path-with-query" (option string)) (result (result))))
    (export "[method]future-incoming-response.subscribe" (func (param "self" (borrow $future)) (result (own $p))))
    (export "[method]future-incoming-response.get" (func (param "self" (borrow $future))
      (result (option (result (result (own $incoming) (error $error-code)))))))
    (export "[method]incoming-response.status" (func (param "self" (borrow $incoming)) (result u16)))))
  (alias export $http "outgoing-request" (type $request))
  (alias export $http "request-options" (type $options))
  (alias export $http "future-incoming-response" (type $response))
  (alias export $http "error-code" (type $error-code))
  (import "wasi:http/outgoing-handler@0.2.3" (instance $handler {HANDLER}))
""",
    (
        BLOCK,
        ("fields", 'canon lower (func $http "[constructor]fields")', "(result i32)"),
        ("request", 'canon lower (func $http "[constructor]outgoing-request")', "(param i32) (result i32)"),
        (
            "set-scheme",
            'canon lower (func $http "[method]outgoing-request.set-scheme")',
            "(param i32 i32 i32 i32 i32) (result i32)",
        ),
        (
            "set-authority",
            'canon lower (func $http "[method]outgoing-request.set-authority")',
            "(param i32 i32 i32 i32) (result i32)",
        ),
        (
            "set-path",
            'canon lower (func $http "[method]outgoing-request.set-path-with-query")',
            "(param i32 i32 i32 i32) (result i32)",
        ),
        ("send", 'canon lower (func $handler "handle")', "(param i32 i32 i32 i32)"),
        (
            "subscribe",
            'canon lower (func $http "[method]future-incoming-response.subscribe")',
            "(param i32) (result i32)",
        ),
        ("get", 'canon lower (func $http "[method]future-incoming-response.get")', "(param i32 i32)"),
        ("status", 'canon lower (func $http "[method]incoming-response.status")', "(param i32) (result i32)"),
    ),
)
# A request for "/" at the authority $text by HTTP, by HTTPS where $number is 1. The answer is the first digit of the
# status; an error is told as the character so many places after "0" as its case has in the list of error codes.
REQUESTS = """
  (local $r i32) (local $f i32)
  (local.set $r (call $request (call $fields)))
  (drop (call $set-scheme (local.get $r) (i32.const 1) (i32.wrap_i64 (local.get $number)) (i32.const 0) (i32.const 0)))
  (if (call $set-authority (local.get $r) (i32.const 1) (local.get $text) (local.get $text-len))
    (then (return (call $refuse (i32.const 512) (i32.const 7)))))
  (drop (call $set-path (local.get $r) (i32.const 1) (i32.const 520) (i32.const 1)))
  (call $send (local.get $r) (i32.const 0) (i32.const 0) (i32.const 64))
  (if (i32.load8_u (i32.const 64)) (then (return (call $failed (i32.load8_u (i32.const 72))))))
  (local.set $f (i32.load (i32.const 72)))
  (call $block (call $subscribe (local.get $f)))
  (call $get (local.get $f) (i32.const 128))
  (if (i32.load8_u (i32.const 144)) (then (return (call $failed (i32.load8_u (i32.const 152))))))
  (call $digit (i32.div_u (call $status (i32.load (i32.const 152))) (i32.const 100)))
"""
REQUESTING = """
  (func $failed (param $code i32) (result i32)
    (i32.store8 (i32.const 2048) (i32.add (i32.const 48) (local.get $code)))
    (call $refuse (i32.const 2048) (i32.const 1)))
  (data (i32.const 512) "unfit   /")
"""
DENIED = chr(48 + 15)
CONNECTION_REFUSED = chr(48 + 6)
