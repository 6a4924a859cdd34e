;; Declares a table with a minimum of nine million entries.
;; verdict: LIMIT_MEMORY
;; at: admission
(table 9000000 funcref)
