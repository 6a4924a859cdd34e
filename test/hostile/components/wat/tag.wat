;; Has a tag, for exceptions of its own.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: tag
(tag (param i32))
