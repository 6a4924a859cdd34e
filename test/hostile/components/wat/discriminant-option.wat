;; Answers an option with an invalid discriminant.
;; verdict: ABI_VIOLATED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store8 (i32.const 1052) (i32.const 77))
  (i32.const 1024))
