;; Exports a function whose name has a quote and a line break.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: not one that a toolchain would write
(func (export "x\22;\0aalert(1)//"))
