;; Answers an error whose message ends beyond 2^32.
;; verdict: ABI_VIOLATED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1032) (i32.const -16))
  (i32.store (i32.const 1036) (i32.const 32))
  (i32.const 1024))
