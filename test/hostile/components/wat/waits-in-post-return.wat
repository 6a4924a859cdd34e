;; Calls an import that may suspend in post-return.
;; verdict: ABI_VIOLATED
;; message: cleaning up
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cabi_post_cni:delegate/plugin@1.0.0#add") (param i32)
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (i32.const 1024))
