;; Executes unreachable.
;; verdict: DELEGATE_TRAPPED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (unreachable))
