;; Logs before and after a suspended import.
;; verdict: OK
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(data (i32.const 16) "before") (data (i32.const 32) "after")
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (call $log (i32.const 1) (i32.const 16) (i32.const 6))
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (call $log (i32.const 1) (i32.const 32) (i32.const 5))
  (i32.const 1024))
