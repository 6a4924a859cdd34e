;; Writes 8000 lines of log.
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i32)
  (loop $again
    (call $log (i32.const 2) (i32.const 1024) (i32.const 64))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 8000))))
  (i32.const 1024))
