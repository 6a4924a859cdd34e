;; Reads beyond its memory.
;; verdict: DELEGATE_TRAPPED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.load (i32.const -4)))
