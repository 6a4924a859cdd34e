;; Calls an import that may suspend from its allocator while the host writes another import's answer.
;; verdict: ABI_VIOLATED
;; message: allocating
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(global $running (mut i32) (i32.const 0))
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (if (global.get $running) (then (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))))
  (i32.const 4096))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (global.set $running (i32.const 1))
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (i32.const 1024))
