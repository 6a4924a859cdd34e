;; Has a core module that imports a function without a definition in the component.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: has no argument
(import "cni:delegate/leases@1.0.0" "release" (func (param i32)))
