;; Recurses for ever.
;; verdict: LIMIT_RECURSION
(func $deeper (param i32) (result i32)
  (i32.add (i32.const 1) (call $deeper (i32.add (local.get 0) (i32.const 1)))))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (call $deeper (i32.const 0)))
