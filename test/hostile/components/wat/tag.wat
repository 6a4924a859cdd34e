;; Has an exception tag.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: tag
(tag (param i32))
