;; Imports a capability that is not granted.
(import "cni:delegate/leases@1.0.0" "probe" (func $probe (param i32 i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (call $probe (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 7) (i32.const 1024))
  (i32.const 1024))
