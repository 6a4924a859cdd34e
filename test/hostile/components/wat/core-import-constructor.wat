;; Its core module imports "constructor".
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: constructor
(import "constructor" "constructor" (func))
