;; Holds a reference to what the host owns.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: externref
(global (mut externref) (ref.null extern))
