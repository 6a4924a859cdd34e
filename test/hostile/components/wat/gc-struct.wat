;; Has a struct type of the GC proposal.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: GC
(type $s (struct (field i32)))
