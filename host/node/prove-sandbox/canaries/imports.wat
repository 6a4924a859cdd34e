;; Calls an import 20000 times.
(import "cni:delegate/leases@1.0.0" "probe" (func $probe (param i32 i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i32)
  (loop $again
    (call $probe (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 4096))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 20000))))
  (i32.const 1024))
