;; Computes for a short time between two suspended imports, for ever.
;; verdict: LIMIT_TIME
;; message: used up its
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i32)
  (loop $again
    (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
    (local.set $i (i32.const 200000))
    (loop $l (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $l (local.get $i)))
    (br $again))
  (i32.const 1024))
