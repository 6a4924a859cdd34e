;; Has a type of the garbage collector.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: GC
(type $s (struct (field i32)))
