;; Has a core module that imports "__proto__".
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: __proto__
(import "cni:delegate/log@1.0.0" "__proto__" (func))
