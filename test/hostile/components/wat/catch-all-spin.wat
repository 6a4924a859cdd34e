;; Loops for ever in a catch_all block.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; message: exception handling is not allowed
;; via: swap
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again
    (block $caught
      (try_table (catch_all $caught)
        (loop $inner (br $inner))))
    (br $again))
  (unreachable))
