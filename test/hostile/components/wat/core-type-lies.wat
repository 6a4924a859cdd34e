;; Has a function with an i64 parameter instead of the i32 of the ABI.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: core type
(func (export "cni:delegate/plugin@1.0.0#add") (param i64) (result i32) (i32.const 1024))
