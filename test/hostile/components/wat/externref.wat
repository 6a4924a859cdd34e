;; Has an externref, a reference to an object of the host.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: externref
(global (mut externref) (ref.null extern))
