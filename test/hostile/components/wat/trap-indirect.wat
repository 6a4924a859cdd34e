;; Calls a function through an empty table.
;; verdict: DELEGATE_TRAPPED
(table 1 funcref)
(type $t (func (result i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (call_indirect (type $t) (i32.const 0)))
