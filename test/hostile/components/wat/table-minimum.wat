;; Asks for a table of nine million entries from the start.
;; verdict: LIMIT_MEMORY
;; at: admission
(table 9000000 funcref)
