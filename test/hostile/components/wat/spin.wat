;; Loops for ever.
;; verdict: LIMIT_TIME
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again (br $again))
  (unreachable))
