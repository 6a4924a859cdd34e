;; Answers a list at an odd address.
;; verdict: ABI_VIOLATED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store (i32.const 1036) (i32.const 4097))
  (i32.store (i32.const 1040) (i32.const 1))
  (i32.const 1024))
