;; Has a function that leaves the wrong type on the stack.
;; verdict: COMPONENT_REFUSED
;; via: swap
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i64.const 1))
