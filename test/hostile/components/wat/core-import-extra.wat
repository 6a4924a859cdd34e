;; Its core module imports a function that the component gives it not.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: given by nothing
(import "cni:delegate/leases@0.1.0" "release" (func (param i32)))
