;; Calls an import that may suspend in its allocator.
;; verdict: ABI_VIOLATED
;; message: allocating
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (i32.const 4096))
