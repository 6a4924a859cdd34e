;; Calls an import from its post-return.
;; verdict: ABI_VIOLATED
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(func (export "cabi_post_cni:delegate/plugin@1.0.0#add") (param i32)
  (call $log (i32.const 1) (i32.const 0) (i32.const 0)))
