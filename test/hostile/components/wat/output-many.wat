;; Answers 200000 empty routes.
;; verdict: LIMIT_OUTPUT
(memory (export "memory") 200)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store (i32.const 1044) (i32.const 65536))
  (i32.store (i32.const 1048) (i32.const 200000))
  (i32.const 1024))
