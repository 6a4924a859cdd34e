;; Grows a table to nine million entries, and traps when table.grow fails.
;; verdict: DELEGATE_TRAPPED
(table $t 1 funcref)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (if (i32.eq (table.grow $t (ref.null func) (i32.const 9000000)) (i32.const -1)) (then (unreachable)))
  (i32.const 1024))
