;; Has a shared memory.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: shared
(memory (export "memory") 1 2 shared)
