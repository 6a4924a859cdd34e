;; Has two memories.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: memories
(memory (export "memory") 1)
(memory 1)
