;; Provokes a fault of the host, catches the exception, and answers a success.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; message: exception handling is not allowed
;; via: swap
;; base: good-leases
(import "cni:delegate/leases@1.0.0" "probe" (func $probe (param i32 i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (block $caught
    (try_table (catch_all $caught)
      (call $probe (i32.const 9) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024))))
  (block $again
    (try_table (catch_all $again)
      (call $probe (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024))))
  (i32.const 1024))
