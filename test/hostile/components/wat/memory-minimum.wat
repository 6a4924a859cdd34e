;; Declares a memory with a minimum of 1 GiB.
;; verdict: LIMIT_MEMORY
;; at: admission
(memory (export "memory") 16384)
