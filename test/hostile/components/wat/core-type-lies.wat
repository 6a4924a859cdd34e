;; Its function takes an i64 where the ABI has an i32.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: core type
(func (export "cni:delegate/plugin@0.1.0#add") (param i64) (result i32) (i32.const 1024))
