;; Asks for 1 GiB from the start.
;; verdict: LIMIT_MEMORY
;; at: admission
(memory (export "memory") 16384)
