;; Calls an import that may suspend in its start function.
;; verdict: ABI_VIOLATED
;; message: while it is being instantiated
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func $start (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048)))
(start $start)
