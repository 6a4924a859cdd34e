;; Grows its memory before an import that suspends and in the allocator of its answer, and reads the answer there.
;; verdict: DELEGATE_FAILED
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(memory (export "memory") 1 64)
(global $next (mut i32) (i32.const 8192))
(func (export "cabi_realloc") (param i32 i32 i32) (param $wanted i32) (result i32)
  (global.set $next (i32.mul (memory.grow (i32.const 2)) (i32.const 65536)))
  (global.get $next))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (drop (memory.grow (i32.const 1)))
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1028) (i32.const 100))
  (i32.store (i32.const 1032) (i32.load (i32.const 2056)))
  (i32.store (i32.const 1036) (i32.load (i32.const 2060)))
  (i32.const 1024))
