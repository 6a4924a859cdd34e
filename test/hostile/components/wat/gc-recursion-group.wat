;; Has a recursion group of types.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: GC
(rec (type $a (func)) (type $b (func)))
