;; Has a 64-bit memory.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: 64-bit
(memory (export "memory") i64 1)
