;; Calls memory.grow for ever, also after failures.
;; verdict: LIMIT_TIME
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again (drop (memory.grow (i32.const 64))) (br $again))
  (unreachable))
