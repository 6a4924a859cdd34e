;; Answers an error whose message is not UTF-8.
;; verdict: ABI_VIOLATED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1028) (i32.const 7))
  (i32.store (i32.const 2048) (i32.const 0xfffefdc0))
  (i32.store (i32.const 1032) (i32.const 2048))
  (i32.store (i32.const 1036) (i32.const 4))
  (i32.const 1024))
