;; Calls an import in its start function.
;; verdict: ABI_VIOLATED
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(func $begin (call $log (i32.const 1) (i32.const 0) (i32.const 0)))
(start $begin)
