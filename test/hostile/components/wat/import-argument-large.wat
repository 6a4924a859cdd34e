;; Passes a text of 8 MiB to an import.
;; verdict: LIMIT_OUTPUT
(import "cni:delegate/leases@1.0.0" "probe" (func $probe (param i32 i32 i32 i32 i32)))
(memory (export "memory") 200)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (call $probe (i32.const 1) (i32.const 65536) (i32.const 8388608) (i32.const 0) (i32.const 1024))
  (i32.const 1024))
