;; Has a core module that imports "constructor".
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: constructor
(import "constructor" "constructor" (func))
