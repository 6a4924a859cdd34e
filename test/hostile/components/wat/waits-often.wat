;; Calls an import that suspends 10 000 times, which is the limit.
;; verdict: OK
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i32)
  (local.set $i (i32.const 10000))
  (loop $again
    (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
    (local.set $i (i32.sub (local.get $i) (i32.const 1)))
    (br_if $again (local.get $i)))
  (i32.const 1024))
