;; Grows a table for ever.
;; verdict: LIMIT_TIME
(table $t 1 funcref)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again (drop (table.grow $t (ref.null func) (i32.const 1000))) (br $again))
  (unreachable))
